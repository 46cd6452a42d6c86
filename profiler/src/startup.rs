//! What the Rust runtime changes before `main`, kept so that the program gets it as we got it.

use std::sync::atomic::{AtomicBool, Ordering};

static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);

/// Runs before the runtime, which sets SIGPIPE to be ignored.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_RUNTIME: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: a C structure for which zero is valid, filled by the call.
    let ignored = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGPIPE, std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    };
    PIPE_IGNORED.store(ignored, Ordering::Relaxed);
}

/// Whether SIGPIPE was ignored when this process began.
pub(crate) fn pipe_was_ignored() -> bool {
    PIPE_IGNORED.load(Ordering::Relaxed)
}
