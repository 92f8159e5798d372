//! Which device a program means.

use crate::Error;
use std::fmt;
use std::str::FromStr;

/// A device by one of its names: the grammar of `SELVEDGE_DEVICE`.
///
/// | written | means |
/// |---|---|
/// | `0`, `1`, … | position in the list of hardware GPUs |
/// | `c3:00.0`, `0000:c3:00.0` | PCI address, in hexadecimal |
/// | `uuid:1f3a…` or `GPU-1f3a…` | unique id, in hexadecimal |
/// | `gfx1151` | the first hardware GPU of that architecture |
/// | `discrete`, `integrated` | the first hardware GPU with, or without, memory of its own |
/// | `sim`, `sim:gfx1100`, `sim:gfx90a,gfx90a`, `sim:gfx1100+small-bar` | the first GPU of a simulated machine (feature `sim`) as docs/SIMRUN.md describes such; `sim` alone is gfx1151 |
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// Position in the list of GPUs.
    Index(usize),
    /// PCI domain, bus, device and function.
    Pci {
        /// Segment group.
        domain: u32,
        /// Bus number.
        bus: u8,
        /// Device number, below 32.
        device: u8,
        /// Function number, below 8.
        function: u8,
    },
    /// The GPU's serial number as the KFD reports it.
    UniqueId(u64),
    /// Architecture by its bare name.
    Target(String),
    /// Has (true) or lacks (false) memory of its own.
    Discrete(bool),
    /// The first GPU of the simulated machine that this line describes.
    Simulated(String),
}

/// The architecture of the simulated machine when none is named.
pub const DEFAULT_SIMULATED: &str = "gfx1151";

/// Whether `name` is a bare architecture name: `gfx` and three or four hexadecimal digits.
fn is_target(name: &str) -> bool {
    name.strip_prefix("gfx").is_some_and(|digits| {
        matches!(digits.len(), 3 | 4)
            && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    })
}

/// Whether `text` may describe a simulated machine: architectures and words of lower-case letters and dashes, joined by
/// commas and plus signs. What there is, the simulator says.
fn is_machine(text: &str) -> bool {
    let is_word = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_lowercase())
            && !name.starts_with("gfx")
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    text.split([',', '+']).all(|name| is_target(name) || is_word(name))
}

fn parse_pci(text: &str) -> Option<Selector> {
    let (address, function) = text.split_once('.')?;
    let parts: Vec<&str> = address.split(':').collect();
    let (domain, bus, device) = match parts[..] {
        [bus, device] => ("0", bus, device),
        [domain, bus, device] => (domain, bus, device),
        _ => return None,
    };
    let hex = |digits: &str, most: usize| {
        let plain = !digits.is_empty()
            && digits.len() <= most
            && digits.bytes().all(|b| b.is_ascii_hexdigit());
        plain.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
    };
    let device = hex(device, 2).filter(|d| *d < 32)?;
    let function = hex(function, 1).filter(|f| *f < 8)?;
    Some(Selector::Pci {
        domain: hex(domain, 8)?,
        bus: u8::try_from(hex(bus, 2)?).ok()?,
        device: device as u8,
        function: function as u8,
    })
}

impl FromStr for Selector {
    type Err = Error;

    fn from_str(text: &str) -> Result<Selector, Error> {
        let bad = |reason| Error::Selector { text: text.to_owned(), reason };
        if let Some(rest) = text.strip_prefix("sim") {
            return match rest.strip_prefix(':') {
                None if rest.is_empty() => Ok(Selector::Simulated(DEFAULT_SIMULATED.to_owned())),
                Some(machine) if is_machine(machine) => Ok(Selector::Simulated(machine.to_owned())),
                _ => Err(bad(
                    "after `sim` comes nothing, or `:` and a machine as in `sim:gfx1151` or \
                     `sim:gfx90a,gfx1100+small-bar`",
                )),
            };
        }
        match text {
            "discrete" => return Ok(Selector::Discrete(true)),
            "integrated" => return Ok(Selector::Discrete(false)),
            _ => {}
        }
        if let Some(id) = text.strip_prefix("uuid:").or_else(|| text.strip_prefix("GPU-")) {
            let plain = !id.is_empty() && id.bytes().all(|b| b.is_ascii_hexdigit());
            return match u64::from_str_radix(id, 16) {
                Ok(id) if plain => Ok(Selector::UniqueId(id)),
                _ => Err(bad("a unique id is up to 16 hexadecimal digits")),
            };
        }
        if text.starts_with("gfx") {
            return if is_target(text) {
                Ok(Selector::Target(text.to_owned()))
            } else {
                Err(bad(
                    "an architecture is `gfx` and three or four lower-case hexadecimal digits, \
                         without features and not a generic name",
                ))
            };
        }
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            return text.parse().map(Selector::Index).map_err(|_| bad("the index is too large"));
        }
        parse_pci(text).ok_or_else(|| {
            bad("write an index, a PCI address, `uuid:` and a unique id, a gfx name, \
                 `discrete`, `integrated`, or `sim[:gfx1151]`")
        })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::Index(index) => write!(f, "{index}"),
            Selector::Pci { domain, bus, device, function } => {
                write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function}")
            }
            Selector::UniqueId(id) => write!(f, "uuid:{id:016x}"),
            Selector::Target(name) => f.write_str(name),
            Selector::Discrete(true) => f.write_str("discrete"),
            Selector::Discrete(false) => f.write_str("integrated"),
            Selector::Simulated(name) => write!(f, "sim:{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_meant() {
        let pci = |domain, bus, device, function| Selector::Pci { domain, bus, device, function };
        for (text, selector) in [
            ("0", Selector::Index(0)),
            ("17", Selector::Index(17)),
            ("c3:00.0", pci(0, 0xc3, 0, 0)),
            ("0000:C3:1f.7", pci(0, 0xc3, 0x1f, 7)),
            ("10000:01:00.1", pci(0x10000, 1, 0, 1)),
            ("uuid:1f", Selector::UniqueId(0x1f)),
            ("GPU-00ff00ff00ff00ff", Selector::UniqueId(0xff_00ff_00ff_00ff)),
            ("gfx1151", Selector::Target("gfx1151".into())),
            ("gfx90a", Selector::Target("gfx90a".into())),
            ("discrete", Selector::Discrete(true)),
            ("integrated", Selector::Discrete(false)),
            ("sim", Selector::Simulated("gfx1151".into())),
            ("sim:gfx1100", Selector::Simulated("gfx1100".into())),
            ("sim:no-driver", Selector::Simulated("no-driver".into())),
            (
                "sim:gfx90a,gfx1100+small-bar",
                Selector::Simulated("gfx90a,gfx1100+small-bar".into()),
            ),
        ] {
            assert_eq!(text.parse::<Selector>().unwrap(), selector, "{text}");
            assert_eq!(selector.to_string().parse::<Selector>().unwrap(), selector, "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_the_grammar() {
        for text in [
            "",
            "-1",
            "+1",
            " 0",
            "0x1",
            "99999999999999999999999",
            "c3:00",
            "c3:20.0",
            "c3:00.8",
            "1:2:3:4.0",
            "uuid:",
            "uuid:+1",
            "uuid:11112222333344445",
            "GPU-xyz",
            "GFX1151",
            "gfx",
            "gfx11",
            "gfx11-generic",
            "gfx906:xnack-",
            "gfx11511",
            "simulated",
            "sim:",
            "sim:0",
            "sim:gfx11-generic",
            "sim:gfx1151,",
            "sim:gfx1151+",
            "sim:-",
        ] {
            assert!(text.parse::<Selector>().is_err(), "{text:?}");
        }
    }
}
