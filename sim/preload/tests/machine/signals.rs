//! Signals that come while a call waits.

use crate::{ioctl, on_machine, open};
use kfd::uapi::{CreateEventArgs, EVENT_SIGNAL, EventData, SetEventArgs, WaitEventsArgs, request};
use libc::{EINTR, O_CLOEXEC, O_RDWR};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

static HANDLED: AtomicU32 = AtomicU32::new(0);

extern "C" fn handler(_signal: i32) {
    HANDLED.fetch_add(1, Ordering::SeqCst);
}

fn handle(flags: i32) {
    // SAFETY: the handler adds to an atomic.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = flags;
        libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut());
    }
}

/// A thread that waits; signals are sent until one was handled, then `after` is done. What the wait gave, and the time
/// that was left to it.
fn interrupted(
    kfd: i32,
    event: u32,
    timeout: u32,
    after: impl FnOnce(),
) -> (Result<i32, i32>, u32, u32) {
    std::thread::scope(|scope| {
        let (send, receive) = std::sync::mpsc::channel();
        let waiter = scope.spawn(move || {
            // SAFETY: the thread's own id.
            send.send(unsafe { libc::pthread_self() }).unwrap();
            let mut data = EventData::new(event, 0);
            let mut args = WaitEventsArgs {
                events_ptr: (&raw mut data).expose_provenance() as u64,
                num_events: 1,
                timeout,
                ..WaitEventsArgs::default()
            };
            let result = ioctl(kfd, request::WAIT_EVENTS, &mut args);
            (result, args.timeout, args.wait_result)
        });
        let thread = receive.recv().unwrap();
        let before = HANDLED.load(Ordering::SeqCst);
        let start = Instant::now();
        // One that comes before the wait does not interrupt it.
        while HANDLED.load(Ordering::SeqCst) < before + 5 && !waiter.is_finished() {
            assert!(start.elapsed() < Duration::from_secs(20));
            // SAFETY: the thread lives, or is not yet joined.
            unsafe { libc::pthread_kill(thread, libc::SIGUSR1) };
            std::thread::sleep(Duration::from_millis(20));
        }
        after();
        waiter.join().unwrap()
    })
}

fn waits() {
    let kfd = open(c"/dev/kfd", O_RDWR | O_CLOEXEC).unwrap();
    let mut event =
        CreateEventArgs { event_type: EVENT_SIGNAL, auto_reset: 1, ..Default::default() };
    ioctl(kfd, request::CREATE_EVENT, &mut event).unwrap();
    let id = event.event_id;
    let set = || {
        let mut args = SetEventArgs { event_id: id, pad: 0 };
        ioctl(kfd, request::SET_EVENT, &mut args).unwrap();
    };
    handle(0);
    for timeout in [u32::MAX, 60_000] {
        let (result, left, _) = interrupted(kfd, id, timeout, || {});
        assert_eq!(result, Err(EINTR));
        assert!(if timeout == u32::MAX { left == timeout } else { left < timeout && left > 1000 });
    }
    // The wait goes on after the handler. Linux before 5.16 has no call that lets it do so with a time.
    handle(libc::SA_RESTART);
    let (result, _, outcome) = interrupted(kfd, id, u32::MAX, set);
    assert_eq!((result, outcome), (Ok(0), kfd::uapi::WAIT_RESULT_COMPLETE));
    let (result, _, _) = interrupted(kfd, id, 60_000, set);
    assert!(result == Ok(0) || result == Err(EINTR));
}

#[test]
fn signals_interrupt_waits() {
    on_machine("gfx1151", "signals::signals_interrupt_waits", waits);
}
