//! Signal context: yes. The call path of a thread as a node of its tree.

use falloff_format::Pseudo;
use falloff_format::node::Frame as FormatFrame;
use unwinder::{Arch, End, Native, Registers, Replay, Room};

use crate::memory::{Copies, Stack, Stacks};
use crate::modules::{self, View};
use crate::plan::Class;
use crate::sections::section_of;
use crate::thread::{DEPTH_MAX, Thread};
use crate::tree::{Dropped, Tree};
use crate::{cpu, yields};

/// Where a thread is.
pub struct Place {
    registers: Registers,
    stack_pointer: usize,
    /// A function that has been called from there and has returned, or whose work is done there.
    called: Option<u64>,
}

impl Place {
    /// Where a signal has interrupted it.
    pub fn interrupted(context: &libc::ucontext_t) -> Place {
        let registers = cpu::registers(context);
        let called = yields::called_at(cpu::interrupted_pc(context));
        Place { registers, stack_pointer: cpu::interrupted_stack_pointer(context), called }
    }

    /// Where it has called a function that has returned.
    pub fn called(registers: Registers, function: u64) -> Place {
        let stack_pointer = registers.get(Native::SP).unwrap_or(0) as usize;
        Place { registers, stack_pointer, called: Some(function) }
    }

    /// Where it waits in a system call.
    pub fn blocked(pc: u64, sp: u64) -> Place {
        Place {
            registers: cpu::registers_at(pc, sp),
            stack_pointer: sp as usize,
            called: yields::called_at(pc),
        }
    }
}

/// Walks the stack and finds the node of the path, or counts the sample as dropped.
pub fn node_of(thread: &mut Thread, place: &Place, class: Class) -> Option<(u32, End)> {
    let section = section_of(thread);
    let found = modules::view().ok_or(Dropped::NotNow).and_then(|view| {
        let Thread { stack, copies, replay, room, tree, list, .. } = thread;
        path(Walk { stack, copies, replay, room, tree, list }, &view, place, class, section)
    });
    if let Err(reason) = found {
        thread.update(|r| match reason {
            Dropped::NoRoom => r.dropped_room += 1,
            Dropped::NotNow => r.dropped_unready += 1,
        });
    }
    found.ok()
}

/// What a walk needs of its thread, and the tree that the path goes into.
pub struct Walk<'a> {
    /// Its stack.
    pub stack: &'a mut Stack,
    /// Pages of other stacks.
    pub copies: &'a mut Copies,
    /// The path found last.
    pub replay: &'a mut Replay<DEPTH_MAX>,
    /// Room for registers.
    pub room: &'a mut Room,
    /// The nodes.
    pub tree: &'a mut Tree,
    /// The list of modules that the path found last belongs to.
    pub list: &'a mut u64,
}

/// What was found last keeps its frames and nodes as far out as nothing has changed; the rest is looked up. The innermost
/// frame, or the function called from there, gets the node of the class, in the section unless that is a caller's.
pub fn path(
    walk: Walk<'_>,
    view: &View<'_>,
    place: &Place,
    class: Class,
    section: u16,
) -> Result<(u32, End), Dropped> {
    let Walk { stack, copies, replay, room, tree, list } = walk;
    // Modules may have other numbers in another list.
    if core::mem::replace(list, view.number()) != view.number() {
        replay.clear();
    }
    let mut stacks = Stacks::new(stack, copies, place.stack_pointer);
    let cache = view.cache().ok_or(Dropped::NotNow)?;
    let update = replay.update::<Native, _, _>(&place.registers, view, &cache, &mut stacks, room);
    if view.is_blind() && update.end != End::Root {
        replay.clear();
        return Err(Dropped::NotNow);
    }
    let mut child = |node, frame, class| {
        let section = if class == Class::Caller { 0 } else { section };
        tree.child(node, frame, class, section, || view.record(frame))
    };
    let frame = |index: usize| replay.frame(index).and_then(|f| view.frame(&f));
    let called = place.called.and_then(|address| view.frame_at(address));
    // What this library does for the application is the cost of the frame that called it.
    let (callers, innermost) = match called {
        Some(called) => (update.depth, called),
        None => (0..update.depth).rev().find_map(|i| Some((i, frame(i)?))).ok_or(Dropped::NotNow)?,
    };
    let kept = update.kept.min(callers);
    let mut node = match (kept.checked_sub(1), update.end) {
        (Some(last), _) => replay.mark(last),
        (None, End::Root) => 0,
        (None, End::Truncated) => child(0, FormatFrame::pseudo(Pseudo::Truncated), Class::Caller)?,
        (None, _) => child(0, FormatFrame::pseudo(Pseudo::Partial), Class::Caller)?,
    };
    for index in kept..callers {
        if update.folded == Some(index) {
            node = child(node, FormatFrame::pseudo(Pseudo::Folded), Class::Caller)?;
        }
        if let Some(frame) = replay.frame(index).and_then(|f| view.frame(&f)) {
            node = child(node, frame, Class::Caller)?;
        }
        replay.set_mark(index, node);
    }
    Ok((child(node, innermost, class)?, update.end))
}
