//! Which share of what is computed before a call belongs to some call paths.

use falloff_messages::waits::Paths;
use falloff_messages::{Broken, Call, Log};
use rustc_hash::FxHashMap;

/// By rank and call path of the log, which share of the time before its calls is computed at call paths that `is_meant`, from 0 to 1.
/// Those without any are left out.
///
/// # Errors
/// The log cannot be read.
pub fn shares<L: Log>(
    log: &mut L,
    paths: &impl Paths,
    is_meant: impl Fn(u32) -> bool,
) -> Result<FxHashMap<(u32, u32), f64>, Broken> {
    let mut sums: FxHashMap<(u32, u32), (u64, u64)> = FxHashMap::default();
    let mut call = Call::default();
    for location in 0..log.locations().len() {
        let rank = log.locations()[location].rank;
        let mut before: Option<(u32, u64)> = None;
        while log.next(location, &mut call)? {
            if let Some((context, leave)) = before {
                let (all, meant) = sums.entry((rank, call.context)).or_default();
                let burst = call.enter.saturating_sub(leave);
                *all += burst;
                let from = paths.path(location, context);
                paths.burst(location, from, paths.path(location, call.context), burst, &mut |path, ns| {
                    *meant += if is_meant(path) { ns } else { 0 };
                });
            }
            before = Some((call.context, call.leave));
        }
    }
    let share = |(key, (all, meant)): ((u32, u32), (u64, u64))| (key, meant as f64 / all.max(1) as f64);
    Ok(sums.into_iter().map(share).filter(|(_, share)| *share > 0.0).collect())
}

#[cfg(test)]
mod tests {
    use falloff_messages::MemoryLog;
    use falloff_messages::waits::SamePaths;

    use super::*;

    #[test]
    fn a_burst_counts_for_the_call_that_ends_it_if_nothing_better_is_known() {
        let mut log = MemoryLog::new(1);
        for (context, enter, leave) in [(1, 10, 20), (2, 50, 60), (1, 100, 110), (3, 110, 120)] {
            log.push(0, Call { context, enter, leave, ..Call::default() });
        }
        let shares = shares(&mut log, &SamePaths, |path| path == 2).unwrap();
        assert_eq!(shares, FxHashMap::from_iter([((0, 2), 1.0)]));
    }
}
