//! Factors of the efficiency of a run.

/// How much of the processors' time is useful, and why the rest is not: the model of the POP project.
///
/// Useful time is time outside MPI. The factors multiply: parallel efficiency = load balance × communication efficiency, and that
/// = serialisation × transfer efficiency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Efficiencies {
    /// Useful time of all locations by the time they had.
    pub parallel: f64,
    /// Mean useful time by the longest.
    pub load_balance: f64,
    /// Longest useful time by the run's length.
    pub communication: f64,
    /// Longest useful time by the length of the run on a network that costs nothing, if that is known.
    pub serialisation: Option<f64>,
    /// Length of the run on a network that costs nothing by its length, if that is known.
    pub transfer: Option<f64>,
}

impl Efficiencies {
    /// From nanoseconds: each location's useful time, the run's length, and its length on a network that costs nothing.
    /// `None` if nothing was useful.
    ///
    /// ```
    /// use falloff_messages::waits::Efficiencies;
    /// let run = Efficiencies::new(&[8_000, 6_000, 4_000, 2_000], 10_000, Some(8_500)).unwrap();
    /// assert_eq!((run.load_balance, run.communication, run.parallel), (0.625, 0.8, 0.5));
    /// assert!((run.serialisation.unwrap() - 0.941176).abs() < 1e-6);
    /// assert_eq!(run.transfer, Some(0.85));
    /// ```
    pub fn new(useful: &[u64], length: u64, ideal: Option<u64>) -> Option<Self> {
        let longest = *useful.iter().max()? as f64;
        let ideal = ideal.filter(|ideal| *ideal > 0).map(|ideal| ideal as f64);
        if longest == 0.0 || length == 0 {
            return None;
        }
        let mean = useful.iter().map(|ns| *ns as f64).sum::<f64>() / useful.len() as f64;
        let length = length as f64;
        Some(Self {
            parallel: mean / length,
            load_balance: mean / longest,
            communication: longest / length,
            serialisation: ideal.map(|ideal| longest / ideal),
            transfer: ideal.map(|ideal| ideal / length),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn without_useful_time_there_is_nothing_to_divide() {
        assert_eq!(Efficiencies::new(&[], 10, None), None);
        assert_eq!(Efficiencies::new(&[0, 0], 10, None), None);
    }

    proptest! {
        #[test]
        fn the_factors_multiply(useful in prop::collection::vec(1u64..1000, 1..9), more in 0u64..1000, ideal in 1u64..2000) {
            let length = useful.iter().max().unwrap() + more;
            let run = Efficiencies::new(&useful, length, Some(ideal)).unwrap();
            prop_assert!((run.parallel - run.load_balance * run.communication).abs() < 1e-12);
            let (serialisation, transfer) = (run.serialisation.unwrap(), run.transfer.unwrap());
            prop_assert!((run.communication - serialisation * transfer).abs() < 1e-12);
        }
    }
}
