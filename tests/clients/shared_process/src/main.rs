//! This project's runtime and AMD's in one process, under `simrun` or on hardware.
//!
//! ```text
//! shared_process ours|theirs CLIENT CLIENT_CODE OUR_CODE
//! ```
//! The first argument says who comes first. CLIENT is `tests/clients/hsa/vector_add.c` as a shared object whose `main` is
//! called `client`; it is linked against AMD's runtime, which so is loaded by dlopen(3). Each side computes when it
//! comes, and once more when the other is there. A line tells how each of these went; status 1 means that a side which had
//! started was wrong or failed, not that one was turned away; 2, that the arguments are wrong.
#![expect(unsafe_code, reason = "dlopen, and device code")]

use selvedge::{Device, Error, Geometry};
use std::ffi::{CStr, CString, OsString, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;
use std::time::Duration;

const ELEMENTS: u32 = 4096;

/// A C program's main.
type Client = unsafe extern "C" fn(c_int, *mut *mut c_char) -> c_int;

/// AMD's runtime, held open, and the program that computes on it.
struct Theirs {
    client: Client,
    code: CString,
}

/// What dlerror(3) says.
fn loader_error() -> String {
    // SAFETY: a C string, or null.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "no reason is told".to_owned();
    }
    // SAFETY: a C string, until the next call of the loader.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

fn symbol(library: *mut c_void, name: &CStr) -> Result<*mut c_void, String> {
    // SAFETY: the library is loaded and stays so.
    let symbol = unsafe { libc::dlsym(library, name.as_ptr()) };
    if symbol.is_null() { Err(loader_error()) } else { Ok(symbol) }
}

impl Theirs {
    /// Loads AMD's runtime and starts it. It stays until the process ends.
    fn start(client: &CStr, code: &CStr) -> Result<Theirs, String> {
        // SAFETY: runs the library's initialisers.
        let library = unsafe { libc::dlopen(client.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if library.is_null() {
            return Err(loader_error());
        }
        // SAFETY: hsa.h: hsa_status_t hsa_init(void).
        let init = unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_uint>(symbol(
                library,
                c"hsa_init",
            )?)
        };
        // SAFETY: as declared.
        match unsafe { init() } {
            0 => {}
            status => return Err(format!("hsa_init: {status:#x}")),
        }
        // SAFETY: it is the C program's main.
        let client =
            unsafe { std::mem::transmute::<*mut c_void, Client>(symbol(library, c"client")?) };
        Ok(Theirs { client, code: code.to_owned() })
    }

    fn compute(&self) -> Result<u32, String> {
        let (mut name, mut code) = (*b"client\0", self.code.clone().into_bytes_with_nul());
        let mut arguments =
            [name.as_mut_ptr().cast(), code.as_mut_ptr().cast(), std::ptr::null_mut()];
        // SAFETY: arguments as main has them.
        match unsafe { (self.client)(2, arguments.as_mut_ptr()) } {
            0 => Ok(0),
            status => Err(format!("status {status}")),
        }
    }
}

struct Ours {
    device: Device,
    code: Vec<u8>,
}

impl Ours {
    fn start(code: &str) -> Result<Ours, String> {
        let code = std::fs::read(code).map_err(|error| format!("{code}: {error}"))?;
        let device = Device::open(0).map_err(told)?;
        Ok(Ours { device, code })
    }

    /// How many elements are wrong.
    fn compute(&self) -> Result<u32, String> {
        self.add().map_err(told)
    }

    fn add(&self) -> Result<u32, Error> {
        let device = &self.device;
        // SAFETY: the code is this repository's own; it writes `c[0..n]` and nothing else.
        let executable = unsafe { device.load(&self.code, "vector_add.hsaco")? };
        let kernel = executable.kernel("vector_add")?;
        let a: Vec<f32> = (0..ELEMENTS).map(|i| i as f32).collect();
        let b: Vec<f32> = (0..ELEMENTS).map(|i| 7.0 * i as f32).collect();
        let (da, db) = (device.allocate_from(&a)?, device.allocate_from(&b)?);
        let dc = device.allocate_from(&vec![f32::NAN; ELEMENTS as usize])?;
        let stream = device.stream()?;
        let geometry = Geometry::linear(ELEMENTS.into(), 256)?;
        let arguments = [(&da).into(), (&db).into(), (&dc).into(), ELEMENTS.into()];
        // SAFETY: the buffers have ELEMENTS elements each and nothing else uses them.
        let submission = unsafe { stream.dispatch(&kernel, &geometry, &arguments)? };
        submission.wait(Duration::from_secs(60))?;
        let c: Vec<f32> = dc.read()?;
        let wrong = c.iter().zip(0..).filter(|&(&c, i)| c != 8.0 * i as f32).count();
        Ok(wrong as u32)
    }
}

/// An error and its causes.
fn told(error: impl std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

/// Has a side compute, and prints how that went; whether it was right, or the side had been turned away.
fn tell<T>(
    who: &str,
    when: &str,
    side: &Result<T, String>,
    compute: fn(&T) -> Result<u32, String>,
) -> bool {
    match side.as_ref().map(compute) {
        Ok(Ok(wrong)) => {
            println!("{who}, {when}: {wrong} wrong");
            wrong == 0
        }
        Ok(Err(error)) => {
            println!("{who}, {when}: error: {error}");
            false
        }
        Err(error) => {
            println!("{who}, {when}: error: {error}");
            true
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let Ok([order, client, client_code, our_code]) = <[OsString; 4]>::try_from(arguments) else {
        eprintln!("usage: shared_process ours|theirs CLIENT CLIENT_CODE OUR_CODE");
        return ExitCode::from(2);
    };
    if order != "ours" && order != "theirs" {
        eprintln!("shared_process: {order:?} is not ours or theirs");
        return ExitCode::from(2);
    }
    let c_string = |text: OsString| CString::new(text.into_vec()).unwrap_or_default();
    let (client, client_code) = (c_string(client), c_string(client_code));
    let our_code = our_code.to_string_lossy().into_owned();
    let theirs = || Theirs::start(&client, &client_code);
    let ours = || Ours::start(&our_code);
    let (first, second) = ("first", "second");
    let mut right = true;
    let (ours, theirs) = if order == "ours" {
        let ours = ours();
        right &= tell("ours", first, &ours, Ours::compute);
        (ours, theirs())
    } else {
        let theirs = theirs();
        right &= tell("theirs", first, &theirs, Theirs::compute);
        (ours(), theirs)
    };
    for who in if order == "ours" { ["theirs", "ours"] } else { ["ours", "theirs"] } {
        let when = if who == order { "again" } else { second };
        right &= match who {
            "ours" => tell(who, when, &ours, Ours::compute),
            _ => tell(who, when, &theirs, Theirs::compute),
        };
    }
    ExitCode::from(u8::from(!right))
}
