//! Signal context: yes. What a signal of ours, the end of a watched call and the end of the process do: one sample each.

use core::ffi::{c_int, c_void};

use falloff_format::records::{PartialReason, WaitClock};
use unwinder::End;

use crate::clocks::{SOURCE_MASK, Source};
use crate::inside::enter;
use crate::memory::Stack;
use crate::path::{Place, node_of};
use crate::plan::Class;
use crate::thread::Thread;
use crate::waits::{Kind, Pace};
use crate::{
    calls, clock, cpu, file, identity, modules, perf, process, raw, retry, signals, start, states,
    turn_clock, yields,
};

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
        match (self.signal, self.code) {
            (signals::SAMPLE, libc::SI_TIMER) | (libc::SIGTRAP, perf::TRAP_PERF) => {}
            _ => return None,
        }
        let state = (self.data & !SOURCE_MASK) as *mut c_void;
        states::is_state(state).then(|| (state.cast(), Source::of(self.data)))
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
    turn_clock::measure();
    let begin_ns = turn_clock::now_ns();
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
    if thread.clocks.wait_clock == WaitClock::Wall {
        thread.retry.is_due |= retry::interrupted_by_us(context, gave_up(context));
    }
    let begin_cpu_ns = match source {
        Source::Cpu => on_cpu(thread, info, context),
        Source::Switch => on_switch(thread, context),
        Source::Wall => on_wall(thread, context),
        Source::Event(index) => on_event(thread, context, index),
    };
    count_time(thread, begin_ns, begin_cpu_ns);
}

/// Counts the time in the handler, from its beginning by the clock of turns and, as far as it is known, by that of CPU time. A
/// long sample is followed by a rest.
fn count_time(thread: &mut Thread, begin_ns: u64, cpu_ns: Option<u64>) {
    let mut passed_ns = turn_clock::now_ns().saturating_sub(begin_ns);
    if let Some(cpu_ns) = cpu_ns.filter(|_| passed_ns > LONG_NS) {
        let now_ns = thread.look_at_cpu();
        // Others may have had the processor meanwhile.
        passed_ns = passed_ns.min(now_ns.saturating_sub(cpu_ns));
        thread.rests_until_ns = thread.rests_until_ns.max(now_ns + REST * passed_ns);
    }
    thread.spin.sampled(passed_ns);
    thread.update(|r| r.handler_ns += passed_ns);
}

/// Samples that take longer, on stacks of many thousand frames, are followed by a rest: of CPU time, and of shorter waits.
const LONG_NS: u64 = 100_000;
/// CPU time of a rest in that of the sample before it: so much less than the program itself the handler takes.
const REST: u64 = 10;

/// A sample of CPU time: all that has passed since the last goes to this path. Gives the CPU time at its beginning.
fn on_cpu(thread: &mut Thread, info: &Info, context: &libc::ucontext_t) -> Option<u64> {
    let overruns = if info.code == libc::SI_TIMER { info.overrun.max(0) as u64 } else { 0 };
    let wait_clock = thread.clocks.wait_clock;
    let wall_ns = if wait_clock == WaitClock::None { 0 } else { clock::wall_ns() };
    let (cpu_ns, is_read) = thread.cpu_at_sample(1 + overruns);
    if cpu_ns < thread.rests_until_ns {
        thread.update(|r| r.overruns += 1 + overruns);
        return None;
    }
    // Rested: the clock need not be read at every sample any more.
    thread.rests_until_ns = 0;
    let place = Place::interrupted(context);
    let rest_ns = cpu_ns.saturating_sub(thread.booked_ns);
    let passed_ns = if thread.spin.is_used() { thread.spin.share(cpu_ns, rest_ns) } else { rest_ns };
    book_cpu(thread, &place, passed_ns);
    thread.update(|record| record.overruns += overruns);
    match wait_clock {
        // What was off the CPU outside the calls that are watched has been preempted, or waited unseen.
        _ if thread.watches_calls() && is_read && !thread.is_calling => {
            let unseen_ns = thread.waits.unseen_ns(wall_ns, cpu_ns);
            if looks(thread, Kind::Preempted, unseen_ns, wall_ns, cpu_ns) {
                choose(thread, Kind::Preempted, &place);
            }
            settle_if_due(thread, wall_ns, || cpu_ns);
        }
        WaitClock::Switches => {
            let pace = thread.waits.relax(wall_ns);
            keep_pace(thread, pace);
        }
        _ => {}
    }
    Some(cpu_ns)
}

