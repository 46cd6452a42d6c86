//! Signal context: yes. The three clocks of a thread: wall time, CPU time, and time runnable but not running.

use core::fmt::Write;
use core::mem::MaybeUninit;

use crate::text::Text;
use crate::{raw, real};

/// Wall time, `CLOCK_MONOTONIC` ns. The C library reads it without a system call and leaves `errno` alone.
pub fn wall_ns() -> u64 {
    let Some(gettime) = real::get().and_then(|r| r.clock_gettime) else {
        return raw::clock_ns(libc::CLOCK_MONOTONIC);
    };
    let mut now = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: a valid clock and room for the result, which is valid if it stays zero.
    let now = unsafe {
        gettime(libc::CLOCK_MONOTONIC, now.as_mut_ptr());
        now.assume_init()
    };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Time that a thread of this process was runnable but did not run, ns; `None` if the kernel does not tell.
#[inline(never)]
pub fn run_delay_ns(tid: u32) -> Option<u64> {
    let mut path = Text::<64>::new();
    let _ = write!(path, "/proc/self/task/{tid}/schedstat");
    let mut text = [0u8; 96];
    let length = raw::read_file(path.as_c_str(), &mut text)?;
    // Time running, time runnable, slices.
    crate::text::decimal(text.get(..length)?.split(|b| *b == b' ').nth(1)?)
}

/// Where a thread of this process that waits in a system call will go on: program counter and stack pointer. `None` if it
/// runs, or the kernel does not tell.
pub fn blocked_at(tid: u32) -> Option<(u64, u64)> {
    let mut path = Text::<64>::new();
    let _ = write!(path, "/proc/self/task/{tid}/syscall");
    let mut text = [0u8; 256];
    let length = raw::read_file(path.as_c_str(), &mut text)?;
    // Number, six arguments, stack pointer, program counter; a thread that runs has one word only.
    let mut words = text
        .get(..length)?
        .trim_ascii_end()
        .split(|b| *b == b' ')
        .skip(7)
        .map(|word| u64::from_str_radix(core::str::from_utf8(word.strip_prefix(b"0x")?).ok()?, 16).ok());
    let (sp, pc) = (words.next()??, words.next()??);
    Some((pc, sp))
}
