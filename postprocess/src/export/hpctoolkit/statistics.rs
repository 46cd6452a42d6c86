//! Statistics of one value over all parts.

use super::cells::Slot;

/// A statistic from which viewers compute what they show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statistic {
    Min = 0,
    Max = 1,
    Count = 2,
    Squares = 3,
    /// The last: Hatchet takes all that are combined by sums for the sum and keeps the last of them.
    Sum = 4,
}

impl Statistic {
    /// All of them, in the order of their numbers in files.
    pub const ALL: [Statistic; 5] =
        [Statistic::Min, Statistic::Max, Statistic::Count, Statistic::Squares, Statistic::Sum];

    /// What is combined, of a part's value `$$`.
    pub fn formula(self) -> &'static str {
        match self {
            Statistic::Min | Statistic::Max | Statistic::Sum => "$$",
            Statistic::Count => "1",
            Statistic::Squares => "($$^2)",
        }
    }

    /// How it is combined: the format's number and word.
    pub fn combine(self) -> (u8, &'static str) {
        match self {
            Statistic::Sum | Statistic::Count | Statistic::Squares => (0, "sum"),
            Statistic::Min => (1, "min"),
            Statistic::Max => (2, "max"),
        }
    }

    /// Its number in files.
    pub fn id(self, slot: Slot) -> u16 {
        slot.id() * Statistic::ALL.len() as u16 + self as u16
    }
}

/// The statistics of the values of some parts among `parts`; the others have 0. In the order of [`Statistic::ALL`].
///
/// So the mean is over all parts, as everywhere in falloff; hpcprof counts those that have a value.
pub(super) fn of_values(values: impl Iterator<Item = f64>, parts: usize) -> [f64; 5] {
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut squares, mut sum, mut present) = (0.0, 0.0, 0);
    for value in values {
        min = value.min(min);
        max = value.max(max);
        squares += value * value;
        sum += value;
        present += 1;
    }
    if present < parts {
        min = min.min(0.0);
        max = max.max(0.0);
    }
    [min, max, parts as f64, squares, sum]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_parts_have_zero() {
        assert_eq!(of_values([3.0, 1.0].into_iter(), 2), [1.0, 3.0, 2.0, 10.0, 4.0]);
        assert_eq!(of_values([3.0, 1.0].into_iter(), 4), [0.0, 3.0, 4.0, 10.0, 4.0]);
        assert_eq!(of_values([-3.0].into_iter(), 2), [-3.0, 0.0, 2.0, 9.0, -3.0]);
    }
}