/// Whether a wait of `away_ns` that has ended falls into a rest: what nobody has looked at since is not worth one.
fn rests(thread: &Thread, cpu_ns: u64, away_ns: u64) -> bool {
    cpu_ns.saturating_add(away_ns) < thread.rests_until_ns
}

/// Looks at a stretch of `away_ns` off the CPU that has ended, unless it falls into a rest; gives whether its path is the one to
/// keep.
fn looks(thread: &mut Thread, kind: Kind, away_ns: u64, wall_ns: u64, cpu_ns: u64) -> bool {
    let left_ns = if kind == Kind::Preempted { thread.left_to_yields_ns() } else { 0 };
    let away_ns = away_ns.saturating_sub(left_ns);
    away_ns > 0
        && !rests(thread, cpu_ns, away_ns)
        && thread.waits.look(kind, away_ns, left_ns, wall_ns, cpu_ns)
}

/// A sample of so much CPU time.
fn book_cpu(thread: &mut Thread, place: &Place, cpu_ns: u64) {
    if book(thread, place, Class::Cpu, [1, cpu_ns]) {
        thread.booked_ns += cpu_ns;
        let booked_ns = thread.booked_ns;
        thread.update(|record| (record.cpu_ns, record.samples) = (booked_ns, record.samples + 1));
    }
}

/// The thread runs again after a switch away from it.
fn on_switch(thread: &mut Thread, context: &libc::ucontext_t) -> Option<u64> {
    let (wall_ns, cpu_ns) = (clock::wall_ns(), raw::thread_cpu_ns());
    let left_ns = thread.clocks.last_switch().map(|r| r.time_ns);
    // Where every switch traps, the clocks tell its length; else the time of the one that trapped does.
    let unseen_ns = thread.waits.unseen_ns(wall_ns, cpu_ns);
    let away_ns = match left_ns {
        Some(left_ns) if thread.waits.period() > 1 => wall_ns.saturating_sub(left_ns),
        _ => unseen_ns,
    };
    let is_blocked = gave_up(context) && !yields::is_at(cpu::interrupted_pc(context));
    let kind = if is_blocked { Kind::Blocked } else { Kind::Preempted };
    if looks(thread, kind, away_ns, wall_ns, cpu_ns) {
        choose(thread, kind, &Place::interrupted(context));
    }
    settle_if_due(thread, wall_ns, || cpu_ns);
    let pace = thread.waits.trapped(wall_ns);
    keep_pace(thread, pace);
    Some(cpu_ns)
}

/// Wall time has passed. A thread that is in a system call, or at one that begins again, waits there; the time of one that
/// runs belongs to other clocks.
fn on_wall(thread: &mut Thread, context: &libc::ucontext_t) -> Option<u64> {
    let pc = cpu::interrupted_pc(context);
    if !ends_in_system_call(pc) && !ends_in_system_call(pc.wrapping_add(cpu::SYSTEM_CALL_LENGTH)) {
        return None;
    }
    let (wall_ns, cpu_ns) = (clock::wall_ns(), raw::thread_cpu_ns());
    let unseen_ns = thread.waits.unseen_ns(wall_ns, cpu_ns);
    if looks(thread, Kind::Blocked, unseen_ns, wall_ns, cpu_ns) {
        choose(thread, Kind::Blocked, &Place::interrupted(context));
    }
    settle_if_due(thread, wall_ns, || cpu_ns);
    Some(cpu_ns)
}

/// Whether the thread goes on after a system call: then it has given the CPU up there, else it was taken from it.
fn gave_up(context: &libc::ucontext_t) -> bool {
    ends_in_system_call(cpu::interrupted_pc(context))
}

/// Whether the instruction before `end` is a system call.
fn ends_in_system_call(end: u64) -> bool {
    modules::view()
        .is_some_and(|v| v.code_before(end, cpu::SYSTEM_CALL_LENGTH).is_some_and(cpu::ends_in_system_call))
}

#[inline(never)]
fn keep_pace(thread: &mut Thread, pace: Pace) {
    let period = thread.waits.period();
    let state = (&raw mut *thread).cast();
    match pace {
        Pace::Steady => {}
        Pace::Changed => {
            thread.clocks.arm_switches(state, period);
            if thread.waits.are_thinned() {
                calls::watch();
            }
        }
        Pace::TooFast => thread.watch_calls(),
    }
}

