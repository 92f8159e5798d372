//! Every call of opening and dispatching fails once, in every way: typed errors, nothing left, and the next
//! try works.

use super::{add, check_nothing_left, machine};
use selvedge::{Device, Error};
use selvedge_sim::Machine;
use selvedge_sim::fault::Plan;
use selvedge_sys::Errno;

/// Opens, allocates, loads, launches, waits, and gives everything back, in a process of its own, which
/// then ends. Nothing is left of it.
fn scenario(machine: &Machine, faulty: bool) -> Result<(), Error> {
    let process = machine.process();
    let result = Device::on(process.clone()).and_then(|device| add(&device, 500));
    if !faulty {
        // All that is left is what the KFD keeps for a process: it, its files, its event page.
        let objects = machine.objects();
        assert!(objects.queues == 0 && objects.vms <= 1, "{objects:?}");
        assert!(objects.buffers <= 1 && objects.events <= 1, "{objects:?}");
    }
    // What the kernel would not take back is quarantined, and goes with the process.
    process.exit();
    drop(process);
    check_nothing_left(machine);
    result
}

/// Runs the scenario with the first, second, ... call failing until there are no more calls.
/// Returns how many calls there are and how many failures were errors.
fn fail_each(minor: u32, plan: impl Fn(u64) -> Plan) -> (u64, u64) {
    let machine = machine(minor);
    let mut errors = 0;
    for nth in 1.. {
        machine.set_faults(plan(nth));
        let result = scenario(&machine, true);
        let left = machine.faults_struck() == 0;
        machine.set_faults(Plan::new());
        match result {
            Ok(()) if left => return (nth - 1, errors),
            Ok(()) => {}
            Err(error) => {
                errors += 1;
                assert!(!error.to_string().is_empty());
            }
        }
        scenario(&machine, false)
            .unwrap_or_else(|error| panic!("after failing call {nth}: {error}"));
    }
    unreachable!("the scenario has finitely many calls")
}

#[test]
fn failing_ioctls() {
    for minor in [18, 23] {
        for errno in [Errno::ENOMEM, Errno::EINVAL, Errno::EBUSY] {
            let (calls, errors) = fail_each(minor, |nth| Plan::new().fail_any_ioctl(nth, errno));
            assert!(calls > 30, "{calls} calls");
            assert!(errors > calls / 2, "{errors} errors of {calls} calls");
        }
        // An interrupted call is made again.
        let (calls, errors) = fail_each(minor, |nth| Plan::new().fail_any_ioctl(nth, Errno::EINTR));
        assert!(calls > 30, "{calls} calls");
        assert_eq!(errors, 0, "of {calls} calls");
    }
}

#[test]
fn failing_opens_and_mappings() {
    for errno in [Errno::ENOMEM, Errno::EACCES] {
        let (opens, errors) = fail_each(18, |nth| Plan::new().fail_open(nth, errno));
        assert!(opens >= 2 && errors == opens, "{errors} errors of {opens} opens");
        let (maps, errors) = fail_each(18, |nth| Plan::new().fail_mmap(nth, errno));
        assert!(maps >= 5 && errors == maps, "{errors} errors of {maps} mappings");
    }
}

#[test]
fn lost_interrupts_only_cost_time() {
    let machine = machine(18);
    machine.set_faults(Plan::new().lose_interrupts(1, u64::MAX - 1));
    scenario(&machine, true).unwrap();
}
