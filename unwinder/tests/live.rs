//! Walks from a real signal handler, 1000 times a second, through deep stacks of varied frames: every one reaches the
//! root with the expected chain, equals framehop's, and allocates nothing.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, mem, ptr};

use framehop::Unwinder;
use support::process::{self, Live, Loaded};
use unwinder::{
    Cache, End, Frame, Module, ModuleList, Native, Registers, Replay, Room, StackCopy, Walk, walk,
};

const DEPTH: usize = 512;
const STACK_WORDS: usize = 8192;
const SAMPLES: usize = 600;

struct Counting;

/// The thread that is in the handler, 0 if none is. Others, such as the one that runs the tests, may allocate meanwhile.
static IN_HANDLER: AtomicUsize = AtomicUsize::new(0);
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

/// What tells the calling thread from others, never 0.
fn this_thread() -> usize {
    // SAFETY: the function has no requirements.
    unsafe { libc::pthread_self() as usize }
}

// SAFETY: everything is passed to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if IN_HANDLER.load(Ordering::Relaxed) == this_thread() {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes below the stack pointer that are still the function's: where it has just taken a register back, it is told to lie.
const RED_ZONE: u64 = 128;

/// What one signal has found.
struct Sample {
    registers: Registers,
    walk: Walk,
    frames: [Frame; DEPTH],
    stack: Vec<u64>,
    copied: usize,
    /// Frames that the replay has kept, and whether it has found the same path.
    kept: usize,
    replayed: bool,
}

/// What the handler uses: all of it made before the timer is armed.
struct Session {
    modules: Vec<Module<'static>>,
    cache: Vec<std::sync::atomic::AtomicU64>,
    stack_end: AtomicUsize,
    samples: UnsafeCell<Vec<Sample>>,
    replay: UnsafeCell<Box<Replay<DEPTH>>>,
    next: AtomicUsize,
}

// SAFETY: only the handler, on the one thread that the timer signals, touches the samples until the timer is gone, and
// only the handler touches the replay.
unsafe impl Sync for Session {}

static SESSION: OnceLock<Session> = OnceLock::new();
static SERIAL: Mutex<()> = Mutex::new(());

fn session() -> &'static Session {
    SESSION.get_or_init(|| {
        let sample = || Sample {
            registers: Registers::x86_64(0, [0; 16]),
            walk: Walk { depth: 0, end: End::Truncated },
            frames: [Frame::default(); DEPTH],
            stack: vec![0; STACK_WORDS],
            copied: 0,
            kept: 0,
            replayed: false,
        };
        Session {
            modules: process::modules(&process::loaded()),
            cache: support::cache_memory(),
            stack_end: AtomicUsize::new(0),
            samples: UnsafeCell::new((0..SAMPLES).map(|_| sample()).collect()),
            replay: UnsafeCell::default(),
            next: AtomicUsize::new(0),
        }
    })
}

fn registers(context: &libc::ucontext_t) -> Registers {
    let gregs = &context.uc_mcontext.gregs;
    let order = [
        libc::REG_RAX,
        libc::REG_RDX,
        libc::REG_RCX,
        libc::REG_RBX,
        libc::REG_RSI,
        libc::REG_RDI,
        libc::REG_RBP,
        libc::REG_RSP,
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
    ];
    Registers::x86_64(gregs[libc::REG_RIP as usize] as u64, order.map(|index| gregs[index as usize] as u64))
}

