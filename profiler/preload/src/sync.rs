//! Signal context: yes (`try_lock` and `lock_soon` only). A lock for short, rare work outside handlers.

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, Ordering};

use crate::raw;

/// A spin lock. A handler may only try it, since the thread that it interrupted may be the holder.
pub struct Lock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only through a guard, and there is one guard at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

/// Access to the value until dropped.
pub struct Guard<'a, T>(&'a Lock<T>);

impl<T> Lock<T> {
    /// An open lock around a value.
    pub const fn new(value: T) -> Lock<T> {
        Lock { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// The value, if nobody has it.
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        self.taken
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .ok()
            .map(|_| Guard(self))
    }

    /// The value, unless somebody has it for longer than such work takes: then the thread that a handler has interrupted, or one
    /// that has lost its processor.
    pub fn lock_soon(&self) -> Option<Guard<'_, T>> {
        /// Some 50 us.
        const TURNS: usize = 2000;
        (0..TURNS).find_map(|turn| {
            if turn > 0 {
                core::hint::spin_loop();
            }
            self.try_lock()
        })
    }

    /// The value, as soon as nobody has it. Not in handlers.
    pub fn lock(&self) -> Guard<'_, T> {
        loop {
            if let Some(guard) = self.try_lock() {
                return guard;
            }
            raw::sched_yield();
        }
    }

    /// Opens the lock whoever held it.
    ///
    /// # Safety
    /// In the child of a fork only, where the threads that may have held it do not exist.
    pub unsafe fn reset(&self) {
        self.taken.store(false, Ordering::Release);
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard is the only access.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the only access.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.0.taken.store(false, Ordering::Release);
    }
}

/// A value that is set once, before any handler runs, and then only read.
pub struct SetOnce<T> {
    set: AtomicBool,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written once, before `set` is published, and only shared after.
unsafe impl<T: Send + Sync> Sync for SetOnce<T> {}

impl<T> SetOnce<T> {
    /// Not set.
    pub const fn new() -> SetOnce<T> {
        SetOnce { set: AtomicBool::new(false), value: UnsafeCell::new(None) }
    }

    /// Sets the value.
    ///
    /// # Safety
    /// Called at most once, by one thread.
    pub unsafe fn set(&self, value: T) {
        // SAFETY: nobody reads before `set` is published, and by contract nobody else writes.
        unsafe { *self.value.get() = Some(value) };
        self.set.store(true, Ordering::Release);
    }

    /// The value, once it is set.
    pub fn get(&self) -> Option<&T> {
        if !self.set.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: set and never written again.
        unsafe { (*self.value.get()).as_ref() }
    }
}
