//! The waiting of a run, with names.

use std::collections::{BTreeMap, BTreeSet};

use falloff_messages::waits::{Analysis, Blame, Cause, Metric, Options, Paths, Waits};
use falloff_messages::{Location, Log, MatchError, Outcome, lead};

/// The waiting of a run, with names.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// What was found.
    pub analysis: Analysis,
    /// What of the log was matched.
    pub outcome: Outcome,
    /// Threads that made calls, as the analysis numbers them.
    pub locations: Vec<Location>,
    /// The frames of each call path that the analysis speaks of, outermost first.
    pub paths: BTreeMap<u32, Vec<String>>,
}

/// A call path that waited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sufferer {
    /// The call path.
    pub path: u32,
    /// How long all locations waited there, nanoseconds.
    pub ns: u64,
    /// By pattern, most first.
    pub patterns: Vec<(Metric, u64)>,
    /// Locations that waited.
    pub locations: Vec<u32>,
    /// What made it wait, most first: location, cause, nanoseconds.
    pub causes: Vec<(u32, Cause, u64)>,
}

/// A place that made others wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// The location that was late.
    pub location: u32,
    /// Computation, or in MPI.
    pub computes: bool,
    /// The call path that computed, or the call that ended the time in MPI.
    pub path: u32,
    /// Waiting for it, nanoseconds.
    pub short_term_ns: u64,
    /// Waiting for those who had waited for it, nanoseconds.
    pub long_term_ns: u64,
}

impl Waiting {
    /// Goes through a run's calls. `paths` says which contexts are one call path, `names` gives the frames of a call path,
    /// outermost first.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn of<L: Log + ?Sized>(
        log: &mut L,
        options: Options,
        paths: impl Paths,
        names: impl Fn(u32) -> Vec<String>,
    ) -> Result<Waiting, MatchError> {
        let locations = log.locations().to_vec();
        let mut waits = Waits::new(&locations, &log.functions(), paths, options);
        let outcome = lead(log, &mut waits, &falloff_messages::Options::default())?;
        let analysis = waits.finish();
        let mut known: BTreeSet<u32> = analysis.times.iter().map(|(_, path, ..)| path).collect();
        for (blame, _) in &analysis.blames {
            known.insert(blame.waiting);
            if let Cause::Computation(path) | Cause::Waiting(path) = blame.cause {
                known.insert(path);
            }
        }
        let paths = known.into_iter().map(|path| (path, names(path))).collect();
        Ok(Waiting { analysis, outcome, locations, paths })
    }

    /// Nanoseconds of all locations.
    pub fn whole_ns(&self) -> u64 {
        self.analysis.times.total(Metric::Time)
    }

    /// Call paths that waited, most first.
    pub fn sufferers(&self) -> Vec<Sufferer> {
        let mut where_waited: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (location, path, ..) in self.analysis.times.iter().filter(|(_, _, metric, _)| metric.is_wait()) {
            where_waited.entry(path).or_default().insert(location);
        }
        let mut causes: BTreeMap<u32, Vec<(u32, Cause, u64)>> = BTreeMap::new();
        for (Blame { waiting, location, cause }, ns) in &self.analysis.blames {
            causes.entry(*waiting).or_default().push((*location, *cause, *ns));
        }
        let sufferer = |(path, patterns): (u32, BTreeMap<Metric, u64>)| {
            let mut patterns: Vec<_> = patterns.into_iter().collect();
            patterns.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
            Sufferer {
                path,
                ns: patterns.iter().map(|(_, ns)| ns).sum(),
                patterns,
                locations: where_waited.remove(&path).unwrap_or_default().into_iter().collect(),
                causes: causes.remove(&path).unwrap_or_default(),
            }
        };
        let mut all: Vec<_> = self.analysis.waiting_by_path().into_iter().map(sufferer).collect();
        all.sort_by_key(|sufferer| (std::cmp::Reverse(sufferer.ns), sufferer.path));
        all
    }

    /// Places that made others wait, most first.
    pub fn delays(&self) -> Vec<Delay> {
        let mut sums: BTreeMap<(u32, bool, u32), [u64; 2]> = BTreeMap::new();
        for (location, path, metric, ns) in self.analysis.times.iter() {
            let (computes, is_long) = match metric {
                Metric::ShortTerm => (true, false),
                Metric::ShortTermCommunication => (false, false),
                Metric::LongTerm => (true, true),
                Metric::LongTermCommunication => (false, true),
                _ => continue,
            };
            sums.entry((location, computes, path)).or_default()[usize::from(is_long)] += ns;
        }
        type Sum = ((u32, bool, u32), [u64; 2]);
        let delay = |((location, computes, path), [short_term_ns, long_term_ns]): Sum| Delay {
            location,
            computes,
            path,
            short_term_ns,
            long_term_ns,
        };
        let mut all: Vec<Delay> = sums.into_iter().map(delay).collect();
        all.sort_by_key(|delay| std::cmp::Reverse(delay.short_term_ns + delay.long_term_ns));
        all
    }

    /// A location for people: its rank, and its thread where that is not the first.
    pub fn location(&self, location: u32) -> String {
        match self.locations.get(location as usize) {
            Some(Location { rank, thread: 0 }) => format!("rank {rank}"),
            Some(Location { rank, thread }) => format!("rank {rank} thread {thread}"),
            None => format!("location {location}"),
        }
    }
}
