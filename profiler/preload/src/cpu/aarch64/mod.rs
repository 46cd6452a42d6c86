//! Signal context: yes. What differs on 64-bit ARM: system calls, the entries of threads, signals and calls, the register
//! file.

use core::arch::{asm, naked_asm};
use core::ffi::{c_int, c_void};

use unwinder::Registers;

mod arguments;
mod logged;
mod watched;

pub(crate) use arguments::argument_list;
pub use logged::log;
pub(crate) use logged::logged_call;
pub(crate) use watched::watched_call;
pub use watched::{LANDINGS, PLAIN_YIELD, watch, watch_yield, yield_now};

/// ELF machine number of this architecture.
pub const MACHINE: u32 = 183;

/// A system call; negative results are `-errno`. The C library's `errno` is not touched.
///
/// # Safety
/// As the system call with these arguments.
#[inline(always)]
pub unsafe fn syscall6(number: i64, args: [usize; 6]) -> isize {
    let result;
    // SAFETY: the aarch64 system call convention; the caller answers for the call itself.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") args[0] => result,
            in("x1") args[1],
            in("x2") args[2],
            in("x3") args[3],
            in("x4") args[4],
            in("x5") args[5],
            options(nostack),
        );
    }
    result
}

/// The thread pointer: the C library's thread block, which lies at the top of a created thread's stack.
pub fn thread_pointer() -> usize {
    let tp;
    // SAFETY: reads a register.
    unsafe { asm!("mrs {}, tpidr_el0", out(reg) tp, options(nostack, preserves_flags, nomem)) };
    tp
}

/// The processor's counter of time.
#[inline(always)]
pub fn ticks() -> u64 {
    let ticks;
    // SAFETY: reads a register, which the C library's clock reads too.
    unsafe { asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nostack, preserves_flags, nomem)) };
    ticks
}

/// What the kernel calls that counter.
pub const COUNTER: &[u8] = b"arch_sys_counter";

/// The stack pointer of the caller, near enough for finding the stack it lies on.
#[inline(always)]
pub fn stack_pointer() -> usize {
    let sp;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, sp", out(reg) sp, options(nomem, nostack, preserves_flags)) };
    sp
}

/// The register file of an interrupted thread.
pub fn registers(context: &libc::ucontext_t) -> Registers {
    let machine = &context.uc_mcontext;
    let mut general = [machine.sp; 32];
    for (to, from) in general.iter_mut().zip(machine.regs) {
        *to = from;
    }
    Registers::aarch64(machine.pc, general)
}

/// The registers of a thread of which only these are known. Where a frame depends on others, which are 0, the stack cannot
/// be read there, and the path is partial.
pub fn registers_at(pc: u64, sp: u64) -> Registers {
    let mut general = [0; 32];
    general[31] = sp;
    Registers::aarch64(pc, general)
}

/// Words from the start of what [`watch`] leaves on the stack to each argument.
pub const ARGUMENTS: [usize; 6] = [2, 3, 4, 5, 6, 7];

/// What an interrupted system call has answered.
pub fn system_call_result(context: &libc::ucontext_t) -> i64 {
    context.uc_mcontext.regs[0] as i64
}

/// Where an interrupted thread goes on.
pub fn interrupted_pc(context: &libc::ucontext_t) -> u64 {
    context.uc_mcontext.pc
}

/// The stack pointer of an interrupted thread.
pub fn interrupted_stack_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.sp as usize
}

/// Where a created thread enters: begins measuring, then jumps to what the program wanted to run. As no frame of
/// ours stays on the stack, pthread_exit, cancellation and exceptions pass.
///
/// # Safety
/// Only as the start function of a thread, with a state for [`thread_begin`](crate::thread_create::thread_begin).
#[unsafe(naked)]
pub unsafe extern "C" fn thread_entry(thread: *mut c_void) -> *mut c_void {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, -16]!",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset 29, -16",
        ".cfi_offset 30, -8",
        "add x1, sp, 16",
        "bl {begin}",
        "ldp x29, x30, [sp], 16",
        ".cfi_restore 30",
        ".cfi_restore 29",
        ".cfi_def_cfa_offset 0",
        "mov x2, x0",
        "mov x0, x1",
        "br x2",
        ".cfi_endproc",
        begin = sym crate::thread_create::thread_begin,
    )
}

/// The handler of the sampling signal: takes the sample on the thread's own handler stack, so that the
/// application's stack, which may be small, holds the kernel's frame and little more.
///
/// # Safety
/// Only as a signal handler with `SA_SIGINFO` and all signals masked.
#[unsafe(naked)]
pub unsafe extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, -32]!",
        ".cfi_def_cfa_offset 32",
        ".cfi_offset 29, -32",
        ".cfi_offset 30, -24",
        "mov x29, sp",
        ".cfi_def_cfa_register x29",
        "stp x1, x2, [sp, 16]",
        "mov x0, x1",
        "mov x1, x2",
        "bl {stack}",
        "cbz x0, 2f",
        "ldp x3, x1, [sp, 16]",
        "mov sp, x0",
        "mov x0, x3",
        "bl {sample}",
        "mov sp, x29",
        "2:",
        "ldp x29, x30, [sp], 32",
        ".cfi_restore 30",
        ".cfi_restore 29",
        ".cfi_def_cfa sp, 0",
        "ret",
        ".cfi_endproc",
        stack = sym crate::handler::stack_for,
        sample = sym crate::handler::on_sample,
    )
}

/// Whether the instruction before `code`'s end is a system call: a thread that goes on after it has given the CPU up.
pub fn ends_in_system_call(code: &[u8]) -> bool {
    code.ends_with(&[0x01, 0x00, 0x00, 0xd4])
}

/// Bytes of a system call instruction.
pub const SYSTEM_CALL_LENGTH: u64 = 4;

/// Registers that [`watch`] keeps of a caller: x19 to x28.
pub const SAVED: usize = 10;

/// The registers of a caller as its call returns, with its stack pointer. What calls do not preserve is 0: nobody restores a
/// frame from it.
pub fn registers_after_call(
    saved: [u64; SAVED],
    frame_pointer: u64,
    return_address: u64,
    sp: u64,
) -> Registers {
    let mut general = [0; 32];
    for (to, from) in general.iter_mut().skip(19).zip(saved) {
        *to = from;
    }
    general[29] = frame_pointer;
    general[31] = sp;
    // The call itself, as for every caller.
    Registers::aarch64(return_address.wrapping_sub(1), general)
}

/// Relocations that write the address of a symbol into a table: absolute, of data and of functions.
pub const SYMBOL_RELOCATIONS: [u32; 3] = [257, 1025, 1026];

/// Arguments that are passed in registers.
pub const ARGUMENT_REGISTERS: usize = 8;
