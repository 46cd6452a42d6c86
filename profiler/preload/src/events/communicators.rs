//! What handles of communicators and windows stand for: their members as ranks of `MPI_COMM_WORLD`, and which of all with these
//! members they are.

use core::ffi::c_int;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use falloff_format::events::{CommunicatorRecord, SCOPE_WINDOW, UNKNOWN_RANK};
use falloff_format::records::Kind;
use zerocopy::IntoBytes;

use super::groups::{Group, Groups};
use super::library::Abi;
use super::shapes::Neighbours;
use crate::raw;
use crate::records::{self, Patience};
use crate::sections::undisturbed;
use crate::sync::Lock;

/// Communicators in a block, blocks at most.
const BLOCK: usize = 1 << 10;
const BLOCKS_MAX: usize = 1 << 12;
/// Slots of handles in the first table, a power of two.
const FIRST: usize = 1 << 8;

/// Places of a buffer for the parts of several processes, among which there may be some for nobody: beyond the ends of a grid.
#[derive(Clone, Copy, Default)]
pub struct Parts {
    /// How many places.
    pub places: u32,
    /// The bits of those, among the first 128, that are for nobody.
    nobody: u128,
}

impl Parts {
    /// One for each of so many processes.
    pub fn all(places: u32) -> Parts {
        Parts { places, nobody: 0 }
    }

    /// One for each of these ranks, of which some are nobody.
    pub fn of(ranks: &[c_int], nobody: c_int) -> Parts {
        let bits = ranks.iter().take(128).enumerate().filter(|(_, rank)| **rank == nobody);
        Parts { places: ranks.len() as u32, nobody: bits.fold(0, |bits, (at, _)| bits | 1 << at) }
    }

    /// How many are for somebody.
    pub fn count(self) -> u32 {
        self.places - self.nobody.count_ones()
    }

    /// Whether the part at a place is for somebody.
    pub fn has(self, at: usize) -> bool {
        at >= 128 || self.nobody >> at & 1 == 0
    }
}

/// A communicator or window.
pub struct Communicator {
    /// Its number in the file.
    pub id: u32,
    /// This process's rank in it.
    pub rank: u32,
    scope: u32,
    group: *const Group,
    others: *const Group,
    ordinal: u32,
    /// Where its neighbours are to be asked for.
    pub neighbours: Neighbours,
    /// Neighbours that this process gets from.
    pub sources: Parts,
    /// Neighbours that it gives to.
    pub destinations: Parts,
    /// Collective operations that this process has begun on it.
    sequence: AtomicU64,
}

// SAFETY: written before it is published, then only read, but for the counter.
unsafe impl Sync for Communicator {}

impl Communicator {
    /// Its members.
    pub fn group(&self) -> &'static Group {
        // SAFETY: groups are never unmapped.
        unsafe { &*self.group }
    }

    /// The other group, if it is between two.
    pub fn others(&self) -> Option<&'static Group> {
        // SAFETY: null or a group; groups are never unmapped.
        unsafe { self.others.as_ref() }
    }

    /// Those that messages go to and come from.
    pub fn peers(&self) -> &'static Group {
        self.others().unwrap_or(self.group())
    }

    /// The rank in the world of one of those.
    pub fn peer(&self, rank: i32) -> u32 {
        let known = usize::try_from(rank).ok().and_then(|rank| self.peers().ranks().get(rank).copied());
        known.unwrap_or(UNKNOWN_RANK)
    }

    /// This process's own rank in the world.
    pub fn own_rank(&self) -> u32 {
        self.group().ranks().get(self.rank as usize).copied().unwrap_or(UNKNOWN_RANK)
    }

    /// Number of the next collective operation on it.
    pub fn next_sequence(&self) -> u64 {
        self.sequence.fetch_add(1, Ordering::Relaxed)
    }
}

/// Id of a handle that was given up.
const REMOVED: u32 = u32::MAX;

