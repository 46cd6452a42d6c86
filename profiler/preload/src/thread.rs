//! The state of one measured thread.
//!
//! It lies in memory of its own (`states`), which signals carry a pointer to: the handler needs no thread-local storage.

use core::ffi::c_void;
use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use falloff_format::Pseudo;
use falloff_format::node::Frame as FormatFrame;
use falloff_format::records::{
    CpuClock, Kind, THREAD_ENDS, THREAD_MAIN, THREAD_UNTIMED, ThreadRecord, WaitClock,
};
use unwinder::{Replay, Room};
use zerocopy::IntoBytes;

use crate::clocks::{Clocks, SOURCE_MASK};
use crate::events::Log;
use crate::memory::{Copies, Stack};
use crate::plan::{self, Class};
use crate::records::Patience;
use crate::retry::Retry;
use crate::sections::Sections;
use crate::signals::Hold;
use crate::spin::Spin;
use crate::tree::Tree;
use crate::waits::{self, Bill, Item, Waits};
use crate::{calls, clock, cpu, file, handler, identity, modules, raw, records, signals, states, yields};

/// Frames kept of one path.
pub const DEPTH_MAX: usize = 4096;
/// Bytes of a handler's stack; it needs a quarter.
const HANDLER_STACK: usize = 16 << 10;
/// CPU time between two readings of a thread's clock where an event takes the samples. A reading has the scheduler settle
/// the thread's account and may end its slice: done between the kernel's ticks, a program's own profiling timer, which
/// counts ticks, would lose them on a busy machine.
const READING_NS: u64 = 4_000_000;
/// The same where a timer takes them: it tells when each was due. A reading takes as long as all the rest of a sample.
const TIMER_READING_NS: u64 = 20_000_000;
/// What a created thread runs.
pub type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// One thread. In this order: when a sample comes most memory is cold, and how many pages it touches is what it costs.
#[repr(C)]
pub struct Thread {
    /// Where samples are taken; its upper end is used.
    pub handler_stack: HandlerStack,
    /// What the thread is to run.
    pub start: Option<Start>,
    /// With this argument.
    pub argument: *mut c_void,
    /// Most bytes its stack can have.
    pub stack_size: usize,
    tid: AtomicU32,
    /// Whether it is in a watched call, whose end will look at what it has waited.
    pub is_calling: bool,
    /// The C library's block of the thread, by which it knows itself.
    pointer: usize,
    /// Time in calls that yield which nobody has looked at; handlers leave it alone.
    pub yielded_ns: u64,
    /// Its CPU time where it yields.
    pub spin: Spin,
    /// What triggers its samples.
    pub clocks: Clocks,
    /// Its time off the CPU.
    pub waits: Waits,
    /// The same in watched calls that block.
    pub waited_ns: u64,
    /// Whether the path of the wait that has ended is to stand for those since the last booking.
    pub is_chosen: bool,
    /// The length of that wait if it is to be booked by itself, else 0.
    pub long_ns: u64,
    /// CPU time at its end.
    pub ended_cpu_ns: u64,
    /// What of a call is repeated.
    pub retry: Retry,
    /// Signal mask of the application while a wait is sampled.
    pub mask: u64,
    /// Offset of the ThreadRecord in the file, 0 if it has none.
    record: u64,
    started_ns: u64,
    cpu_start_ns: u64,
    /// CPU time before which no sample of it is taken.
    pub rests_until_ns: u64,
    /// CPU time that is booked so far.
    pub booked_ns: u64,
    /// CPU time when its clock was read last, of a timer when the sample that read it was due; and that of the samples since.
    read_ns: u64,
    sampled_ns: u64,
    /// CPU time at which its timer's first sample was due.
    first_ns: u64,
    /// Times that the key's destructor was put off.
    pub put_off: u32,
    /// Its event log, null if it has none.
    pub log: *mut Log,
    /// Its stack.
    pub stack: Stack,
    /// The list of modules that its path belongs to.
    pub list: u64,
    /// Pages of other stacks.
    pub copies: Copies,
    /// Its open sections.
    pub sections: Sections,
    /// Its nodes.
    pub tree: Tree,
    /// The path of the last sample, with the nodes of its callers.
    pub replay: Replay<DEPTH_MAX>,
    /// Room for the registers of a walk.
    pub room: Room,
}

