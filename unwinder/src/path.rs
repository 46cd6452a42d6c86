//! Signal context: yes
//!
//! Where the frames of a walk go, the innermost first.

use crate::arch::Arch;
use crate::cursor::{Cursor, Way};
use crate::memory::Memory;
use crate::walk::{End, Frame};

/// Takes in the frames of a walk.
pub(crate) trait Path {
    /// Takes in the next frame outwards with the way to its caller and the id of its module, and says whether an earlier walk has been there and knows how it went on.
    fn push(&mut self, cursor: &Cursor, way: Way, module: u32) -> Result<bool, End>;

    /// After a frame that an earlier walk has been at: goes on as that one did, for as long as the stack still leads
    /// there and for `limit` frames at most. Yields the outermost frame reached and how many steps led to it.
    fn replay<A: Arch, M: Memory>(&mut self, memory: &mut M, limit: usize) -> Option<(Cursor, usize)>;

    /// The frames to come are on another stack than the `depth` so far, at lower addresses.
    fn switch_stack(&mut self, depth: usize);

    /// Takes the `count` outermost frames back.
    fn cut(&mut self, count: usize);

    /// Takes all frames back.
    fn reset(&mut self);
}

/// A fixed number of frames.
pub(crate) struct Slice<'f> {
    frames: &'f mut [Frame],
    depth: usize,
}

impl<'f> Slice<'f> {
    pub(crate) fn new(frames: &'f mut [Frame]) -> Self {
        Self { frames, depth: 0 }
    }

    /// Frames taken in.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }
}

impl Path for Slice<'_> {
    #[inline(always)]
    fn push(&mut self, cursor: &Cursor, _way: Way, module: u32) -> Result<bool, End> {
        *self.frames.get_mut(self.depth).ok_or(End::Truncated)? = Frame { pc: cursor.lookup(), module };
        self.depth += 1;
        Ok(false)
    }

    #[inline(always)]
    fn replay<A: Arch, M: Memory>(&mut self, _memory: &mut M, _limit: usize) -> Option<(Cursor, usize)> {
        None
    }

    fn switch_stack(&mut self, _depth: usize) {}

    fn cut(&mut self, count: usize) {
        self.depth = self.depth.saturating_sub(count);
    }

    fn reset(&mut self) {
        self.depth = 0;
    }
}
