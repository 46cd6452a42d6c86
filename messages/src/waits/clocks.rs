//! One time for all ranks.

/// What to add to the times of each rank so that all are of one clock. Ranks of one host have one clock; between hosts the
/// caller must know the offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// Nanoseconds to add, for each rank of the run; ranks beyond the end need nothing.
    pub offsets: Vec<i64>,
}

impl Clocks {
    /// A rank's time as that of the common clock, nanoseconds.
    ///
    /// ```
    /// use falloff_messages::waits::Clocks;
    /// let clocks = Clocks { offsets: vec![0, -20] };
    /// assert_eq!((clocks.common(0, 100), clocks.common(1, 100), clocks.common(2, 100)), (100, 80, 100));
    /// ```
    pub fn common(&self, rank: u32, time: u64) -> u64 {
        time.saturating_add_signed(self.offsets.get(rank as usize).copied().unwrap_or(0))
    }
}

/// How often times were compared that an order is known of, and how often they contradicted it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Comparisons.
    pub made: u64,
    /// Contradictions: the end of a call lies before what it waited for.
    pub violated: u64,
}

impl Checks {
    /// Share of contradictions, 0 to 1.
    pub fn rate(self) -> f64 {
        if self.made == 0 { 0.0 } else { self.violated as f64 / self.made as f64 }
    }
}
