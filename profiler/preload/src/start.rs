//! Start-up, before `main`, and whether this process is measured.

use core::ffi::{CStr, c_char};
use core::fmt::Write;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::memory::Stack;
use crate::options::{Environment, Options};
use crate::text::{Text, base_name};
use crate::{
    calls, cpu, earlier_image, events, file, identity, modules, plan, process, raw, real, records, signals,
    states, thread_create, turn_clock,
};

const UNSTARTED: u32 = 0;
const STARTING: u32 = 1;
const ON: u32 = 2;
const OFF: u32 = 3;

#[unsafe(link_section = ".data")]
static STATE: AtomicU32 = AtomicU32::new(UNSTARTED);

unsafe extern "C" {
    static environ: *const *const c_char;
}

#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = ensure;

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = process::end;

/// Whether this process is measured. Signal context: yes.
pub fn is_on() -> bool {
    STATE.load(Ordering::Acquire) == ON
}

/// Ends measuring.
pub fn turn_off() {
    STATE.store(OFF, Ordering::SeqCst);
}

/// Starts, once. Constructors of other libraries may run before ours and call what we replace, so every
/// replacement asks for this first.
pub extern "C" fn ensure() {
    // The exchange alone would do, but it costs more than a load.
    if STATE.load(Ordering::Acquire) != UNSTARTED
        || STATE.compare_exchange(UNSTARTED, STARTING, Ordering::AcqRel, Ordering::Acquire).is_err()
    {
        return;
    }
    let booked_ns = start();
    STATE.store(if booked_ns.is_some() { ON } else { OFF }, Ordering::Release);
    if let Some(booked_ns) = booked_ns {
        measure_main(booked_ns);
    }
}

/// Prepares everything; gives the CPU time of the calling thread that is accounted for already. `None`: this process is
/// not measured.
fn start() -> Option<u64> {
    // SAFETY: once, guarded by the state.
    unsafe { real::look_up() };
    calls::look_up();
    let known_library = real::get().is_some_and(real::Real::is_known);
    // SAFETY: the environment as the C library has it, before the program could change it.
    let environment = unsafe { Environment::new(environ) };
    let options = Options::from_environment(environment).filter(|_| known_library)?;
    // SAFETY: once.
    unsafe {
        identity::collect(environment, options);
        plan::make(environment, options.rate);
    }
    let who = identity::get()?;
    if !plan::includes(environment, base_name(who.image.as_bytes())) {
        return None;
    }
    // Asked before our own file is there.
    let booked_ns = earlier_image::booked_ns(who, raw::thread_cpu_ns());
    let path = who.measurement_path();
    if let Err(error) = file::create(path.as_c_str(), &options, 0) {
        // Where the program is the launcher's own child, the launcher says it.
        if options.launcher != raw::getppid() {
            complain(path.as_c_str(), error);
        }
        return None;
    }
    // SAFETY: nothing else runs yet.
    unsafe { records::begin() };
    records::describe_process(who);
    events::start();
    if !signals::install() {
        return None;
    }
    thread_create::make_key();
    process::watch_forks();
    modules::begin();
    turn_clock::begin();
    Some(booked_ns)
}

/// One line, because a user would otherwise look for a profile in vain.
fn complain(path: &CStr, error: raw::Errno) {
    let mut line = Text::<1400>::new();
    line.push(b"falloff: failed to create ");
    line.push(path.to_bytes());
    let _ = writeln!(line, " (error {error}); this process runs without a profile");
    raw::complain(line.as_bytes());
}

/// What lies on the stack between `main`'s frame and what the kernel put there, at most: of C libraries that describe the
/// code that starts a program, this is not asked for.
const START_FRAME: usize = 64;
/// Where the kernel put the number of arguments, between `here` and `top` on the stack of the thread that starts the
/// process: before these, which stand before the environment.
fn arguments(here: usize, top: usize) -> Option<usize> {
    // SAFETY: a variable of the C library's.
    let environment = unsafe { environ } as usize;
    let end = (here..top).contains(&environment).then_some(environment)? - 8;
    let mut places = (here..end).rev().step_by(8).enumerate().map(|(n, at)| (n, at - 7));
    // SAFETY: on this stack, aligned as the environment is; the number cannot be taken for a pointer to an argument.
    places.find(|(n, at)| unsafe { (*at as *const usize).read() } == *n).map(|(_, at)| at)
}

/// Begins measuring the thread that starts the process. The CPU time that loading took so far is booked as
/// unsampled, so that the total stays the process's.
fn measure_main(booked_ns: u64) {
    let Some(thread) = states::allocate() else { return };
    // The kernel put the program's file name at the very top of the stack.
    // SAFETY: only reads what the kernel left.
    let top = unsafe { libc::getauxval(libc::AT_EXECFN) } as usize;
    let limit = raw::limit(libc::RLIMIT_STACK).min(1 << 46) as usize;
    let here = cpu::stack_pointer();
    let start = arguments(here, top).map_or(top, |at| at - START_FRAME);
    let stack = Stack::current(here, start, top, limit);
    // SAFETY: fresh.
    let thread = unsafe { &mut *thread };
    thread.begin(stack, true, booked_ns);
    thread_create::remember(thread);
}