static BLOCKS: [AtomicPtr<Communicator>; BLOCKS_MAX] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; BLOCKS_MAX];
static REGISTRY: Lock<Registry> = Lock::new(Registry::new());

/// A handle, and the number of what it stands for.
#[derive(Clone, Copy)]
struct Slot {
    handle: u64,
    id: u32,
}

/// Everything that is made and given up.
struct Registry {
    /// Open addressing; id 0 is empty.
    slots: *mut Slot,
    room: usize,
    used: usize,
    /// Ids given so far.
    last: u32,
    groups: Groups,
}

// SAFETY: the memory belongs to whoever holds the lock.
unsafe impl Send for Registry {}

/// What an id stands for.
pub fn by_id(id: u32) -> Option<&'static Communicator> {
    let index = id.checked_sub(1)? as usize;
    let block = BLOCKS.get(index / BLOCK)?.load(Ordering::Acquire);
    // SAFETY: ids are known after what they stand for was written, and blocks are never unmapped.
    (!block.is_null()).then(|| unsafe { &*block.add(index % BLOCK) })
}

/// The rank in the world of a peer in a communicator.
pub fn peer_in(id: u32, rank: i32) -> u32 {
    by_id(id).map_or(UNKNOWN_RANK, |communicator| communicator.peer(rank))
}

/// What a handle stands for. One that nobody has seen being made is looked into.
pub fn of(abi: &Abi, handle: u64) -> Option<&'static Communicator> {
    if handle == 0 {
        return None;
    }
    let known = REGISTRY.lock().find(handle);
    known.and_then(by_id).or_else(|| look_into(abi, handle))
}

/// What a handle stands for, if somebody has seen it being made.
pub fn known(handle: u64) -> Option<&'static Communicator> {
    let known = REGISTRY.lock().find(handle);
    known.and_then(by_id)
}

/// The handle is about to be given up, and may come again for something else.
pub fn forget(handle: u64) {
    REGISTRY.lock().remove(handle);
}

/// Notes a communicator that was made, by asking the library who is in it.
pub fn look_into(abi: &Abi, handle: u64) -> Option<&'static Communicator> {
    undisturbed(|| {
        let mut registry = REGISTRY.lock();
        let group = registry.groups.of(abi, handle, abi.ask.group?)?;
        let mut is_between = 0;
        // SAFETY: the prototype, and a communicator.
        unsafe { (abi.ask.is_between?)(handle as usize, &raw mut is_between) };
        let others = match is_between {
            0 => core::ptr::null(),
            _ => registry.groups.of(abi, handle, abi.ask.remote_group?)?,
        };
        let mut rank = 0;
        // SAFETY: the prototype, and a communicator.
        unsafe { (abi.ask.rank?)(handle as usize, &raw mut rank) };
        let fresh = Communicator { rank: rank as u32, ..Communicator::new(group, others) };
        registry.add(handle, fresh, 0)
    })
}

/// Notes something with the members of a communicator: a copy of it, or a window.
pub fn copy(handle: u64, of: &Communicator, scope: u32) -> Option<&'static Communicator> {
    let parent = if scope == SCOPE_WINDOW { of.id } else { 0 };
    let fresh = Communicator { rank: of.rank, scope, ..Communicator::new(of.group, of.others) };
    undisturbed(|| REGISTRY.lock().add(handle, fresh, parent))
}

/// Says what is known of a communicator's neighbours. Nobody else uses it yet.
pub fn set_neighbours(
    communicator: &'static Communicator,
    neighbours: Neighbours,
    sources: Parts,
    destinations: Parts,
) {
    let place = core::ptr::from_ref(communicator).cast_mut();
    // SAFETY: within a block, which is written through the pointer that made it; no other thread has the handle before the
    // call that makes it has returned.
    unsafe {
        (&raw mut (*place).neighbours).write(neighbours);
        (&raw mut (*place).sources).write(sources);
        (&raw mut (*place).destinations).write(destinations);
    }
}

