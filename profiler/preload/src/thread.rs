//! The state of one measured thread.
//!
//! It lies in memory of its own, which the timer's signal carries a pointer to: the handler needs no thread-local
//! storage. States are reused, never unmapped.

use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use falloff_format::Pseudo;
use falloff_format::node::Frame as FormatFrame;
use falloff_format::records::{Kind, THREAD_MAIN, THREAD_UNTIMED, ThreadRecord};
use unwinder::Frame;
use zerocopy::IntoBytes;

use crate::memory::{Copies, Stack};
use crate::records::Patience;
use crate::sync::Lock;
use crate::tree::Tree;
use crate::{file, identity, modules, raw, records, signals};

/// Frames kept of one path, innermost first.
pub const DEPTH_MAX: usize = 4096;
/// Bytes of a handler's stack; it needs a quarter.
const HANDLER_STACK: usize = 16 << 10;
/// No timer.
const NO_TIMER: i32 = -1;
/// What a created thread runs.
pub type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// One thread.
#[repr(C)]
pub struct Thread {
    /// What the thread is to run.
    pub start: Option<Start>,
    /// With this argument.
    pub argument: *mut c_void,
    /// Most bytes its stack can have.
    pub stack_size: usize,
    tid: AtomicU32,
    timer: i32,
    /// Offset of the ThreadRecord in the file, 0 if it has none.
    record: u64,
    /// CPU time that is booked so far.
    pub booked_ns: u64,
    /// Times that the key's destructor was put off.
    pub put_off: u32,
    /// Its nodes.
    pub tree: Tree,
    /// Its stack.
    pub stack: Stack,
    /// Pages of other stacks.
    pub copies: Copies,
    /// Where samples are taken.
    pub handler_stack: HandlerStack,
    /// The path being taken.
    pub frames: [Frame; DEPTH_MAX],
}

/// Stack of the handler, aligned as calls want it.
#[repr(align(16))]
pub struct HandlerStack([u8; HANDLER_STACK]);

impl HandlerStack {
    /// Where it begins to grow down.
    pub fn top(&mut self) -> *mut u8 {
        self.0.as_mut_ptr_range().end
    }
}

/// States made at a time.
const SLAB: usize = 32;
/// Most slabs: 65,536 threads at once.
const SLABS_MAX: usize = 2048;
/// Slabs in the order in which they were made, then null.
static SLABS: [AtomicPtr<Thread>; SLABS_MAX] = [const { AtomicPtr::new(core::ptr::null_mut()) }; SLABS_MAX];
/// States ever made.
static MADE: AtomicUsize = AtomicUsize::new(0);
/// States that no thread uses.
static FREE: Lock<FreeList> = Lock::new(FreeList(core::ptr::null_mut()));
static ORDINAL: AtomicU32 = AtomicU32::new(0);

struct FreeList(*mut Thread);

// SAFETY: the states belong to whoever holds the lock.
unsafe impl Send for FreeList {}

/// A state for a new thread; `None` when there is no memory.
pub fn allocate() -> Option<*mut Thread> {
    let mut free = FREE.lock();
    if !free.0.is_null() {
        let thread = free.0;
        // SAFETY: a state that no thread uses; `argument` links the free ones.
        free.0 = unsafe { (*thread).argument.cast() };
        return Some(thread);
    }
    // Only holders of the lock make states.
    let index = MADE.load(Ordering::Relaxed);
    let slab = SLABS.get(index / SLAB)?;
    if index.is_multiple_of(SLAB) {
        slab.store(raw::map_private(SLAB * size_of::<Thread>())?.cast(), Ordering::Release);
    }
    let thread = slab.load(Ordering::Relaxed).wrapping_add(index % SLAB);
    // SAFETY: fresh zeroed memory that nobody else knows.
    unsafe { (*thread).timer = NO_TIMER };
    MADE.store(index + 1, Ordering::Release);
    Some(thread)
}

