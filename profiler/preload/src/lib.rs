//! The sampler that is loaded into the profiled program.
//!
//! `start` runs before `main`, opens this process's measurement file and starts each thread's clocks. A clock's signal
//! runs `handler`: registers -> `unwinder` -> `tree` -> one node of the file. Nothing is left to do at the end: the file is
//! complete at every moment.
//!
//! The exported symbols are `pthread_create` (`thread_create`), `dlclose` (`dl`), the functions that could hide or take our
//! signals (`signals`), the exec family (`exec`), calls that may wait (`calls`), `_exit` (`process`), what marks sections, some
//! functions of MPI among it (`sections`), and the functions of MPI whose calls are logged (`events`). No other symbol is exported, and nothing is imported that musl lacks, so that a program of another C library still runs: see `real`.
//!
//! When a sample comes, most memory is cold, and each page that is touched costs as much as some hundred instructions. What
//! every sample reads stands together: in [`Thread`](thread::Thread), and in `.data`, where small statics would otherwise lie
//! between large tables.
#![no_std]

#[cfg_attr(target_arch = "x86_64", path = "cpu/x86_64/mod.rs")]
#[cfg_attr(target_arch = "aarch64", path = "cpu/aarch64/mod.rs")]
mod cpu;

mod build_id;
mod calls;
mod clock;
mod clocks;
mod dl;
mod earlier_image;
mod events;
mod exec;
mod file;
mod frame_index;
mod handler;
mod identity;
mod inside;
mod loader;
mod memory;
mod modules;
mod object;
mod options;
mod path;
mod perf;
mod plan;
mod process;
mod raw;
mod real;
mod records;
mod registry;
mod retry;
mod sections;
mod signals;
mod spin;
mod start;
mod states;
mod sync;
mod table_copy;
mod text;
mod thread;
mod thread_create;
mod tree;
mod turn_clock;
mod waits;
mod yields;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    raw::complain(
        b"falloff: a bug in the sampler ended this program; run it without falloff and report this\n",
    );
    // SAFETY: the C library's abort, which does not return.
    unsafe { libc::abort() }
}
