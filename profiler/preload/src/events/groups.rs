//! Ordered lists of ranks of `MPI_COMM_WORLD`: each once, however many communicators have these members.

use core::ffi::c_int;

use falloff_format::events::{GroupRecord, UNKNOWN_RANK, encode_ranks};
use falloff_format::records::Kind;
use falloff_format::sections::members_hash;
use zerocopy::IntoBytes;

use super::library::Abi;
use crate::raw;
use crate::records::{self, Patience};

/// Bytes that a rank takes at most in the record of a group, in which it may be a run of its own.
const PACKED_MAX: usize = 12;

/// An ordered list of ranks.
pub struct Group {
    /// Its number in the file.
    pub id: u32,
    size: u32,
    /// Hash of the ranks.
    members: u64,
    ranks: *const u32,
    next: *const Group,
}

impl Group {
    /// How many ranks.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The ranks in their order.
    pub fn ranks(&self) -> &[u32] {
        // SAFETY: mapped with so many ranks when the group was made, and never unmapped or written again.
        unsafe { core::slice::from_raw_parts(self.ranks, self.size as usize) }
    }
}

/// All groups.
pub struct Groups {
    first: *const Group,
    last: u32,
}

// SAFETY: groups are written before they are put in, and never unmapped.
unsafe impl Send for Groups {}

impl Groups {
    /// None yet.
    pub const fn new() -> Groups {
        Groups { first: core::ptr::null(), last: 0 }
    }

    /// A group of a communicator, with its ranks in the world.
    pub fn of(
        &mut self,
        abi: &Abi,
        handle: u64,
        ask: unsafe extern "C" fn(usize, *mut usize) -> c_int,
    ) -> Option<*const Group> {
        let (mut own, mut all, mut size) = (0, 0, 0);
        // SAFETY: prototypes; groups are made, asked and freed as the standard says.
        unsafe {
            if ask(handle as usize, &raw mut own) != 0
                || (abi.ask.group?)(abi.world as usize, &raw mut all) != 0
                || (abi.ask.group_size?)(own, &raw mut size) != 0
            {
                return None;
            }
            let found = self.find(abi, own, all, size.max(0) as usize);
            (abi.ask.group_free?)(&raw mut own);
            (abi.ask.group_free?)(&raw mut all);
            found
        }
    }

    /// # Safety
    /// Groups of this library, the first of this size.
    unsafe fn find(&mut self, abi: &Abi, own: usize, all: usize, size: usize) -> Option<*const Group> {
        // Both lists, of which one is kept, and what is packed of it.
        let length = size_of::<Group>() + size * size_of::<u32>();
        let kept = raw::map_private(length)?;
        let Some(scratch) = raw::map_private(size.max(1) * PACKED_MAX) else {
            // SAFETY: mapped above.
            unsafe { raw::unmap(kept, length) };
            return None;
        };
        // SAFETY: behind the group's head, with room for so many; zeroed memory.
        let ranks =
            unsafe { core::slice::from_raw_parts_mut(kept.add(size_of::<Group>()).cast::<c_int>(), size) };
        // SAFETY: room for so many.
        let order = unsafe { core::slice::from_raw_parts_mut(scratch.cast::<c_int>(), size) };
        order.iter_mut().zip(0..).for_each(|(to, rank)| *to = rank);
        // SAFETY: by contract; both lists have room for `size` ranks.
        let failed = abi.ask.translate.is_none_or(|ask| unsafe {
            ask(own, size as c_int, order.as_ptr(), all, ranks.as_mut_ptr()) != 0
        });
        // Who is not in the world, MPI_UNDEFINED, is negative.
        ranks.iter_mut().filter(|rank| **rank < 0).for_each(|rank| *rank = UNKNOWN_RANK as c_int);
        let members = ranks.iter().fold(size as u64, |hash, rank| members_hash(hash, *rank as u32));
        let mut known = self.first;
        // SAFETY: null or a group that is never unmapped.
        while let Some(group) = unsafe { known.as_ref() } {
            if (group.size as usize, group.members) == (size, members) {
                break;
            }
            known = group.next;
        }
        if failed || !known.is_null() {
            // SAFETY: mapped above, and nobody else knows it.
            unsafe {
                raw::unmap(kept, length);
                raw::unmap(scratch, size.max(1) * PACKED_MAX);
            }
            return (!failed).then_some(known);
        }
        let id = self.last + 1;
        // SAFETY: the order of ranks is not needed any more.
        let packed = unsafe { core::slice::from_raw_parts_mut(scratch, size.max(1) * PACKED_MAX) };
        let packed_len = encode_ranks(ranks.iter().map(|rank| *rank as u32), packed).unwrap_or(0);
        let record = GroupRecord { id, size: size as u32, members };
        let text = packed.get(..packed_len).unwrap_or(&[]);
        records::append(Patience::Wait, Kind::Group, record.as_bytes(), &[text]);
        let group = Group { id, size: size as u32, members, ranks: ranks.as_ptr().cast(), next: self.first };
        self.last = id;
        // SAFETY: at the start of what was mapped for it; the scratch memory is nobody's any more.
        unsafe {
            kept.cast::<Group>().write(group);
            raw::unmap(scratch, size.max(1) * PACKED_MAX);
        }
        self.first = kept.cast();
        Some(self.first)
    }
}