impl Communicator {
    fn new(group: *const Group, others: *const Group) -> Communicator {
        Communicator {
            id: 0,
            rank: 0,
            scope: 0,
            group,
            others,
            ordinal: 0,
            neighbours: Neighbours::None,
            sources: Parts::default(),
            destinations: Parts::default(),
            sequence: AtomicU64::new(0),
        }
    }

    /// Whether it is one of those among which ordinals are counted.
    fn is_like(&self, other: &Communicator) -> bool {
        let groups = (self.group, self.others);
        self.scope == other.scope
            && (groups == (other.group, other.others)
                || !self.others.is_null() && groups == (other.others, other.group))
    }
}

impl Registry {
    const fn new() -> Registry {
        Registry { slots: core::ptr::null_mut(), room: 0, used: 0, last: 0, groups: Groups::new() }
    }

    /// The slot of a handle, or the empty one where it would stand.
    fn slot(&self, handle: u64) -> *mut Slot {
        let mut at = (handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        loop {
            let slot = self.slots.wrapping_add(at & (self.room - 1));
            // SAFETY: below `room`; some slot is empty, as at most half of them are used.
            if unsafe { (*slot).id == 0 || (*slot).handle == handle } {
                return slot;
            }
            at += 1;
        }
    }

    fn find(&self, handle: u64) -> Option<u32> {
        // SAFETY: a slot.
        let id = if self.room == 0 { 0 } else { unsafe { (*self.slot(handle)).id } };
        (id != 0 && id != REMOVED).then_some(id)
    }

    fn remove(&mut self, handle: u64) {
        if self.find(handle).is_some() {
            // SAFETY: the handle's slot, which stays its own, as the next ones may lie behind it.
            unsafe { (*self.slot(handle)).id = REMOVED };
        }
    }

    fn set(&mut self, handle: u64, id: u32) -> Option<()> {
        if 2 * (self.used + 1) > self.room {
            let old = (self.slots, self.room);
            let room = (2 * self.room).max(FIRST);
            (self.slots, self.room, self.used) =
                (raw::map_private(room * size_of::<Slot>())?.cast(), room, 0);
            for at in 0..old.1 {
                // SAFETY: below the old length.
                let slot = unsafe { old.0.add(at).read() };
                if slot.id != 0 && slot.id != REMOVED {
                    self.set(slot.handle, slot.id);
                }
            }
            if !old.0.is_null() {
                // SAFETY: mapped with this length, replaced.
                unsafe { raw::unmap(old.0.cast(), old.1 * size_of::<Slot>()) };
            }
        }
        let slot = self.slot(handle);
        // SAFETY: a slot of the table.
        unsafe {
            self.used += usize::from((*slot).id == 0);
            slot.write(Slot { handle, id });
        }
        Some(())
    }

    /// Gives something its number and ordinal, and writes its record.
    fn add(&mut self, handle: u64, fresh: Communicator, parent: u32) -> Option<&'static Communicator> {
        let index = self.last as usize;
        let block = BLOCKS.get(index / BLOCK)?;
        if index.is_multiple_of(BLOCK) {
            block.store(raw::map_private(BLOCK * size_of::<Communicator>())?.cast(), Ordering::Release);
        }
        let id = self.last + 1;
        let before = (1..id).rev().filter_map(by_id).find(|known| known.is_like(&fresh));
        let fresh = Communicator { id, ordinal: before.map_or(0, |known| known.ordinal + 1), ..fresh };
        let record = CommunicatorRecord {
            id,
            scope: fresh.scope,
            group: fresh.group().id,
            others: fresh.others().map_or(0, |group| group.id),
            ordinal: fresh.ordinal,
            rank: fresh.rank,
            parent,
            reserved: 0,
        };
        // SAFETY: within the block, of an id that nobody knows yet.
        unsafe { block.load(Ordering::Relaxed).add(index % BLOCK).write(fresh) };
        self.last = id;
        self.set(handle, id)?;
        records::append(Patience::Wait, Kind::EventCommunicator, record.as_bytes(), &[]);
        by_id(id)
    }
}
