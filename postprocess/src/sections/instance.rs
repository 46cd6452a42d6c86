//! One time that all members were in a section: sums over them, exact, that can be joined in any order.

use std::sync::Arc;

/// An instance of a section over its participants: the members of the communicator, or the threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Index of the section.
    pub section: u32,
    /// Which time it was, from 0.
    pub number: u32,
    /// Participants that have left it.
    pub participants: u32,
    /// Of these, those that did not leave it by themselves.
    pub unclosed: u32,
    /// The host of all participants. Clocks of several hosts cannot be compared: then there is none, and the sums and
    /// bounds of entries and exits mean nothing.
    pub host: Option<Arc<str>>,
    /// First entry, `CLOCK_MONOTONIC` ns.
    pub first_in_ns: u64,
    /// Last entry.
    pub last_in_ns: u64,
    /// First exit.
    pub first_out_ns: u64,
    /// Last exit.
    pub last_out_ns: u64,
    /// Sum of the entries.
    pub in_sum: u128,
    /// Sum of their squares.
    pub in_squares: u128,
    /// Sum of the exits.
    pub out_sum: u128,
    /// Sum of the times from entry to exit.
    pub dwell_sum_ns: u64,
    /// Shortest of them.
    pub dwell_min_ns: u64,
    /// Longest of them.
    pub dwell_max_ns: u64,
}

/// What an instance tells, in seconds.
///
/// Of each participant r with entry `T_in(r)` and exit `T_out(r)`, with `T_min` the first entry and `T_max` the last exit:
/// `T_section(r) = T_out(r) - T_min`, `imb_in(r) = T_in(r) - T_min`,
/// `imbalance = (T_max - T_min) - mean T_section` (Besnard et al., "Towards a Better Expressiveness of the
/// Speedup Metric in MPI Context").
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InstanceTimes {
    /// `T_max - T_min`.
    pub span: f64,
    /// Mean of `T_section`.
    pub mean_section: f64,
    /// Mean of `imb_in`.
    pub entry_imbalance: f64,
    /// Its variance over the participants, s^2.
    pub entry_variance: f64,
    /// Time that the mean participant has left the section before the last one.
    pub imbalance: f64,
}

const NS: f64 = 1e-9;

impl Instance {
    /// An instance with one participant.
    pub fn of_one(
        section: u32,
        number: u32,
        host: Arc<str>,
        in_ns: u64,
        out_ns: u64,
        unclosed: bool,
    ) -> Instance {
        let out_ns = out_ns.max(in_ns);
        Instance {
            section,
            number,
            participants: 1,
            unclosed: unclosed.into(),
            host: Some(host),
            first_in_ns: in_ns,
            last_in_ns: in_ns,
            first_out_ns: out_ns,
            last_out_ns: out_ns,
            in_sum: in_ns.into(),
            in_squares: u128::from(in_ns) * u128::from(in_ns),
            out_sum: out_ns.into(),
            dwell_sum_ns: out_ns - in_ns,
            dwell_min_ns: out_ns - in_ns,
            dwell_max_ns: out_ns - in_ns,
        }
    }

    /// Takes the participants of the same instance in.
    pub fn join(&mut self, other: &Instance) {
        self.participants = self.participants.saturating_add(other.participants);
        self.unclosed = self.unclosed.saturating_add(other.unclosed);
        if self.host != other.host {
            self.host = None;
        }
        self.first_in_ns = self.first_in_ns.min(other.first_in_ns);
        self.last_in_ns = self.last_in_ns.max(other.last_in_ns);
        self.first_out_ns = self.first_out_ns.min(other.first_out_ns);
        self.last_out_ns = self.last_out_ns.max(other.last_out_ns);
        self.in_sum = self.in_sum.saturating_add(other.in_sum);
        self.in_squares = self.in_squares.saturating_add(other.in_squares);
        self.out_sum = self.out_sum.saturating_add(other.out_sum);
        self.dwell_sum_ns = self.dwell_sum_ns.saturating_add(other.dwell_sum_ns);
        self.dwell_min_ns = self.dwell_min_ns.min(other.dwell_min_ns);
        self.dwell_max_ns = self.dwell_max_ns.max(other.dwell_max_ns);
    }

    /// Mean time from entry to exit, seconds.
    pub fn mean_dwell(&self) -> f64 {
        self.dwell_sum_ns as f64 / f64::from(self.participants.max(1)) * NS
    }

