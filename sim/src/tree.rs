//! A machine's sysfs and /dev as a folder.

use crate::abi::Entry;
use crate::machine::Machine;
use std::fs::{Permissions, set_permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

impl Machine {
    /// Writes what the machine has in sysfs and /dev below an empty folder: files, directories and relative links, so that
    /// programs which take another root than `/` find them. A device node becomes a file that holds its numbers, with its
    /// permissions.
    ///
    /// # Errors
    /// What the host says of the folder.
    pub fn write_files(&self, folder: &Path) -> io::Result<()> {
        // Parents come first.
        for (path, entry) in self.files() {
            let place = folder.join(path.trim_start_matches('/'));
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
}