/// Stack of the handler, aligned as calls want it.
#[repr(align(16))]
pub struct HandlerStack([u8; HANDLER_STACK]);

impl HandlerStack {
    /// Bytes that were ever used: it begins as zeros.
    fn used(&self) -> usize {
        self.0.len() - self.0.iter().position(|b| *b != 0).unwrap_or(self.0.len())
    }

    /// Where it begins to grow down.
    pub fn top(&mut self) -> *mut u8 {
        self.0.as_mut_ptr_range().end
    }
}

static ORDINAL: AtomicU32 = AtomicU32::new(0);
/// CPU time of the threads that have ended, as far as they could see it themselves.
static ENDED_NS: AtomicU64 = AtomicU64::new(0);

const _: () = assert!(align_of::<Thread>() as u64 > SOURCE_MASK);

impl Thread {
    /// Where the entry of a yield finds [`is_calling`](Thread::is_calling) and the mark of the yield's end.
    pub const IS_CALLING: usize = offset_of!(Thread, is_calling);
    pub const RETURNED: usize = offset_of!(Thread, spin) + Spin::RETURNED;

    /// Makes a fresh state, zeroed memory, one that no thread uses.
    ///
    /// # Safety
    /// Nobody else knows the memory, which is a state's.
    pub unsafe fn prepare(state: *mut Thread) {
        // SAFETY: by contract.
        unsafe { (&raw mut (*state).clocks).write(Clocks::NONE) };
    }

    /// In the child of a fork, for a thread that is not there.
    pub fn abandon(&mut self) {
        self.tid.store(0, Ordering::Relaxed);
        self.clocks.forget();
        self.record = 0;
        self.tree.release();
    }

    /// Whether this is the state of the calling thread.
    pub fn is_current(&self) -> bool {
        self.tid.load(Ordering::Acquire) != 0 && self.pointer == cpu::thread_pointer()
    }

    /// Whether this is the state of a task of the kernel's.
    pub fn is_task(&self, tid: u32) -> bool {
        self.tid.load(Ordering::Relaxed) == tid
    }

    /// Whether it is the thread that the process began with.
    pub fn is_first(&self) -> bool {
        self.tree.owner() == 0
    }

    /// Whether a run-time library has started it for its own work.
    fn is_helper(&self) -> bool {
        let _inside = crate::inside::enter();
        let start = self.start.filter(|_| !self.is_first()).map_or(0, |start| start as usize as u64);
        modules::view().is_some_and(|view| view.starts_helpers(start))
    }

    /// Whether its waits are found by the calls that it makes.
    pub fn watches_calls(&self) -> bool {
        matches!(self.clocks.wait_clock, WaitClock::Calls | WaitClock::SwitchesThenCalls | WaitClock::Wall)
    }

    /// Whether ends of calls that block are looked at: of all, or of long ones between traps that are thinned.
    pub fn times_calls(&self) -> bool {
        self.watches_calls() || self.waits.are_thinned()
    }

    /// Counts the yield that has ended, if nobody has.
    #[inline]
    pub fn account_yield(&mut self) {
        let passed_ns = self.spin.account();
        if passed_ns >= calls::SHORTEST_NS && self.watches_calls() {
            self.yielded_ns += passed_ns;
        }
    }

    /// Time in watched calls that nobody has looked at.
    pub fn unlooked_ns(&mut self, kind: waits::Kind) -> &mut u64 {
        match kind {
            waits::Kind::Blocked => &mut self.waited_ns,
            waits::Kind::Preempted => &mut self.yielded_ns,
        }
    }

    /// Time in calls that yield which waits for a look at such a call.
    pub fn left_to_yields_ns(&mut self) -> u64 {
        self.account_yield();
        if self.watches_calls() { self.yielded_ns } else { 0 }
    }

