//! Signal context: yes, under a lock that handlers only try. Which index a module has in the measurement file.
//!
//! An object with the same path and build id keeps its index however often it is loaded; any other object gets a
//! new one, so that an address that was reused never mixes two objects. A module gets its record with the first node that
//! names it.

use core::sync::atomic::{AtomicU64, Ordering};
use falloff_format::node::UNLISTED_MODULE;

use falloff_format::records::{Kind, MODULE_ANONYMOUS, ModuleRecord};
use zerocopy::{FromZeros, IntoBytes};

use crate::frame_index::Scratch;
use crate::object::Object;
use crate::records::Patience;
use crate::table_copy::SpareCopies;
use crate::{file, raw, records};

/// Modules that one process can tell apart.
const ROOM: usize = UNLISTED_MODULE as usize;
/// Index of memory that belongs to no file.
pub const ANONYMOUS_MODULE: u16 = 1;

/// A module that was seen.
#[derive(Clone, Copy)]
struct Seen {
    identity: u64,
    /// Offset of its record in the file; 0 if this process's file does not have one.
    record: u64,
    loads: u32,
}

/// All modules that were seen, by index.
pub struct Registry {
    seen: *mut Seen,
    count: usize,
    /// For looking into their files.
    pub scratch: Scratch,
    /// For copies of their tables.
    pub spare_copies: SpareCopies,
}

// SAFETY: reached through a lock only.
unsafe impl Send for Registry {}

impl Registry {
    /// Nothing seen.
    pub const fn new() -> Registry {
        Registry {
            seen: core::ptr::null_mut(),
            count: ANONYMOUS_MODULE as usize + 1,
            scratch: Scratch::NONE,
            spare_copies: SpareCopies::NONE,
        }
    }

    fn slots(&mut self) -> &mut [Seen] {
        if self.seen.is_null() {
            match raw::map_private(ROOM * size_of::<Seen>()) {
                Some(memory) => self.seen = memory.cast(),
                None => return &mut [],
            }
        }
        // SAFETY: mapped, zeroed, for ROOM elements, and reached through `&mut self` only.
        unsafe { core::slice::from_raw_parts_mut(self.seen, ROOM) }
    }

    /// The index of an object that is loaded now. Its record, if it has one, is brought up to date.
    pub fn loaded(&mut self, object: &Object, path: &[u8]) -> u16 {
        let identity = identity(object, path);
        let count = self.count;
        let slots = self.slots();
        let known =
            slots.get(1..count).and_then(|s| s.iter().position(|s| s.identity == identity)).map(|i| i + 1);
        let index = match known {
            // Without a build id nothing tells two versions of a file apart.
            Some(index) if object.build_id.len > 0 => index,
            _ if slots.get(count).is_none() => return UNLISTED_MODULE,
            _ => {
                self.count += 1;
                count
            }
        };
        let Some(slot) = self.slots().get_mut(index) else { return UNLISTED_MODULE };
        slot.identity = identity;
        slot.loads += 1;
        if slot.record != 0 {
            // SAFETY: the offset of a module record's fixed part in this process's file, whose page exists; readers of a
            // running file may see the old or the new words.
            unsafe {
                let record = file::object::<ModuleRecord>(slot.record);
                (*record).start = object.module.start;
                (*record).end = object.module.end;
                (*record).bias = object.bias;
                (*record).unloaded_ns = 0;
                (*record).loads = slot.loads;
            }
        }
        index as u16
    }

    /// Makes the record of a module that a node is to name, which most modules never are.
    pub fn record(&mut self, index: u16, object: &Object, path: &[u8]) -> bool {
        let Some(slot) = self.slots().get_mut(usize::from(index)) else { return true };
        if slot.record == 0 {
            let record = ModuleRecord {
                index: index.into(),
                build_id_len: object.build_id.len,
                build_id: object.build_id.bytes,
                start: object.module.start,
                end: object.module.end,
                bias: object.bias,
                loaded_ns: raw::clock_ns(libc::CLOCK_MONOTONIC),
                unloaded_ns: 0,
                loads: slot.loads,
                flags: object.flags,
            };
            slot.record = append(&record, path);
        }
        note(index, slot.record != 0)
    }

    /// Notes that the module with this index is gone.
    pub fn unloaded(&mut self, index: u16) {
        let record = self.slots().get(usize::from(index)).map_or(0, |s| s.record);
        if record != 0 {
            // SAFETY: as in `loaded`.
            unsafe {
                (*file::object::<ModuleRecord>(record)).unloaded_ns = raw::clock_ns(libc::CLOCK_MONOTONIC)
            };
        }
    }

    /// Forgets the records but not the indices: this process has a new file, or will have one.
    pub fn new_file(&mut self) {
        let count = self.count;
        self.slots().iter_mut().take(count).for_each(|s| s.record = 0);
        RECORDED.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }
}

/// Modules that have a record in this process's file, a bit for each: asked without the lock.
static RECORDED: [AtomicU64; 1024] = [const { AtomicU64::new(0) }; 1024];

/// Whether a module has its record.
pub fn is_recorded(index: u16) -> bool {
    let word = RECORDED.get(usize::from(index) / 64).map_or(0, |w| w.load(Ordering::Acquire));
    word >> (index % 64) & 1 != 0
}

fn note(index: u16, recorded: bool) -> bool {
    if let Some(word) = RECORDED.get(usize::from(index) / 64).filter(|_| recorded) {
        word.fetch_or(1 << (index % 64), Ordering::Release);
    }
    recorded
}

/// The record of memory that the program fills with code itself. Needs no lock but that of the records.
pub fn record_anonymous() -> bool {
    let record = ModuleRecord {
        index: ANONYMOUS_MODULE.into(),
        flags: MODULE_ANONYMOUS,
        end: u64::MAX,
        loaded_ns: raw::clock_ns(libc::CLOCK_MONOTONIC),
        loads: 1,
        ..ModuleRecord::new_zeroed()
    };
    is_recorded(ANONYMOUS_MODULE) || note(ANONYMOUS_MODULE, append(&record, b"[anon]") != 0)
}

/// Gives the offset of the record in the file, 0 if there was no room or somebody else is appending.
fn append(record: &ModuleRecord, path: &[u8]) -> u64 {
    records::append(Patience::Try, Kind::Module, record.as_bytes(), &[path]).unwrap_or(0)
}

/// FNV-1a over path and build id.
fn identity(object: &Object, path: &[u8]) -> u64 {
    let build_id = object.build_id.bytes.get(..object.build_id.len as usize).unwrap_or(&[]);
    path.iter()
        .chain(build_id)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
