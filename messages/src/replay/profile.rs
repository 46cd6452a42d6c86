//! What ranks compute between their calls, summed up in a pass before a replay.

use crate::{Broken, Call, Location, Log};
use rustc_hash::FxHashMap;

/// Bursts are of the same length if their binary logarithms agree before the point.
const FINE: u32 = 16;

/// What part of bursts of the same length lies below their floor.
const FLOOR_SHARE: f64 = 0.1;

/// Computing of all ranks: its sums by section and call path, and the floors of bursts of the same length.
///
/// What a thread computes before a call belongs to the section and the call path of that call.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Time from the first call of each rank to its last, in nanoseconds, in which it computed or communicated.
    pub measured: Vec<u64>,
    /// Nanoseconds of computing by location and section.
    pub sections: FxHashMap<(u32, u16), u64>,
    /// Nanoseconds of computing by rank and call path.
    pub paths: FxHashMap<(u32, u32), u64>,
    floors: FxHashMap<Kind, Lengths>,
    locations: Vec<Location>,
}

/// Bursts of a rank on one call path that are of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Kind {
    rank: u32,
    context: u32,
    section: u16,
    octave: u16,
}

/// How many bursts of a kind there are in each sixteenth of the octave, and the shortest.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    shortest: u64,
    counts: [u32; FINE as usize],
}

impl Profile {
    /// Reads a log to its end.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of<L: Log + ?Sized>(log: &mut L) -> Result<Profile, Broken> {
        let locations = log.locations().to_vec();
        let ranks = locations.last().map_or(0, |location| location.rank as usize + 1);
        let mut profile = Profile { measured: vec![0; ranks], locations, ..Profile::default() };
        let mut begun: Vec<Option<(u64, u64)>> = vec![None; ranks];
        let mut call = Call::default();
        for location in 0..profile.locations.len() {
            let rank = profile.locations[location].rank;
            let mut left = None;
            while log.next(location, &mut call)? {
                let (begin, end) = begun[rank as usize].unwrap_or((call.enter, call.leave));
                begun[rank as usize] = Some((begin.min(call.enter), end.max(call.leave)));
                if let Some(left) = left {
                    profile.add(location, rank, &call, call.enter.saturating_sub(left));
                }
                left = Some(call.leave);
            }
        }
        for (measured, begun) in profile.measured.iter_mut().zip(begun) {
            *measured = begun.map_or(0, |(begin, end)| end - begin);
        }
        Ok(profile)
    }

    fn add(&mut self, location: usize, rank: u32, call: &Call, burst: u64) {
        if burst == 0 {
            return;
        }
        *self.sections.entry((location as u32, call.section)).or_default() += burst;
        *self.paths.entry((rank, call.context)).or_default() += burst;
        let (octave, part) = parts(burst);
        let kind = Kind { rank, context: call.context, section: call.section, octave };
        let lengths =
            self.floors.entry(kind).or_insert(Lengths { shortest: burst, counts: [0; FINE as usize] });
        lengths.shortest = lengths.shortest.min(burst);
        lengths.counts[part] += 1;
    }

    /// The least that a burst would take without what disturbed it: a tenth of the bursts of its rank, call path and section that
    /// have the same length, within a factor of two, are not longer. It is exact within a sixteenth of that factor, and not above the
    /// burst.
    pub fn floor(&self, rank: u32, call: &Call, burst: u64) -> u64 {
        if burst == 0 {
            return 0;
        }
        let (octave, _) = parts(burst);
        let kind = Kind { rank, context: call.context, section: call.section, octave };
        let Some(lengths) = self.floors.get(&kind) else { return burst };
        let below = FLOOR_SHARE * f64::from(lengths.counts.iter().sum::<u32>());
        let mut seen = 0;
        let part = lengths.counts.iter().position(|count| {
            seen += count;
            f64::from(seen) >= below
        });
        let part = part.unwrap_or(0) as u64;
        let start = (1_u64 << octave)
            + (((1_u64 << octave) as u128 * u128::from(part)).div_ceil(u128::from(FINE))) as u64;
        start.max(lengths.shortest).min(burst)
    }

    /// By what each location's computing in a section must be multiplied to be the mean over the ranks; nothing for a section in
    /// which nobody computes. Threads of a rank count together. Ranks that never computed there cannot be given any of it: they
    /// are left out of the mean.
    pub fn balance(&self, section: u16) -> Option<Vec<f64>> {
        let mut by_rank: FxHashMap<u32, u64> = FxHashMap::default();
        for (&(location, of), &time) in &self.sections {
            if of == section {
                *by_rank.entry(self.locations[location as usize].rank).or_default() += time;
            }
        }
        let mean = by_rank.values().sum::<u64>() as f64 / by_rank.len() as f64;
        let factor =
            |location: &Location| by_rank.get(&location.rank).map_or(1.0, |&time| mean / time as f64);
        (!by_rank.is_empty()).then(|| self.locations.iter().map(factor).collect())
    }
}

/// The binary logarithm of a burst's length, and in which sixteenth of the octave it is.
fn parts(burst: u64) -> (u16, usize) {
    let octave = burst.ilog2();
    let above = u128::from(burst - (1 << octave));
    (octave as u16, ((above * u128::from(FINE)) >> octave) as usize)
}
