//! The machine's sysfs and /dev as a folder.
#![expect(unsafe_code, reason = "mkdtemp")]

use selvedge_sim::Entry;
use std::collections::BTreeMap;
use std::ffi::{CString, OsString};
use std::fs::{Permissions, set_permissions};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Writes the files into a new folder. A device node becomes a file that holds its numbers.
pub(crate) fn write(files: &BTreeMap<String, Entry>) -> io::Result<PathBuf> {
    let tree = folder()?;
    let written = fill(&tree, files);
    if written.is_err() {
        let _ = std::fs::remove_dir_all(&tree);
    }
    written.map(|()| tree)
}

fn folder() -> io::Result<PathBuf> {
    // Without links, because paths are compared with it.
    let template = std::env::temp_dir().canonicalize()?.join("selvedge-machine-XXXXXX");
    let mut template = CString::new(template.into_os_string().into_vec())?.into_bytes_with_nul();
    // SAFETY: a C string that mkdtemp writes into, within its length.
    if unsafe { libc::mkdtemp(template.as_mut_ptr().cast()) }.is_null() {
        return Err(io::Error::last_os_error());
    }
    template.pop();
    let folder = PathBuf::from(OsString::from_vec(template));
    // Programs that give up root are still on the machine.
    set_permissions(&folder, Permissions::from_mode(0o755))?;
    Ok(folder)
}

fn fill(tree: &Path, files: &BTreeMap<String, Entry>) -> io::Result<()> {
    // Parents come first.
    for (path, entry) in files {
        let place = tree.join(path.trim_start_matches('/'));
        match entry {
            Entry::Directory => std::fs::create_dir(&place)?,
            Entry::Link(target) => symlink(target, &place)?,
            Entry::File(text) => {
                std::fs::write(&place, text)?;
                set_permissions(&place, Permissions::from_mode(0o444))?;
            }
            Entry::Device { major, minor } => {
                std::fs::write(&place, format!("{major}:{minor}\n"))?;
                set_permissions(&place, Permissions::from_mode(0o666))?;
            }
        }
    }
    Ok(())
}
