//! Who enters sections together. A handle of MPI's leads to a number, without a lock where it is known; communicators of
//! the same members have the same number. What is counted stands in the records, in the file.

use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use falloff_format::records::Kind;
use falloff_format::sections::{CHECKPOINT_EVERY, CheckpointRecord, CommunicatorRecord, order_hash};
use zerocopy::IntoBytes;

use super::mpi::{self, Group};
use super::table::undisturbed;
use crate::records::Patience;
use crate::sync::Lock;
use crate::{file, records};

/// Communicators that one process can tell apart, with 0, which is none.
const ROOM: usize = 256;
/// Slots for handles, a power of two.
const SLOTS: usize = 512;
/// Handles that are kept before all are forgotten.
const HANDLES_MAX: usize = 384;
/// A handle that has been freed: it may come again for others.
const FREED: u16 = u16::MAX;

/// A handle that has been looked into.
struct Known {
    /// 0 is an empty slot.
    handle: AtomicU64,
    id: AtomicU16,
}

/// A communicator.
struct Communicator {
    /// Offset of its record's fixed part in this process's file, 0 if it has none.
    record: AtomicU64,
    size: AtomicU32,
    rank: AtomicU32,
    members: AtomicU64,
}

static KNOWN: [Known; SLOTS] = [const { Known { handle: AtomicU64::new(0), id: AtomicU16::new(0) } }; SLOTS];
static ALL: [Communicator; ROOM] = [const { Communicator::nobody() }; ROOM];
static COUNTS: Lock<Counts> = Lock::new(Counts { handles: 0, communicators: 1 });

struct Counts {
    handles: usize,
    communicators: usize,
}

/// What can be wrong with a call.
#[derive(Clone, Copy)]
pub enum Fault {
    /// A section was closed by the exit of one around it.
    Unclosed,
    /// An exit of what is not open.
    Stray,
    /// No room for a section of its own.
    Beyond,
}

/// The number of a communicator, 0 if nothing can be known of it.
pub fn of(handle: u64) -> u16 {
    if handle == 0 {
        return 0;
    }
    match find(handle).map(|known| known.id.load(Ordering::Acquire)) {
        Some(id) if id != FREED => id,
        _ if !mpi::is_active() => 0,
        _ => undisturbed(|| look_into(handle)),
    }
}

/// The slot of a handle.
fn find(handle: u64) -> Option<&'static Known> {
    slots(handle)
        .take_while(|k| k.handle.load(Ordering::Acquire) != 0)
        .find(|k| k.handle.load(Ordering::Relaxed) == handle)
}

fn slots(handle: u64) -> impl Iterator<Item = &'static Known> {
    let first = (handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
    (0..SLOTS).filter_map(move |step| KNOWN.get(first.wrapping_add(step) % SLOTS))
}

fn look_into(handle: u64) -> u16 {
    let Some(group) = mpi::group(handle) else { return 0 };
    let mut counts = COUNTS.lock();
    let known = || ALL.iter().take(counts.communicators).skip(1).position(|c| c.group() == group);
    let id = match known() {
        Some(place) => place + 1,
        None => {
            let id = counts.communicators;
            let Some(fresh) = ALL.get(id) else { return 0 };
            fresh.size.store(group.size, Ordering::Relaxed);
            fresh.rank.store(group.rank, Ordering::Relaxed);
            fresh.members.store(group.members, Ordering::Relaxed);
            counts.communicators += 1;
            id
        }
    } as u16;
    if counts.handles == HANDLES_MAX {
        KNOWN.iter().for_each(|k| k.handle.store(0, Ordering::Release));
        counts.handles = 0;
    }
    let slot = find(handle).or_else(|| {
        counts.handles += 1;
        slots(handle).find(|k| k.handle.load(Ordering::Relaxed) == 0)
    });
    if let Some(slot) = slot {
        slot.id.store(id, Ordering::Release);
        slot.handle.store(handle, Ordering::Release);
    }
    id
}

/// The communicator of this handle is about to be freed.
pub fn forget(handle: u64) {
    if let Some(known) = find(handle) {
        known.id.store(FREED, Ordering::Release);
    }
}

impl Communicator {
    const fn nobody() -> Communicator {
        Communicator {
            record: AtomicU64::new(0),
            size: AtomicU32::new(0),
            rank: AtomicU32::new(0),
            members: AtomicU64::new(0),
        }
    }

    fn group(&self) -> Group {
        Group {
            size: self.size.load(Ordering::Relaxed),
            rank: self.rank.load(Ordering::Relaxed),
            members: self.members.load(Ordering::Relaxed),
        }
    }
}

/// Makes the record of a communicator, if it has none. Under the lock of the sections, or where nobody else is at it.
pub fn record(id: u16) {
    let Some(communicator) = ALL.get(usize::from(id)) else { return };
    if communicator.record.load(Ordering::Acquire) != 0 || !file::is_open() {
        return;
    }
    let Group { size, rank, members } = communicator.group();
    let fixed = CommunicatorRecord { id: id.into(), size, rank, members, ..CommunicatorRecord::default() };
    let place = records::append(Patience::Wait, Kind::Communicator, fixed.as_bytes(), &[]);
    communicator.record.store(place.unwrap_or(0), Ordering::Release);
}

/// A counter of a communicator's record.
fn word(id: u16, offset: usize) -> Option<&'static AtomicU64> {
    let record = ALL.get(usize::from(id))?.record.load(Ordering::Acquire);
    // SAFETY: the offset of a record's fixed part in this process's file, which stays mapped; the field is an aligned u64 of
    // it that is changed by atomic operations only.
    (record != 0).then(|| unsafe { AtomicU64::from_ptr(file::object::<u64>(record + offset as u64)) })
}

/// Counts a call that entered or left a section, and takes it into the order of the communicator's calls.
pub fn note(id: u16, label: u64, enters: bool) {
    let events = word(id, core::mem::offset_of!(CommunicatorRecord, events));
    let order = word(id, core::mem::offset_of!(CommunicatorRecord, order));
    let (Some(events), Some(order)) = (events, order) else { return };
    let next = |before| Some(order_hash(before, label, enters));
    let before = order.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).unwrap_or(0);
    let count = events.fetch_add(1, Ordering::Relaxed) + 1;
    if count.is_multiple_of(CHECKPOINT_EVERY) {
        let order = order_hash(before, label, enters);
        let fixed = CheckpointRecord { communicator: id.into(), reserved: 0, events: count, order };
        records::append(Patience::Wait, Kind::Checkpoint, fixed.as_bytes(), &[]);
    }
}

/// Counts a fault.
pub fn count(id: u16, fault: Fault) {
    let offset = match fault {
        Fault::Unclosed => core::mem::offset_of!(CommunicatorRecord, unclosed),
        Fault::Stray => core::mem::offset_of!(CommunicatorRecord, stray),
        Fault::Beyond => core::mem::offset_of!(CommunicatorRecord, beyond),
    };
    if word(id, offset).is_none() {
        undisturbed(|| record(id));
    }
    if let Some(word) = word(id, offset) {
        word.fetch_add(1, Ordering::Relaxed);
    }
}

/// The child of a fork has no records in its file.
///
/// # Safety
/// No other thread exists.
pub unsafe fn after_fork() {
    // SAFETY: by contract.
    unsafe { COUNTS.reset() };
    ALL.iter().for_each(|c| c.record.store(0, Ordering::Relaxed));
}
