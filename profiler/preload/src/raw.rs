//! Signal context: yes. Raw system calls, so that neither `errno` nor any lock of the C library is touched.

use core::ffi::{CStr, c_int};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::cpu::syscall6;

/// `madvise` advice that allocates pages of a mapping and reports failure instead of raising `SIGBUS`.
const MADV_POPULATE_WRITE: usize = 23;
/// Bytes that a kernel signal set has.
const SIGSET_LEN: usize = 8;

/// Number of a failed system call's error.
pub type Errno = i32;

fn check(result: isize) -> Result<usize, Errno> {
    if (-4095..0).contains(&result) { Err(-result as Errno) } else { Ok(result as usize) }
}

fn padded<const N: usize>(given: [usize; N]) -> [usize; 6] {
    core::array::from_fn(|i| given.get(i).copied().unwrap_or(0))
}

macro_rules! call {
    ($number:expr $(, $arg:expr)*) => {
        // SAFETY: each wrapper below passes pointers that it owns or that its own contract covers.
        check(unsafe { syscall6($number as i64, padded([$($arg as usize),*])) })
    };
}

/// Process id.
pub fn getpid() -> u32 {
    call!(libc::SYS_getpid).unwrap_or(0) as u32
}

/// Parent process id.
pub fn getppid() -> u32 {
    call!(libc::SYS_getppid).unwrap_or(0) as u32
}

/// Kernel thread id of the caller.
pub fn gettid() -> u32 {
    call!(libc::SYS_gettid).unwrap_or(0) as u32
}

/// Gives the processor away once, for short waits outside handlers.
pub fn sched_yield() {
    let _ = call!(libc::SYS_sched_yield);
}

/// A clock in nanoseconds, 0 if the clock is not to be had.
pub fn clock_ns(clock: c_int) -> u64 {
    let mut now = MaybeUninit::<libc::timespec>::zeroed();
    if call!(libc::SYS_clock_gettime, clock, now.as_mut_ptr()).is_err() {
        return 0;
    }
    // SAFETY: zeroed is a valid timespec and the kernel filled it.
    let now = unsafe { now.assume_init() };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// CPU time of the calling thread, nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of another thread of this process, nanoseconds; 0 if it has ended.
pub fn other_thread_cpu_ns(tid: u32) -> u64 {
    // The kernel's encoding of a per-thread scheduler clock: complement of the id, then 0b110.
    clock_ns(((!(tid as c_int)) << 3) | 6)
}

/// Ends the process.
pub fn exit_group(status: c_int) -> ! {
    loop {
        let _ = call!(libc::SYS_exit_group, status);
    }
}

/// Opens a file relative to the working directory.
pub fn open(path: &CStr, flags: c_int, mode: u32) -> Result<c_int, Errno> {
    call!(libc::SYS_openat, libc::AT_FDCWD as isize, path.as_ptr(), flags | libc::O_CLOEXEC, mode)
        .map(|fd| fd as c_int)
}

/// Closes a descriptor.
pub fn close(fd: c_int) {
    let _ = call!(libc::SYS_close, fd);
}

/// Removes a file.
pub fn unlink(path: &CStr) {
    let _ = call!(libc::SYS_unlinkat, libc::AT_FDCWD as isize, path.as_ptr(), 0);
}

/// Sets a file's length.
pub fn ftruncate(fd: c_int, length: u64) -> Result<(), Errno> {
    call!(libc::SYS_ftruncate, fd, length).map(drop)
}

/// Allocates a file's blocks.
pub fn fallocate(fd: c_int, length: u64) -> Result<(), Errno> {
    call!(libc::SYS_fallocate, fd, 0, 0, length).map(drop)
}

/// Reads at an offset; gives the bytes read.
pub fn pread(fd: c_int, out: &mut [u8], offset: u64) -> Result<usize, Errno> {
    call!(libc::SYS_pread64, fd, out.as_mut_ptr(), out.len(), offset)
}

/// Reads the first bytes of a file; gives how many.
pub fn read_file(path: &CStr, out: &mut [u8]) -> Option<usize> {
    let fd = open(path, libc::O_RDONLY, 0).ok()?;
    let length = pread(fd, out, 0);
    close(fd);
    length.ok()
}

/// Entries of a directory, as the kernel lays them out; gives the bytes filled, 0 at the end.
pub fn list_directory(fd: c_int, out: &mut [u8]) -> Result<usize, Errno> {
    call!(libc::SYS_getdents64, fd, out.as_mut_ptr(), out.len())
}

/// Length of a file.
pub fn file_length(fd: c_int) -> Result<usize, Errno> {
    call!(libc::SYS_lseek, fd, 0, libc::SEEK_END)
}

/// Target of a symbolic link; gives its length.
pub fn readlink(path: &CStr, out: &mut [u8]) -> Result<usize, Errno> {
    call!(libc::SYS_readlinkat, libc::AT_FDCWD as isize, path.as_ptr(), out.as_mut_ptr(), out.len())
}

/// Working directory with its ending zero byte; gives the length with that byte.
pub fn getcwd(out: &mut [u8]) -> Result<usize, Errno> {
    call!(libc::SYS_getcwd, out.as_mut_ptr(), out.len())
}

/// Host and kernel names.
pub fn uname() -> Option<libc::utsname> {
    let mut name = MaybeUninit::<libc::utsname>::zeroed();
    call!(libc::SYS_uname, name.as_mut_ptr()).ok()?;
    // SAFETY: arrays of bytes, zeroed and then filled by the kernel.
    Some(unsafe { name.assume_init() })
}

/// Soft limit on a resource; `u64::MAX` is no limit.
pub fn limit(resource: u32) -> u64 {
    let mut limits = [u64::MAX; 2];
    let _ = call!(libc::SYS_prlimit64, 0, resource, 0, limits.as_mut_ptr());
    limits[0]
}

/// Where the next mapping of ours is to lie. Far from where the kernel puts the program's: what the program maps and
/// unmaps lies where it would lie without us. Above the program and its heap: what lies below, OpenSHMEM of Open MPI takes for
/// variables of the program, which other processes may write to.
fn place(length: usize) -> usize {
    const FIRST: usize = if cfg!(target_arch = "aarch64") { 0xd000_0000_0000 } else { 0x6800_0000_0000 };
    static NEXT: AtomicUsize = AtomicUsize::new(FIRST);
    NEXT.fetch_add(length.next_multiple_of(4096), Ordering::Relaxed)
}

/// Private zeroed memory, or `None`.
pub fn map_private(length: usize) -> Option<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    call!(libc::SYS_mmap, place(length), length, libc::PROT_READ | libc::PROT_WRITE, flags, -1isize, 0)
        .ok()
        .map(|p| p as *mut u8)
}