    /// What needs one clock for all participants; `None` if they are on several hosts.
    ///
    /// ```
    /// use falloff_postprocess::sections::Instance;
    /// let stays = [(0, 10), (1, 10), (3, 12), (4, 11)];
    /// let mut all = stays.map(|(i, o)| Instance::of_one(0, 0, "node".into(), i * 1_000_000_000, o * 1_000_000_000, false));
    /// let [first, rest @ ..] = &mut all;
    /// rest.iter().for_each(|other| first.join(other));
    /// let times = first.times().unwrap();
    /// assert_eq!((times.span, times.mean_section, times.imbalance), (12.0, 10.75, 1.25));
    /// assert_eq!((times.entry_imbalance, times.entry_variance, first.mean_dwell()), (2.0, 2.5, 8.75));
    /// ```
    pub fn times(&self) -> Option<InstanceTimes> {
        self.host.as_ref()?;
        let n = u128::from(self.participants.max(1));
        // Differences to the first entry, exactly, before anything is rounded.
        let first = u128::from(self.first_in_ns);
        let in_sum = self.in_sum.saturating_sub(n * first);
        let out_sum = self.out_sum.saturating_sub(n * first);
        // n^2 variance = n sum x^2 - (sum x)^2, which a shift of all x leaves as it is. What wraps on the way wraps back.
        let shifts = n.wrapping_mul(first).wrapping_sub(self.in_sum.wrapping_mul(2));
        let squares = self.in_squares.wrapping_add(first.wrapping_mul(shifts));
        let n = n as f64;
        let (entry, section) = (in_sum as f64 / n * NS, out_sum as f64 / n * NS);
        let span = self.last_out_ns.saturating_sub(self.first_in_ns) as f64 * NS;
        let entry_variance = (squares as f64 * NS * NS / n - entry * entry).max(0.0);
        Some(InstanceTimes {
            span,
            mean_section: section,
            entry_imbalance: entry,
            entry_variance,
            imbalance: span - section,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn instance(base_ns: u64, stays: &[(u64, u64)]) -> Instance {
        let one =
            |(i, o): &(u64, u64)| Instance::of_one(0, 0, "node".into(), base_ns + i, base_ns + o, false);
        let mut all = stays.iter().map(one);
        let mut first = all.next().unwrap();
        all.for_each(|other| first.join(&other));
        first
    }

    /// Oracle S1: T_in = {0, 1, 3, 4}, T_out = {10, 10, 12, 11}.
    #[test]
    fn four_ranks_as_worked_out_by_hand() {
        for base_ns in [0, 5 * SECOND, 300 * 86_400 * SECOND + 7] {
            let stays = [(0, 10), (1, 10), (3, 12), (4, 11)].map(|(i, o)| (i * SECOND, o * SECOND));
            let all = instance(base_ns, &stays);
            let times = all.times().unwrap();
            let expected = InstanceTimes {
                span: 12.0,
                mean_section: 10.75,
                entry_imbalance: 2.0,
                entry_variance: 2.5,
                imbalance: 1.25,
            };
            assert_eq!(times, expected);
            assert_eq!((all.mean_dwell(), all.participants), (8.75, 4));
        }
    }

    #[test]
    fn clocks_of_two_hosts_are_not_compared() {
        let mut here = instance(0, &[(0, SECOND)]);
        here.join(&Instance::of_one(0, 0, "other".into(), 77 * SECOND, 80 * SECOND, true));
        assert_eq!((here.times(), here.mean_dwell(), here.unclosed), (None, 2.0, 1));
        let again = here.clone();
        here.join(&again);
        assert_eq!(here.host, None, "what is of several hosts stays so");
    }

    proptest! {
        #[test]
        fn identities_hold_and_order_does_not_matter(
            base_ns in 0u64..1 << 53,
            stays in prop::collection::vec((0u64..1 << 40, 0u64..1 << 40), 1..20),
        ) {
            let stays: Vec<_> = stays.into_iter().map(|(i, length)| (i, i + length)).collect();
            let all = instance(base_ns, &stays);
            let mut backwards = stays.clone();
            backwards.reverse();
            prop_assert_eq!(&instance(base_ns, &backwards), &all);
            let times = all.times().unwrap();
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()));
            let mean = |of: &dyn Fn(&(u64, u64)) -> u64| {
                stays.iter().map(|s| of(s) as f64 * NS).sum::<f64>() / stays.len() as f64
            };
            let first = stays.iter().map(|s| s.0).min().unwrap() as f64 * NS;
            let last = stays.iter().map(|s| s.1).max().unwrap() as f64 * NS;
            // imb = T_max - mean T_out; mean T_section = mean dwell + mean imb_in.
            prop_assert!(near(times.imbalance, last - mean(&|s| s.1)));
            prop_assert!(near(times.mean_section, all.mean_dwell() + times.entry_imbalance));
            prop_assert!(near(times.entry_imbalance, mean(&|s| s.0) - first));
            let variance = stays.iter().map(|s| (s.0 as f64 * NS - mean(&|s| s.0)).powi(2)).sum::<f64>() / stays.len() as f64;
            prop_assert!((times.entry_variance - variance).abs() <= 1e-6 * (1.0 + variance));
            prop_assert!(times.imbalance >= -1e-9 && times.entry_imbalance >= 0.0);
        }
    }
}
