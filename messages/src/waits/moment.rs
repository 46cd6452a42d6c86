//! When and where a call began that others may wait for.

use super::epoch::Place;

/// A call that others may wait for.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub(super) place: Place,
    /// How many times all ranks had met before.
    pub(super) epoch: u32,
    /// Of the common clock, nanoseconds.
    pub(super) enter: u64,
    pub(super) leave: u64,
    /// The call completes what it begins.
    pub(super) blocks: bool,
}

impl Moment {
    /// Whether it is a call of this location.
    pub(super) fn is_of(&self, location: usize) -> bool {
        self.place.location as usize == location
    }
}

/// The one that came last, the lowest location of several.
pub(super) fn latest(moments: impl Iterator<Item = Moment>) -> Option<Moment> {
    moments.max_by_key(|moment| (moment.enter, std::cmp::Reverse(moment.place.location)))
}
