//! Signal context: yes
//!
//! A walk into the memory of the path before it. That path stands at the beginning, the outermost frame first; the new
//! frames come from the other end, the innermost last, and overwrite what is met no more. The innermost stays there: so a
//! path that is shorter than the one before leaves all frames of that one for the next that goes as deep again.
//!
//! ```text
//! records  0 ──────────── old ····· top ──────────── N
//!          may still be met         new frames
//! ```
//!
//! When there is no room left between them, the new frames go round in a ring that leaves the innermost alone, so that
//! the outermost remain.

use core::mem;
use core::ops::Range;

use crate::arch::Arch;
use crate::cursor::{Cursor, Way};
use crate::memory::Memory;
use crate::path::Path;
use crate::record::Record;
use crate::replay::{Replay, Update};
use crate::walk::End;

/// A new path on its way into a [`Replay`].
pub(crate) struct Recording<'r, const N: usize> {
    replay: &'r mut Replay<N>,
    /// Frames of the path before that may be met further out.
    old: usize,
    /// The frames of the path before that were met last, one after the other.
    run: Range<usize>,
    /// The stack pointer of a frame from which on one of them may be met; 0 while there is a run.
    meets_at: u64,
    /// Index of the outermost new frame.
    top: usize,
    /// The lowest that it may become.
    lowest: usize,
    /// Whether the new frames go round.
    ring: bool,
    /// Frames taken back from the ring.
    cut: usize,
    /// Innermost frames that are on other stacks than those further out.
    elsewhere: usize,
    /// Whether the innermost frame is that of the path before; known once it is there.
    is_same_place: Option<bool>,
}

impl<'r, const N: usize> Recording<'r, N> {
    /// Innermost frames of a folded path.
    const INNER: usize = N / 64;
    /// Outermost frames of a folded path.
    const OUTER: usize = N / 4 * 3;
    /// Where the ring ends and the innermost frames begin.
    const RING_END: usize = N - Self::INNER;

    pub(crate) fn new(replay: &'r mut Replay<N>) -> Self {
        let old = replay.one_stack;
        Self {
            replay,
            old,
            run: 0..0,
            // The innermost frame meets none.
            meets_at: u64::MAX,
            top: N,
            lowest: 0,
            ring: false,
            cut: 0,
            elsewhere: 0,
            is_same_place: None,
        }
    }

    /// Makes the frames that were taken in the path that is kept. `None` if frames were lost for the sake of others that
    /// turned out not to belong to it.
    pub(crate) fn finish(mut self, frames: usize, end: End) -> Option<Update> {
        if self.run.start > 0 {
            self.flush();
        }
        let met = self.run.end;
        let marked = if end == self.replay.end { self.replay.marked } else { 0 };
        let mut kept = met.min(marked);
        let depth = match self.ring {
            false => {
                self.copy(self.top..N - 1, met);
                met + (N - self.top)
            }
            true => self.fold(met, frames)?,
        };
        let fold = if self.ring { Self::OUTER } else { 0 };
        if self.top == N - 1 && !self.ring {
            // All callers are as they were, and so is what was further in, up to where frames were left out.
            let whole = if self.replay.fold > 0 { self.replay.fold } else { N };
            self.replay.one_stack = self.replay.one_stack.min(whole);
            self.replay.marked = marked.min(whole);
            let is_same_path = self.is_same_place == Some(true) && whole == N && depth == self.replay.depth;
            if is_same_path && kept == met && self.replay.mark(met) != 0 {
                kept = depth;
            }
        } else {
            self.replay.one_stack = match frames.saturating_sub(self.elsewhere) {
                _ if self.elsewhere == 0 => depth.saturating_sub(1),
                outer if fold > 0 => outer.min(fold),
                outer => outer,
            };
            self.replay.marked = kept;
        }
        (self.replay.depth, self.replay.fold, self.replay.end) = (depth, fold, end);
        if kept < depth {
            self.replay.innermost_mut().mark = 0;
        }
        let folded = if fold > 0 { Some(fold) } else { None };
        Some(Update { kept, depth, folded, end })
    }

    /// Puts the parts of a folded path together: `met` frames that are as they were, the ring, and the innermost
    /// frames.
    fn fold(&mut self, met: usize, frames: usize) -> Option<usize> {
        let lowest = self.lowest;
        let ring = lowest..Self::RING_END;
        if frames + self.cut <= N || met + ring.len() < Self::OUTER + self.cut {
            return None;
        }
        let outermost = (self.top + self.cut - lowest).min(ring.len());
        self.replay.records.get_mut(ring)?.rotate_left(outermost);
        self.copy(lowest..lowest + (Self::OUTER - met), met);
        self.copy(Self::RING_END..N - 1, Self::OUTER);
        Some(Self::OUTER + Self::INNER)
    }

    /// Copies records, mostly one or two, to a lower place.
    fn copy(&mut self, from: Range<usize>, to: usize) {
        for (from, to) in from.zip(to..) {
            if let (Some(record), Some(place)) =
                (self.replay.records.get(from).copied(), self.replay.records.get_mut(to))
            {
                *place = record;
            }
        }
    }

