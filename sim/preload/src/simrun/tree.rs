//! The machine's sysfs and /dev as a folder.

use selvedge_sim::Entry;
use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fs::{DirBuilder, OpenOptions, Permissions, set_permissions};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The file whose lock every process on the machine holds, by a descriptor that it inherits.
pub(crate) const LOCK: &str = ".lock";

/// A folder that does not exist yet. Without links in its path, because paths are compared with it.
pub(crate) fn unused() -> io::Result<PathBuf> {
    let number = RandomState::new().build_hasher().finish();
    Ok(std::env::temp_dir().canonicalize()?.join(format!("selvedge-machine-{number:016x}")))
}

/// Makes the folder, with the file to lock and the machine's files. A device node becomes a file that holds its
/// numbers.
pub(crate) fn write(tree: &Path, files: &BTreeMap<String, Entry>) -> io::Result<()> {
    // Programs that give up root are still on the machine.
    DirBuilder::new().mode(0o755).create(tree)?;
    OpenOptions::new().write(true).create_new(true).open(tree.join(LOCK))?;
    fill(tree, files)
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
            Entry::Device { major, minor, mode } => {
                std::fs::write(&place, format!("{major}:{minor}\n"))?;
                set_permissions(&place, Permissions::from_mode(*mode))?;
            }
        }
    }
    Ok(())
}
