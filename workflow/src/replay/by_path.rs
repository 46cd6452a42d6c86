//! Where a case falls behind the base, by call path.

use std::cmp::Reverse;

use falloff_messages::Delays;
use rustc_hash::FxHashMap;

/// Where a case falls behind the base, or catches up, at the calls of one call path on all ranks. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathDelay {
    /// The call path.
    pub context: u32,
    /// By how much longer is computed before the calls: noise, or what else the case changes; negative for shorter.
    pub arising: i64,
    /// By how much ranks are later after the calls than before them.
    pub taken_over: u64,
    /// By how much ranks are less late after the calls than before them.
    pub absorbed: u64,
    /// By how much the last rank ends later if noise strikes what is computed before these calls alone; of the paths with most of it.
    pub alone: Option<i64>,
}

impl PathDelay {
    /// Of each call path; the one where most happens first.
    pub fn of(delays: &Delays) -> Vec<PathDelay> {
        let mut paths: FxHashMap<u32, PathDelay> = FxHashMap::default();
        for burst in &delays.bursts {
            paths.entry(burst.after).or_default().arising += burst.longer;
        }
        for calls in &delays.calls {
            let path = paths.entry(calls.context).or_default();
            path.taken_over += calls.taken_over;
            path.absorbed += calls.absorbed;
        }
        let paths = paths.into_iter().map(|(context, path)| PathDelay { context, ..path });
        let mut paths: Vec<PathDelay> = paths.collect();
        paths.sort_unstable_by_key(|path| {
            (Reverse(path.arising.unsigned_abs() + path.taken_over + path.absorbed), path.context)
        });
        paths
    }
}

#[cfg(test)]
mod tests {
    use falloff_messages::{Burst, Calls};

    use super::*;

    #[test]
    fn what_happens_at_a_call_path_is_one_row() {
        let burst = |location, after, longer| Burst { location, before: 1, after, longer };
        let calls =
            |location, context, taken_over, absorbed| Calls { location, context, taken_over, absorbed };
        let delays = Delays {
            bursts: vec![burst(0, 2, 30), burst(1, 2, -10), burst(1, 3, 5)],
            calls: vec![calls(0, 2, 7, 0), calls(1, 2, 0, 4)],
        };
        let first = PathDelay { context: 2, arising: 20, taken_over: 7, absorbed: 4, alone: None };
        let second = PathDelay { context: 3, arising: 5, ..PathDelay::default() };
        assert_eq!(PathDelay::of(&delays), [first, second]);
    }
}
