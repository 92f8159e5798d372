//! System management events: lines of text about a device, from a file of its own.

use crate::uapi::{SMI_EVENT_MSG_SIZE, smi_event_mask};
use crate::{Device, Error, Result};
use selvedge_sys::{Errno, File};
use std::time::Duration;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmiEvent {
    /// `SMI_EVENT_*`.
    pub event: u32,
    /// What else the line says; its format belongs to the event (`KFD_EVENT_FMT_*` in kfd_ioctl.h).
    pub message: String,
}

impl SmiEvent {
    /// Reads a line: the event's number in hexadecimal, a space, the message. `None` for what is not
    /// one.
    pub fn parse(line: &str) -> Option<SmiEvent> {
        let (event, message) = line.split_once(' ').unwrap_or((line, ""));
        let event = u32::from_str_radix(event, 16).ok()?;
        Some(SmiEvent { event, message: message.to_owned() })
    }
}

/// A device's events, as far as they are subscribed to.
#[derive(Debug)]
pub struct SmiEvents {
    file: File,
    gpu_id: u32,
    /// A line whose end has not come yet.
    partial: Vec<u8>,
}

impl SmiEvents {
    /// Subscribes to events of a device, `SMI_EVENT_*`: those of this process, or with
    /// `SMI_EVENT_ALL_PROCESS` (superuser) of all.
    ///
    /// # Errors
    /// [`Error::Smi`].
    pub fn subscribe(device: &Device, events: &[u32]) -> Result<SmiEvents> {
        let gpu_id = device.gpu_id();
        let failed = |operation| move |errno| Error::Smi { operation, gpu_id, errno };
        let file = device.process().driver().smi_events(gpu_id).map_err(failed("open"))?;
        let mask = events.iter().fold(0, |mask, &event| mask | smi_event_mask(event));
        file.system().write(file.fd(), &mask.to_ne_bytes()).map_err(failed("subscribe to"))?;
        Ok(SmiEvents { file, gpu_id, partial: Vec::new() })
    }

    /// Waits for events; none when time runs out or a signal interrupts. `None` waits for ever.
    ///
    /// # Errors
    /// [`Error::Smi`].
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<Vec<SmiEvent>> {
        let gpu_id = self.gpu_id;
        let failed = |errno| Error::Smi { operation: "read", gpu_id, errno };
        let system = self.file.system();
        match system.poll(self.file.fd(), timeout) {
            Ok(readiness) if readiness.readable => {}
            Ok(_) | Err(Errno::EINTR) => return Ok(Vec::new()),
            Err(errno) => return Err(failed(errno)),
        }
        let mut buffer = [0; 64 * SMI_EVENT_MSG_SIZE];
        let count = match system.read(self.file.fd(), &mut buffer) {
            Err(Errno::EAGAIN | Errno::EINTR) => 0,
            other => other.map_err(failed)?,
        };
        self.partial.extend_from_slice(&buffer[..count]);
        let complete =
            self.partial.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let lines: Vec<u8> = self.partial.drain(..complete).collect();
        Ok(String::from_utf8_lossy(&lines).lines().filter_map(SmiEvent::parse).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_a_number_and_a_message() {
        assert_eq!(
            SmiEvent::parse("7 1000 -42 @7f12345(1a2b) W"),
            Some(SmiEvent { event: 7, message: "1000 -42 @7f12345(1a2b) W".to_owned() })
        );
        assert_eq!(SmiEvent::parse("b x").map(|event| event.event), Some(11));
        assert_eq!(SmiEvent::parse("not a number"), None);
        assert_eq!(SmiEvent::parse(""), None);
    }
}
