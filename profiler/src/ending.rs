//! How the program ended, to be passed on.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, raise, sigprocmask};

/// The program's ending and what falloff has to say of it.
#[derive(Debug)]
pub struct Ending {
    /// As the system told it.
    pub status: ExitStatus,
    /// At most one line for standard error.
    pub message: Option<String>,
}

impl Ending {
    /// Ends this process as the program ended: with its exit code, or by the signal that killed it. A core that the
    /// program left stays the only one.
    pub fn leave(self) -> ! {
        let Some(number) = self.status.signal() else {
            std::process::exit(self.status.code().unwrap_or(70));
        };
        if let Ok(signal) = Signal::try_from(number) {
            let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
            // SAFETY: the default action, no handler of ours.
            let _ = unsafe { nix::sys::signal::signal(signal, SigHandler::SigDfl) };
            let _ = sigprocmask(SigmaskHow::SIG_UNBLOCK, Some(&SigSet::from(signal)), None);
            let _ = raise(signal);
        } else {
            // A real-time signal, which nix does not name.
            // SAFETY: as above, by number.
            unsafe {
                libc::signal(number, libc::SIG_DFL);
                libc::raise(number);
            }
        }
        std::process::exit(128 + number)
    }
}
