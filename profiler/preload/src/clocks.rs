//! Signal context: yes (but [`Clocks::arm`], which is for the start of a thread). What triggers the samples of one thread.

use falloff_format::limits::EVENTS_MAX;
use falloff_format::records::{CpuClock, WaitClock};

use crate::perf::{self, Event, Record, Request};
use crate::plan::{self, ByPerf, Plan};
use crate::{identity, raw, retry, signals};

/// No timer.
const NO_TIMER: i32 = -1;

/// What a trap or signal is about. The number goes with a thread's address in the low bits of an event's data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// CPU time.
    Cpu,
    /// A switch away from the thread.
    Switch,
    /// Wall-clock time.
    Wall,
    /// A performance event.
    Event(usize),
}

/// Low bits of a thread's address that are free for a source.
pub const SOURCE_MASK: u64 = 15;
const FIRST_EVENT: u64 = 3;
const _: () = assert!(FIRST_EVENT + EVENTS_MAX as u64 <= SOURCE_MASK + 1);

impl Source {
    fn number(self) -> u64 {
        match self {
            Source::Cpu => 0,
            Source::Switch => 1,
            Source::Wall => 2,
            Source::Event(index) => FIRST_EVENT + index as u64,
        }
    }

    /// The source of a trap with this data.
    pub fn of(data: u64) -> Source {
        match data & SOURCE_MASK {
            0 => Source::Cpu,
            1 => Source::Switch,
            2 => Source::Wall,
            number => Source::Event((number - FIRST_EVENT) as usize),
        }
    }
}

/// The clocks and events of one thread.
pub struct Clocks {
    timer: i32,
    /// CPU time at which that signals for the first time, from when it was started.
    pub first_ns: u64,
    wall_timer: i32,
    cpu: Event,
    switches: Event,
    events: [(Event, u64); EVENTS_MAX],
    /// How its CPU time is sampled.
    pub cpu_clock: CpuClock,
    /// How its waits are found.
    pub wait_clock: WaitClock,
}

impl Clocks {
    /// None.
    pub const NONE: Clocks = Clocks {
        timer: NO_TIMER,
        first_ns: 0,
        wall_timer: NO_TIMER,
        cpu: Event::NONE,
        switches: Event::NONE,
        events: [const { (Event::NONE, 0) }; EVENTS_MAX],
        cpu_clock: CpuClock::None,
        wait_clock: WaitClock::None,
    };

    /// Starts everything that is planned and allowed, for the calling thread, which blocks our signals meanwhile. `state` goes
    /// with every signal. `is_helper`: a run-time library's own thread, which waits in calls. As long as any thread has an event
    /// the kernel does more at every switch, also of ranks that yield so often that theirs is closed.
    pub fn arm(&mut self, state: *mut u8, tid: u32, is_helper: bool) {
        let Some(who) = identity::get() else { return };
        let (plan, period_ns) = (plan::get(), who.options.period_ns);
        self.cpu_clock =
            if plan.cpu { self.arm_cpu(plan, state, tid, period_ns, is_helper) } else { CpuClock::None };
        self.wait_clock = match plan.waits {
            WaitClock::Switches if (is_helper || plan.spares_switches) && signals::traps_are_ours() => {
                WaitClock::SwitchesThenCalls
            }
            WaitClock::Switches if signals::traps_are_ours() && self.arm_switches(state, 1) => {
                WaitClock::Switches
            }
            WaitClock::Wall if self.arm_wall(state, tid, period_ns) => WaitClock::Wall,
            WaitClock::None => WaitClock::None,
            _ => WaitClock::Calls,
        };
        if signals::traps_are_ours() {
            for (index, event) in plan.events() {
                let opened = open(&event.request, state, Source::Event(index));
                if let (Some((event, _)), Some(slot)) = (opened, self.events.get_mut(index)) {
                    *slot = (event, 0);
                }
            }
        }
    }

    fn arm_cpu(
        &mut self,
        plan: &Plan,
        state: *mut u8,
        tid: u32,
        period_ns: u64,
        is_helper: bool,
    ) -> CpuClock {
        let by_perf = match plan.cpu_by_perf {
            ByPerf::Never => false,
            ByPerf::UnlessYielding => !is_helper,
            ByPerf::Always => true,
        };
        if by_perf && signals::traps_are_ours() {
            let request = software(perf::TASK_CLOCK, period_ns, false);
            if let Some((event, user_only)) = open(&request, state, Source::Cpu) {
                self.cpu = event;
                return if user_only { CpuClock::TaskClockUser } else { CpuClock::TaskClock };
            }
        }
        if self.arm_timer(state, tid, period_ns) { CpuClock::Timer } else { CpuClock::None }
    }