/// Gives a state back.
///
/// # Safety
/// No thread uses it and its timer is gone.
pub unsafe fn release(thread: *mut Thread) {
    let mut free = FREE.lock();
    // SAFETY: by contract it is ours.
    unsafe { (*thread).argument = free.0.cast() };
    free.0 = thread;
}

/// Whether a timer's value is a state, so that the signal is ours. It may be anything: the application can have timers
/// with the same signal.
pub fn is_state(pointer: *mut c_void) -> bool {
    let offset_in =
        |slab: &AtomicPtr<Thread>| (pointer as usize).checked_sub(slab.load(Ordering::Acquire) as usize);
    let slabs = SLABS.iter().take_while(|s| !s.load(Ordering::Acquire).is_null());
    slabs
        .filter_map(offset_in)
        .any(|offset| offset < SLAB * size_of::<Thread>() && offset.is_multiple_of(size_of::<Thread>()))
}

impl Thread {
    /// Whether this is the state of the calling thread.
    pub fn is_current(&self) -> bool {
        self.tid.load(Ordering::Relaxed) == raw::gettid()
    }

    /// Begins measuring the calling thread, whose state this is. `booked_ns`: CPU time that others account for.
    pub fn begin(&mut self, stack: Stack, main: bool, booked_ns: u64) {
        let ordinal = ORDINAL.fetch_add(1, Ordering::Relaxed);
        self.stack = stack;
        self.put_off = 0;
        self.booked_ns = booked_ns;
        self.tree = Tree::new(ordinal);
        self.tid.store(raw::gettid(), Ordering::Relaxed);
        self.describe(ordinal, if main { THREAD_MAIN } else { 0 });
        // What it has used before is loading, or nothing.
        self.book_unsampled(raw::thread_cpu_ns());
        self.arm();
    }

    /// Makes the record in the measurement file.
    pub fn describe(&mut self, ordinal: u32, flags: u32) {
        let start = self.start.filter(|_| flags & THREAD_MAIN == 0).map_or(0, |s| s as usize as u64);
        let record = ThreadRecord {
            ordinal,
            tid: self.tid.load(Ordering::Relaxed),
            started_ns: raw::clock_ns(libc::CLOCK_MONOTONIC),
            ended_ns: 0,
            cpu_start_ns: self.booked_ns,
            cpu_ns: self.booked_ns,
            samples: 0,
            dropped: 0,
            partial: 0,
            truncated: 0,
            overruns: 0,
            handler_ns: 0,
            start_frame: frame_of(start).0,
            flags,
            reserved: 0,
            name: raw::thread_name(),
        };
        self.record = records::append(Patience::Wait, Kind::Thread, record.as_bytes(), &[]).unwrap_or(0);
    }

    /// Changes the record, if there is one.
    pub fn update(&mut self, change: impl FnOnce(&mut ThreadRecord)) {
        if self.record != 0 {
            // SAFETY: the offset of a thread record's fixed part; only this thread, or the one that ends the process
            // after all handlers have left, changes it.
            change(unsafe { &mut *file::object::<ThreadRecord>(self.record) });
        }
    }

    /// Starts the timer of the calling thread.
    pub fn arm(&mut self) {
        let (Some(who), tid) = (identity::get(), self.tid.load(Ordering::Relaxed)) else { return };
        let period = who.options.period_ns();
        // A first expiry anywhere in the period, so that equal threads are not sampled in step.
        let seed =
            (raw::clock_ns(libc::CLOCK_MONOTONIC) ^ u64::from(tid) << 20).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let first = 1 + ((u128::from(seed) * u128::from(period)) >> 64) as u64;
        let timer = raw::timer_create(signals::SAMPLE, tid, (&raw mut *self).cast());
        match timer.and_then(|id| {
            raw::timer_start(id, first, period).map(|()| id).inspect_err(|_| raw::timer_delete(id))
        }) {
            Ok(id) => self.timer = id,
            Err(_) => {
                self.timer = NO_TIMER;
                self.update(|r| r.flags |= THREAD_UNTIMED);
                file::count_untimed();
            }
        }
        raw::mask_signal(libc::SIG_UNBLOCK, signals::SAMPLE);
    }

