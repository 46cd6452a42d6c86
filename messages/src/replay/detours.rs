//! Times at which a processor does something else, as a trace of it tells, and how they lengthen what it computes.

/// Detours of one period, which comes again and again.
///
/// ```
/// use falloff_messages::Detours;
/// // 20 µs of each millisecond: a second of work takes 1/0.98 seconds.
/// let detours = Detours::new(1_000_000, &[(500_000, 20_000)])?;
/// assert_eq!(detours.end(0, 980_000_000), 1_000_000_000);
/// # Ok::<(), falloff_messages::DetoursError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detours {
    period: u64,
    /// Detours that do not touch, by start.
    detours: Vec<Detour>,
    /// Time of all of them.
    total: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Detour {
    start: u64,
    end: u64,
    /// Time of those before it.
    before: u64,
}

/// Detours that do not leave time for anything else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DetoursError {
    /// One ends after the period.
    #[error("failed to use the detour of {length} ns at {start} ns: it ends after the period of {period} ns")]
    Late {
        /// Its start.
        start: u64,
        /// Its length.
        length: u64,
        /// The period.
        period: u64,
    },
    /// Nothing is left between them.
    #[error("failed to use the detours: they fill all of their period of {period} ns")]
    Full {
        /// The period.
        period: u64,
    },
}

impl Detours {
    /// Detours with start and length, in nanoseconds, in any order; those that overlap are one.
    ///
    /// # Errors
    /// One ends after the period, or no time is left between them.
    pub fn new(period: u64, detours: &[(u64, u64)]) -> Result<Detours, DetoursError> {
        let mut sorted = detours.to_vec();
        sorted.sort_unstable();
        let mut merged: Vec<Detour> = Vec::new();
        for (start, length) in sorted {
            let end = start.saturating_add(length);
            if end > period {
                return Err(DetoursError::Late { start, length, period });
            }
            match merged.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => merged.push(Detour { start, end, before: 0 }),
            }
        }
        let mut total = 0;
        for detour in &mut merged {
            detour.before = total;
            total += detour.end - detour.start;
        }
        if total >= period {
            return Err(DetoursError::Full { period });
        }
        Ok(Detours { period, detours: merged, total })
    }

    /// How long until they come again, in nanoseconds.
    pub fn period(&self) -> u64 {
        self.period
    }

    /// The share of time that they take, from 0 to below 1.
    pub fn share(&self) -> f64 {
        self.total as f64 / self.period as f64
    }

    /// When `work` nanoseconds of computing end that begin at `start`, counted from the beginning of a period: every detour on
    /// the way lengthens it. Over many periods `work / (1 - share)`.
    pub fn end(&self, start: u64, work: u64) -> u64 {
        if work == 0 {
            return start;
        }
        let free = self.period - self.total;
        let done = self.work_before(start) + work;
        let (periods, rest) = ((done - 1) / free, (done - 1) % free + 1);
        let passed = self.detours.partition_point(|detour| detour.start - detour.before < rest);
        let detours = passed
            .checked_sub(1)
            .map_or(0, |last| self.detours[last].before + self.detours[last].end - self.detours[last].start);
        periods * self.period + rest + detours
    }

    /// How much could be computed from 0 to `time`.
    fn work_before(&self, time: u64) -> u64 {
        let (periods, phase) = (time / self.period, time % self.period);
        let begun = self.detours.partition_point(|detour| detour.start < phase);
        let detours = begun.checked_sub(1).map_or(0, |last| {
            let Detour { start, end, before } = self.detours[last];
            before + end.min(phase) - start
        });
        periods * (self.period - self.total) + phase - detours
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Lengthens by every detour that overlaps, until nothing changes.
    fn by_fixed_point(period: u64, detours: &[(u64, u64)], start: u64, work: u64) -> u64 {
        let mut end = start + work;
        loop {
            let busy: u64 = (start..end)
                .filter(|at| detours.iter().any(|&(s, l)| (s..s + l).contains(&(at % period))))
                .count() as u64;
            if start + work + busy == end {
                return end;
            }
            end = start + work + busy;
        }
    }

    proptest! {
        #[test]
        fn it_is_the_fixed_point(
            detours in proptest::collection::vec((0..30_u64, 0..6_u64), 0..4), start in 0..120_u64, work in 0..200_u64
        ) {
            let all = Detours::new(40, &detours).unwrap();
            prop_assert_eq!(all.end(start, work), by_fixed_point(40, &detours, start, work));
        }
    }

    #[test]
    fn a_share_of_two_percent_makes_a_second_1_0204() {
        let detours = Detours::new(1_000_000, &[(0, 20_000)]).unwrap();
        assert_eq!(detours.share(), 0.02);
        let length = detours.end(123, 1_000_000_000) - 123;
        assert!((length as f64 / 1e9 - 1.0 / 0.98).abs() < 1e-4, "{length}");
    }

    #[test]
    fn what_leaves_no_time_is_refused() {
        assert!(Detours::new(100, &[(90, 20)]).unwrap_err().to_string().contains("ends after the period"));
        assert_eq!(Detours::new(100, &[(0, 60), (50, 50)]), Err(DetoursError::Full { period: 100 }));
    }
}
