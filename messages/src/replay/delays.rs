//! Where a changed run falls behind its base, and where it catches up.

use rustc_hash::FxHashMap;

/// Where a changed run falls behind its base, and where it catches up, in nanoseconds.
///
/// A thread ends later than in the base by all that its computing takes longer, and what it takes over from others in calls, less what
/// it absorbs in calls: all of it adds up, thread by thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// Computing between calls, in order.
    pub bursts: Vec<Burst>,
    /// Calls, in order.
    pub calls: Vec<Calls>,
}

/// All computing of a location between calls of two call paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Burst {
    /// The location.
    pub location: u32,
    /// Call path of the call before.
    pub before: u32,
    /// Call path of the call after.
    pub after: u32,
    /// By how much it takes longer; negative for shorter.
    pub longer: i64,
}

/// All calls of a location on one call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Calls {
    /// The location.
    pub location: u32,
    /// The call path.
    pub context: u32,
    /// By how much the location is later after them than before: others made it wait, or the network is slower.
    pub taken_over: u64,
    /// By how much it is less late after them than before: it waits less for others, or the network is faster.
    pub absorbed: u64,
}

/// Delays of several runs against the first of them.
pub(super) struct Account<const K: usize> {
    /// Which runs they are of.
    runs: Vec<usize>,
    /// By location, and call paths before and after.
    bursts: FxHashMap<(u32, u32, u32), [i64; K]>,
    /// By location and call path: taken over and absorbed.
    calls: FxHashMap<(u32, u32), [(u64, u64); K]>,
}

impl<const K: usize> Account<K> {
    pub fn new(runs: Vec<usize>) -> Account<K> {
        Account { runs, bursts: FxHashMap::default(), calls: FxHashMap::default() }
    }

    /// A location computes between two calls, in each run for so long.
    pub fn computes(&mut self, location: usize, (before, after): (u32, u32), lengths: [i64; K]) {
        if self.runs.iter().any(|run| lengths[*run] != lengths[0]) {
            let longer = self.bursts.entry((location as u32, before, after)).or_insert([0; K]);
            longer.iter_mut().zip(lengths).for_each(|(longer, length)| *longer += length - lengths[0]);
        }
    }

    /// A location is in a call from `enter` to `leave`, in each run.
    pub fn calls(&mut self, location: usize, context: u32, enter: [i64; K], leave: [i64; K]) {
        let later = |run: usize| (leave[run] - leave[0]) - (enter[run] - enter[0]);
        if self.runs.iter().any(|run| later(*run) != 0) {
            let calls = self.calls.entry((location as u32, context)).or_insert([(0, 0); K]);
            for (run, (taken_over, absorbed)) in calls.iter_mut().enumerate() {
                match later(run) {
                    later if later > 0 => *taken_over += later as u64,
                    later => *absorbed += later.unsigned_abs(),
                }
            }
        }
    }

    /// Those of a run; none of one that it has no account of.
    pub fn of(&self, run: usize) -> Delays {
        if !self.runs.contains(&run) {
            return Delays::default();
        }
        let bursts = self.bursts.iter().map(|(&(location, before, after), longer)| Burst {
            location,
            before,
            after,
            longer: longer[run],
        });
        let calls = self.calls.iter().map(|(&(location, context), calls)| {
            let (taken_over, absorbed) = calls[run];
            Calls { location, context, taken_over, absorbed }
        });
        let mut delays = Delays {
            bursts: bursts.filter(|burst| burst.longer != 0).collect(),
            calls: calls.filter(|calls| (calls.taken_over, calls.absorbed) != (0, 0)).collect(),
        };
        delays.bursts.sort_unstable();
        delays.calls.sort_unstable();
        delays
    }
}
