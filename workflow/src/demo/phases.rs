//! The parts of a step. Each is one function that is never inlined, with its own work in its own code, so that
//! a profile shows it by its name.

use std::sync::atomic::Ordering::Relaxed;

use super::planted::{Part, STEPS, share};
use super::shared::{SLOT_WORDS, Shared};

/// Goes through the work loop `$iterations` times in the code of the function where it stands.
///
/// Each turn needs the result of the one before, so its time is the latency of a multiplication, an addition and
/// a shift, whatever else the core does. Only 32 bits are multiplied, so nothing overflows in any build. Debug
/// information has the line where it stands, so that lines tell the parts apart as names do.
#[collapse_debuginfo(yes)]
macro_rules! work {
    ($seed:expr, $iterations:expr, $mix:expr) => {{
        let mut value: u64 = $seed;
        let mut turn: u64 = 0;
        while turn < $iterations {
            value = (value & 0xffff_ffff) * 0x9e37_79b1 + $mix;
            value ^= value >> 29;
            turn += 1;
        }
        value
    }};
}

/// One process's way through the steps.
pub(super) struct Process<'a> {
    pub shared: &'a Shared,
    pub rank: u64,
    pub size: u64,
    pub step: u64,
}

impl Process<'_> {
    /// This step's part of the iterations of `part`.
    fn iterations(&self, part: Part) -> u64 {
        share(part.iterations(self.rank, self.size), self.step, STEPS)
    }

    /// Work that gets smaller with more processes: it scales.
    #[inline(never)]
    pub fn update_own_cells(&self) -> u64 {
        let iterations = self.iterations(Part::Shared);
        work!(self.step + 1, iterations, 11)
    }

    /// Work that every process repeats.
    #[inline(never)]
    pub fn rebuild_whole_table(&self) -> u64 {
        let iterations = self.iterations(Part::Replicated);
        work!(self.step + 2, iterations, 23)
    }

    /// Work of one process while the others wait at the next barrier.
    #[inline(never)]
    pub fn serial_output(&self) -> u64 {
        let iterations = self.iterations(Part::Serial);
        work!(self.step + 3, iterations, 37)
    }

    /// Work that is not the same for all.
    #[inline(never)]
    pub fn refine_uneven_region(&self) -> u64 {
        let iterations = self.iterations(Part::Uneven);
        work!(self.step + 4, iterations, 53)
    }

    /// Reads the border data of both neighbours and works on it.
    #[inline(never)]
    pub fn exchange_borders(&self) -> u64 {
        if self.size == 1 {
            return 0;
        }
        let iterations = self.iterations(Part::Exchange) / 2;
        let mut sum = 0;
        for neighbour in [(self.rank + 1) % self.size, (self.rank + self.size - 1) % self.size] {
            let words = self.shared.slot(neighbour);
            let first = words.iter().fold(0u64, |all, word| all.wrapping_add(word.load(Relaxed)));
            sum ^= work!(first, iterations, 71);
        }
        sum
    }

    /// Adds up what all processes have found, in every process, and works on each other's part.
    #[inline(never)]
    pub fn gather_all_sums(&self) -> u64 {
        let iterations = self.iterations(Part::Reduction) / (self.size - 1).max(1);
        let mut sum = self.shared.sum(self.rank).load(Relaxed);
        let mut kept = 0;
        for other in (0..self.size).filter(|other| *other != self.rank) {
            let theirs = self.shared.sum(other).load(Relaxed);
            sum = sum.wrapping_add(theirs);
            kept ^= work!(theirs, iterations, 97);
        }
        std::hint::black_box(kept);
        sum
    }

    /// Puts this process's border where its neighbours read it, and its sum of the cells it owns.
    pub fn publish(&self, cells: u64) {
        for (index, word) in self.shared.slot(self.rank).iter().enumerate() {
            word.store(border_word(self.rank, self.step, index as u64), Relaxed);
        }
        let first = share_start(cells, self.rank, self.size);
        let end = share_start(cells, self.rank + 1, self.size);
        // The sum of the numbers of its cells, so that the total does not depend on the process count.
        self.shared.sum(self.rank).store((first..end).sum(), Relaxed);
    }

    /// Whether the neighbours' borders hold what they should at this step.
    pub fn borders_are_right(&self) -> bool {
        [(self.rank + 1) % self.size, (self.rank + self.size - 1) % self.size].iter().all(|neighbour| {
            let words = self.shared.slot(*neighbour).iter().enumerate();
            words
                .take(SLOT_WORDS)
                .all(|(i, w)| w.load(Relaxed) == border_word(*neighbour, self.step, i as u64))
        })
    }
}

fn border_word(rank: u64, step: u64, index: u64) -> u64 {
    (rank << 40) | (step << 20) | index
}

fn share_start(total: u64, index: u64, size: u64) -> u64 {
    total * index / size
}