    /// Begins measuring the calling thread, whose state this is. `booked_ns`: CPU time that others account for.
    pub fn begin(&mut self, stack: Stack, main: bool, booked_ns: u64) {
        let ordinal = ORDINAL.fetch_add(1, Ordering::Relaxed);
        self.stack = stack;
        self.put_off = 0;
        (self.booked_ns, self.is_calling, self.retry) = (booked_ns, false, Retry::NONE);
        self.tree.begin(ordinal);
        self.sections.begin(ordinal);
        Log::renew(self);
        self.replay.clear();
        self.take_over();
        self.describe(ordinal, if main { THREAD_MAIN } else { 0 });
        // What it has used before is loading, or nothing.
        self.book_unsampled(raw::thread_cpu_ns());
        self.arm();
    }

    /// Becomes the state of the calling thread.
    fn take_over(&mut self) {
        (self.rests_until_ns, self.spin) = (0, Spin::new(handler::period_ns()));
        (self.waited_ns, self.yielded_ns, self.is_chosen, self.long_ns) = (0, 0, false, 0);
        self.cpu_start_ns = self.booked_ns;
        self.pointer = cpu::thread_pointer();
        self.tid.store(raw::gettid(), Ordering::Release);
    }

    /// Makes the record in the measurement file.
    pub fn describe(&mut self, ordinal: u32, flags: u32) {
        let start = self.start.filter(|_| flags & THREAD_MAIN == 0).map_or(0, |s| s as usize as u64);
        let record = ThreadRecord {
            ordinal,
            tid: self.tid.load(Ordering::Relaxed),
            started_ns: self.started_ns,
            cpu_start_ns: self.cpu_start_ns,
            cpu_ns: self.booked_ns,
            start_frame: frame_of(start).0,
            flags,
            name: raw::thread_name(),
            ..ThreadRecord::default()
        };
        self.record = records::append(Patience::Wait, Kind::Thread, record.as_bytes(), &[]).unwrap_or(0);
        self.note_clocks();
    }

    fn note_clocks(&mut self) {
        let (cpu, wait) = (self.clocks.cpu_clock, self.clocks.wait_clock);
        self.update(|r| (r.cpu_clock, r.wait_clock) = (cpu as u16, wait as u16));
    }

    /// Changes the record, if there is one.
    pub fn update(&mut self, change: impl FnOnce(&mut ThreadRecord)) {
        Self::record(self.record, change);
    }

    fn record(offset: u64, change: impl FnOnce(&mut ThreadRecord)) {
        if offset != 0 {
            // SAFETY: the offset of a thread record's fixed part; only this thread, or the one that ends the process
            // after all handlers have left, changes it.
            change(unsafe { &mut *file::object::<ThreadRecord>(offset) });
        }
    }

    /// Starts the clocks of the calling thread.
    pub fn arm(&mut self) {
        let tid = self.tid.load(Ordering::Relaxed);
        let state = (&raw mut *self).cast();
        // A handler must not meet what an earlier thread, or the parent of a fork, has left here.
        raw::mask_signals(libc::SIG_BLOCK, signals::ours());
        self.clocks.arm(state, tid, self.is_helper());
        // Its time counts from here, and the CPU time before that nobody else accounts for. What it has waited before, for
        // the file and for its clocks, was our doing.
        let (wall_ns, cpu_ns) = (clock::wall_ns(), self.look_at_cpu());
        self.first_ns = cpu_ns + self.clocks.first_ns;
        self.waits.begin(wall_ns, cpu_ns, tid);
        self.started_ns = wall_ns - cpu_ns.saturating_sub(self.cpu_start_ns);
        let started_ns = self.started_ns;
        self.update(|r| r.started_ns = started_ns);
        self.note_clocks();
        if self.watches_calls() {
            calls::watch();
        }
        if plan::get().cpu {
            yields::watch();
        }
        if plan::get().cpu && self.clocks.cpu_clock == CpuClock::None {
            self.update(|r| r.flags |= THREAD_UNTIMED);
            file::count_untimed();
        }
        raw::mask_signals(libc::SIG_UNBLOCK, signals::ours());
    }

    /// Has the timer take the samples of a thread that yields tens of thousands of times a second, unless perf was asked for: the
    /// kernel does so much more at each switch of a thread that has an event that the thread would take twice as long.
    #[cold]
    pub fn leave_perf(&mut self) {
        let (tid, period_ns) = (self.tid.load(Ordering::Relaxed), handler::period_ns());
        let state = (&raw mut *self).cast();
        let _hold = Hold::begin();
        self.clocks.leave_perf(state, tid, period_ns);
        self.first_ns = self.look_at_cpu() + self.clocks.first_ns;
        self.note_clocks();
    }

