//! Files without a name.

use std::fs::{File, remove_file};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A file that goes when it is closed: its name is taken away at once.
///
/// # Errors
/// What the system said.
pub(crate) fn scratch(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    remove_file(path)?;
    Ok(file)
}
