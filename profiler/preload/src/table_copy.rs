//! A copy of a module's unwind tables, for the time when the module may be unmapped under a handler.

use unwinder::{Section, Tables};

use crate::raw;

/// Longest tables that are copied. Plugins have far less; of a larger module only cached rules serve meanwhile.
const LENGTH_MAX: usize = 512 << 10;

/// Copied tables. They are where the module's are by address and somewhere else in fact.
#[derive(Clone, Copy)]
pub struct TableCopy {
    memory: *mut u8,
    length: usize,
    /// The tables, to be used like the module's own.
    pub tables: Tables<'static>,
}

impl TableCopy {
    /// Copies tables, if there is something to copy and it is not too long. Not in handlers.
    pub fn of(tables: &Tables<'static>) -> Option<TableCopy> {
        let (header, frames) = tables.sections()?;
        let length = header.bytes().len() + frames.bytes().len();
        if length == 0 || length > LENGTH_MAX {
            return None;
        }
        let memory = raw::map_private(length)?;
        // SAFETY: mapped just now with this length, written here only and read as long as the copy lives.
        let room: &'static mut [u8] = unsafe { core::slice::from_raw_parts_mut(memory, length) };
        let (header_room, frames_room) = room.split_at_mut(header.bytes().len());
        header_room.copy_from_slice(header.bytes());
        frames_room.copy_from_slice(frames.bytes());
        let header = Section::new(header.address(), header_room);
        let frames = Section::new(frames.address(), frames_room);
        Some(TableCopy { memory, length, tables: Tables::from_header(header, frames).ok()? })
    }

    /// Frees the copy.
    ///
    /// # Safety
    /// Nobody uses it any more.
    pub unsafe fn free(self) {
        // SAFETY: mapped in `of` with this length; not used by contract.
        unsafe { raw::unmap(self.memory, self.length) };
    }
}