/// An event has counted its period.
fn on_event(thread: &mut Thread, context: &libc::ucontext_t, index: usize) -> Option<u64> {
    let counts = thread.clocks.trapped(index);
    if book(thread, &Place::interrupted(context), Class::Event(index), [1, counts]) {
        thread.update(|r| r.samples += 1);
    }
    None
}

/// A watched call has returned after `waited_ns`; gives whether its path is wanted. Not on a handler stack yet.
pub fn wait_ended(thread: &mut Thread, kind: Kind, wall_ns: u64, waited_ns: u64) -> bool {
    let cpu_ns = raw::thread_cpu_ns();
    (thread.is_chosen, thread.long_ns, thread.ended_cpu_ns) = (false, 0, cpu_ns);
    if thread.clocks.wait_clock == WaitClock::None {
        return false;
    }
    let unseen_ns = thread.waits.unseen_ns(wall_ns, cpu_ns);
    let off_ns = unseen_ns.min(waited_ns);
    let left_ns = if kind == Kind::Blocked { thread.left_to_yields_ns().min(unseen_ns - off_ns) } else { 0 };
    let is_between_traps = kind == Kind::Blocked && !thread.watches_calls();
    if rests(thread, cpu_ns, off_ns) {
        if !is_between_traps {
            *thread.unlooked_ns(kind) += waited_ns;
        }
        return false;
    }
    if is_between_traps {
        thread.long_ns = off_ns;
    } else {
        thread.is_chosen = off_ns > 0 && thread.waits.look(kind, off_ns, left_ns, wall_ns, cpu_ns);
    }
    thread.is_chosen || thread.long_ns > 0
}

/// Takes the path of a watched call that has returned, just after [`wait_ended`].
pub fn on_wait(thread: &mut Thread, kind: Kind, place: &Place) {
    let (begin_ns, begin, begin_cpu_ns) = (turn_clock::now_ns(), thread.spin.now(), thread.ended_cpu_ns);
    let _inside = enter();
    if !start::is_on() || !file::is_open() && !process::open_in_child(thread) {
        return;
    }
    if thread.long_ns > 0 {
        book_long(thread, place, clock::wall_ns(), begin_cpu_ns);
    } else if thread.is_chosen {
        choose(thread, kind, place);
    }
    if kind == Kind::Preempted && thread.spin.is_worth() && !rests(thread, begin_cpu_ns, 0) {
        let kept_ns = thread.spin.take(begin, begin_cpu_ns);
        book_cpu(thread, place, kept_ns);
    }
    settle_if_due(thread, clock::wall_ns(), raw::thread_cpu_ns);
    count_time(thread, begin_ns, Some(begin_cpu_ns));
}

/// A long wait that no trap may have seen, since few switches trap: what came before it goes to the paths that did, and it to its
/// own. Who waits long switches seldom, so traps may become denser.
fn book_long(thread: &mut Thread, place: &Place, wall_ns: u64, cpu_ns: u64) {
    let long_ns = thread.waits.unseen_ns(wall_ns, cpu_ns).min(thread.long_ns);
    if thread.waits.has_choice() {
        thread.settle(wall_ns - long_ns, cpu_ns, raw::gettid());
    }
    if thread.waits.look(Kind::Blocked, long_ns, 0, wall_ns, cpu_ns) {
        choose(thread, Kind::Blocked, place);
    }
    thread.settle(wall_ns, cpu_ns, raw::gettid());
    let pace = thread.waits.relax(wall_ns);
    keep_pace(thread, pace);
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
    if thread.waits.look(Kind::Blocked, unseen_ns, 0, wall_ns, cpu_ns) {
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
fn settle_if_due(thread: &mut Thread, wall_ns: u64, cpu_ns: impl FnOnce() -> u64) {
    if thread.waits.is_due(wall_ns, period_ns()) {
        thread.settle(wall_ns, cpu_ns(), raw::gettid());
    }
}

/// Nanoseconds between two samples.
pub fn period_ns() -> u64 {
    identity::get().map_or(u64::MAX, |i| i.options.period_ns)
}

/// Books values on the node of a place.
fn book<const N: usize>(thread: &mut Thread, place: &Place, class: Class, values: [u64; N]) -> bool {
    let Some((node, end)) = node_of(thread, place, class) else { return false };
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