/// A shared, writable mapping of a file's first bytes, whose pages come one by one: a first touch that reads ahead
/// in a large hole costs milliseconds.
pub fn map_shared(fd: c_int, length: u64) -> Result<*mut u8, Errno> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let start = call!(libc::SYS_mmap, place(length as usize), length, protection, libc::MAP_SHARED, fd, 0)?;
    let _ = call!(libc::SYS_madvise, start, length, libc::MADV_RANDOM);
    Ok(start as *mut u8)
}

/// A private, read-only mapping of part of a file; `offset` is a multiple of the page size.
pub fn map_file(fd: c_int, offset: u64, length: usize) -> Option<*const u8> {
    call!(libc::SYS_mmap, place(length), length, libc::PROT_READ, libc::MAP_PRIVATE, fd, offset)
        .ok()
        .map(|p| p as *const u8)
}

/// Takes a mapping away.
///
/// # Safety
/// Nothing uses the range any more.
pub unsafe fn unmap(start: *mut u8, length: usize) {
    let _ = call!(libc::SYS_munmap, start, length);
}

/// Changes what pages are mapped for.
pub fn protect(start: *mut u8, length: usize, protection: c_int) -> Result<(), Errno> {
    call!(libc::SYS_mprotect, start, length, protection).map(drop)
}

/// Makes pages of a shared mapping exist, so that writing them cannot fault.
pub fn populate(start: *mut u8, length: usize) -> Result<(), Errno> {
    call!(libc::SYS_madvise, start, length, MADV_POPULATE_WRITE).map(drop)
}

/// Whether each page of a range is mapped. `vector` holds a byte for each page.
pub fn mapped(start: usize, length: usize, vector: &mut [u8]) -> bool {
    call!(libc::SYS_mincore, start, length, vector.as_mut_ptr()).is_ok()
}

/// Copies this process's memory; fails instead of faulting where nothing can be read.
pub fn read_memory(pid: u32, from: usize, out: &mut [u8]) -> bool {
    let local = libc::iovec { iov_base: out.as_mut_ptr().cast(), iov_len: out.len() };
    let remote = libc::iovec { iov_base: from as *mut _, iov_len: out.len() };
    call!(libc::SYS_process_vm_readv, pid, &raw const local, 1, &raw const remote, 1, 0) == Ok(out.len())
}

/// Writes a line to standard error, once, without caring how it goes.
pub fn complain(text: &[u8]) {
    let _ = call!(libc::SYS_write, 2, text.as_ptr(), text.len());
}