extern "C" fn sample(_signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(session) = SESSION.get() else { return };
    let index = session.next.load(Ordering::Relaxed);
    if index >= SAMPLES {
        return;
    }
    // SAFETY: the kernel passes the context; see `Session` for the samples.
    let (context, sample) =
        unsafe { (&*context.cast::<libc::ucontext_t>(), &mut (&mut *session.samples.get())[index]) };
    IN_HANDLER.store(this_thread(), Ordering::Relaxed);
    sample.registers = registers(context);
    let sp = sample.registers.get(7).unwrap();
    let mut memory = Live(sp - RED_ZONE..session.stack_end.load(Ordering::Relaxed) as u64);
    let list = ModuleList::new(&session.modules).unwrap();
    let cache = Cache::new(&session.cache).unwrap();
    sample.walk = walk::<Native, _, _>(&sample.registers, &list, &cache, &mut memory, &mut sample.frames);
    // SAFETY: see `Session`.
    let replay = unsafe { &mut *session.replay.get() };
    let update =
        replay.update::<Native, _, _>(&sample.registers, &list, &cache, &mut memory, &mut Room::new());
    let path = sample.frames.get(..sample.walk.depth).unwrap_or(&[]);
    sample.replayed = update.end == sample.walk.end
        && update.folded.is_none()
        && replay.frames().rev().map(|(frame, _)| frame).eq(path.iter().copied())
        // A mark is the number of the frame.
        && (0..update.kept).all(|index| replay.mark(index) == index as u32 + 1);
    sample.kept = update.kept;
    (update.kept..update.depth).for_each(|index| replay.set_mark(index, index as u32 + 1));
    let begin = memory.0.start;
    sample.copied = ((memory.0.end - begin) / 8).min(STACK_WORDS as u64) as usize;
    // SAFETY: the live stack and the red zone below it, into memory of that size.
    unsafe {
        ptr::copy_nonoverlapping(begin as usize as *const u64, sample.stack.as_mut_ptr(), sample.copied)
    };
    IN_HANDLER.store(0, Ordering::Relaxed);
    session.next.store(index + 1, Ordering::Relaxed);
}

/// Runs `work` under a timer that interrupts this thread 1000 times a second, and hands out the samples.
#[inline(never)]
fn sampled(work: impl Fn()) -> &'static [Sample] {
    let session = session();
    session.next.store(0, Ordering::Relaxed);
    let here = 0u8;
    session.stack_end.store(process::mapping(&raw const here as u64).end as usize, Ordering::Relaxed);
    let signal = libc::SIGRTMIN() + 3;
    // SAFETY: plain system calls on structures that are all zero but for the fields set.
    let timer = unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = sample as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        assert_eq!(libc::sigaction(signal, &action, ptr::null_mut()), 0);
        let mut event: libc::sigevent = mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        event.sigev_notify_thread_id = libc::gettid();
        let mut timer: libc::timer_t = mem::zeroed();
        assert_eq!(libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer), 0);
        let tick = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        let spec = libc::itimerspec { it_interval: tick, it_value: tick };
        assert_eq!(libc::timer_settime(timer, 0, &spec, ptr::null_mut()), 0);
        timer
    };
    let start = Instant::now();
    while session.next.load(Ordering::Relaxed) < SAMPLES && start.elapsed() < Duration::from_secs(20) {
        work();
    }
    // SAFETY: the timer made above. Once it is gone the handler does not run, so the samples are ours.
    unsafe {
        assert_eq!(libc::timer_delete(timer), 0);
        &(&*session.samples.get())[..session.next.load(Ordering::Relaxed)]
    }
}

#[inline(never)]
fn spin(seed: u64) -> u64 {
    (0..2000u64).fold(seed, |sum, value| black_box(sum.rotate_left(7) ^ value))
}

#[repr(align(64))]
struct Aligned([u64; 16]);

/// A frame of its own size.
#[inline(never)]
fn small(depth: u32, seed: u64) -> u64 {
    let local = black_box([seed; 5]);
    descend(depth, local[2]).wrapping_add(local[4])
}

/// A frame that realigns the stack.
#[inline(never)]
fn realigned(depth: u32, seed: u64) -> u64 {
    let local = black_box(Aligned([seed; 16]));
    descend(depth, local.0[2]).wrapping_add(local.0[9])
}

/// A large frame.
#[inline(never)]
fn large(depth: u32, seed: u64) -> u64 {
    let local = black_box([seed; 70]);
    descend(depth, local[20]).wrapping_add(local[60])
}

