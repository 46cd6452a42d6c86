//! Signal context: yes, under a lock that handlers only try. Which index a module has in the measurement file.
//!
//! An object with the same path and build id keeps its index however often it is loaded; any other object gets a
//! new one, so that an address that was reused never mixes two objects.

use falloff_format::node::UNLISTED_MODULE;
use falloff_format::records::{Kind, ModuleRecord};
use zerocopy::IntoBytes;

use crate::object::Object;
use crate::records::Patience;
use crate::{file, raw, records};

/// Modules that one process can tell apart.
const ROOM: usize = UNLISTED_MODULE as usize;

/// A module that was seen.
#[derive(Clone, Copy)]
struct Seen {
    identity: u64,
    /// Offset of its record in the file; 0 if this process's file does not have one.
    record: u64,
}

/// All modules that were seen, by index.
pub struct Registry {
    seen: *mut Seen,
    count: usize,
}

// SAFETY: reached through a lock only.
unsafe impl Send for Registry {}

impl Registry {
    /// Nothing seen.
    pub const fn new() -> Registry {
        Registry { seen: core::ptr::null_mut(), count: 1 }
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

    /// The index of an object that is loaded now; its record is made or brought up to date. `None`: try again later.
    pub fn loaded(&mut self, object: &Object, path: &[u8], patience: Patience) -> Option<u16> {
        let identity = identity(object, path);
        let count = self.count;
        let slots = self.slots();
        let known =
            slots.get(1..count).and_then(|s| s.iter().position(|s| s.identity == identity)).map(|i| i + 1);
        let index = match known {
            // Without a build id nothing tells two versions of a file apart.
            Some(index) if object.build_id.len > 0 => index,
            _ if slots.get(count).is_none() => return Some(UNLISTED_MODULE),
            _ => {
                self.count += 1;
                count
            }
        };
        let slots = self.slots();
        let slot = slots.get_mut(index)?;
        slot.identity = identity;
        if slot.record == 0 {
            let record = append(index as u16, object, path, patience);
            if record.is_none() && patience == Patience::Try {
                return None;
            }
            slot.record = record.unwrap_or(0);
        } else {
            // SAFETY: the offset of a module record's fixed part in this process's file.
            let record = unsafe { file::object::<ModuleRecord>(slot.record) };
            // SAFETY: the record's page exists; readers of a running file may see the old or the new words.
            unsafe {
                (*record).start = object.module.start;
                (*record).end = object.module.end;
                (*record).bias = object.bias;
                (*record).unloaded_ns = 0;
                (*record).loads += 1;
            }
        }
        Some(index as u16)
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

    /// Forgets the records but not the indices: this process has a new file.
    pub fn new_file(&mut self) {
        let count = self.count;
        self.slots().iter_mut().take(count).for_each(|s| s.record = 0);
    }

    /// Gives a module that is still loaded its record in a new file.
    pub fn again(&mut self, index: u16, object: &Object, path: &[u8]) {
        if let Some(slot) = self.slots().get_mut(usize::from(index)) {
            slot.record = append(index, object, path, Patience::Wait).unwrap_or(0);
        }
    }
}

fn append(index: u16, object: &Object, path: &[u8], patience: Patience) -> Option<u64> {
    let record = ModuleRecord {
        index: index.into(),
        build_id_len: object.build_id.len,
        build_id: object.build_id.bytes,
        start: object.module.start,
        end: object.module.end,
        bias: object.bias,
        loaded_ns: raw::clock_ns(libc::CLOCK_MONOTONIC),
        unloaded_ns: 0,
        loads: 1,
        flags: object.flags,
    };
    records::append(patience, Kind::Module, record.as_bytes(), &[path])
}

/// FNV-1a over path and build id.
fn identity(object: &Object, path: &[u8]) -> u64 {
    let build_id = object.build_id.bytes.get(..object.build_id.len as usize).unwrap_or(&[]);
    path.iter()
        .chain(build_id)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
