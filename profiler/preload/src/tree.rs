//! Signal context: yes. The calling context tree of one thread: nodes in the measurement file, found by hash.

use falloff_format::chunk::Kind;
use falloff_format::node::{Frame, NODE_KEY_LEN, NodeKey, node_len};

use crate::file::{self, Chunk};
use crate::plan::{Class, metrics_of};
use crate::raw;

/// Longest chunk of nodes, bytes.
const CHUNK_MAX: u64 = 4 << 20;
/// Slots of the first index.
const FIRST_INDEX: usize = 1 << 11;

/// Why a sample has no node. Its time goes to the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Dropped {
    /// The file is full.
    NoRoom,
    /// A module of the path is being looked at by somebody else.
    NotNow,
}

/// Nodes of one thread. Memory that is all zero is an empty tree; one in use must not be moved.
#[repr(C)]
pub struct Tree {
    owner: u32,
    /// By class.
    chunks: [Chunk; Class::COUNT],
    /// Open addressing; a slot is a node's id (file offset / 8), 0 is empty.
    index: *mut u32,
    slots: usize,
    count: usize,
    /// The index while it is small: near what else a sample needs, and no mapping to make for a short thread.
    first: [u32; FIRST_INDEX],
}

impl Tree {
    /// Becomes the empty tree of the thread with this ordinal. The nodes before stay in the file.
    pub fn begin(&mut self, owner: u32) {
        self.release();
        self.owner = owner;
    }

    /// The ordinal of the thread.
    pub fn owner(&self) -> u32 {
        self.owner
    }

    /// Frees the index; the nodes stay in the file.
    pub fn release(&mut self) {
        if self.slots > 0 {
            self.first.fill(0);
        }
        if self.slots > FIRST_INDEX {
            // SAFETY: mapped by `grow` with this size, used by this tree only.
            unsafe { raw::unmap(self.index.cast(), self.slots * 4) };
        }
        self.chunks = [Chunk::NONE; Class::COUNT];
        (self.index, self.slots, self.count) = (core::ptr::null_mut(), 0, 0);
    }

    /// The node of `class` under `parent` (the node of a caller, 0 for the root) with this frame and section, made if need
    /// be. `known` is asked before one is made.
    pub fn child(
        &mut self,
        parent: u32,
        frame: Frame,
        class: Class,
        section: u16,
        known: impl Fn() -> bool,
    ) -> Result<u32, Dropped> {
        if self.count * 2 >= self.slots && !self.grow() && self.count + 1 >= self.slots {
            return Err(Dropped::NoRoom);
        }
        // The flags tell classes apart, so that a frame that both calls and is hit has two nodes.
        let key = NodeKey { frame, parent, section, flags: class.number() as u16 };
        let slot = self.slot(&key);
        // SAFETY: `slot` is below `slots`.
        let id = unsafe { self.index.add(slot).read() };
        if id != 0 {
            return Ok(id);
        }
        if !known() {
            return Err(Dropped::NotNow);
        }
        let length = node_len(metrics_of(class));
        let (offset, address) = self.room(class, length as u64).ok_or(Dropped::NoRoom)?;
        // SAFETY: reserved for this node, and fresh file bytes are zero, which the values are to be.
        unsafe { address.cast::<NodeKey>().write(key) };
        self.chunks.get_mut(class.number()).ok_or(Dropped::NoRoom)?.commit(length as u64);
        let id = (offset / 8) as u32;
        // SAFETY: as above.
        unsafe { self.index.add(slot).write(id) };
        self.count += 1;
        Ok(id)
    }

    /// Adds to the values of a node, in the order of its class's metrics. Only the owning thread calls this; readers may
    /// look at any time.
    pub fn book<const N: usize>(&mut self, id: u32, more: [u64; N]) {
        for (index, more) in more.into_iter().enumerate() {
            // SAFETY: ids come from `child`, and the caller knows the class and its metrics; volatile, so that the file
            // always has the new value.
            unsafe {
                let value = file::object::<u64>(u64::from(id) * 8 + (NODE_KEY_LEN + 8 * index) as u64);
                value.write_volatile(value.read_volatile().wrapping_add(more));
            }
        }
    }

    fn room(&mut self, class: Class, length: u64) -> Option<(u64, *mut u8)> {
        let chunk = self.chunks.get_mut(class.number())?;
        if let Some(room) = chunk.reserve(length) {
            return Some(room);
        }
        *chunk =
            chunk.claim_next(Kind::Nodes, self.owner, metrics_of(class), chunk.next_length(CHUNK_MAX))?;
        chunk.reserve(length)
    }

    /// The slot where the key stands or would stand.
    fn slot(&self, key: &NodeKey) -> usize {
        let mask = self.slots - 1;
        let kind = u64::from(key.flags) | u64::from(key.section) << 8;
        let mixed = (key.frame.0 ^ u64::from(key.parent).rotate_left(32) ^ kind << 24)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut slot = (mixed >> 32) as usize & mask;
        loop {
            // SAFETY: below `slots`; an id in the index names a node of this tree.
            let id = unsafe { self.index.add(slot).read() };
            // SAFETY: as above.
            if id == 0 || unsafe { *file::object::<NodeKey>(u64::from(id) * 8) == *key } {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Makes the index, or doubles it.
    fn grow(&mut self) -> bool {
        if self.slots == 0 {
            (self.index, self.slots) = (self.first.as_mut_ptr(), FIRST_INDEX);
            return true;
        }
        let slots = self.slots * 2;
        let Some(memory) = raw::map_private(slots * 4) else { return false };
        let (old, old_slots) = (self.index, self.slots);
        (self.index, self.slots) = (memory.cast(), slots);
        for i in 0..old_slots {
            // SAFETY: below the old length.
            let id = unsafe { old.add(i).read() };
            if id != 0 {
                // SAFETY: an id of this tree.
                let slot = self.slot(unsafe { &*file::object::<NodeKey>(u64::from(id) * 8) });
                // SAFETY: below `slots`.
                unsafe { self.index.add(slot).write(id) };
            }
        }
        if old_slots > FIRST_INDEX {
            // SAFETY: mapped with this size, replaced.
            unsafe { raw::unmap(old.cast(), old_slots * 4) };
        }
        true
    }
}
