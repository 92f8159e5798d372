//! Fences, flushes and barriers of the runtime, on a machine where a missing one shows.

#![expect(unsafe_code, reason = "loads the repository's own kernels")]

use super::{LONG, device_of, launch, object_for};
use selvedge::{Buffer, Device, Executable, Placement, Stream, Submission};
use selvedge_sim::{Caches, Machine, Ordering};

const GPUS: [&str; 5] = ["gfx1151", "gfx1100", "gfx1201", "gfx90a", "gfx1030"];

fn device(gpu: &str) -> Device {
    let machine = Machine::builder().gpu(gpu).unwrap();
    let machine = machine.caches(Caches::Stale).ordering(Ordering::Adversarial).build().unwrap();
    device_of(&machine)
}

fn load(device: &Device, gpu: &str) -> Executable {
    // SAFETY: the repository's own kernels.
    unsafe { device.load(&object_for(gpu, "k02_saxpy"), "k02_saxpy") }.unwrap()
}

/// y += a x
fn saxpy(stream: &Stream, executable: &Executable, y: &Buffer, a: f32, x: &Buffer) -> Submission {
    let arguments = [y.into(), x.into(), a.into(), 256u32.into()];
    launch(stream, executable, "saxpy", (256, 64), &arguments).unwrap()
}

fn filled(device: &Device, placement: Placement, value: f32) -> Buffer {
    let buffer = device.allocate(1024, placement).unwrap();
    buffer.upload(&[value; 256]).unwrap();
    buffer
}

/// Release: the host sees what kernels wrote. Acquire, and for a card's own memory the flush of the HDP: kernels see
/// what the host wrote after others had read it.
#[test]
fn host_and_kernels_see_each_others_writes() {
    for gpu in GPUS {
        let device = device(gpu);
        let executable = load(&device, gpu);
        let stream = device.stream().unwrap();
        for placement in [Placement::Host, Placement::Device] {
            let (x, y) = (filled(&device, placement, 1.0), filled(&device, placement, 0.0));
            for round in 1..=4 {
                let value = round as f32;
                x.upload(&[value; 256]).unwrap();
                y.upload(&[10.0 * value; 256]).unwrap();
                saxpy(&stream, &executable, &y, 2.0, &x).wait(LONG).unwrap();
                let expected = vec![12.0 * value; 256];
                assert_eq!(y.read::<f32>().unwrap(), expected, "{gpu}, {placement:?}, {round}");
            }
        }
    }
}

/// The barrier bit: a kernel sees what the one before it wrote.
#[test]
fn kernels_of_a_stream_see_what_those_before_them_wrote() {
    for gpu in GPUS {
        let device = device(gpu);
        let executable = load(&device, gpu);
        let stream = device.stream().unwrap();
        for round in 0..8 {
            let place = |value| filled(&device, Placement::Device, value);
            let [x, y, z] = [1.0, 0.0, 0.0].map(place);
            saxpy(&stream, &executable, &y, 2.0, &x);
            saxpy(&stream, &executable, &z, 3.0, &y);
            saxpy(&stream, &executable, &x, 1.0, &z).wait(LONG).unwrap();
            assert_eq!(x.read::<f32>().unwrap(), [7.0; 256], "{gpu}, {round}");
        }
    }
}
