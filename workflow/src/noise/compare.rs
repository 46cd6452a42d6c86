//! Which of two signatures is noisier, and whether that can be told.

use serde::Serialize;

use super::signature::{RankNoise, Signature};
use crate::scoring::{Repeated, Uncertainty, q_values};

const SCHEMA: &str = "falloff.noise-comparison";
const VERSION: u32 = 1;
/// Share of false findings among what is called different.
const Q_MAX: f64 = 0.05;
/// Sizes of messages that are compared: their start, one that is copied, their bytes.
const SIZES: [u64; 3] = [8, 4 << 10, 1 << 20];

/// A quantity in two signatures. All are such that more is worse.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// What it is.
    pub quantity: String,
    /// Its unit: `%` (of the time), `/s` or `ns`.
    pub unit: &'static str,
    /// Its mean in the first.
    pub first: f64,
    /// Its mean in the second.
    pub second: f64,
    /// Second less first.
    pub difference: f64,
    /// Half width of the 95 % interval of the difference.
    pub difference_half_width: f64,
    /// How often a difference of this size or larger would be seen if there were none.
    pub p_value: f64,
    /// Share of false findings among all that are as sure as this one.
    pub q_value: f64,
}

impl Change {
    /// The means of the parts of two measurements, by Welch's test.
    fn of(quantity: String, unit: &'static str, first: &[f64], second: &[f64]) -> Option<Change> {
        if first.len() < 2 || second.len() < 2 {
            return None;
        }
        // Clocks are read, nothing is sampled.
        let [base, at] = [first, second].map(|values| Repeated::new(values, 0.0, 0.0));
        let unsure = Uncertainty::of(&base, &at, 1.0);
        let difference = at.mean - base.mean;
        let p_value = unsure.p_value(difference);
        Some(Change {
            quantity,
            unit,
            first: base.mean,
            second: at.mean,
            difference,
            difference_half_width: unsure.half_width(),
            p_value,
            q_value: p_value,
        })
    }

    /// Which of the two has more of it.
    pub fn verdict(&self) -> Verdict {
        match self.q_value < Q_MAX {
            true if self.difference > 0.0 => Verdict::Second,
            true => Verdict::First,
            false => Verdict::Neither,
        }
    }
}

/// Which of two has more of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The first.
    First,
    /// The second.
    Second,
    /// The difference is no larger than chance explains.
    Neither,
}

/// Two signatures beside each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    schema: &'static str,
    version: u32,
    /// Which one loses more time to detours.
    pub noisier: Verdict,
    /// Quantities that both have, that which decides first.
    pub changes: Vec<Change>,
}

impl Comparison {
    /// Compares.
    pub fn new(first: &Signature, second: &Signature) -> Comparison {
        type Batches = fn(&RankNoise) -> &[f64];
        let noise: [(&str, &str, Batches); 4] = [
            ("time lost to detours", "%", |rank| &rank.detours.batch_lost_percent),
            ("detours a second", "/s", |rank| &rank.detours.batch_rate_hz),
            ("time lost of fixed work", "%", |rank| &rank.fixed_work.batch_lost_percent),
            ("work lost of fixed time", "%", |rank| &rank.fixed_time.batch_lost_percent),
        ];
        let mut changes: Vec<Change> = noise
            .into_iter()
            .filter_map(|(quantity, unit, batches)| {
                let all =
                    |of: &Signature| of.ranks.iter().flat_map(|r| batches(r).to_vec()).collect::<Vec<_>>();
                Change::of(quantity.to_owned(), unit, &all(first), &all(second))
            })
            .collect();
        changes.extend(messages(first, second));
        let p_values: Vec<f64> = changes.iter().map(|change| change.p_value).collect();
        changes.iter_mut().zip(q_values(&p_values)).for_each(|(change, q)| change.q_value = q);
        let noisier = changes.first().map_or(Verdict::Neither, Change::verdict);
        Comparison { schema: SCHEMA, version: VERSION, noisier, changes }
    }

    /// The document.
    ///
    /// # Errors
    /// A number cannot be written.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

/// Times of messages between the pairs of ranks that both have.
fn messages(first: &Signature, second: &Signature) -> Vec<Change> {
    let Some((one, other)) = first.messages.as_ref().zip(second.messages.as_ref()) else { return Vec::new() };
    let mut changes = Vec::new();
    for pair in &one.pairs {
        let Some(beside) = other.pairs.iter().find(|p| p.ranks == pair.ranks) else { continue };
        for bytes in SIZES {
            let both = pair.at(bytes).zip(beside.at(bytes));
            changes.extend(both.and_then(|(a, b)| {
                let quantity =
                    format!("one-way time of {bytes} bytes, ranks {} and {}", pair.ranks[0], pair.ranks[1]);
                Change::of(quantity, "ns", &a.batch_one_way_ns, &b.batch_one_way_ns)
            }));
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::signature::tests::planted;

    #[test]
    fn the_noisier_is_named_by_how_much() {
        let (quiet, noisy) = (planted(1, 1.0), planted(1, 10.0));
        let found = Comparison::new(&quiet, &noisy);
        assert_eq!((found.noisier, found.changes.len()), (Verdict::Second, 4));
        let lost = &found.changes[0];
        assert!((lost.difference - 9.0).abs() < 1e-9, "{lost:?}");
        assert!(lost.difference_half_width < 0.5 && lost.p_value < 1e-6, "{lost:?}");
        let turned = Comparison::new(&noisy, &quiet);
        assert_eq!(turned.noisier, Verdict::First);
        assert_eq!(turned.changes[0].difference, -lost.difference);
    }

    #[test]
    fn what_chance_explains_is_no_difference() {
        let found = Comparison::new(&planted(2, 5.0), &planted(2, 5.05));
        assert_eq!(found.noisier, Verdict::Neither);
        // Scatter of messages is much smaller, and 0.05 % more time is seen in none of them.
        assert_eq!(found.changes.len(), 7);
        let same = planted(1, 3.0);
        let found = Comparison::new(&same, &same);
        assert!(
            found.changes.iter().all(|c| c.verdict() == Verdict::Neither && c.difference == 0.0),
            "{found:?}"
        );
    }

    #[test]
    fn messages_are_compared_where_both_have_them() {
        let found = Comparison::new(&planted(2, 1.0), &planted(2, 20.0));
        let slower: Vec<_> = found.changes.iter().filter(|c| c.unit == "ns").map(Change::verdict).collect();
        assert_eq!(slower, [Verdict::Second; 3]);
        assert_eq!(Comparison::new(&planted(2, 1.0), &planted(1, 1.0)).changes.len(), 4);
    }
}
