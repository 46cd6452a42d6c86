//! Signal context: yes. One sample: registers -> walk -> tree node. And who is inside a handler just now.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

use falloff_format::Pseudo;
use falloff_format::node::Frame as FormatFrame;
use falloff_format::records::{PartialReason, WaitClock};
use unwinder::{Arch, End, Native, Registers};

use crate::clocks::{SOURCE_MASK, Source};
use crate::memory::{Stack, Stacks};
use crate::modules::View;
use crate::plan::Class;
use crate::sync::Lock;
use crate::thread::{self, Thread};
use crate::tree::Dropped;
use crate::waits::{Kind, Pace};
use crate::{clock, cpu, file, identity, modules, perf, process, raw, signals, start};

/// Which of the two counters handlers that begin now use.
static EPOCH: AtomicU32 = AtomicU32::new(0);
/// Handlers inside, by the parity of the epoch in which they began.
static INSIDE: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];
static WAITER: Lock<()> = Lock::new(());

/// While it lives, nothing that [`modules::view`] gave is freed.
pub struct Inside(&'static AtomicU32);

/// Begins a stretch in which the module list may be used.
pub fn enter() -> Inside {
    loop {
        let epoch = EPOCH.load(Ordering::SeqCst);
        let counter = &INSIDE[(epoch & 1) as usize];
        counter.fetch_add(1, Ordering::SeqCst);
        if EPOCH.load(Ordering::SeqCst) == epoch {
            return Inside(counter);
        }
        counter.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits until every handler that is inside now has left. Not in handlers.
pub fn wait_for_all() {
    let _one_at_a_time = WAITER.lock();
    let epoch = EPOCH.fetch_add(1, Ordering::SeqCst);
    while INSIDE[(epoch & 1) as usize].load(Ordering::SeqCst) != 0 {
        raw::sched_yield();
    }
}

/// In the child of a fork: the handlers of other threads are not here.
///
/// # Safety
/// No other thread exists, and the caller is not inside.
pub unsafe fn after_fork() {
    // SAFETY: by contract.
    unsafe { WAITER.reset() };
    INSIDE.iter().for_each(|c| c.store(0, Ordering::SeqCst));
}

/// What the kernel says of a signal of ours.
#[repr(C)]
struct Info {
    signal: c_int,
    errno: c_int,
    code: c_int,
    pad: c_int,
    timer: c_int,
    overrun: c_int,
    /// A timer's value, or an event's data.
    data: u64,
}

impl Info {
    /// The thread that a signal of ours names, and what it is about; `None` if the signal is somebody else's.
    fn sender(&self) -> Option<(*mut Thread, Source)> {
        let (state, source) = match (self.signal, self.code) {
            (signals::SAMPLE, libc::SI_TIMER) => (self.data, Source::Cpu),
            (libc::SIGTRAP, perf::TRAP_PERF) => (self.data & !SOURCE_MASK, Source::of(self.data)),
            _ => return None,
        };
        let state = state as *mut c_void;
        thread::is_state(state).then(|| (state.cast(), source))
    }
}

/// Top of the stack to take the sample on; null if there is nothing more to do. A signal that is not ours goes to the
/// application.
pub extern "C" fn stack_for(info: *mut libc::siginfo_t, context: *mut c_void) -> *mut u8 {
    // SAFETY: the kernel passes this to a handler with SA_SIGINFO.
    let Some((thread, _)) = (unsafe { &*info.cast::<Info>() }).sender() else {
        signals::pass_on(info, context);
        return core::ptr::null_mut();
    };
    // SAFETY: a state; states are never unmapped.
    let thread = unsafe { &mut *thread };
    if start::is_on() && thread.is_current() { thread.handler_stack.top() } else { core::ptr::null_mut() }
}

/// Takes one sample, on the handler stack of the thread that the signal names. Makes raw system calls only, so `errno`
/// stays as it is.
pub extern "C" fn on_sample(info: *mut libc::siginfo_t, context: *mut c_void) {
    let begin_ns = clock::wall_ns();
    let _inside = enter();
    // SAFETY: the kernel passes both to a handler with SA_SIGINFO.
    let (info, context) = unsafe { (&*info.cast::<Info>(), &*context.cast::<libc::ucontext_t>()) };
    let Some((thread, source)) = info.sender() else { return };
    // SAFETY: `stack_for` found it to be this thread's state.
    let thread = unsafe { &mut *thread };
    // Asked inside, so that whoever turns measuring off and then waits finds no handler at work.
    if !start::is_on() || !file::is_open() && !process::open_in_child(thread) {
        return;
    }
    match source {
        Source::Cpu => on_cpu(thread, info, context, begin_ns),
        Source::Switch => on_switch(thread, context, begin_ns),
        Source::Event(index) => on_event(thread, context, index),
    }
    thread.update(|r| r.handler_ns += clock::wall_ns() - begin_ns);
}

/// Samples that take longer, on stacks of many thousand frames, are followed by a rest.
const LONG_NS: u64 = 100_000;
/// CPU time of a rest in that of the sample before it: so much less than the program itself the handler takes.
const REST: u64 = 10;

/// A sample of CPU time: all that has passed since the last goes to this path.
fn on_cpu(thread: &mut Thread, info: &Info, context: &libc::ucontext_t, wall_ns: u64) {
    let cpu_ns = raw::thread_cpu_ns();
    if cpu_ns < thread.rests_until_ns {
        return thread.update(|r| r.overruns += 1);
    }
    let taken = book(thread, &Place::interrupted(context), Class::Cpu, |thread| {
        let passed_ns = cpu_ns.saturating_sub(thread.booked_ns);
        thread.booked_ns = cpu_ns;
        [1, passed_ns]
    });
    let overruns = if info.code == libc::SI_TIMER { info.overrun.max(0) as u64 } else { 0 };
    thread.update(|record| {
        record.overruns += overruns;
        if taken {
            record.cpu_ns = cpu_ns;
            record.samples += 1;
        }
    });
    match thread.clocks.wait_clock {
        // What was off the CPU outside the calls that are watched has been preempted, or waited unseen.
        WaitClock::Calls if !thread.is_calling => {
            let unseen_ns = thread.waits.unseen_ns(wall_ns, cpu_ns);
            if unseen_ns > 0 && thread.waits.look(Kind::Preempted, unseen_ns, wall_ns, cpu_ns) {
                choose(thread, Kind::Preempted, &Place::interrupted(context));
            }
            settle_if_due(thread, wall_ns, cpu_ns);
        }
        WaitClock::Switches => {
            let pace = thread.waits.relax(wall_ns);
            keep_pace(thread, pace);
        }
        _ => {}
    }
    if clock::wall_ns() - wall_ns > LONG_NS {
        let now_ns = raw::thread_cpu_ns();
        thread.rests_until_ns = now_ns + REST * (now_ns - cpu_ns);
    }
}

/// The thread runs again after a switch away from it.
fn on_switch(thread: &mut Thread, context: &libc::ucontext_t, wall_ns: u64) {
    let cpu_ns = raw::thread_cpu_ns();
    let left_ns = thread.clocks.last_switch().map(|r| r.time_ns);
    // Where every switch traps, the clocks tell its length; else the time of the one that trapped does.
    let unseen_ns = thread.waits.unseen_ns(wall_ns, cpu_ns);
    let away_ns = match left_ns {
        Some(left_ns) if thread.waits.period() > 1 => wall_ns.saturating_sub(left_ns),
        _ => unseen_ns,
    };
    let kind = if gave_up(context) { Kind::Blocked } else { Kind::Preempted };
    if away_ns > 0 && thread.waits.look(kind, away_ns, wall_ns, cpu_ns) {
        choose(thread, kind, &Place::interrupted(context));
    }
    settle_if_due(thread, wall_ns, cpu_ns);
    let pace = thread.waits.trapped(wall_ns);
    keep_pace(thread, pace);
}

/// Whether the thread goes on after a system call: then it has given the CPU up there, else it was taken from it.
fn gave_up(context: &libc::ucontext_t) -> bool {
    let pc = cpu::interrupted_pc(context);
    let code = modules::view()
        .and_then(|v| v.code_before(pc, cpu::SYSTEM_CALL_LENGTH).map(cpu::ends_in_system_call));
    code.unwrap_or(false)
}

#[inline(never)]
fn keep_pace(thread: &mut Thread, pace: Pace) {
    let period = thread.waits.period();
    let state = (&raw mut *thread).cast();
    match pace {
        Pace::Steady => {}
        Pace::Changed => {
            thread.clocks.arm_switches(state, period);
        }
        Pace::TooFast => thread.watch_calls(),
    }
}

/// An event has counted its period.
fn on_event(thread: &mut Thread, context: &libc::ucontext_t, index: usize) {
    let counts = thread.clocks.trapped(index);
    if book(thread, &Place::interrupted(context), Class::Event(index), |_| [1, counts]) {
        thread.update(|r| r.samples += 1);
    }
}

/// A watched call has returned after `waited_ns`; gives whether its path is wanted. Not on a handler stack yet.
pub fn wait_ended(thread: &mut Thread, wall_ns: u64, waited_ns: u64) -> bool {
    let cpu_ns = raw::thread_cpu_ns();
    let off_ns = thread.waits.unseen_ns(wall_ns, cpu_ns).min(waited_ns);
    off_ns > 0 && thread.waits.look(Kind::Blocked, off_ns, wall_ns, cpu_ns)
}

/// Takes the path of a watched call that has returned to `registers`; `function` is what was called.
pub fn on_wait(thread: &mut Thread, registers: &Registers, function: u64) {
    let begin_ns = clock::wall_ns();
    let _inside = enter();
    if !start::is_on() || !file::is_open() && !process::open_in_child(thread) {
        return;
    }
    choose(thread, Kind::Blocked, &Place::called(*registers, function));
    settle_if_due(thread, clock::wall_ns(), raw::thread_cpu_ns());
    thread.update(|r| r.handler_ns += clock::wall_ns() - begin_ns);
}

/// The process ends while this thread, of that id, may be waiting: its wait goes to the path that it waits on.
pub fn on_end(thread: &mut Thread, tid: u32) {
    let (wall_ns, cpu_ns) = (clock::wall_ns(), raw::other_thread_cpu_ns(tid));
    let unseen_ns = thread.waits.unseen_ns(wall_ns, cpu_ns);
    if thread.clocks.wait_clock == WaitClock::None || unseen_ns == 0 || !file::is_open() {
        return;
    }
    // The kernel tells where a thread is that is in a system call, but not all of its registers.
    let Some((pc, sp)) = clock::blocked_at(tid) else { return };
    let _inside = enter();
    if thread.waits.look(Kind::Blocked, unseen_ns, wall_ns, cpu_ns) {
        thread.stack = Stack::NONE;
        choose(thread, Kind::Blocked, &Place::blocked(pc, sp));
    }
}

/// Lets a path stand for what the thread has waited.
fn choose(thread: &mut Thread, kind: Kind, place: &Place) {
    if let Some((node, end)) = node_of(thread, place, Class::Wait) {
        thread.waits.choose(kind, node);
        count_end(thread, end);
    }
}

#[inline(never)]
fn settle_if_due(thread: &mut Thread, wall_ns: u64, cpu_ns: u64) {
    let period_ns = identity::get().map_or(u64::MAX, |i| i.options.period_ns());
    if thread.waits.is_due(wall_ns, period_ns) {
        thread.settle(wall_ns, cpu_ns, raw::gettid());
    }
}

/// Books values on the node of a place; `values` is asked once there is one.
fn book<const N: usize>(
    thread: &mut Thread,
    place: &Place,
    class: Class,
    values: impl FnOnce(&mut Thread) -> [u64; N],
) -> bool {
    let Some((node, end)) = node_of(thread, place, class) else { return false };
    let values = values(thread);
    thread.tree.book(node, values);
    count_end(thread, end);
    true
}

fn count_end(thread: &mut Thread, end: End) {
    let reason = match end {
        End::Root => return,
        End::Truncated => return thread.update(|r| r.truncated += 1),
        End::NoModule => PartialReason::NoModule,
        End::NoCfi => PartialReason::NoCfi,
        End::BadRead => PartialReason::BadRead,
        End::NotAdvancing => PartialReason::NotAdvancing,
        End::Unsupported => PartialReason::Unsupported,
    };
    thread.update(|record| {
        if let Some(count) = record.partial.get_mut(reason as usize) {
            *count += 1;
        }
    });
}

/// Where a thread is.
struct Place {
    registers: Registers,
    stack_pointer: usize,
    /// A function that has been called from there and has returned.
    called: Option<u64>,
}

impl Place {
    fn interrupted(context: &libc::ucontext_t) -> Place {
        let registers = cpu::registers(context);
        Place { registers, stack_pointer: cpu::interrupted_stack_pointer(context), called: None }
    }

    fn called(registers: Registers, function: u64) -> Place {
        let stack_pointer = registers.get(Native::SP).unwrap_or(0) as usize;
        Place { registers, stack_pointer, called: Some(function) }
    }

    fn blocked(pc: u64, sp: u64) -> Place {
        Place { registers: cpu::registers_at(pc, sp), stack_pointer: sp as usize, called: None }
    }
}

/// Walks the stack and finds the node of the path, or counts the sample as dropped.
fn node_of(thread: &mut Thread, place: &Place, class: Class) -> Option<(u32, End)> {
    let found = modules::view().ok_or(Dropped::NotNow).and_then(|view| path(thread, &view, place, class));
    if let Err(reason) = found {
        thread.update(|r| match reason {
            Dropped::NoRoom => r.dropped_room += 1,
            Dropped::NotNow => r.dropped_unready += 1,
        });
    }
    found.ok()
}

/// What was sampled last keeps its frames and nodes as far out as nothing has changed; the rest is looked up. The innermost
/// frame, or the function called from there, gets the node of the class.
fn path(thread: &mut Thread, view: &View<'_>, place: &Place, class: Class) -> Result<(u32, End), Dropped> {
    let Thread { stack, copies, replay, tree, list, .. } = thread;
    // Modules may have other numbers in another list.
    if core::mem::replace(list, view.number()) != view.number() {
        replay.clear();
    }
    let mut stacks = Stacks::new(stack, copies, place.stack_pointer);
    let cache = view.cache().ok_or(Dropped::NotNow)?;
    let update = replay.update::<Native, _, _>(&place.registers, view, &cache, &mut stacks);
    if view.is_blind() && update.end != End::Root {
        replay.clear();
        return Err(Dropped::NotNow);
    }
    let mut child = |node, frame, class| tree.child(node, frame, class, || view.record(frame));
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
