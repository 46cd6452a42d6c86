//! The user's wish to stop.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Remembers the last signal that asked this process to end, instead of ending it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(pub(super) Arc<AtomicUsize>);

impl Interrupt {
    /// Catches SIGINT, SIGTERM and SIGHUP from now on.
    pub fn catch() -> io::Result<Interrupt> {
        let interrupt = Interrupt::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register_usize(signal, interrupt.0.clone(), signal as usize)?;
        }
        Ok(interrupt)
    }

    /// The signal that came, if one did.
    pub fn signal(&self) -> Option<i32> {
        match self.0.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal as i32),
        }
    }
}
