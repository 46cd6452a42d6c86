//! Signal context: yes. Who is inside a handler just now, so that what handlers use is freed after they have left.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::raw;
use crate::sync::Lock;

/// Which of the two counters handlers that begin now use.
#[unsafe(link_section = ".data")]
static EPOCH: AtomicU32 = AtomicU32::new(0);
/// Handlers inside, by the parity of the epoch in which they began.
#[unsafe(link_section = ".data")]
static INSIDE: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];
static WAITER: Lock<()> = Lock::new(());

/// While it lives, nothing that [`modules::view`] gave is freed.
pub struct Inside(&'static AtomicU32);

/// Begins a stretch in which the module list may be used.
pub fn enter() -> Inside {
    loop {
        let epoch = EPOCH.load(Ordering::SeqCst);
        let counter = &INSIDE[(epoch & 1) as usize];
        counter.fetch_add(1, Ordering::SeqCst);
        if EPOCH.load(Ordering::SeqCst) == epoch {
            return Inside(counter);
        }
        counter.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits until every handler that is inside now has left. Not in handlers.
pub fn wait_for_all() {
    let _one_at_a_time = WAITER.lock();
    let epoch = EPOCH.fetch_add(1, Ordering::SeqCst);
    while INSIDE[(epoch & 1) as usize].load(Ordering::SeqCst) != 0 {
        raw::sched_yield();
    }
}

/// In the child of a fork: the handlers of other threads are not here.
///
/// # Safety
/// No other thread exists, and the caller is not inside.
pub unsafe fn after_fork() {
    // SAFETY: by contract.
    unsafe { WAITER.reset() };
    INSIDE.iter().for_each(|c| c.store(0, Ordering::SeqCst));
}
