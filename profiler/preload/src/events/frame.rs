//! A call as its entry has left it on the stack, and its arguments as the MPI library writes them.

use core::ffi::c_int;

use super::library::Abi;
use crate::cpu::{self, ARGUMENT_REGISTERS, SAVED};

/// What the entry of a logged call leaves on the stack: see `cpu::log`. Further arguments lie above it.
#[repr(C)]
pub struct Frame {
    index: u64,
    saved: [u64; SAVED],
    arguments: [u64; ARGUMENT_REGISTERS],
    frame_pointer: u64,
    return_address: u64,
}

/// A call that is being made. Its frame is there until it has returned.
#[derive(Clone, Copy)]
pub struct Call(*mut Frame);

impl Call {
    /// # Safety
    /// What the entry left, of a call that has not returned.
    pub unsafe fn new(frame: *mut Frame) -> Call {
        Call(frame)
    }

    /// Which name was called.
    pub fn index(self) -> usize {
        // SAFETY: by the contract of `new`.
        unsafe { (*self.0).index as usize }
    }

    /// Where the stack of the caller ends: calls from within this one lie lower.
    pub fn depth(self) -> usize {
        self.0 as usize
    }

    /// The caller's registers, as they will be when the call returns, and its stack pointer.
    pub fn caller(self) -> (unwinder::Registers, usize) {
        // SAFETY: by the contract of `new`.
        let frame = unsafe { &*self.0 };
        let sp = self.0 as usize + size_of::<Frame>();
        let Frame { saved, frame_pointer, return_address, .. } = *frame;
        (cpu::registers_after_call(saved, frame_pointer, return_address, sp as u64), sp)
    }

    /// The place of an argument.
    fn place(self, index: usize) -> *mut u64 {
        match index.checked_sub(ARGUMENT_REGISTERS) {
            // SAFETY: of this function's arguments, those that are not in registers lie above the return address.
            Some(above) => unsafe { self.0.add(1).cast::<u64>().add(above) },
            // SAFETY: within the frame.
            None => unsafe { (&raw mut (*self.0).arguments).cast::<u64>().add(index) },
        }
    }
}

/// The arguments of a call.
#[derive(Clone, Copy)]
pub struct Arguments {
    call: Call,
    /// How the library writes what it is given.
    pub abi: &'static Abi,
    /// Counts have 64 bits.
    large: bool,
}

impl Arguments {
    /// Of a call that has these: its counts are large in the functions whose name ends in `_c`.
    pub fn new(call: Call, abi: &'static Abi, large: bool) -> Arguments {
        Arguments { call, abi, large }
    }

    /// The same with counts of 64 bits.
    pub fn large(self) -> Arguments {
        Arguments { large: true, ..self }
    }

    /// An argument as it is.
    pub fn word(self, index: usize) -> u64 {
        // SAFETY: an argument of the call.
        unsafe { self.call.place(index).read() }
    }

    /// Passes another word in place of the caller's. The places of arguments belong to the function that is called.
    pub fn replace(self, index: usize, word: u64) {
        // SAFETY: an argument of the call.
        unsafe { self.call.place(index).write(word) }
    }

    /// A number, of which only the lower half counts.
    pub fn int(self, index: usize) -> i32 {
        self.word(index) as i32
    }

    /// How many of something.
    pub fn count(self, index: usize) -> u64 {
        let count = if self.large { self.word(index) as i64 } else { self.int(index).into() };
        count.max(0) as u64
    }

    /// The counts of an array.
    pub fn counts(self, index: usize, members: u32) -> impl Iterator<Item = u64> {
        let array = self.word(index);
        let members = if array == 0 { 0 } else { members as usize };
        (0..members).map(move |at| {
            // SAFETY: the caller gives a count for each member.
            let count = unsafe {
                if self.large {
                    (array as *const i64).add(at).read_unaligned()
                } else {
                    (array as *const c_int).add(at).read_unaligned().into()
                }
            };
            count.max(0) as u64
        })
    }

    /// A handle.
    pub fn handle(self, index: usize) -> u64 {
        self.abi.handle(self.word(index))
    }

    /// The handle at a pointer.
    pub fn handle_at(self, index: usize) -> u64 {
        self.abi.handle_in(self.word(index), 0)
    }

    /// A number at a pointer.
    pub fn int_at(self, index: usize) -> i32 {
        self.int_in(index, 0)
    }

    /// A number of an array.
    pub fn int_in(self, index: usize, at: usize) -> i32 {
        let array = self.word(index) as *const c_int;
        // SAFETY: the caller's array, which has this element, or nothing.
        if array.is_null() { 0 } else { unsafe { array.add(at).read_unaligned() } }
    }
}
