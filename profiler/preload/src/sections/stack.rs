//! Signal context: yes ([`section_of`]; the rest not). The open sections of a thread, and which of them its samples belong
//! to.
//!
//! Sections are nested for each communicator: an exit closes what was entered later on the same communicator, and leaves
//! those of others open. Nothing that a program calls in a wrong order ends more than its own sections.

use core::sync::atomic::{AtomicU16, Ordering};

use falloff_format::sections::INSTANCE_UNCLOSED;

use super::book::{Book, Stay};
use super::callbacks::{self, DATA_LEN};
use super::communicators::{self, Fault};
use super::label::Label;
use super::table;
use crate::clock;
use crate::thread::Thread;

/// Sections that a thread can have open.
const DEPTH_MAX: usize = 64;

/// The section that the process is in: that of its main thread, or of the thread that entered one on a communicator last.
/// It holds for threads that are in none of their own.
#[unsafe(link_section = ".data")]
static OF_PROCESS: AtomicU16 = AtomicU16::new(0);

/// An open section.
#[derive(Clone, Copy)]
struct Open {
    /// The caller's handle, 0 if it gave none: what an exit must give as well, whatever became known of it meanwhile.
    handle: u64,
    label: u64,
    in_ns: u64,
    nested_ns: u64,
    number: u32,
    /// 0 if there was no room for one of its own.
    section: u16,
    /// Section that the thread is in.
    current: u16,
    /// Section that it was in before.
    parent: u16,
    communicator: u16,
    /// It was entered before a fork, by the parent.
    inherited: bool,
    data: [u8; DATA_LEN],
}

/// The sections of a thread. Zeroed memory is a thread in none.
#[repr(C)]
pub struct Sections {
    /// What its samples belong to, 0 if it has nothing open itself.
    current: AtomicU16,
    /// Whether there is anything to clear.
    is_used: bool,
    /// It is in a call of `MPI_Pcontrol`, which may pass through here again.
    pub is_in_control: bool,
    depth: usize,
    /// Entries beyond the deepest.
    beyond: u64,
    open: [Open; DEPTH_MAX],
    book: Book,
}

/// The section that a thread's samples belong to, 0 for none.
pub fn section_of(thread: &Thread) -> u16 {
    match thread.sections.current.load(Ordering::Relaxed) {
        0 => OF_PROCESS.load(Ordering::Relaxed),
        own => own,
    }
}

impl Sections {
    /// Begins a thread.
    pub fn begin(&mut self, owner: u32) {
        self.book.begin(owner, core::mem::take(&mut self.is_used));
        (self.depth, self.beyond, self.is_in_control) = (0, 0, false);
        self.current.store(0, Ordering::Relaxed);
    }

    /// In the child of a fork: what is open stays open, but its time is the parent's.
    pub fn forked(&mut self) {
        self.open.iter_mut().take(self.depth).for_each(|open| open.inherited = true);
        self.book.begin(0, true);
    }

    /// Closes what is open, at the end of the thread or of the process.
    pub fn end(&mut self) {
        let now_ns = if self.depth > 0 { clock::wall_ns() } else { 0 };
        while let Some(last) = self.depth.checked_sub(1) {
            self.close(last, now_ns, INSTANCE_UNCLOSED);
        }
    }

    /// The innermost open section of the first `depth`.
    fn top(&self, depth: usize) -> u16 {
        depth.checked_sub(1).and_then(|i| self.open.get(i)).map_or(0, |open| open.current)
    }

    /// Books an open section as left and takes it out.
    fn close(&mut self, at: usize, now_ns: u64, flags: u16) {
        let Some(open) = self.open.get(at).copied() else { return };
        if flags & INSTANCE_UNCLOSED != 0 && !open.inherited {
            communicators::count(open.communicator, Fault::Unclosed);
        }
        if open.section != 0 && !open.inherited {
            let Open { section, number, in_ns, nested_ns, .. } = open;
            self.book.leave(&Stay { section, flags, number, in_ns, out_ns: now_ns, nested_ns });
        }
        if let Some(around) = at.checked_sub(1).and_then(|i| self.open.get_mut(i)) {
            around.nested_ns += now_ns.saturating_sub(open.in_ns);
        }
        self.open.copy_within((at + 1).min(self.depth)..self.depth, at);
        self.depth -= 1;
        self.current.store(self.top(self.depth), Ordering::Relaxed);
    }
}

