//! Signal context: yes
//!
//! A walk into the memory of the path before it. That path stands at the beginning, the outermost frame first; the new
//! frames come from the other end, the innermost last, and overwrite what is met no more.
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
        let mut recording = Self {
            replay,
            old,
            run: 0..0,
            meets_at: 0,
            top: N,
            lowest: 0,
            ring: false,
            cut: 0,
            elsewhere: 0,
        };
        recording.look_out();
        recording
    }

    /// Makes the frames that were taken in the path that is kept. `None` if frames were lost for the sake of others that
    /// turned out not to belong to it.
    pub(crate) fn finish(mut self, frames: usize, end: End) -> Option<Update> {
        if self.run.start > 0 {
            self.flush();
        }
        let met = self.run.end;
        let as_before = met > 0 && end == self.replay.end;
        let kept = if as_before { met.min(self.replay.marked) } else { 0 };
        let depth = match self.ring {
            false => {
                self.copy(self.top..N, met);
                met + (N - self.top)
            }
            true => self.fold(met, frames)?,
        };
        let fold = if self.ring { Self::OUTER } else { 0 };
        self.replay.one_stack = match frames.saturating_sub(self.elsewhere) {
            _ if self.elsewhere == 0 => depth,
            outer if fold > 0 => outer.min(fold),
            outer => outer,
        };
        (self.replay.depth, self.replay.fold) = (depth, fold);
        (self.replay.marked, self.replay.end) = (kept, end);
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
        self.replay.records.get_mut(ring.clone())?.rotate_left(outermost);
        self.replay.labels.get_mut(ring)?.rotate_left(outermost);
        self.copy(lowest..lowest + (Self::OUTER - met), met);
        self.copy(Self::RING_END..N, Self::OUTER);
        Some(Self::OUTER + Self::INNER)
    }

    fn copy(&mut self, from: Range<usize>, to: usize) {
        self.replay.records.copy_within(from.clone(), to);
        self.replay.labels.copy_within(from, to);
    }

    /// Whether the frame of the path before with this index is `frame`.
    fn is_at(&self, index: usize, frame: &Record, module: u32) -> bool {
        let (Some(record), Some(label)) = (self.replay.records.get(index), self.replay.labels.get(index))
        else {
            return false;
        };
        record.is_same_frame(frame) && label.module == module
    }

    /// The frame of the path before that is the same as `frame`.
    fn find(&mut self, frame: &Record, module: u32) -> Option<usize> {
        self.old = self.old.min(self.intact());
        let mut last = self.old.checked_sub(1)?;
        while self.replay.records.get(last)?.sp() < frame.sp() {
            self.old = last;
            last = last.checked_sub(1)?;
        }
        if self.is_at(last, frame, module) {
            return Some(last);
        }
        // A function without a frame and its caller have the same stack pointer.
        last.checked_sub(1).filter(|next| self.is_at(*next, frame, module))
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

    /// Adds a new frame outside of all others.
    #[inline(always)]
    fn add(&mut self, frame: Record, module: u32) {
        if self.top > self.lowest {
            self.top -= 1;
        } else {
            self.ring = true;
            self.top = Self::RING_END - 1;
        }
        if let (Some(record), Some(label)) =
            (self.replay.records.get_mut(self.top), self.replay.labels.get_mut(self.top))
        {
            (*record, label.module) = (frame, module);
        }
    }

    /// Takes in a frame at which the path before may be met.
    #[cold]
    #[inline(never)]
    fn meet(&mut self, frame: Record, module: u32) -> bool {
        if !self.run.is_empty() {
            // Across the fold the next frame is none that was left out, so nothing is left out there any more.
            let next = self.run.start.checked_sub(1).filter(|_| self.run.start != self.replay.fold);
            if let Some(next) = next
                && self.is_at(next, &frame, module)
            {
                self.run.start = next;
                return true;
            }
            self.flush();
        }
        let found = self.find(&frame, module);
        if let Some(index) = found {
            self.run = index..index + 1;
        }
        self.look_out();
        if found.is_none() {
            self.add(frame, module);
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
            if let (Some(record), Some(label)) =
                (self.replay.records.get(index).copied(), self.replay.labels.get(index).copied())
            {
                self.add(record, label.module);
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
        if cursor.sp >= self.meets_at {
            return Ok(self.meet(Record::new(cursor, way), module));
        }
        self.add(Record::new(cursor, way), module);
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
        (self.cut, self.elsewhere) = (0, 0);
        self.look_out();
    }
}