#[inline(never)]
fn descend(depth: u32, seed: u64) -> u64 {
    let seed = black_box(seed);
    if depth == 0 {
        return spin(seed);
    }
    let result = match depth % 3 {
        0 => small(depth - 1, seed),
        1 => realigned(depth - 1, seed),
        _ => large(depth - 1, seed),
    };
    black_box(result) ^ 1
}

/// framehop with the modules of this process.
fn framehop_path(objects: &[Loaded], sample: &Sample) -> Vec<u64> {
    let mut unwinder = framehop::x86_64::UnwinderX86_64::<Vec<u8>>::new();
    let mut cache = framehop::x86_64::CacheX86_64::<_>::new();
    for object in objects.iter().filter(|object| !object.path.is_empty() && !object.path.contains("vdso")) {
        let data = fs::read(&object.path).unwrap();
        let file = object::File::parse(&*data).unwrap();
        let module =
            framehop::Module::new(object.path.clone(), object.code.clone(), object.bias, section_info(&file));
        unwinder.add_module(module);
    }
    let [sp, fp] = [7, 6].map(|column| sample.registers.get(column).unwrap());
    let mut read = |address: u64| {
        let index = address.checked_sub(sp - RED_ZONE).ok_or(())? / 8;
        sample.stack[..sample.copied].get(index as usize).copied().ok_or(())
    };
    let start = framehop::x86_64::UnwindRegsX86_64::new(sample.registers.pc(), sp, fp);
    let mut frames = unwinder.iter_frames(sample.registers.pc(), start, &mut cache, &mut read);
    let mut path = Vec::new();
    while let Ok(Some(frame)) = frames.next() {
        path.push(frame.address_for_lookup());
    }
    path
}

fn section_info(file: &object::File<'_>) -> framehop::ExplicitModuleSectionInfo<Vec<u8>> {
    use object::{Object, ObjectSection};
    let section = |name: &str| file.section_by_name(name);
    let range =
        |name: &str| section(name).map(|section| section.address()..section.address() + section.size());
    let data = |name: &str| Some(section(name)?.uncompressed_data().ok()?.into_owned());
    framehop::ExplicitModuleSectionInfo {
        base_svma: 0,
        text_svma: range(".text"),
        text: data(".text"),
        eh_frame_svma: range(".eh_frame"),
        eh_frame: data(".eh_frame"),
        eh_frame_hdr_svma: range(".eh_frame_hdr"),
        eh_frame_hdr: data(".eh_frame_hdr"),
        got_svma: range(".got"),
        ..Default::default()
    }
}

#[inline(never)]
fn sample_descents() -> &'static [Sample] {
    let depth = AtomicU32::new(20);
    black_box(sampled(|| {
        let depth = 20 + depth.fetch_add(7, Ordering::Relaxed) % 80;
        black_box(descend(depth, 3));
    }))
}

/// Walks from the timer's handler while the thread descends and returns.
#[test]
fn handler_reaches_the_root() {
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    let samples = sample_descents();
    assert!(samples.len() > SAMPLES / 2, "{} samples", samples.len());
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), 0);
    let objects = process::loaded();
    let symbols = process::Symbols::load(&objects);
    let own = "sample_descents";
    let (mut deepest, mut kept, mut depth) = (0, 0, 0);
    for sample in samples {
        let path = &sample.frames[..sample.walk.depth];
        assert_eq!(sample.walk.end, End::Root, "{path:x?}");
        assert!(sample.replayed, "{path:x?}");
        kept += sample.kept;
        depth += path.len();
        let names: Vec<&str> = path.iter().map(|frame| symbols.name(frame.pc).unwrap_or("")).collect();
        let position = |name: &str| names.iter().position(|found| found.contains(name));
        let below = position("sampled").unwrap_or_else(|| panic!("{names:?}"));
        let test = names.iter().rposition(|name| name.contains(own));
        assert!(test.is_some_and(|test| test > below), "{names:?}");
        // Between the descent's first and last frame, every other one is `descend` itself.
        let chain: Vec<&str> = names[..below].iter().copied().filter(|name| name.contains("live")).collect();
        let descents: Vec<usize> =
            (0..chain.len()).filter(|index| chain[*index].contains("descend")).collect();
        assert!(descents.windows(2).all(|pair| pair[1] - pair[0] == 2), "{chain:?}");
        deepest = deepest.max(descents.len());
    }
    assert!(kept > depth / 20, "{kept} of {depth} frames kept");
    assert!(deepest > 80, "the deepest path has {deepest} frames of `descend`");
}

