//! Signal context: yes ([`describe_open`], where nobody else can be at it; the rest not). All sections of the process:
//! found without a lock, added under one, never removed. Their numbers stay in the child of a fork.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, Ordering};

use falloff_format::records::Kind;
use falloff_format::sections::{LABEL_LEN, SECTIONS_MAX, SectionRecord};
use zerocopy::IntoBytes;

use super::label::Label;
use super::{communicators, stack};
use crate::records::Patience;
use crate::sync::Lock;
use crate::thread::Thread;
use crate::{file, raw, records};

/// Slots of the index, a power of two.
const SLOTS: usize = 2048;
const _: () = assert!(SLOTS.is_power_of_two() && SLOTS > SECTIONS_MAX + 1);

/// What tells sections apart.
struct Key {
    parent: u16,
    communicator: u16,
    hash: u64,
    length: usize,
    /// Ends in a zero byte.
    label: [u8; LABEL_LEN],
}

/// A section.
struct Section {
    key: UnsafeCell<Key>,
    /// Whether this process's file has its record.
    recorded: AtomicBool,
    /// Instances that the process has begun, of sections of a communicator.
    begun: AtomicU32,
}

// SAFETY: a key is written once, under the lock, before its number is published, and only read after.
unsafe impl Sync for Section {}

impl Section {
    const fn none() -> Section {
        let key = Key { parent: 0, communicator: 0, hash: 0, length: 0, label: [0; LABEL_LEN] };
        Section { key: UnsafeCell::new(key), recorded: AtomicBool::new(false), begun: AtomicU32::new(0) }
    }
}

/// By number; 0 is none.
static SECTIONS: [Section; SECTIONS_MAX + 1] = [const { Section::none() }; SECTIONS_MAX + 1];
/// Open addressing; a slot is a number, 0 is empty.
static INDEX: [AtomicU16; SLOTS] = [const { AtomicU16::new(0) }; SLOTS];
/// The last number given.
static LAST: Lock<u16> = Lock::new(0);

/// Does something under a lock of this module or [`communicators`] that a handler of the application's, which may enter
/// sections, must not interrupt.
pub fn undisturbed<R>(work: impl FnOnce() -> R) -> R {
    let mask = raw::mask_signals(libc::SIG_SETMASK, u64::MAX);
    let result = work();
    raw::mask_signals(libc::SIG_SETMASK, mask);
    result
}

fn section(id: u16) -> &'static Section {
    SECTIONS.get(usize::from(id)).unwrap_or(&SECTIONS[0])
}

fn key(id: u16) -> &'static Key {
    // SAFETY: published numbers name keys that are not written any more, and that of 0 never is.
    unsafe { &*section(id).key.get() }
}

/// The label of a section, which ends in a zero byte.
pub fn label(id: u16) -> &'static [u8; LABEL_LEN] {
    &key(id).label
}

/// The section with this label in `parent`; `None` if there can be no more.
pub fn find_or_add(parent: u16, communicator: u16, label: Label<'_>) -> Option<u16> {
    let id = match find(parent, communicator, label) {
        Ok(id) => id,
        Err(_) => undisturbed(|| add(parent, communicator, label))?,
    };
    if !section(id).recorded.load(Ordering::Acquire) {
        undisturbed(|| record(id, &LAST.lock()));
    }
    Some(id)
}

/// The number, or the slot where it would stand.
fn find(parent: u16, communicator: u16, label: Label<'_>) -> Result<u16, usize> {
    let mixed =
        label.hash ^ (u64::from(parent) << 16 | u64::from(communicator)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut slot = (mixed ^ mixed >> 32) as usize % SLOTS;
    loop {
        // There are more slots than sections.
        let id = INDEX.get(slot).map_or(0, |s| s.load(Ordering::Acquire));
        if id == 0 {
            return Err(slot);
        }
        let key = key(id);
        let same = (key.parent, key.communicator, key.hash) == (parent, communicator, label.hash);
        if same && key.label.get(..key.length) == Some(label.bytes) {
            return Ok(id);
        }
        slot = (slot + 1) % SLOTS;
    }
}

fn add(parent: u16, communicator: u16, label: Label<'_>) -> Option<u16> {
    let mut last = LAST.lock();
    let slot = match find(parent, communicator, label) {
        Ok(id) => return Some(id),
        Err(slot) => slot,
    };
    let id = *last + 1;
    let section = SECTIONS.get(usize::from(id))?;
    let mut text = [0; LABEL_LEN];
    text.iter_mut().zip(label.bytes).for_each(|(to, from)| *to = *from);
    let (hash, length) = (label.hash, label.bytes.len());
    // SAFETY: the lock is held and nobody knows the number yet.
    unsafe { *section.key.get() = Key { parent, communicator, hash, length, label: text } };
    INDEX.get(slot)?.store(id, Ordering::Release);
    *last = id;
    Some(id)
}

/// Makes the records of a section and those around it, if there is a file. The lock is held.
fn record(id: u16, _: &u16) {
    let mut id = id;
    while id != 0 && file::is_open() && !section(id).recorded.load(Ordering::Relaxed) {
        let key = key(id);
        let fixed = SectionRecord {
            id: id.into(),
            parent: key.parent.into(),
            communicator: key.communicator.into(),
            reserved: 0,
        };
        communicators::record(key.communicator);
        let text = key.label.get(..key.length).unwrap_or(&[]);
        if records::append(Patience::Wait, Kind::Section, fixed.as_bytes(), &[text]).is_some() {
            section(id).recorded.store(true, Ordering::Release);
        }
        id = key.parent;
    }
}

/// In a file that has just been made: the records of what is open. Nobody else appends.
pub fn describe_open(thread: &Thread) {
    record(stack::section_of(thread), &0);
}

/// Number of the next instance of a section of a communicator.
pub fn next_instance(id: u16) -> u32 {
    section(id).begun.fetch_add(1, Ordering::Relaxed)
}

/// The child of a fork has no records in its file, and has begun no instance.
///
/// # Safety
/// No other thread exists.
pub unsafe fn after_fork() {
    // SAFETY: by contract.
    unsafe { LAST.reset() };
    for section in &SECTIONS {
        section.recorded.store(false, Ordering::Relaxed);
        section.begun.store(0, Ordering::Relaxed);
    }
}
