//! How an amount of time is spread over places and participants.

use std::ops::Range;

/// Seconds of each participant at each place, kept where there are any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    participants: usize,
    /// (place, participant, seconds), in order.
    entries: Vec<(u32, u32, f64)>,
}

impl Spread {
    /// From amounts in any order, of `participants` in all; those of one place and participant are added up.
    ///
    /// ```
    /// use falloff_workflow::causes::Spread;
    /// let spread = Spread::new(3, vec![(7, 2, 1.0), (4, 0, 0.5), (7, 2, 2.0)]);
    /// assert_eq!(spread.at(7), [0.0, 0.0, 3.0]);
    /// assert_eq!(spread.within(4..8), [0.5, 0.0, 3.0]);
    /// ```
    pub fn new(participants: usize, mut entries: Vec<(u32, u32, f64)>) -> Spread {
        entries.sort_by_key(|(place, participant, _)| (*place, *participant));
        entries.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        Spread { participants, entries }
    }

    /// The mean of several; one who is missing in some counts as zero there.
    pub fn mean(spreads: &[&Spread]) -> Spread {
        let share = 1.0 / spreads.len().max(1) as f64;
        let entries = spreads.iter().flat_map(|s| s.entries.iter().map(|(p, r, t)| (*p, *r, t * share)));
        let participants = spreads.iter().map(|s| s.participants).max().unwrap_or(0);
        Spread::new(participants, entries.collect())
    }

    /// How many take part.
    pub fn participants(&self) -> usize {
        self.participants
    }

    /// Places that have an entry, each once, in order.
    pub fn places(&self) -> impl Iterator<Item = u32> + '_ {
        self.places_within(0..u32::MAX)
    }

    /// Places of a range that have an entry, each once, in order.
    pub fn places_within(&self, places: Range<u32>) -> impl Iterator<Item = u32> + '_ {
        self.entries_within(places).chunk_by(|a, b| a.0 == b.0).map(|chunk| chunk[0].0)
    }

    /// Seconds of every participant at a place.
    pub fn at(&self, place: u32) -> Vec<f64> {
        self.within(place..place + 1)
    }

    /// Seconds of every participant at the places of a range.
    pub fn within(&self, places: Range<u32>) -> Vec<f64> {
        let mut sums = vec![0.0; self.participants];
        self.entries_within(places).iter().for_each(|(_, participant, seconds)| {
            sums[*participant as usize] += seconds;
        });
        sums
    }

    /// Whether each participant has an entry at the places of a range, a zero too.
    pub fn present(&self, places: Range<u32>) -> Vec<bool> {
        let mut present = vec![false; self.participants];
        self.entries_within(places).iter().for_each(|(_, participant, _)| {
            present[*participant as usize] = true;
        });
        present
    }

    fn entries_within(&self, places: Range<u32>) -> &[(u32, u32, f64)] {
        let from = self.entries.partition_point(|(place, ..)| *place < places.start);
        let to = self.entries.partition_point(|(place, ..)| *place < places.end);
        &self.entries[from..to.max(from)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_take_the_missing_as_zero() {
        let one = Spread::new(1, vec![(3, 0, 2.0)]);
        let two = Spread::new(2, vec![(3, 1, 1.0), (9, 1, 0.0)]);
        let mean = Spread::mean(&[&one, &two]);
        assert_eq!((mean.participants(), mean.at(3)), (2, vec![1.0, 0.5]));
        assert_eq!(mean.places().collect::<Vec<_>>(), [3, 9]);
        assert_eq!(mean.present(4..10), [false, true]);
        assert_eq!(Spread::mean(&[]), Spread::default());
    }
}
