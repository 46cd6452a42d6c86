//! A copy of a module's unwind tables, for the time when the module may be unmapped under a handler.

use unwinder::{Section, Tables};

use crate::raw;

/// Longest tables that are copied. Plugins have far less; of a larger module only cached rules serve meanwhile.
const LENGTH_MAX: usize = 512 << 10;
/// Memory of copies is mapped by multiples of this: most plugins need one.
const UNIT: usize = 32 << 10;

/// Memory of a copy.
#[derive(Clone, Copy)]
struct Memory {
    start: *mut u8,
    length: usize,
}

/// Memory of [`UNIT`] that nobody uses any more, for the next: plugins are loaded and unloaded by the dozen, and unmapping costs
/// a program with threads most. Each begins with the address of the next.
pub struct SpareCopies(*mut u8);

impl SpareCopies {
    /// Nothing mapped yet.
    pub const NONE: SpareCopies = SpareCopies(core::ptr::null_mut());

    fn take(&mut self, length: usize) -> Option<Memory> {
        if length <= UNIT && !self.0.is_null() {
            let start = self.0;
            // SAFETY: mapped, and written by `give`.
            self.0 = unsafe { start.cast::<*mut u8>().read() };
            return Some(Memory { start, length: UNIT });
        }
        let length = length.next_multiple_of(UNIT);
        raw::map_private(length).map(|start| Memory { start, length })
    }

    /// # Safety
    /// Memory from [`take`](Self::take) that nobody uses any more.
    unsafe fn give(&mut self, memory: Memory) {
        // SAFETY: mapped with this length, to a page's boundary; not used by contract.
        unsafe {
            if memory.length == UNIT {
                memory.start.cast::<*mut u8>().write(self.0);
                self.0 = memory.start;
            } else {
                raw::unmap(memory.start, memory.length);
            }
        }
    }
}

/// Copied tables. They are where the module's are by address and somewhere else in fact.
#[derive(Clone, Copy)]
pub struct TableCopy {
    memory: Memory,
    /// The tables, to be used like the module's own.
    pub tables: Tables<'static>,
}

impl TableCopy {
    /// Copies tables, if there is something to copy and it is not too long. Not in handlers.
    pub fn of(tables: &Tables<'static>, spares: &mut SpareCopies) -> Option<TableCopy> {
        let (header, frames) = tables.sections()?;
        let length = header.bytes().len() + frames.bytes().len();
        if length == 0 || length > LENGTH_MAX {
            return None;
        }
        let memory = spares.take(length)?;
        // SAFETY: mapped with this length at least, nobody else's, written here only and read as long as the copy lives.
        let room: &'static mut [u8] = unsafe { core::slice::from_raw_parts_mut(memory.start, length) };
        let (header_room, frames_room) = room.split_at_mut(header.bytes().len());
        header_room.copy_from_slice(header.bytes());
        frames_room.copy_from_slice(frames.bytes());
        let header = Section::new(header.address(), header_room);
        let frames = Section::new(frames.address(), frames_room);
        Some(TableCopy { memory, tables: Tables::from_header(header, frames).ok()? })
    }

    /// Frees the copy.
    ///
    /// # Safety
    /// Nobody uses it any more.
    pub unsafe fn free(self, spares: &mut SpareCopies) {
        // SAFETY: from `take`, in `of`; not used by contract.
        unsafe { spares.give(self.memory) };
    }
}