/// Blocks or opens signals, a bit for each, in the calling thread; gives the mask before.
pub fn mask_signals(how: c_int, set: u64) -> u64 {
    let mut before = 0u64;
    let _ = call!(libc::SYS_rt_sigprocmask, how, &raw const set, &raw mut before, SIGSET_LEN);
    before
}

/// Signals that wait to be delivered to the calling thread, a bit for each; of those that it does not block, none.
pub fn pending_signals() -> u64 {
    let mut pending = 0u64;
    let _ = call!(libc::SYS_rt_sigpending, &raw mut pending, SIGSET_LEN);
    pending
}

/// The time limit of a socket for reading, or else writing; `None` if it is no socket.
pub fn socket_limit(fd: c_int, reads: bool) -> Option<libc::timeval> {
    let option = if reads { libc::SO_RCVTIMEO } else { libc::SO_SNDTIMEO };
    let mut limit = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let mut length = size_of::<libc::timeval>();
    call!(libc::SYS_getsockopt, fd, libc::SOL_SOCKET, option, &raw mut limit, &raw mut length).ok()?;
    Some(limit)
}

/// Waits until a descriptor is ready, for a time; gives 0 if it is not.
pub fn wait_for(fd: c_int, events: i16, ns: u64) -> Result<usize, Errno> {
    let mut ready = libc::pollfd { fd, events, revents: 0 };
    let limit = libc::timespec { tv_sec: (ns / 1_000_000_000) as _, tv_nsec: (ns % 1_000_000_000) as _ };
    call!(libc::SYS_ppoll, &raw mut ready, 1, &raw const limit, 0, SIGSET_LEN)
}

/// Lets a signal end this process as soon as it is not blocked any more: the default action, and the signal again.
pub fn die_by(signal: c_int) {
    // The kernel's structure: handler, flags, restorer, mask; all zero is the default action.
    let default = [0u64; 4];
    let _ = call!(libc::SYS_rt_sigaction, signal, &raw const default, 0, SIGSET_LEN);
    let _ = call!(libc::SYS_tgkill, getpid(), gettid(), signal);
}

/// The kernel's `sigevent` with a thread as its target.
#[repr(C)]
struct SignalEvent {
    value: *mut u8,
    signal: c_int,
    notify: c_int,
    tid: c_int,
    pad: [c_int; 11],
}

const _: () = assert!(size_of::<SignalEvent>() == 64);

/// A timer on a clock, such as the calling thread's CPU clock, that sends `signal` with `value` to a thread.
pub fn timer_create(clock: libc::clockid_t, signal: c_int, tid: u32, value: *mut u8) -> Result<i32, Errno> {
    let event = SignalEvent { value, signal, notify: libc::SIGEV_THREAD_ID, tid: tid as c_int, pad: [0; 11] };
    let mut id = 0i32;
    call!(libc::SYS_timer_create, clock, &raw const event, &raw mut id)?;
    Ok(id)
}

/// Starts a timer: first expiry, then each period.
pub fn timer_start(id: i32, first_ns: u64, period_ns: u64) -> Result<(), Errno> {
    let spec =
        |ns: u64| libc::timespec { tv_sec: (ns / 1_000_000_000) as _, tv_nsec: (ns % 1_000_000_000) as _ };
    let when = libc::itimerspec { it_interval: spec(period_ns), it_value: spec(first_ns) };
    call!(libc::SYS_timer_settime, id, 0, &raw const when, 0).map(drop)
}

/// Opens a performance event on the calling thread.
pub fn perf_event_open(attributes: *const u8) -> Result<c_int, Errno> {
    const CLOSE_ON_EXEC: usize = 8;
    call!(libc::SYS_perf_event_open, attributes, 0, -1isize, -1isize, CLOSE_ON_EXEC).map(|fd| fd as c_int)
}

/// Maps the pages of a performance event.
pub fn map_event(fd: c_int, length: usize) -> Result<*mut u8, Errno> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    call!(libc::SYS_mmap, place(length), length, protection, libc::MAP_SHARED, fd, 0).map(|p| p as *mut u8)
}

/// Stops or lets run the performance events that the calling thread has opened.
pub fn enable_events(on: bool) {
    let _ = call!(
        libc::SYS_prctl,
        if on { libc::PR_TASK_PERF_EVENTS_ENABLE } else { libc::PR_TASK_PERF_EVENTS_DISABLE }
    );
}

/// Ends a timer.
pub fn timer_delete(id: i32) {
    let _ = call!(libc::SYS_timer_delete, id);
}

/// Name of the calling thread, zero padded.
pub fn thread_name() -> [u8; 16] {
    let mut name = [0u8; 16];
    let _ = call!(libc::SYS_prctl, libc::PR_GET_NAME, name.as_mut_ptr());
    name
}
