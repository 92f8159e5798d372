//! The machine's sysfs and /dev as a folder.

use crate::environment::BOARD;
use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fs::{DirBuilder, OpenOptions, Permissions, set_permissions};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// The file whose lock every process on the machine holds, by a descriptor that it inherits.
pub(crate) const LOCK: &str = ".lock";

/// A folder that does not exist yet. Without links in its path, because paths are compared with it.
pub(crate) fn unused() -> Result<PathBuf, String> {
    let number = RandomState::new().build_hasher().finish();
    let mut folder = std::env::temp_dir();
    if folder.as_os_str().is_empty() {
        folder.push("/tmp");
    }
    let whole = folder.canonicalize().map_err(|error| {
        format!("the folder for temporary files, {}: {error}", folder.display())
    })?;
    Ok(whole.join(format!("selvedge-machine-{number:016x}")))
}

/// Makes the folder, with the file to lock and the socket of the board's keeper.
pub(crate) fn create(tree: &Path) -> io::Result<UnixListener> {
    // Programs that give up root are still on the machine.
    DirBuilder::new().mode(0o755).create(tree)?;
    OpenOptions::new().write(true).create_new(true).open(tree.join(LOCK))?;
    // Sockets have short addresses, the folder may have a long path.
    let folder = OpenOptions::new().read(true).open(tree)?;
    let folder = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string());
    let listener = UnixListener::bind(folder.join(BOARD))?;
    set_permissions(tree.join(BOARD), Permissions::from_mode(0o666))?;
    Ok(listener)
}

/// The files of the folder that change, as they were last written.
#[derive(Debug, Default)]
pub(crate) struct Changing(BTreeMap<String, String>);

impl Changing {
    /// Writes those that have changed, and removes those that are not there any more, with folders that they leave empty.
    pub(crate) fn write(&mut self, tree: &Path, files: &BTreeMap<String, String>) {
        let place = |path: &str| tree.join(path.trim_start_matches('/'));
        // The folder may be on its way out, and a file of it: who reads finds what there was before.
        for path in self.0.keys().filter(|path| !files.contains_key(*path)) {
            let _ = std::fs::remove_file(place(path));
            let mut folder = path.as_str();
            // The folder of all processes stays.
            while let Some((above, _)) =
                folder.rsplit_once('/').filter(|(above, _)| !above.ends_with("/proc"))
            {
                if std::fs::remove_dir(place(above)).is_err() {
                    break;
                }
                folder = above;
            }
        }
        let before = std::mem::take(&mut self.0);
        for (path, text) in files.iter().filter(|(path, text)| before.get(*path) != Some(*text)) {
            let _ = replace(tree, &place(path), text);
        }
        self.0.clone_from(files);
    }
}

/// Writes a file, which others may be reading, as a whole.
fn replace(tree: &Path, place: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = place.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let new = tree.join(".new");
    std::fs::write(&new, text)?;
    set_permissions(&new, Permissions::from_mode(0o444))?;
    std::fs::rename(&new, place)
}
