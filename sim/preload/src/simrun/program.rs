//! Whether a program can be on the machine: the dynamic linker has to load the library into it.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What keeps a program off the machine, if anything is known to. Of what is no ELF file, as a script is, nothing is known.
pub(crate) fn obstacle(program: &OsStr) -> Option<&'static str> {
    let path = find(program)?;
    let file = File::open(path).ok()?;
    let about = file.metadata().ok()?;
    const SETUID: u32 = 0o4000;
    let own = std::fs::metadata("/proc/self").ok()?.uid();
    if about.mode() & SETUID != 0 && about.uid() != own {
        // The linker's secure mode (getauxval(3), AT_SECURE).
        return Some("it is setuid, for which libraries are not preloaded");
    }
    (!has_interpreter(&file)?).then_some("it is linked statically")
}

/// Where execvp(3) finds a program.
fn find(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 || path.is_absolute() {
        return Some(path.to_owned());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|path| path.is_file())
}

/// Whether an ELF file of this architecture names a dynamic linker (elf.h, `PT_INTERP`); `None` of another file.
fn has_interpreter(file: &File) -> Option<bool> {
    const X86_64: u16 = 62;
    const INTERPRETER: u32 = 3;
    let mut header = [0; 64];
    file.read_exact_at(&mut header, 0).ok()?;
    let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    // ELFCLASS64 in little endian, and e_machine.
    if !header.starts_with(b"\x7fELF\x02\x01") || half(18) != X86_64 {
        return None;
    }
    let mut start = [0; 8];
    start.copy_from_slice(&header[32..40]);
    let (start, size, count) = (u64::from_le_bytes(start), half(54), half(56));
    for index in 0..u64::from(count) {
        let mut kind = [0; 4];
        let at = start.checked_add(index * u64::from(size))?;
        file.read_exact_at(&mut kind, at).ok()?;
        if u32::from_le_bytes(kind) == INTERPRETER {
            return Some(true);
        }
    }
    Some(false)
}
