//! Signal context: yes
//!
//! The last path of a thread, kept so that the next walk need not find again what has not changed.

use crate::arch::Arch;
use crate::cache::Cache;
use crate::memory::Memory;
use crate::modules::Modules;
use crate::record::Record;
use crate::recording::Recording;
use crate::registers::{Registers, Room};
use crate::walk::{End, Frame};
use crate::walker::Walker;

/// What a walk has found, and how much of it is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// Number of outermost frames that are as in the path before, and marked, or as in an earlier one that went deeper. They
    /// have kept their marks; the others have mark 0. If `end` is not as before, none is kept.
    pub kept: usize,
    /// Number of frames now.
    pub depth: usize,
    /// If the path is too long to be kept whole: the index of the first frame inside of those that are left out. They
    /// were between it and the frame before.
    pub folded: Option<usize>,
    /// Why the path ends at its outermost frame.
    pub end: End,
}

/// The path of one thread, the outermost frame first, with a mark of the caller's on each frame.
///
/// A frame with the same program counter, stack pointer and frame pointer as before leads to the same caller if the
/// words of the stack that its compact rule reads are still the same. So a walk that meets a frame of the path before
/// only compares those words, frame by frame, and goes on by itself from the first difference. The result is exactly that
/// of a whole walk; the frames that are kept need neither be found nor looked up again. A path that is as before up to its
/// innermost frame leaves what was further in before: a program often goes there again.
///
/// At most `N` frames are kept, `N` being at least 64. Of a longer path the outermost three quarters of `N` and the
/// innermost 64th are kept and all others left out, whatever the path was before.
///
/// Memory that is all zero holds an empty path.
///
/// ```
/// use std::sync::atomic::AtomicU64;
/// use unwinder::{CACHE_LENGTH, Cache, End, Frame, ModuleList, NO_MODULE, Registers, Replay, Room, StackCopy, X86_64};
///
/// let entries: Vec<AtomicU64> = (0..CACHE_LENGTH).map(|_| AtomicU64::new(0)).collect();
/// let cache = Cache::new(&entries).unwrap();
/// let modules = ModuleList::new(&[]).unwrap();
/// let mut memory = StackCopy::new(0x7000, &[0; 4]);
/// let mut general = [0; 16];
/// general[7] = 0x7000;
/// let registers = Registers::x86_64(0x1234, general);
///
/// let mut replay: Box<Replay<64>> = Box::default();
/// let update = replay.update::<X86_64, _, _>(&registers, &modules, &cache, &mut memory, &mut Room::new());
/// assert_eq!((update.kept, update.depth, update.end), (0, 1, End::NoModule));
/// assert_eq!(replay.frame(0), Some(Frame { pc: 0x1234, module: NO_MODULE }));
/// replay.set_mark(0, 7);
///
/// let update = replay.update::<X86_64, _, _>(&registers, &modules, &cache, &mut memory, &mut Room::new());
/// assert_eq!((update.kept, replay.mark(0)), (1, 7));
/// ```
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Replay<const N: usize> {
    /// Frames.
    pub(crate) depth: usize,
    /// Index of the first frame inside of those that are left out; 0 if none are.
    pub(crate) fold: usize,
    /// Records from the outermost frame inwards that lead to each other on one stack, each with a lower stack pointer than the
    /// one before, or the same: the callers of this path, and of earlier ones that went deeper.
    pub(crate) one_stack: usize,
    /// How many of them are marked.
    pub(crate) marked: usize,
    pub(crate) end: End,
    /// Callers from the beginning; the innermost frame at the end.
    pub(crate) records: [Record; N],
}

impl<const N: usize> Default for Replay<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Replay<N> {
    /// An empty path.
    pub const fn new() -> Self {
        const { assert!(N >= 64, "the parts of a folded path have to be long enough") };
        Self { depth: 0, fold: 0, one_stack: 0, marked: 0, end: End::Root, records: [Record::EMPTY; N] }
    }

    /// Walks the stack from `registers` outwards and makes the path found the one that is kept.
    ///
    /// Safe in a signal handler, as [`walk`](crate::walk()) is. `modules` has to be the list that the path kept was found
    /// with: [`clear`](Self::clear) it when the list changes.
    pub fn update<A: Arch, S: Modules, M: Memory>(
        &mut self,
        registers: &Registers,
        modules: &S,
        cache: &Cache<'_>,
        memory: &mut M,
        room: &mut Room,
    ) -> Update {
        let mut recording = Recording::new(self);
        let (frames, end) = Walker::new(modules, cache, memory).run::<A, _>(registers, room, &mut recording);
        if let Some(update) = recording.finish(frames, end) {
            return update;
        }
        // Room was left for frames that are none of this path, and it would have been needed.
        self.clear();
        let mut recording = Recording::new(self);
        let (frames, end) = Walker::new(modules, cache, memory).run::<A, _>(registers, room, &mut recording);
        let nothing = Update { kept: 0, depth: 0, folded: None, end };
        recording.finish(frames, end).unwrap_or(nothing)
    }

    /// Forgets the path.
    pub fn clear(&mut self) {
        (self.depth, self.fold, self.one_stack, self.marked) = (0, 0, 0, 0);
    }

    /// Number of frames.
    #[inline]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The frame with this index, the outermost having 0.
    #[inline]
    pub fn frame(&self, index: usize) -> Option<Frame> {
        if index < self.depth { self.at(index) } else { None }
    }

    /// All frames with their marks, the outermost first.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = (Frame, u32)> + ExactSizeIterator {
        (0..self.depth).map(|index| (self.at(index).unwrap_or_default(), self.mark(index)))
    }

    /// The mark of a frame; 0 if it has none.
    #[inline]
    pub fn mark(&self, index: usize) -> u32 {
        let is_marked = index < self.marked.min(self.depth) || self.is_innermost(index);
        if is_marked { self.records.get(self.place(index)).map_or(0, |record| record.mark) } else { 0 }
    }

    /// Marks a frame. Frames are marked from the outermost inwards: a mark that would leave an unmarked frame outside of
    /// it is not taken.
    #[inline]
    pub fn set_mark(&mut self, index: usize, mark: u32) {
        if index > self.marked || index >= self.depth {
            return;
        }
        let place = self.place(index);
        if let Some(record) = self.records.get_mut(place) {
            record.mark = mark;
        }
        if !self.is_innermost(index) {
            self.marked = self.marked.max(index + 1);
        }
    }

    /// The frame that a record stands for, kept or not.
    fn at(&self, index: usize) -> Option<Frame> {
        self.records.get(self.place(index)).map(Record::frame)
    }

    fn is_innermost(&self, index: usize) -> bool {
        index + 1 == self.depth
    }

    /// Where the record of a frame is.
    fn place(&self, index: usize) -> usize {
        if self.is_innermost(index) { N - 1 } else { index }
    }

    /// The record of the innermost frame.
    pub(crate) fn innermost_mut(&mut self) -> &mut Record {
        // Never out of bounds: N is at least 64.
        &mut self.records[N - 1]
    }
}
