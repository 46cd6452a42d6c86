//! What the tests share: hand-built tables (`table`), programs for another processor (`cross`), the modules and stacks of this process (`process`), random numbers.
#![allow(dead_code, reason = "every test uses its own part")]

pub mod cross;
pub mod process;
pub mod table;

use std::sync::atomic::AtomicU64;

/// Memory for a cache.
pub fn cache_memory() -> Vec<AtomicU64> {
    (0..unwinder::CACHE_LENGTH).map(|_| AtomicU64::new(0)).collect()
}

/// A seeded sequence of numbers.
pub struct Random(pub u64);

impl Random {
    /// The next one.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 16) ^ (self.0 << 40)
    }

    /// The next one below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        ((self.next() >> 8) % limit as u64) as usize
    }
}