    /// Whether the frame of the path before with this index is `frame`.
    fn is_at(&self, index: usize, frame: &Record) -> bool {
        self.replay.records.get(index).is_some_and(|record| record.is_same_frame(frame))
    }

    /// The frame of the path before that is the same as `frame`.
    fn find(&mut self, frame: &Record) -> Option<usize> {
        let old = self.replay.records.get(..self.old.min(self.intact()))?;
        let is_outside = |record: &Record| record.sp() >= frame.sp();
        self.old =
            if old.last().is_some_and(is_outside) { old.len() } else { old.partition_point(is_outside) };
        let last = self.old.checked_sub(1)?;
        if self.is_at(last, frame) {
            return Some(last);
        }
        // A function without a frame and its caller have the same stack pointer.
        last.checked_sub(1).filter(|next| self.is_at(*next, frame))
    }

    /// After a change to what may be met: from where on, and how much of it has to stay.
    fn look_out(&mut self) {
        let last = self.old.checked_sub(1).and_then(|last| self.replay.records.get(last));
        self.meets_at = last.map_or(u64::MAX, Record::sp);
        if !self.run.is_empty() {
            self.meets_at = 0;
        }
        if !self.ring {
            // The rest may be overwritten: a folded path would keep no more.
            self.lowest = self.old.min(Self::OUTER);
        }
    }

    /// Takes in the innermost frame. Its mark, if it is that of the path before, is looked at when all others are known.
    fn begin(&mut self, frame: Record) {
        self.top = N - 1;
        let innermost = self.replay.innermost_mut();
        self.is_same_place.get_or_insert(innermost.is_same_frame(&frame));
        let mark = innermost.mark;
        *innermost = frame;
        innermost.mark = mark;
        self.look_out();
    }

    /// Adds a new frame outside of all others.
    #[inline(always)]
    fn add(&mut self, frame: Record) {
        if self.top > self.lowest {
            self.top -= 1;
        } else {
            self.ring = true;
            self.top = Self::RING_END - 1;
        }
        if let Some(record) = self.replay.records.get_mut(self.top) {
            *record = frame;
        }
    }

    /// Takes in a frame at which the path before may be met.
    #[cold]
    #[inline(never)]
    fn meet(&mut self, frame: Record) -> bool {
        if !self.run.is_empty() {
            // Across the fold the next frame is none that was left out, so nothing is left out there any more.
            let next = self.run.start.checked_sub(1).filter(|_| self.run.start != self.replay.fold);
            if let Some(next) = next
                && self.is_at(next, &frame)
            {
                self.run.start = next;
                return true;
            }
            self.flush();
        }
        let found = self.find(&frame);
        if let Some(index) = found {
            self.run = index..index + 1;
        }
        self.look_out();
        if found.is_none() {
            self.add(frame);
        }
        found.is_some()
    }

    /// Makes new frames of those that were met, because the path goes on another way.
    #[cold]
    #[inline(never)]
    fn flush(&mut self) {
        for index in mem::take(&mut self.run).rev() {
            self.old = index;
            self.look_out();
            if let Some(record) = self.replay.records.get(index).copied() {
                self.add(record);
            }
        }
    }

    /// Frames of the path before that are not overwritten.
    fn intact(&self) -> usize {
        self.replay.one_stack.min(if self.ring { self.lowest } else { self.top })
    }
}

impl<const N: usize> Path for Recording<'_, N> {
    #[inline(always)]
    fn push(&mut self, cursor: &Cursor, way: Way, module: u32) -> Result<bool, End> {
        let frame = Record::new(cursor, way, module);
        if cursor.sp >= self.meets_at {
            return Ok(self.meet(frame));
        }
        if self.top == N {
            self.begin(frame);
        } else {
            self.add(frame);
        }
        Ok(false)
    }

    fn replay<A: Arch, M: Memory>(&mut self, memory: &mut M, limit: usize) -> Option<(Cursor, usize)> {
        let start = self.run.start;
        let fold = if self.replay.fold <= start { self.replay.fold } else { 0 };
        let records = self.replay.records.get(fold.max(start.saturating_sub(limit))..=start)?;
        let holds = |pair: &&[Record]| match pair {
            [caller, callee] => callee.leads_to::<A, M>(caller, memory),
            _ => false,
        };
        let steps = records.windows(2).rev().take_while(holds).count();
        if steps == 0 {
            return None;
        }
        self.run.start = start.saturating_sub(steps);
        let outermost = self.replay.records.get(self.run.start)?;
        Some((outermost.as_caller(), steps))
    }

    fn switch_stack(&mut self, depth: usize) {
        self.elsewhere = depth;
        if self.run.is_empty() {
            self.old = self.intact();
            self.look_out();
        }
    }

    fn cut(&mut self, count: usize) {
        self.flush();
        if self.ring {
            self.cut += count;
        } else {
            self.top = self.top.saturating_add(count).min(N);
        }
    }

    fn reset(&mut self) {
        self.old = self.intact();
        (self.run, self.top, self.ring) = (0..0, N, false);
        (self.cut, self.elsewhere, self.meets_at) = (0, 0, u64::MAX);
    }
}
