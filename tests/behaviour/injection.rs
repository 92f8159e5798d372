//! Every call of opening and dispatching fails once, in every way: typed errors, nothing left, and the next
//! try works.

use super::{LONG, add, check_nothing_left, device_of, launch, load, machine};
use selvedge::{Device, Error};
use selvedge_sim::Machine;
use selvedge_sim::fault::{Node, Plan};
use selvedge_sys::Errno;

/// Opens, allocates, loads, launches, waits, and gives everything back, in a process of its own, which
/// then ends. Nothing is left of it.
fn scenario(machine: &Machine, faulty: bool) -> Result<(), Error> {
    let process = machine.process();
    let result = Device::on(process.clone()).and_then(|device| {
        add(&device, 500)?;
        scratch(&device)
    });
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

/// A kernel that needs scratch, on a stream that had none, and then one that does not.
fn scratch(device: &Device) -> Result<(), Error> {
    let executable = load(device, "scratch")?;
    let word = device.allocate_from(&[3u32; 2048])?;
    let stream = device.stream()?;
    let plain = load(device, "k01_vadd")?;
    let add = || {
        let arguments = [(&word).into(), (&word).into(), (&word).into(), 1u32.into()];
        launch(&stream, &plain, "vadd", (64, 64), &arguments)?.wait(LONG)
    };
    add()?;
    let arguments = [(&word).into(), (&word).into()];
    launch(&stream, &executable, "private_sort", (64, 64), &arguments)?.wait(LONG)?;
    add()
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
    assert!(machine.faults_struck() > 0);
}

/// When Linux keeps a queue, what its work uses stays: the device may go on with it.
#[test]
fn a_queue_that_stays_keeps_what_it_uses() {
    let machine = machine(18);
    let process = machine.process();
    let device = Device::on(process.clone()).unwrap();
    let endless = load(&device, "endless").unwrap();
    let stream = device.stream().unwrap();
    let progress = device.allocate_from(&[0u32; 64]).unwrap();
    launch(&stream, &endless, "endless", (32, 32), &[(&progress).into()]).unwrap();
    let before = machine.objects();
    // DESTROY_QUEUE, number 3.
    machine.set_faults(Plan::new().fail_ioctl(Node::Kfd, 3, 1, Errno::EINVAL));
    drop((stream, endless, progress));
    let after = machine.objects();
    assert_eq!((after.queues, after.buffers), (before.queues, before.buffers));
    assert_eq!(after.gpu_mappings, before.gpu_mappings);
    assert_eq!(device.quarantined(), 1);
    // The device goes on.
    add(&device, 100).unwrap();
    drop(device);
    process.exit();
    drop(process);
    check_nothing_left(&machine);
    super::check_works(&device_of(&machine));
}

/// The same while the stream replaces its queue by one with more scratch: the stream goes on.
#[test]
fn a_stream_survives_a_queue_that_stays() {
    let machine = machine(18);
    let process = machine.process();
    let device = Device::on(process.clone()).unwrap();
    machine.set_faults(Plan::new().fail_ioctl(Node::Kfd, 3, 1, Errno::EINVAL));
    scratch(&device).unwrap();
    assert_eq!((machine.faults_struck(), device.quarantined()), (1, 1));
    drop(device);
    process.exit();
}
