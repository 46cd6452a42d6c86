//! Signal context: yes. Reads of the application's stacks, each checked against what is known to be mapped.
//!
//! A thread's own stack is known from its top, where the thread began, down to the lowest address that was seen in
//! use. Other stacks (signal stacks, fibres) are copied page by page by the kernel, which fails instead of faulting.

use core::ops::Range;

use unwinder::{Arch, Memory, Native};

use crate::raw;

const PAGE: usize = 4096;
/// Pages asked for in one system call.
const BATCH: usize = 256;
/// Foreign pages kept for one walk.
const COPIES: usize = 2;

/// The stack of one thread: addresses known to be readable.
#[derive(Clone, Copy)]
pub struct Stack {
    /// Lowest address known, at the start of a page.
    low: usize,
    /// Address after the highest.
    high: usize,
    /// No lower address is ever part of it.
    floor: usize,
    /// Where the frames of the code that starts the thread begin.
    start: usize,
}

impl Stack {
    /// Nothing known: every read is one that may fail.
    pub const NONE: Stack = Stack { low: 0, high: 0, floor: 0, start: usize::MAX };

    /// The stack that the caller runs on, which ends at `high` and is at most `size` bytes. No frame of the program's own
    /// code lies at `start` or higher.
    pub fn current(here: usize, start: usize, high: usize, size: usize) -> Stack {
        let low = here / PAGE * PAGE;
        if here < high && high - here <= size {
            Stack { low, high, floor: high.saturating_sub(size), start }
        } else {
            Stack::NONE
        }
    }

    /// Whether `sp` lies on this stack; learns how far down it reaches.
    fn reaches(&mut self, sp: usize) -> bool {
        if sp >= self.high || sp < self.floor {
            return false;
        }
        let mut vector = [0u8; BATCH];
        while sp < self.low {
            // The stack is one mapping: every page between here and the known part must be there.
            let length = (self.low - sp / PAGE * PAGE).min(BATCH * PAGE);
            if !raw::mapped(self.low - length, length, &mut vector) {
                return false;
            }
            self.low -= length;
        }
        true
    }
}

/// Room for pages of other stacks; part of a thread's state because it is too large for a stack.
#[repr(C)]
pub struct Copies {
    /// Addresses of the pages, apart from what they hold: these are looked at in every walk.
    pages: [usize; COPIES],
    turn: usize,
    words: [[u64; PAGE / 8]; COPIES],
}

impl Copies {
    /// Forgets what an earlier walk copied.
    fn clear(&mut self) {
        self.pages = [0; COPIES];
    }

    fn read(&mut self, address: usize) -> Option<u64> {
        let page = address / PAGE * PAGE;
        let word = address % PAGE / 8;
        if let Some(copy) = self.pages.iter().position(|p| *p == page) {
            return self.words.get(copy)?.get(word).copied();
        }
        self.turn = (self.turn + 1) % COPIES;
        let (place, words) = (self.pages.get_mut(self.turn)?, self.words.get_mut(self.turn)?);
        *place = 0;
        // SAFETY: the words as bytes; any bytes are valid words.
        let bytes = unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), PAGE) };
        if page == 0 || !raw::read_memory(raw::getpid(), page, bytes) {
            return None;
        }
        *place = page;
        words.get(word).copied()
    }
}

/// The stacks that one walk may read.
pub struct Stacks<'a> {
    /// Lowest address of the thread's own that is known.
    low: usize,
    /// Words from there.
    words: usize,
    /// Where on it the frames of the code that starts the thread are.
    start: Range<usize>,
    copies: &'a mut Copies,
}

impl<'a> Stacks<'a> {
    /// For a walk that begins at `sp` of a thread with this stack.
    pub fn new(stack: &mut Stack, copies: &'a mut Copies, sp: usize) -> Stacks<'a> {
        copies.clear();
        // Code may use a little below its stack pointer.
        let _ = stack.reaches(sp - Native::RED_ZONE as usize) || stack.reaches(sp);
        let Stack { low, high, start, .. } = *stack;
        Stacks { low, words: (high - low) / 8, start: start..high, copies }
    }
}

impl Memory for Stacks<'_> {
    fn read(&mut self, address: u64) -> Option<u64> {
        match self.read_near(address) {
            None if address.is_multiple_of(8) => self.copies.read(address as usize),
            near => near,
        }
    }

    #[inline(always)]
    fn read_near(&mut self, address: u64) -> Option<u64> {
        let address = address as usize;
        // One test for the range and for the alignment: bits that are not aligned come out on top.
        if address.wrapping_sub(self.low).rotate_right(3) < self.words {
            // SAFETY: between the lowest address in use and the top of this thread's stack every page is mapped and
            // readable, and a stack does not shrink under its own thread's handler.
            return Some(unsafe { (address as *const u64).read_volatile() });
        }
        None
    }

    fn is_start(&self, sp: u64) -> bool {
        self.start.contains(&(sp as usize))
    }
}
