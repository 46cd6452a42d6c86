//! Which call paths of different ranks are the same, and which a burst of computation belongs to.

/// Call paths that all ranks have in common. Contexts of a log are numbers of one rank only; costs of ranks are compared by
/// call path.
pub trait Paths {
    /// The call path that a context of a location is.
    fn path(&self, location: usize, context: u32) -> u32;

    /// Tells `tell` how the nanoseconds of a burst of computation between two calls of a location are shared by call paths; they
    /// must add up to `ns` ([`split`](super::split) sees to that). `before` and `after` are the call paths of the two calls.
    ///
    /// A log knows the call paths of calls only. If nothing better is known, computation belongs to the call that ends it: it
    /// was done on the way there.
    fn burst(&self, location: usize, before: u32, after: u32, ns: u64, tell: &mut dyn FnMut(u32, u64)) {
        let _ = (location, before);
        tell(after, ns);
    }
}

/// Contexts that are numbered alike on all ranks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SamePaths;

impl Paths for SamePaths {
    fn path(&self, _location: usize, context: u32) -> u32 {
        context
    }
}
