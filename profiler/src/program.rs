//! Finds the program and tells whether, and why not, it can be measured.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access, getegid, geteuid, getgid, getuid};

use crate::Error;
use crate::elf::Kind;

const SET_USER_ID: u32 = 0o4000;
const SET_GROUP_ID: u32 = 0o2000;
/// Scripts whose interpreter is a script, as the kernel bounds it.
const SCRIPTS_MAX: usize = 4;

/// A program to run.
#[derive(Debug)]
pub(crate) struct Program {
    /// Why there can be no profile, if there can be none.
    pub(crate) obstacle: Option<String>,
    /// Whether it is statically linked and has no privileges: then it can be sampled from outside.
    pub(crate) is_static: bool,
}

impl Program {
    /// Finds `name` as a shell would.
    pub(crate) fn find(name: &OsStr) -> Result<Program, Error> {
        let path = locate(name).ok_or_else(|| Error::NotFound(name.to_string_lossy().into_owned()))?;
        let executable = fs::metadata(&path).and_then(|m| {
            if m.is_dir() {
                return Err(io::Error::from(io::ErrorKind::IsADirectory));
            }
            access(&path, AccessFlags::X_OK).map_err(io::Error::from)
        });
        executable.map_err(|source| Error::NotExecutable { path: path.clone(), source })?;
        let image = image(path);
        let is_static = privileges(&image).is_none() && matches!(Kind::of(&image), Ok(Kind::Static));
        Ok(Program { obstacle: obstacle(&image), is_static })
    }
}

fn locate(name: &OsStr) -> Option<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|p| p.exists());
    }
    find_program(name)
}

/// Where a program is: itself if its name has a slash, else the first of that name in PATH; an executable file.
pub fn find_program(name: &OsStr) -> Option<PathBuf> {
    let executable = |p: &PathBuf| p.is_file() && access(p, AccessFlags::X_OK).is_ok();
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(executable);
    }
    let places = env::var_os("PATH").unwrap_or_else(|| OsString::from("/bin:/usr/bin"));
    env::split_paths(&places).map(|place| place.join(name)).find(executable)
}

/// What is executed in the end: of a script, its interpreter.
fn image(mut path: PathBuf) -> PathBuf {
    for _ in 0..SCRIPTS_MAX {
        match Kind::of(&path) {
            Ok(Kind::Script(interpreter)) => path = interpreter.into(),
            _ => break,
        }
    }
    path
}

/// Why the loader would not load a preload into this program.
fn obstacle(path: &Path) -> Option<String> {
    let name = path.display();
    if let Some(privilege) = privileges(path) {
        return Some(format!(
            "{name} runs with other privileges ({privilege}), so the loader accepts no preload"
        ));
    }
    match Kind::of(path).ok()? {
        Kind::Static => Some(format!("{name} is statically linked, so no preload can be loaded into it")),
        Kind::Go => Some(format!("{name} is a Go program, whose runtime owns its stacks and signals")),
        Kind::OtherLibrary(loader) => Some(format!(
            "{name} uses another C library ({loader}); falloff measures programs of glibc and musl"
        )),
        Kind::OtherMachine => Some(format!("{name} is built for another machine or word size")),
        Kind::Script(_) | Kind::Dynamic | Kind::Unknown => None,
    }
}

/// Which privileges an executable file gives that this process does not have.
fn privileges(path: &Path) -> Option<&'static str> {
    let metadata = fs::metadata(path).ok()?;
    let mode = metadata.mode();
    if mode & SET_USER_ID != 0 && (metadata.uid() != getuid().as_raw() || getuid() != geteuid()) {
        return Some("set-user-id");
    }
    if mode & SET_GROUP_ID != 0
        && mode & 0o010 != 0
        && (metadata.gid() != getgid().as_raw() || getgid() != getegid())
    {
        return Some("set-group-id");
    }
    if !geteuid().is_root() && has_capabilities(path) {
        return Some("file capabilities");
    }
    None
}

fn has_capabilities(path: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let Ok(path) = std::ffi::CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: two C strings; a null buffer of length 0 asks for the size only.
    unsafe { libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), std::ptr::null_mut(), 0) > 0 }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn programs_are_found_on_the_path() {
        let found = |name: &str| find_program(OsStr::new(name)).is_some();
        assert!(found("sh") && found("/bin/sh"));
        assert!(!found("no-such-program-here") && !found("/"));
    }

    #[test]
    fn finds_and_judges() {
        assert!(Program::find(OsStr::new("sh")).unwrap().obstacle.is_none());
        assert!(matches!(Program::find(OsStr::new("no-such-program")), Err(Error::NotFound(_))));
        assert!(matches!(Program::find(OsStr::new("./no-such-program")), Err(Error::NotFound(_))));
        assert!(matches!(Program::find(OsStr::new("/tmp")), Err(Error::NotExecutable { .. })));
    }

    #[test]
    fn set_user_id_of_somebody_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program");
        fs::copy("/proc/self/exe", &file).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o4755)).unwrap();
        assert_eq!(privileges(&file), None, "one's own");
        if getuid().is_root() {
            std::os::unix::fs::chown(&file, Some(1), None).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o4755)).unwrap();
            assert_eq!(privileges(&file), Some("set-user-id"));
        }
    }
}