/// Enters a section. `handle`: the communicator, 0 if the caller names none; `told`: as he gave it.
pub fn enter(thread: &mut Thread, handle: u64, told: usize, label: Label<'_>) {
    let communicator = communicators::of(handle);
    let parent = section_of(thread);
    let sections = &mut thread.sections;
    sections.is_used = true;
    if sections.depth == DEPTH_MAX {
        sections.beyond += 1;
        return communicators::count(communicator, Fault::Beyond);
    }
    let section = table::find_or_add(parent, communicator, label).unwrap_or(0);
    let mut number = 0;
    if section == 0 {
        communicators::count(communicator, Fault::Beyond);
    } else {
        number = sections.book.enter(section);
        if communicator != 0 {
            number = table::next_instance(section);
            communicators::note(communicator, label.hash, true);
        }
    }
    let mut open = Open {
        handle,
        label: label.hash,
        in_ns: 0,
        nested_ns: 0,
        number,
        section,
        current: if section == 0 { parent } else { section },
        parent,
        communicator,
        inherited: false,
        data: [0; DATA_LEN],
    };
    let current = open.current;
    if handle != 0 {
        callbacks::entered(told, label, &mut open.data);
    }
    open.in_ns = clock::wall_ns();
    let sections = &mut thread.sections;
    let depth = sections.depth;
    if let Some(slot) = sections.open.get_mut(depth) {
        *slot = open;
        sections.depth = depth + 1;
    }
    sections.current.store(current, Ordering::Relaxed);
    note_process(thread, handle, current);
}

/// Leaves a section, and what was entered on the same communicator within it.
pub fn leave(thread: &mut Thread, handle: u64, told: usize, label: Label<'_>) {
    let now_ns = clock::wall_ns();
    let sections = &mut thread.sections;
    if sections.beyond > 0 {
        sections.beyond -= 1;
        return;
    }
    let open = sections.open.get(..sections.depth).unwrap_or(&[]);
    let found = open.iter().rposition(|o| o.handle == handle && o.label == label.hash);
    let Some((found, parent)) = found.and_then(|i| Some((i, open.get(i)?.parent))) else {
        return communicators::count(communicators::of(handle), Fault::Stray);
    };
    let mut at = sections.depth;
    while let Some(next) = at.checked_sub(1).filter(|next| *next >= found) {
        at = next;
        let sections = &mut thread.sections;
        let Some(open) = sections.open.get(at).copied().filter(|o| o.handle == handle) else { continue };
        if handle != 0 {
            let own = table::label(open.section);
            let text = if at == found { label } else { Label::new(until_zero(own)) };
            let mut data = open.data;
            callbacks::left(told, text, &mut data);
            if open.communicator != 0 {
                communicators::note(open.communicator, open.label, false);
            }
        }
        thread.sections.close(at, now_ns, if at == found { 0 } else { INSTANCE_UNCLOSED });
    }
    note_process(thread, handle, parent);
}

/// Leaves everything, as `MPI_MAIN` ends.
pub fn leave_all_within(thread: &mut Thread, handle: u64, label: Label<'_>) {
    let sections = &mut thread.sections;
    let open = sections.open.get(..sections.depth).unwrap_or(&[]);
    let Some(found) = open.iter().rposition(|o| o.handle == handle && o.label == label.hash) else { return };
    let now_ns = clock::wall_ns();
    while sections.depth > found + 1 {
        sections.close(sections.depth - 1, now_ns, INSTANCE_UNCLOSED);
    }
    sections.beyond = 0;
}

/// Lets the process be where the thread is, if it speaks for it; in `outer`, if the thread has nothing open.
fn note_process(thread: &Thread, handle: u64, outer: u16) {
    if handle != 0 || thread.is_first() {
        let own = thread.sections.current.load(Ordering::Relaxed);
        OF_PROCESS.store(if own == 0 { outer } else { own }, Ordering::Relaxed);
    }
}

fn until_zero(text: &[u8]) -> &[u8] {
    text.split(|b| *b == 0).next().unwrap_or(&[])
}
