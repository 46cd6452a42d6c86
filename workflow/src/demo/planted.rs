//! How much work the demonstration does in each part: the closed form that its measurement is judged by.

use crate::scoring::excess;

/// Iterations of the work loop in one unit of work.
pub const UNIT: u64 = 800_000;
/// Steps that the program goes through. Every step does an equal share of every part.
pub const STEPS: u64 = 4;

/// Units of the part that is shared out evenly.
pub const SHARED: u64 = 480;
/// Units that every process does for itself.
pub const REPLICATED: u64 = 80;
/// Units that rank 0 does alone while the others wait.
pub const SERIAL: u64 = 120;
/// Units that every process spends for each of the other processes.
pub const REDUCTION: u64 = 36;
/// Units that are shared out unevenly: rank r gets a part in proportion to r + 1.
pub const UNEVEN: u64 = 240;
/// Units that every process spends on the data of each of its two neighbours, if it has any.
pub const EXCHANGE: u64 = 24;

/// A part of the demonstration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Perfectly shared work.
    Shared,
    /// Replicated work.
    Replicated,
    /// A serial section on one rank.
    Serial,
    /// A reduction whose work grows with the process count.
    Reduction,
    /// Unevenly shared work.
    Uneven,
    /// Exchange with the neighbours.
    Exchange,
}

impl Part {
    /// All parts in the order of a step.
    pub const ALL: [Part; 6] =
        [Part::Shared, Part::Replicated, Part::Serial, Part::Uneven, Part::Exchange, Part::Reduction];

    /// The function that does the work, without its module path.
    pub fn function(self) -> &'static str {
        match self {
            Part::Shared => "update_own_cells",
            Part::Replicated => "rebuild_whole_table",
            Part::Serial => "serial_output",
            Part::Reduction => "gather_all_sums",
            Part::Uneven => "refine_uneven_region",
            Part::Exchange => "exchange_borders",
        }
    }

    /// What was planted.
    pub fn description(self) -> &'static str {
        match self {
            Part::Shared => "shared evenly",
            Part::Replicated => "replicated on every process",
            Part::Serial => "serial, on rank 0 alone",
            Part::Reduction => "reduction, grows with n",
            Part::Uneven => "shared unevenly",
            Part::Exchange => "exchange, new from 2 on",
        }
    }

    /// Iterations that a rank of `size` does in all steps together.
    pub fn iterations(self, rank: u64, size: u64) -> u64 {
        match self {
            Part::Shared => share(SHARED * UNIT, rank, size),
            Part::Replicated => REPLICATED * UNIT,
            Part::Serial if rank == 0 => SERIAL * UNIT,
            Part::Serial => 0,
            Part::Reduction => REDUCTION * UNIT * (size - 1),
            Part::Uneven => {
                // The sum of 1..=size parts, of which rank r gets those after the first 1 + … + r.
                let (all, before) = (size * (size + 1) / 2, rank * (rank + 1) / 2);
                let total = UNEVEN * UNIT;
                total * (before + rank + 1) / all - total * before / all
            }
            Part::Exchange if size > 1 => 2 * EXCHANGE * UNIT,
            Part::Exchange => 0,
        }
    }

    /// Iterations of all ranks.
    ///
    /// ```
    /// use falloff_workflow::demo::planted::{Part, REDUCTION, UNIT};
    /// assert_eq!(Part::Reduction.work(4), 12 * REDUCTION * UNIT);
    /// ```
    pub fn work(self, size: u64) -> u64 {
        (0..size).map(|rank| self.iterations(rank, size)).sum()
    }

    /// Excess work at `size` against one process, as a fraction of all work at `size`.
    pub fn excess(self, size: u64) -> f64 {
        excess(self.work(size) as f64, 1.0, self.work(1) as f64, total_work(size) as f64)
    }

    /// Largest over mean work of the ranks; `None` if there is none.
    pub fn max_over_mean(self, size: u64) -> Option<f64> {
        let most = (0..size).map(|rank| self.iterations(rank, size)).max()?;
        let work = self.work(size);
        (work > 0).then(|| most as f64 * size as f64 / work as f64)
    }
}

/// Iterations of all parts and ranks.
pub fn total_work(size: u64) -> u64 {
    Part::ALL.iter().map(|part| part.work(size)).sum()
}

/// Excess work of the whole program at `size` against one process.
pub fn total_excess(size: u64) -> f64 {
    excess(total_work(size) as f64, 1.0, total_work(1) as f64, total_work(size) as f64)
}

/// The part of `total` that belongs to one of `size`, so that all parts add up to it.
pub(super) fn share(total: u64, index: u64, size: u64) -> u64 {
    total * (index + 1) / size - total * index / size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_what_the_constants_say() {
        for size in [1, 2, 3, 4, 7, 16] {
            assert_eq!(Part::Shared.work(size), SHARED * UNIT);
            assert_eq!(Part::Uneven.work(size), UNEVEN * UNIT);
            assert_eq!(Part::Serial.work(size), SERIAL * UNIT);
            assert_eq!(Part::Replicated.work(size), size * REPLICATED * UNIT);
        }
        assert_eq!(Part::Exchange.work(1), 0);
        assert_eq!(Part::Exchange.work(4), 8 * EXCHANGE * UNIT);
    }

    #[test]
    fn parts_sum_to_the_whole() {
        for size in [1, 2, 4, 8] {
            let parts: f64 = Part::ALL.iter().map(|p| p.excess(size)).sum();
            assert!((parts - total_excess(size)).abs() < 1e-12);
        }
        assert_eq!(total_excess(1), 0.0);
    }

    #[test]
    fn imbalance_is_as_planted() {
        assert_eq!(Part::Serial.max_over_mean(4), Some(4.0));
        assert!((Part::Uneven.max_over_mean(4).unwrap() - 1.6).abs() < 1e-6);
        assert_eq!(Part::Exchange.max_over_mean(1), None);
    }
}
