//! Who this process is. Collected once, before anything is sampled; a forked child is still the same image, so
//! what stands here is also what its own file says.

use core::fmt::Write;

use falloff_format::header::EXTENSION;

use crate::options::{Environment, Options};
use crate::raw;
use crate::sync::SetOnce;
use crate::text::{Text, base_name};

/// Path of a measurement file.
pub type Path = Text<1200>;
/// Longest argument list that is kept, bytes.
const ARGUMENTS_MAX: usize = 16 << 10;

static IDENTITY: SetOnce<Identity> = SetOnce::new();

/// What does not change while an image runs.
pub struct Identity {
    /// Host name.
    pub host: Text<65>,
    /// Kernel release.
    pub kernel: Text<65>,
    /// Path of the executable.
    pub image: Text<1024>,
    /// Working directory at the start.
    pub directory: Text<1024>,
    /// The environment at the start.
    pub environment: Environment,
    /// What was asked.
    pub options: Options,
    arguments: &'static [u8],
}

// SAFETY: the environment's pointers are only read.
unsafe impl Send for Identity {}
// SAFETY: as above.
unsafe impl Sync for Identity {}

/// The identity, once [`collect`] has run.
pub fn get() -> Option<&'static Identity> {
    IDENTITY.get()
}

/// Collects it.
///
/// # Safety
/// Called once, at start-up.
pub unsafe fn collect(environment: Environment, options: Options) {
    let mut identity = Identity {
        host: Text::new(),
        kernel: Text::new(),
        image: Text::new(),
        directory: Text::new(),
        environment,
        options,
        arguments: arguments(),
    };
    if let Some(name) = raw::uname() {
        identity.host.push(until_zero(&name.nodename.map(|c| c as u8)));
        identity.kernel.push(until_zero(&name.release.map(|c| c as u8)));
    }
    let mut path = [0u8; 1024];
    if let Ok(length) = raw::readlink(c"/proc/self/exe", &mut path) {
        identity.image.push(path.get(..length).unwrap_or(&[]));
    }
    if raw::getcwd(&mut path).is_ok() {
        identity.directory.push(until_zero(&path));
    }
    // SAFETY: by contract.
    unsafe { IDENTITY.set(identity) };
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|b| *b == 0).next().unwrap_or(&[])
}

/// The program's arguments with a zero byte between them.
fn arguments() -> &'static [u8] {
    let Some(memory) = raw::map_private(ARGUMENTS_MAX) else { return &[] };
    // SAFETY: freshly mapped, never unmapped, known to nobody else.
    let buffer: &'static mut [u8] = unsafe { core::slice::from_raw_parts_mut(memory, ARGUMENTS_MAX) };
    let Ok(fd) = raw::open(c"/proc/self/cmdline", libc::O_RDONLY, 0) else { return &[] };
    let mut length = 0;
    while let Some(room) = buffer.get_mut(length..).filter(|r| !r.is_empty()) {
        match raw::pread(fd, room, length as u64) {
            Ok(n) if n > 0 => length += n,
            _ => break,
        }
    }
    raw::close(fd);
    let arguments = buffer.get(..length).unwrap_or(&[]);
    arguments.strip_suffix(b"\0").unwrap_or(arguments)
}

impl Identity {
    /// The program's arguments, its name first.
    pub fn arguments(&self) -> impl Iterator<Item = &'static [u8]> {
        self.arguments.split(|b| *b == 0)
    }

    /// `DIRECTORY/rank-host-pid-starttime-image.falloff`. The time keeps apart the images that one process executes
    /// and the processes that one number is given to; the content, not the name, is what readers go by.
    ///
    /// Signal context: yes.
    pub fn measurement_path(&self) -> Path {
        let mut path = Path::new();
        path.push(self.options.directory.as_bytes());
        path.push(b"/");
        match self.options.rank {
            rank if rank >= 0 => {
                let _ = write!(path, "{rank:06}");
            }
            _ => path.push(b"none"),
        }
        path.push(b"-");
        path.push_file_safe(self.host.as_bytes());
        let _ = write!(path, "-{}-{:x}-", raw::getpid(), raw::clock_ns(libc::CLOCK_REALTIME));
        let name = base_name(self.image.as_bytes());
        path.push_file_safe(name.get(..40).unwrap_or(name));
        let _ = write!(path, ".{EXTENSION}");
        path
    }
}
