//! Efficiencies of a run, and the identity that ties them to excess work.

/// What the participants of a run did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Useful {
    /// The program's own work of each participant, U, seconds.
    pub useful: Vec<f64>,
    /// All that was spent, A, summed over the participants, seconds.
    pub whole: f64,
    /// Instructions and cycles of the program's own work, if both were counted.
    pub counters: Option<Counters>,
}

/// Counts over the program's own work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counters {
    /// Instructions.
    pub instructions: f64,
    /// Cycles.
    pub cycles: f64,
}

/// Efficiencies as fractions of 1; a product where it says so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Efficiencies {
    /// `ΣU / A` = load balance × communication efficiency: how much of what was spent was the program's own work.
    pub parallel: f64,
    /// `mean U / max U`: how evenly the work is spread.
    pub load_balance: f64,
    /// `max U · q / A`: how much of the time of the one who has most work is work.
    pub communication: f64,
    /// The parts of `communication`, where the calls of MPI were logged.
    pub network: Option<NetworkShare>,
    /// `ρ·ΣU_p / ΣU_q`: how much of the work was needed at the base.
    pub computational: f64,
    /// The parts of `computational`, where counters were measured.
    pub counted: Option<CountedScaling>,
    /// `parallel · computational`, the efficiency against perfect scaling of the base's own work.
    pub global: f64,
}

/// Communication efficiency = serialisation × transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkShare {
    /// How much of the time on a network that costs nothing the one who has most work works: the rest is waiting for others.
    pub serialisation: f64,
    /// How much of its time the run would have taken on a network that costs nothing.
    pub transfer: f64,
}

/// Computational scaling = instructions × instructions per cycle × frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountedScaling {
    /// `ρ·I_p / I_q`
    pub instructions: f64,
    /// `(I/C)_q / (I/C)_p`
    pub per_cycle: f64,
    /// `(C/U)_q / (C/U)_p`
    pub frequency: f64,
}

impl Useful {
    fn sum(&self) -> f64 {
        self.useful.iter().sum()
    }

    /// `ΣU / A`
    fn parallel(&self) -> f64 {
        self.sum() / self.whole
    }
}

/// Efficiencies of the run `at` against the run `base`, whose total work is expected to grow by `rho`. `None` if one of them
/// did nothing.
///
/// POP's model with the whole cost A in place of q·T, so that `1 − X(root) = parallel_q · computational / parallel_p` holds
/// exactly, X being the excess of the whole run.
///
/// Four participants that work 8, 6, 4 and 2 s of 10 s, against a base of 18 s of work:
///
/// ```
/// use falloff_workflow::causes::{Useful, efficiencies};
/// let base = Useful { useful: vec![18.0], whole: 18.0, counters: None };
/// let at = Useful { useful: vec![8.0, 6.0, 4.0, 2.0], whole: 40.0, counters: None };
/// let found = efficiencies(&base, &at, 1.0).unwrap();
/// let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
/// assert!(close(found.load_balance, 0.625) && close(found.communication, 0.8) && close(found.parallel, 0.5));
/// assert!(close(found.computational, 0.9) && close(found.global, 0.45));
/// ```
pub fn efficiencies(base: &Useful, at: &Useful, rho: f64) -> Option<Efficiencies> {
    let most = at.useful.iter().copied().fold(0.0, f64::max);
    if at.whole <= 0.0 || base.whole <= 0.0 || most <= 0.0 || base.sum() <= 0.0 {
        return None;
    }
    let (parallel, load_balance) = (at.parallel(), at.sum() / at.useful.len() as f64 / most);
    let computational = rho * base.sum() / at.sum();
    Some(Efficiencies {
        parallel,
        load_balance,
        communication: parallel / load_balance,
        network: None,
        computational,
        counted: counted(base, at, rho),
        global: parallel * computational,
    })
}

