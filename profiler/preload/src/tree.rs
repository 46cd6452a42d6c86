//! Signal context: yes. The calling context tree of one thread: nodes in the measurement file, found by hash.

use falloff_format::chunk::Kind;
use falloff_format::node::{Frame, NodeKey, node_len};

use crate::file::{self, Chunk, METRICS};
use crate::raw;

/// Length of a thread's first chunk of nodes, bytes; each next one is twice as long.
const FIRST_CHUNK: u64 = 4 << 10;
/// Longest chunk.
const CHUNK_MAX: u64 = 4 << 20;
/// Slots of the first index.
const FIRST_INDEX: usize = 1 << 10;
/// Bytes of a node.
const NODE: u64 = node_len(METRICS) as u64;

/// A node in the file, with its values.
#[repr(C)]
pub struct Node {
    key: NodeKey,
    samples: u64,
    cpu_ns: u64,
}

const _: () = assert!(size_of::<Node>() as u64 == NODE);

impl Node {
    /// Books one sample. Only the owning thread calls this; readers may look at any time.
    pub fn book(&mut self, samples: u64, cpu_ns: u64) {
        let add = |value: &mut u64, more: u64| {
            // SAFETY: a live reference; volatile so that the file always has the new value.
            unsafe { (&raw mut *value).write_volatile(value.wrapping_add(more)) }
        };
        add(&mut self.samples, samples);
        add(&mut self.cpu_ns, cpu_ns);
    }
}

/// Nodes of one thread.
pub struct Tree {
    owner: u32,
    chunk: Chunk,
    /// Open addressing; a slot is a node's id (file offset / 8), 0 is empty.
    index: *mut u32,
    slots: usize,
    count: usize,
}

impl Tree {
    /// An empty tree of the thread with this ordinal.
    pub const fn new(owner: u32) -> Tree {
        Tree { owner, chunk: Chunk::NONE, index: core::ptr::null_mut(), slots: 0, count: 0 }
    }

    /// Frees the index; the nodes stay in the file.
    pub fn release(&mut self) {
        if !self.index.is_null() {
            // SAFETY: mapped by `grow` with this size, used by this tree only.
            unsafe { raw::unmap(self.index.cast(), self.slots * 4) };
        }
        *self = Tree::new(self.owner);
    }

    /// The child of `parent` (a node id, 0 for the root) with this frame, made if need be. `None`: no room.
    pub fn child(&mut self, parent: u32, frame: Frame) -> Option<u32> {
        if self.count * 2 >= self.slots && !self.grow() && self.count + 1 >= self.slots {
            return None;
        }
        let key = NodeKey { frame, parent, section: 0, flags: 0 };
        let slot = self.slot(&key);
        // SAFETY: `slot` is below `slots`.
        let id = unsafe { self.index.add(slot).read() };
        if id != 0 {
            return Some(id);
        }
        let (offset, address) = self.room()?;
        // SAFETY: reserved for one node.
        unsafe { address.cast::<Node>().write(Node { key, samples: 0, cpu_ns: 0 }) };
        self.chunk.commit(NODE);
        let id = (offset / 8) as u32;
        // SAFETY: as above.
        unsafe { self.index.add(slot).write(id) };
        self.count += 1;
        Some(id)
    }

    /// The node with this id.
    pub fn node(&mut self, id: u32) -> &mut Node {
        // SAFETY: ids come from `child`; a node is written by its owner only, which holds `&mut self`.
        unsafe { &mut *file::object(u64::from(id) * 8) }
    }

    fn room(&mut self) -> Option<(u64, *mut u8)> {
        if let Some(room) = self.chunk.reserve(NODE) {
            return Some(room);
        }
        let length = (self.chunk.length() * 2).clamp(FIRST_CHUNK, CHUNK_MAX);
        self.chunk = Chunk::claim(Kind::Nodes, self.owner, length)?;
        self.chunk.reserve(NODE)
    }

    /// The slot where the key stands or would stand.
    fn slot(&self, key: &NodeKey) -> usize {
        let mask = self.slots - 1;
        let mixed = (key.frame.0 ^ u64::from(key.parent).rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut slot = (mixed >> 32) as usize & mask;
        loop {
            // SAFETY: below `slots`; an id in the index names a node of this tree.
            let id = unsafe { self.index.add(slot).read() };
            // SAFETY: as above.
            if id == 0 || unsafe { (*file::object::<Node>(u64::from(id) * 8)).key == *key } {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Doubles the index.
    fn grow(&mut self) -> bool {
        let slots = (self.slots * 2).max(FIRST_INDEX);
        let Some(memory) = raw::map_private(slots * 4) else { return false };
        let (old, old_slots) = (self.index, self.slots);
        self.index = memory.cast();
        self.slots = slots;
        for i in 0..old_slots {
            // SAFETY: below the old length.
            let id = unsafe { old.add(i).read() };
            if id != 0 {
                // SAFETY: an id of this tree.
                let slot = self.slot(unsafe { &(*file::object::<Node>(u64::from(id) * 8)).key });
                // SAFETY: below `slots`.
                unsafe { self.index.add(slot).write(id) };
            }
        }
        if !old.is_null() {
            // SAFETY: mapped with this size, replaced.
            unsafe { raw::unmap(old.cast(), old_slots * 4) };
        }
        true
    }
}