    /// Ends the timer; expiries that are already on their way may still come.
    pub fn disarm(&mut self) {
        if self.timer != NO_TIMER {
            raw::timer_delete(self.timer);
            self.timer = NO_TIMER;
        }
    }

    /// In the child of a fork, for the thread that forked: its timer and nodes are the parent's.
    pub fn forked(&mut self) {
        self.timer = NO_TIMER;
        self.record = 0;
        self.tree.release();
        self.tid.store(raw::gettid(), Ordering::Relaxed);
        self.booked_ns = raw::thread_cpu_ns();
    }

    /// Books the CPU time up to `cpu_ns` that no sample covers.
    pub fn book_unsampled(&mut self, cpu_ns: u64) {
        let rest = cpu_ns.saturating_sub(self.booked_ns);
        if rest == 0 || !file::is_open() {
            return;
        }
        self.booked_ns = cpu_ns;
        match self.tree.child(0, FormatFrame::pseudo(Pseudo::Unsampled)) {
            Some(id) => self.tree.node(id).book(0, rest),
            None => file::count_refused(),
        }
        self.update(|r| r.cpu_ns = cpu_ns);
    }

    /// Books what is left and ends the record. The timer is gone.
    pub fn finish(&mut self, cpu_ns: u64) {
        self.book_unsampled(cpu_ns);
        self.update(|r| r.ended_ns = raw::clock_ns(libc::CLOCK_MONOTONIC));
    }

    /// Ends measuring the calling thread.
    pub fn end(&mut self) {
        // Blocked for good: an expiry on its way must not meet a state that another thread uses by then.
        raw::mask_signal(libc::SIG_BLOCK, signals::SAMPLE);
        if self.claim_end().is_none() {
            return;
        }
        self.disarm();
        let name = raw::thread_name();
        self.update(|r| r.name = name);
        self.finish(raw::thread_cpu_ns());
        self.tree.release();
        self.record = 0;
    }

    /// The thread's id, to the one caller that is to end its measuring: the thread itself or the end of the process.
    pub fn claim_end(&self) -> Option<u32> {
        Some(self.tid.swap(0, Ordering::AcqRel)).filter(|tid| *tid != 0)
    }
}

/// Where an address lies, for the record.
fn frame_of(address: u64) -> FormatFrame {
    let _inside = crate::handler::enter();
    modules::view().and_then(|view| view.frame_at(address)).unwrap_or(FormatFrame(0))
}

/// Every state ever made, in use or not.
pub fn all() -> impl Iterator<Item = *mut Thread> {
    (0..MADE.load(Ordering::Acquire)).filter_map(|index| {
        let slab = SLABS.get(index / SLAB)?.load(Ordering::Acquire);
        Some(slab.wrapping_add(index % SLAB))
    })
}

/// In the child of a fork: all states but the forking thread's are free to use.
///
/// # Safety
/// No other thread exists.
pub unsafe fn after_fork(me: *mut Thread) {
    // SAFETY: by contract.
    unsafe { FREE.reset() };
    let mut free = FREE.lock();
    free.0 = core::ptr::null_mut();
    for thread in all().filter(|t| *t != me) {
        // SAFETY: its thread does not exist in this process.
        unsafe {
            (*thread).tid.store(0, Ordering::Relaxed);
            (*thread).timer = NO_TIMER;
            (*thread).record = 0;
            (*thread).tree.release();
            (*thread).argument = free.0.cast();
        }
        free.0 = thread;
    }
    ORDINAL.store(0, Ordering::Relaxed);
}
