//! What single calls waited for, for those who look at calls one by one.

use rustc_hash::FxHashMap;

use super::thread::Open;
use super::{Metric, Paths, Waits};

/// What is known of a call when it has been left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallTime {
    /// Where its time is counted that is neither waiting nor completion.
    pub rest: Metric,
    /// What it waited for, from its beginning on, and how long, nanoseconds.
    pub wait: Option<(Metric, u64)>,
}

/// A call that synchronised a window or transferred: its location, call path, and when it began.
pub type WindowCall = (u32, u32, u64);

impl<P: Paths> Waits<P> {
    /// The call that a location has left last. A late sender may turn out to be in the wrong order, and waits for windows are known at
    /// the end only ([`Waits::window_waits`]).
    pub fn call_time(&self, location: usize) -> CallTime {
        let Open { rest, longest, .. } = self.threads[location].open;
        CallTime {
            rest: rest.unwrap_or(Metric::Mpi),
            wait: longest.filter(|wait| wait.ns > 0).map(|wait| (wait.metric, wait.ns)),
        }
    }

    /// Waits for others' memory, the longest of each call.
    pub fn window_waits(&self) -> FxHashMap<WindowCall, (Metric, u64)> {
        let ranks: Vec<u32> = self.threads.iter().map(|thread| thread.rank).collect();
        let mut longest: FxHashMap<WindowCall, (u64, Metric)> = FxHashMap::default();
        self.windows.waits(&ranks, |deed, metric, ns| {
            let of_call = longest.entry((deed.location, deed.path, deed.enter)).or_insert((0, metric));
            *of_call = (*of_call).max((ns, metric));
        });
        longest.into_iter().map(|(call, (ns, metric))| (call, (metric, ns))).collect()
    }
}