    /// Finds waits by the calls from now on, not by switches.
    pub fn watch_calls(&mut self) {
        self.clocks.ignore_switches();
        self.note_clocks();
        calls::watch();
    }

    /// In the child of a fork, for the thread that forked: its clocks and nodes are the parent's.
    pub fn forked(&mut self) {
        self.clocks.forget();
        self.record = 0;
        self.tree.begin(0);
        self.sections.forked();
        self.replay.clear();
        self.booked_ns = raw::thread_cpu_ns();
        self.take_over();
    }

    /// CPU time at a sample of it that stands for so many periods, and whether that was read from the clock: else it is as many
    /// periods after the last reading as the samples since stand for, never more than it really is.
    pub fn cpu_at_sample(&mut self, periods: u64) -> (u64, bool) {
        let period_ns = identity::get().map_or(READING_NS, |i| i.options.period_ns);
        self.sampled_ns = self.sampled_ns.saturating_add(periods.saturating_mul(period_ns));
        let has_timer = self.clocks.cpu_clock.is_timer();
        let most_ns = if has_timer && !self.watches_calls() { TIMER_READING_NS } else { READING_NS };
        // Where samples have taken long, their lengths count.
        if !self.spin.is_used() && self.rests_until_ns == 0 && self.sampled_ns < most_ns {
            return (self.read_ns + self.sampled_ns, false);
        }
        let cpu_ns = raw::thread_cpu_ns();
        // The kernel looks at timers at its ticks: the next sample is due a period after this one was.
        let late_ns =
            cpu_ns.saturating_sub(self.first_ns).checked_rem(period_ns).filter(|_| has_timer).unwrap_or(0);
        (self.read_ns, self.sampled_ns) = (cpu_ns - late_ns, 0);
        (cpu_ns, true)
    }

    /// Reads the clock of its CPU time; so does the next sample of it.
    pub fn look_at_cpu(&mut self) -> u64 {
        self.sampled_ns = TIMER_READING_NS;
        raw::thread_cpu_ns()
    }

    /// Books time under a pseudo frame.
    fn book_pseudo<const N: usize>(&mut self, pseudo: Pseudo, class: Class, values: [u64; N]) {
        match self.tree.child(0, FormatFrame::pseudo(pseudo), class, 0, || true) {
            Ok(node) => self.tree.book(node, values),
            Err(_) => file::count_refused(),
        }
    }

    /// Books the CPU time up to `cpu_ns` that no sample covers.
    fn book_unsampled(&mut self, cpu_ns: u64) {
        let rest = cpu_ns.saturating_sub(self.booked_ns);
        if rest == 0 || !file::is_open() || !plan::get().cpu {
            return;
        }
        self.booked_ns = cpu_ns;
        self.book_pseudo(Pseudo::Unsampled, Class::Cpu, [0, rest]);
        self.update(|r| r.cpu_ns = cpu_ns);
    }

    /// Books waits.
    pub fn book_waits(&mut self, bill: &Bill) {
        for Item { node, blocked_ns, preempted_ns } in bill.items {
            if blocked_ns + preempted_ns == 0 {
                continue;
            }
            if node == 0 {
                self.book_pseudo(Pseudo::Unsampled, Class::Wait, [0, blocked_ns, preempted_ns]);
            } else {
                self.tree.book(node, [1, blocked_ns, preempted_ns]);
                self.update(|r| r.wait_samples += 1);
            }
            self.update(|r| {
                r.blocked_ns += blocked_ns;
                r.preempted_ns += preempted_ns;
            });
        }
        if bill.unwatched_ns > 0 {
            self.book_pseudo(Pseudo::Unwatched, Class::Wait, [0, bill.unwatched_ns, 0]);
            self.update(|r| r.blocked_ns += bill.unwatched_ns);
        }
    }

    /// Whether all waits of the thread pass by the watch.
    pub fn watches_all(&self) -> bool {
        self.clocks.wait_clock == WaitClock::Switches
    }