    fn arm_timer(&mut self, state: *mut u8, tid: u32, period_ns: u64) -> bool {
        self.first_ns = anywhere_in(period_ns, tid);
        let times = (self.first_ns, period_ns);
        self.timer = start_timer(libc::CLOCK_THREAD_CPUTIME_ID, state, Source::Cpu, tid, times);
        self.timer != NO_TIMER
    }

    /// Whether an event takes the samples of CPU time that a timer may take as well.
    pub fn may_leave_perf(&self) -> bool {
        plan::get().cpu_by_perf == ByPerf::UnlessYielding && self.cpu_clock.after_yields().is_some()
    }

    /// A timer takes the samples of CPU time from now on, if there can be one.
    pub fn leave_perf(&mut self, state: *mut u8, tid: u32, period_ns: u64) {
        if let Some(after) = self.cpu_clock.after_yields()
            && self.arm_timer(state, tid, period_ns)
        {
            self.cpu.close();
            self.cpu_clock = after;
        }
    }

    fn arm_wall(&mut self, state: *mut u8, tid: u32, period_ns: u64) -> bool {
        retry::begin();
        let times = (anywhere_in(period_ns, tid), period_ns);
        self.wall_timer = start_timer(libc::CLOCK_MONOTONIC, state, Source::Wall, tid, times);
        self.wall_timer != NO_TIMER
    }

    /// Has each `period`th switch trapped from now on; the event cannot be changed, so it is replaced.
    pub fn arm_switches(&mut self, state: *mut u8, period: u64) -> bool {
        let request = software(perf::CONTEXT_SWITCHES, period, true);
        let Ok(event) = Event::open(&request, state as u64 | Source::Switch.number()) else { return false };
        self.switches.close();
        self.switches = event;
        true
    }

    /// Waits are found by calls from now on.
    pub fn ignore_switches(&mut self) {
        self.switches.close();
        self.wait_clock = WaitClock::SwitchesThenCalls;
    }

    /// The record of the last switch that trapped.
    pub fn last_switch(&mut self) -> Option<Record> {
        self.switches.last_record()
    }

    /// Counts of an event since it was last asked, at its trap.
    pub fn trapped(&mut self, index: usize) -> u64 {
        let Some((event, counted)) = self.events.get_mut(index) else { return 0 };
        let count = event.last_record().map_or(*counted, |r| r.count);
        count.saturating_sub(core::mem::replace(counted, count))
    }

    /// Counts of an event since its last trap.
    pub fn rest(&mut self, index: usize) -> u64 {
        let Some((event, counted)) = self.events.get_mut(index) else { return 0 };
        let count = event.count();
        count.saturating_sub(core::mem::replace(counted, count.max(*counted)))
    }

    /// Ends everything; signals that are already on their way may still come.
    pub fn disarm(&mut self) {
        for timer in [&mut self.timer, &mut self.wall_timer] {
            if *timer != NO_TIMER {
                raw::timer_delete(*timer);
                *timer = NO_TIMER;
            }
        }
        self.cpu.close();
        self.switches.close();
        self.events.iter_mut().for_each(|(event, _)| event.close());
    }

    /// Forgets everything, in the child of a fork, which has neither timers nor events.
    pub fn forget(&mut self) {
        (self.timer, self.wall_timer) = (NO_TIMER, NO_TIMER);
        self.cpu.forget();
        self.switches.forget();
        self.events.iter_mut().for_each(|(event, _)| event.forget());
    }
}

/// Where the samples of a thread begin in the period, so that equal threads are not sampled in step.
fn anywhere_in(period_ns: u64, tid: u32) -> u64 {
    let seed =
        (raw::clock_ns(libc::CLOCK_MONOTONIC) ^ u64::from(tid) << 20).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    1 + ((u128::from(seed) * u128::from(period_ns)) >> 64) as u64
}

/// A timer that signals first after one time of a clock and then after another again and again, [`NO_TIMER`] if there can be
/// none.
fn start_timer(
    clock: libc::clockid_t,
    state: *mut u8,
    source: Source,
    tid: u32,
    (first_ns, period_ns): (u64, u64),
) -> i32 {
    let value = (state as u64 | source.number()) as *mut u8;
    let timer = raw::timer_create(clock, signals::SAMPLE, tid, value).and_then(|id| {
        raw::timer_start(id, first_ns, period_ns).map(|()| id).inspect_err(|_| raw::timer_delete(id))
    });
    timer.unwrap_or(NO_TIMER)
}

fn software(config: u64, period: u64, records: bool) -> Request {
    Request { kind: perf::TYPE_SOFTWARE, config, period, is_rate: false, user_only: false, records }
}

/// Opens an event, in user mode only where more is not allowed, and says which.
fn open(request: &Request, state: *mut u8, source: Source) -> Option<(Event, bool)> {
    let data = state as u64 | source.number();
    let open = |user_only| {
        Event::open(&Request { user_only, ..*request }, data).ok().map(|event| (event, user_only))
    };
    open(false).or_else(|| open(true))
}
