//! From perfect scaling to what was measured, step by step.

use super::efficiency::Efficiencies;

/// What a step of the waterfall is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// How evenly the work is spread.
    LoadBalance,
    /// How much of the time of the one who has most work is work.
    Communication,
    /// The part of that which waiting for others makes.
    Serialisation,
    /// The part of that which the network makes.
    Transfer,
    /// How much of the work was needed at the base.
    Computational,
    /// The part of that which more instructions make.
    Instructions,
    /// The part of that which fewer instructions per cycle make.
    PerCycle,
    /// The part of that which the processors' frequency makes.
    Frequency,
}

impl Factor {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Factor::LoadBalance => "load_balance",
            Factor::Communication => "communication",
            Factor::Serialisation => "serialisation",
            Factor::Transfer => "transfer",
            Factor::Computational => "computational",
            Factor::Instructions => "instructions",
            Factor::PerCycle => "instructions_per_cycle",
            Factor::Frequency => "frequency",
        }
    }

    /// What reports call it.
    pub fn title(self) -> &'static str {
        match self {
            Factor::LoadBalance => "load balance",
            Factor::Communication => "communication efficiency",
            Factor::Serialisation => "serialisation efficiency",
            Factor::Transfer => "transfer efficiency",
            Factor::Computational => "computational scaling",
            Factor::Instructions => "instructions",
            Factor::PerCycle => "instructions per cycle",
            Factor::Frequency => "frequency",
        }
    }
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// What it is about.
    pub factor: Factor,
    /// By which the efficiency is multiplied.
    pub ratio: f64,
    /// What that makes in the order of the steps, as a fraction of perfect scaling. All of them sum to the work efficiency
    /// less 1.
    pub change: f64,
    /// Efficiency after the step.
    pub left: f64,
}

/// The steps from perfect scaling of the base to the work efficiency 1 − X at the compared scale.
///
/// 1 − X = (load balance_q / load balance_p) · (communication_q / communication_p) · computational scaling, communication in its two
/// parts where both scales have them, computational scaling in its three parts where they were counted. Each step multiplies what the
/// steps before it left.
///
/// Load balance falls from 1 to 0.625, communication from 1 to 0.8, and 0.9 of the work was needed:
///
/// ```
/// use falloff_workflow::causes::{Useful, efficiencies, waterfall};
/// let base = Useful { useful: vec![18.0], whole: 18.0, counters: None };
/// let at = Useful { useful: vec![8.0, 6.0, 4.0, 2.0], whole: 40.0, counters: None };
/// let steps = waterfall(&efficiencies(&base, &base, 1.0).unwrap(), &efficiencies(&base, &at, 1.0).unwrap());
/// let left: Vec<f64> = steps.iter().map(|step| step.left).collect();
/// assert!((left[0] - 0.625).abs() < 1e-12 && (left[1] - 0.5).abs() < 1e-12 && (left[2] - 0.45).abs() < 1e-12);
/// ```
pub fn waterfall(base: &Efficiencies, at: &Efficiencies) -> Vec<Step> {
    let mut factors = vec![(Factor::LoadBalance, at.load_balance / base.load_balance)];
    match (base.network, at.network) {
        (Some(base), Some(at)) => factors.extend([
            (Factor::Serialisation, at.serialisation / base.serialisation),
            (Factor::Transfer, at.transfer / base.transfer),
        ]),
        _ => factors.push((Factor::Communication, at.communication / base.communication)),
    }
    match at.counted {
        None => factors.push((Factor::Computational, at.computational)),
        Some(counted) => factors.extend([
            (Factor::Instructions, counted.instructions),
            (Factor::PerCycle, counted.per_cycle),
            (Factor::Frequency, counted.frequency),
        ]),
    }
    let mut left = 1.0;
    factors
        .into_iter()
        .map(|(factor, ratio)| {
            let before = left;
            left *= ratio;
            Step { factor, ratio, change: left - before, left }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::{Counters, Useful, efficiencies};
    use crate::scoring::excess;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn steps_sum_to_the_excess(
            p in prop::collection::vec(0.1f64..10.0, 1..5),
            q in prop::collection::vec(0.1f64..10.0, 1..9),
            waste in 0.0f64..20.0,
            rho in 0.5f64..8.0,
            counted in any::<bool>(),
            transfers in prop::option::of((0.1f64..1.0, 0.1f64..1.0)),
        ) {
            let counters = |instructions, cycles| counted.then_some(Counters { instructions, cycles });
            let base = Useful { whole: p.iter().sum::<f64>() + 1.0, useful: p, counters: counters(3e9, 2e9) };
            let at = Useful { whole: q.iter().sum::<f64>() + waste, useful: q, counters: counters(4e9, 3e9) };
            let steps = waterfall(
                &efficiencies(&base, &base, 1.0).unwrap().split(transfers.map(|(base, _)| base)),
                &efficiencies(&base, &at, rho).unwrap().split(transfers.map(|(_, at)| at)),
            );
            prop_assert_eq!(steps.len(), 3 + if counted { 2 } else { 0 } + usize::from(transfers.is_some()));
            let sum: f64 = steps.iter().map(|step| step.change).sum();
            prop_assert!((sum + excess(at.whole, rho, base.whole, at.whole)).abs() < 1e-9);
        }
    }
}