/// The same stacks by framehop, and from copies of them.
#[test]
fn paths_equal_framehops() {
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    let samples = sampled(|| {
        black_box(descend(40, 5));
    });
    let objects = process::loaded();
    let modules = process::modules(&objects);
    let list = ModuleList::new(&modules).unwrap();
    let memory = support::cache_memory();
    let cache = Cache::new(&memory).unwrap();
    let mut compared = 0;
    for sample in samples.iter().step_by(12) {
        let sp = sample.registers.get(7).unwrap();
        let mut frames = [Frame::default(); DEPTH];
        let mut copy = StackCopy::new(sp - RED_ZONE, &sample.stack[..sample.copied]);
        let again = walk::<Native, _, _>(&sample.registers, &list, &cache, &mut copy, &mut frames);
        assert_eq!((again, &frames[..again.depth]), (sample.walk, &sample.frames[..sample.walk.depth]));
        let ours: Vec<u64> = frames[..again.depth].iter().map(|frame| frame.pc).collect();
        let outside = ours.iter().any(|pc| {
            let object = objects.iter().find(|object| object.module.contains(*pc));
            object.is_none_or(|object| object.path.is_empty() || object.path.contains("vdso"))
        });
        if !outside {
            assert_eq!(ours, framehop_path(&objects, sample));
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared} compared");
}

static NESTED: OnceLock<Vec<Frame>> = OnceLock::new();

extern "C" fn nested(_signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes the context.
    let registers = registers(unsafe { &*context.cast::<libc::ucontext_t>() });
    let sp = registers.get(7).unwrap();
    let mut memory = Live(process::mapping(sp));
    let session = session();
    let mut frames = [Frame::default(); DEPTH];
    let list = ModuleList::new(&session.modules).unwrap();
    let cache = Cache::new(&session.cache).unwrap();
    let walk = walk::<Native, _, _>(&registers, &list, &cache, &mut memory, &mut frames);
    assert_eq!(walk.end, End::Root, "{:x?}", &frames[..walk.depth]);
    NESTED.get_or_init(|| frames[..walk.depth].to_vec());
}

extern "C" fn outer(_signal: c_int, _info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: raises a signal whose handler is installed.
    black_box(unsafe { libc::raise(libc::SIGUSR2) });
}

#[inline(never)]
fn raise_both() {
    // SAFETY: installs handlers and raises a signal.
    unsafe {
        for (signal, handler) in [(libc::SIGUSR1, outer as *const ()), (libc::SIGUSR2, nested as *const ())] {
            let mut action: libc::sigaction = mem::zeroed();
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO;
            assert_eq!(libc::sigaction(signal, &action, ptr::null_mut()), 0);
        }
        assert_eq!(black_box(libc::raise(libc::SIGUSR1)), 0);
    }
}

/// A signal handler that a signal interrupts: the path goes through the trampoline to the interrupted function.
#[test]
fn through_a_signal_frame() {
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    raise_both();
    let frames = NESTED.get().unwrap();
    let symbols = process::Symbols::load(&process::loaded());
    let names: Vec<&str> = frames.iter().map(|frame| symbols.name(frame.pc).unwrap_or("")).collect();
    let outer = names.iter().position(|name| name.contains("outer")).unwrap();
    let own = names.iter().position(|name| name.contains("raise_both")).unwrap();
    assert!(own > outer + 2, "trampoline and raise lie between: {names:?}");
}
