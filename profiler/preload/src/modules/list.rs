//! Signal context: yes. The modules of one time.
//!
//! What a handler asks for every frame stands by itself: in a process with two hundred modules, whose memory is cold when a
//! sample comes, a search is as long as the lines and pages that it touches.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use falloff_format::records::MODULE_SAMPLER;
use unwinder::Extent;

use super::path;
use crate::frame_index::FrameIndices;
use crate::object::Object;
use crate::table_copy::TableCopy;

/// Objects that a handler can add before the list is made anew.
pub const LATE_MAX: usize = 256;
/// Objects that a list can hold.
pub const OBJECTS_MAX: usize = 4096;

/// A loaded object in a list.
#[derive(Clone, Copy)]
pub struct Entry {
    /// What its headers say. Its module's `id` is its place in the list.
    pub object: Object,
    /// Index in the measurement file.
    pub index: u16,
    /// There since start-up: it is never unloaded.
    pub permanent: bool,
    /// Frame descriptions from its file.
    pub frames: FrameIndices,
    /// Of a module that is not permanent.
    pub copy: Option<TableCopy>,
    /// Where its path stands; the loader's own text, valid while the object is loaded.
    pub name: *const core::ffi::c_char,
}

impl Entry {
    /// Whether it is not among what is loaded now.
    pub fn is_gone(&self, now: &[Entry]) -> bool {
        let place = now.binary_search_by_key(&self.object.module.start, |n| n.object.module.start);
        !place.is_ok_and(|i| now.get(i).is_some_and(|n| n.object.same_load(&self.object)))
    }

    /// What the report calls it. Only while it is loaded.
    pub fn path(&self) -> &CStr {
        path(self.object.flags, self.name)
    }
}

/// What most frames need to know of an entry.
#[derive(Clone, Copy)]
pub struct Brief {
    start: u64,
    end: u64,
    /// Run-time address minus ELF virtual address.
    pub bias: u64,
    /// Index in the measurement file.
    pub index: u16,
    /// Whether it is this library.
    pub is_sampler: bool,
    /// Whether nothing of it may be read while objects are unloaded.
    closes: bool,
}

impl Brief {
    fn of(entry: &Entry) -> Brief {
        Brief {
            start: entry.object.module.start,
            end: entry.object.module.end,
            bias: entry.object.bias,
            index: entry.index,
            is_sampler: entry.object.flags & MODULE_SAMPLER != 0,
            closes: !entry.permanent && entry.copy.is_none(),
        }
    }

    fn contains(&self, pc: u64) -> bool {
        self.start <= pc && pc < self.end
    }

    /// Where the module with this id lies.
    pub fn extent(&self, id: u32, restricted: bool) -> Extent {
        Extent { start: self.start, end: self.end, id, closed: restricted && self.closes }
    }
}

/// What is loaded at one time. Only so much of its memory exists as was ever used.
#[repr(C)]
pub struct List {
    /// Tells lists apart: 1 for the first.
    pub number: u64,
    /// Entries that it was made with.
    pub len: usize,
    /// Entries that handlers have added.
    pub late_len: AtomicU32,
    /// The rule cache that belongs to it.
    pub cache: *const AtomicU64,
    /// Those of the entries, in order, and then of those that were added.
    briefs: [Brief; OBJECTS_MAX + LATE_MAX],
    /// Added.
    pub late: [Entry; LATE_MAX],
    /// By address.
    pub entries: [Entry; OBJECTS_MAX],
}

impl List {
    /// Completes a list in whose memory the entries are written.
    ///
    /// # Safety
    /// The memory of a list that nobody else knows, with this many entries.
    pub unsafe fn complete(list: *mut List, number: u64, len: usize, cache: *const AtomicU64) {
        // SAFETY: by contract; the late slots are never read before they are written.
        unsafe {
            (&raw mut (*list).number).write(number);
            (&raw mut (*list).len).write(len);
            (&raw mut (*list).late_len).write(AtomicU32::new(0));
            (&raw mut (*list).cache).write(cache);
            for (id, entry) in (*list).entries().iter().enumerate() {
                (&raw mut (*list).briefs).cast::<Brief>().add(id).write(Brief::of(entry));
            }
        }
    }

    /// The entries that it was made with.
    pub fn entries(&self) -> &[Entry] {
        self.entries.get(..self.len).unwrap_or(&[])
    }

    /// The entries that handlers have added.
    pub fn late(&self) -> &[Entry] {
        self.late.get(..self.late_len.load(Ordering::Acquire) as usize).unwrap_or(&[])
    }

    /// All entries.
    pub fn all(&self) -> impl Iterator<Item = &Entry> {
        self.entries().iter().chain(self.late())
    }

    /// The entry with this id.
    pub fn entry(&self, id: u32) -> Option<&Entry> {
        let (entries, id) = (self.entries(), id as usize);
        entries.get(id).or_else(|| self.late().get(id.checked_sub(entries.len())?))
    }

    /// The same in brief.
    pub fn brief(&self, id: u32) -> Option<&Brief> {
        let len = self.len + self.late_len.load(Ordering::Acquire) as usize;
        self.briefs.get(..len)?.get(id as usize)
    }

    /// The id of the entry whose module an address belongs to, with it in brief.
    pub fn locate(&self, pc: u64) -> Option<(u32, &Brief)> {
        let (sorted, rest) = self.briefs.split_at_checked(self.len)?;
        let after = sorted.partition_point(|brief| brief.start <= pc);
        let near = after.checked_sub(1).and_then(|id| Some((id, sorted.get(id)?)));
        let late = || {
            let late = rest.get(..self.late_len.load(Ordering::Acquire) as usize)?.iter();
            late.zip(self.len..).map(|(brief, id)| (id, brief)).find(|(_, brief)| brief.contains(pc))
        };
        let (id, brief) = near.filter(|(_, brief)| brief.contains(pc)).or_else(late)?;
        Some((id as u32, brief))
    }

    /// The entry whose module an address belongs to.
    pub fn find(&self, pc: u64) -> Option<&Entry> {
        self.entry(self.locate(pc)?.0)
    }

    /// Adds the entry that is written in the next late slot; gives its id.
    ///
    /// # Safety
    /// The caller is the only one that adds.
    pub unsafe fn add_late(&self) -> u32 {
        let slot = self.late_len.load(Ordering::Relaxed);
        let id = self.len + slot as usize;
        // SAFETY: slots past `late_len` are read by nobody else, and this one is written.
        unsafe {
            let list = (&raw const *self).cast_mut();
            let entry = (&raw const (*list).late).cast::<Entry>().add(slot as usize);
            (&raw mut (*list).briefs).cast::<Brief>().add(id).write(Brief::of(&*entry));
        }
        self.late_len.store(slot + 1, Ordering::Release);
        id as u32
    }
}