fn counted(base: &Useful, at: &Useful, rho: f64) -> Option<CountedScaling> {
    let (p, q) = (base.counters?, at.counters?);
    let positive = [p.instructions, p.cycles, q.instructions, q.cycles].iter().all(|count| *count > 0.0);
    positive.then(|| CountedScaling {
        instructions: rho * p.instructions / q.instructions,
        per_cycle: (q.instructions / q.cycles) / (p.instructions / p.cycles),
        frequency: (q.cycles / at.sum()) / (p.cycles / base.sum()),
    })
}

impl Efficiencies {
    /// The same with communication efficiency in two parts, if `transfer` is known and above 0: how much of its time the run would have
    /// taken on a network that costs nothing.
    ///
    /// Of 10 s the one who has most work works 8. Without the network's costs the run would have taken 8.5 s:
    ///
    /// ```
    /// use falloff_workflow::causes::{Useful, efficiencies};
    /// let run = Useful { useful: vec![8.0, 6.0], whole: 20.0, counters: None };
    /// let parts = efficiencies(&run, &run, 1.0).unwrap().split(Some(0.85)).network.unwrap();
    /// assert!((parts.serialisation - 8.0 / 8.5).abs() < 1e-12 && parts.transfer == 0.85);
    /// ```
    pub fn split(self, transfer: Option<f64>) -> Efficiencies {
        let transfer = transfer.filter(|transfer| *transfer > 0.0);
        let network =
            transfer.map(|transfer| NetworkShare { serialisation: self.communication / transfer, transfer });
        Efficiencies { network, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::excess;
    use proptest::prelude::*;

    fn run(useful: &[f64], whole: f64) -> Useful {
        Useful { useful: useful.to_vec(), whole, counters: None }
    }

    #[test]
    fn the_identity_to_excess_work_holds() {
        // p = 2, T = 10, ΣU = 18; q = 4, T = 10, ΣU = 20
        let (base, at) = (run(&[9.0, 9.0], 20.0), run(&[5.0; 4], 40.0));
        let found = efficiencies(&base, &at, 1.0).unwrap();
        let relative = found.parallel * found.computational / base.parallel();
        assert!((relative - 0.5).abs() < 1e-12);
        assert!((excess(40.0, 1.0, 20.0, 40.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn counters_split_computational_scaling() {
        let counted = |useful: f64, instructions, cycles| Useful {
            counters: Some(Counters { instructions, cycles }),
            ..run(&[useful], useful)
        };
        let found = efficiencies(&counted(10.0, 1e9, 2e9), &counted(16.0, 1.1e9, 3e9), 1.0).unwrap();
        let parts = found.counted.unwrap();
        let product = parts.instructions * parts.per_cycle * parts.frequency;
        assert!((product - found.computational).abs() < 1e-12);
        assert_eq!(
            efficiencies(&counted(10.0, 0.0, 2e9), &counted(16.0, 1.0, 1.0), 1.0).unwrap().counted,
            None
        );
    }

    #[test]
    fn runs_that_did_nothing_have_none() {
        assert_eq!(efficiencies(&run(&[], 0.0), &run(&[1.0], 1.0), 1.0), None);
        assert_eq!(efficiencies(&run(&[1.0], 1.0), &run(&[0.0], 1.0), 1.0), None);
    }

    proptest! {
        #[test]
        fn parts_multiply(
            p in prop::collection::vec(0.1f64..10.0, 1..5),
            q in prop::collection::vec(0.1f64..10.0, 1..9),
            waste in 0.0f64..20.0,
            rho in 0.5f64..8.0,
            transfer in 0.1f64..1.0,
        ) {
            let base = run(&p, p.iter().sum::<f64>() + 1.0);
            let at = run(&q, q.iter().sum::<f64>() + waste);
            let found = efficiencies(&base, &at, rho).unwrap();
            prop_assert!((found.load_balance * found.communication - found.parallel).abs() < 1e-9);
            let parts = found.split(Some(transfer)).network.unwrap();
            prop_assert!((parts.serialisation * parts.transfer - found.communication).abs() < 1e-9);
            let x = excess(at.whole, rho, base.whole, at.whole);
            prop_assert!((1.0 - x - found.parallel * found.computational / base.parallel()).abs() < 1e-9);
        }
    }
}