    /// Books the waits up to now that are not booked yet.
    pub fn settle(&mut self, wall_ns: u64, cpu_ns: u64, tid: u32) {
        if self.clocks.wait_clock != WaitClock::None
            && file::is_open()
            && let Some(bill) = self.waits.settle(wall_ns, cpu_ns, tid, self.watches_all())
        {
            self.account_yield();
            self.yielded_ns = 0;
            self.book_waits(&bill);
        }
    }

    /// Books what is left and ends the record. The clocks are gone.
    pub fn finish(&mut self, cpu_ns: u64, tid: u32) {
        let wall_ns = clock::wall_ns();
        self.sections.end();
        self.waits.pass_watched(core::mem::take(&mut self.waited_ns));
        self.settle(wall_ns, cpu_ns, tid);
        self.book_unsampled(cpu_ns);
        let handler_stack = &self.handler_stack;
        Self::record(self.record, |r| {
            r.ended_ns = wall_ns;
            if r.flags & THREAD_MAIN != 0 {
                r.handler_stack = handler_stack.used() as u64;
            }
        });
        ENDED_NS.fetch_add(cpu_ns, Ordering::Relaxed);
    }

    /// Books the counts of events since their last samples.
    fn book_rests(&mut self) {
        for (index, _) in plan::get().events().filter(|_| file::is_open()) {
            let rest = self.clocks.rest(index);
            if rest > 0 {
                self.book_pseudo(Pseudo::Unsampled, Class::Event(index), [0, rest]);
            }
        }
    }

    /// Ends the clocks; signals that are already on their way may still come.
    pub fn disarm(&mut self) {
        self.book_rests();
        self.clocks.disarm();
    }

    /// Ends measuring the calling thread.
    pub fn end(&mut self) {
        // Blocked for good: a signal on its way must not meet a state that another thread uses by then.
        raw::mask_signals(libc::SIG_BLOCK, signals::ours());
        let Some(tid) = self.claim_end() else { return };
        self.disarm();
        let name = raw::thread_name();
        self.update(|r| r.name = name);
        self.finish(raw::thread_cpu_ns(), tid);
        self.tree.release();
        self.record = 0;
    }

    /// The thread's id, to the one caller that is to end its measuring: the thread itself or the end of the process.
    pub fn claim_end(&self) -> Option<u32> {
        Some(self.tid.swap(0, Ordering::AcqRel)).filter(|tid| *tid != 0)
    }
}

/// At the end of the process, when every thread has ended: books what it used more than its threads saw of themselves,
/// for what the kernel does after a thread's last look.
pub fn book_ends() {
    /// Less is not worth a location.
    const WORTH_NS: u64 = 500_000;
    let process_ns = raw::clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID);
    let rest_ns = process_ns.saturating_sub(ENDED_NS.load(Ordering::Relaxed));
    let Some(state) = states::allocate().filter(|_| rest_ns > WORTH_NS && plan::get().cpu) else { return };
    // SAFETY: a state that no thread uses.
    let ends = unsafe { &mut *state };
    let ordinal = ORDINAL.fetch_add(1, Ordering::Relaxed);
    ends.tree.begin(ordinal);
    (ends.booked_ns, ends.start) = (0, None);
    (ends.clocks.cpu_clock, ends.clocks.wait_clock) = (CpuClock::None, WaitClock::None);
    (ends.started_ns, ends.cpu_start_ns) = (clock::wall_ns() - rest_ns, 0);
    ends.describe(ordinal, THREAD_ENDS);
    ends.update(|r| r.name = *b"[thread ends]\0\0\0");
    ends.finish(rest_ns, 0);
}

/// In the child of a fork: the thread that forked is its first, and none has ended.
pub fn restart_counts() {
    ORDINAL.store(1, Ordering::Relaxed);
    ENDED_NS.store(0, Ordering::Relaxed);
}

/// Where an address lies, for the record.
fn frame_of(address: u64) -> FormatFrame {
    let _inside = crate::inside::enter();
    modules::view().and_then(|view| view.frame_at(address)).unwrap_or(FormatFrame(0))
}
