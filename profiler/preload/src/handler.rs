//! Signal context: yes. One sample: registers -> walk -> tree node. And who is inside a handler just now.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

use falloff_format::Pseudo;
use falloff_format::node::Frame as FormatFrame;
use unwinder::{End, Native, walk};

use crate::memory::Stacks;
use crate::sync::Lock;
use crate::thread::{self, Thread};
use crate::{cpu, file, modules, process, raw, signals, start};

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

/// What the kernel says of a timer's signal.
#[repr(C)]
struct TimerInfo {
    signal: c_int,
    errno: c_int,
    code: c_int,
    pad: c_int,
    timer: c_int,
    overrun: c_int,
    value: *mut c_void,
}

/// Top of the stack to take the sample on; null if there is nothing more to do. A signal that is not our timers' goes
/// to the application.
pub extern "C" fn stack_for(info: *mut libc::siginfo_t, context: *mut c_void) -> *mut u8 {
    // SAFETY: the kernel passes this to a handler with SA_SIGINFO.
    let timer = unsafe { &*info.cast::<TimerInfo>() };
    if timer.code != libc::SI_TIMER || !thread::is_state(timer.value) {
        signals::pass_on(info, context);
        return core::ptr::null_mut();
    }
    // SAFETY: a state; states are never unmapped.
    let thread = unsafe { &mut *timer.value.cast::<Thread>() };
    if start::is_on() && thread.is_current() { thread.handler_stack.top() } else { core::ptr::null_mut() }
}

/// Takes one sample, on the handler stack of the thread that the timer's signal names. Makes raw system calls only,
/// so `errno` stays as it is.
pub extern "C" fn on_sample(info: *mut libc::siginfo_t, context: *mut c_void) {
    let begin = raw::clock_ns(libc::CLOCK_MONOTONIC);
    let _inside = enter();
    // SAFETY: the kernel passes both to a handler with SA_SIGINFO.
    let (info, context) = unsafe { (&*info.cast::<TimerInfo>(), &*context.cast::<libc::ucontext_t>()) };
    // SAFETY: `stack_for` found it to be this thread's state.
    let thread = unsafe { &mut *info.value.cast::<Thread>() };
    // Asked inside, so that whoever turns measuring off and then waits finds no handler at work.
    if !start::is_on() || !file::is_open() && !process::open_in_child(thread) {
        return;
    }
    let now = raw::thread_cpu_ns();
    let cpu_ns = now.saturating_sub(thread.booked_ns);
    thread.booked_ns = now;
    let outcome = take(thread, context, cpu_ns);
    thread.update(|record| {
        record.cpu_ns = now;
        record.overruns += info.overrun.max(0) as u64;
        match outcome {
            Some(end) => {
                record.samples += 1;
                match end {
                    End::Root => {}
                    End::Truncated => record.truncated += 1,
                    _ => record.partial += 1,
                }
            }
            None => record.dropped += 1,
        }
        record.handler_ns += raw::clock_ns(libc::CLOCK_MONOTONIC) - begin;
    });
}

/// Walks the stack and books the sample; `None` if there is no room for it.
fn take(thread: &mut Thread, context: &libc::ucontext_t, cpu_ns: u64) -> Option<End> {
    let view = modules::view()?;
    let registers = cpu::registers(context);
    let Thread { stack, copies, frames, tree, .. } = thread;
    let mut stacks = Stacks::new(stack, copies, cpu::interrupted_stack_pointer(context));
    let walked = walk::<Native, _, _>(&registers, &view, &view.cache()?, &mut stacks, frames);
    let mut node = match walked.end {
        End::Root => 0,
        End::Truncated => tree.child(0, FormatFrame::pseudo(Pseudo::Truncated))?,
        _ => tree.child(0, FormatFrame::pseudo(Pseudo::Partial))?,
    };
    for frame in frames.get(..walked.depth)?.iter().rev().filter_map(|f| view.frame(f)) {
        node = tree.child(node, frame)?;
    }
    if node == 0 {
        return None;
    }
    tree.node(node).book(1, cpu_ns);
    Some(walked.end)
}
