//! Signal context: yes. What differs on x86-64: system calls, the entries of threads, signals and calls, the register file.

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
pub const MACHINE: u32 = 62;

/// A system call; negative results are `-errno`. The C library's `errno` is not touched.
///
/// # Safety
/// As the system call with these arguments.
#[inline(always)]
pub unsafe fn syscall6(number: i64, args: [usize; 6]) -> isize {
    let result;
    // SAFETY: the x86-64 system call convention; the caller answers for the call itself.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") args[0],
            in("rsi") args[1],
            in("rdx") args[2],
            in("r10") args[3],
            in("r8") args[4],
            in("r9") args[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// The thread pointer: the C library's thread block, which lies at the top of a created thread's stack.
pub fn thread_pointer() -> usize {
    let tp;
    // SAFETY: the x86-64 ABI keeps the thread block's own address in its first word.
    unsafe { asm!("mov {}, fs:0", out(reg) tp, options(nostack, preserves_flags, readonly)) };
    tp
}

/// The processor's counter of time.
#[inline(always)]
pub fn ticks() -> u64 {
    // SAFETY: every processor of this architecture has it, and the C library's clock reads it too.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// What the kernel calls that counter.
pub const COUNTER: &[u8] = b"tsc";

/// The stack pointer of the caller, near enough for finding the stack it lies on.
#[inline(always)]
pub fn stack_pointer() -> usize {
    let sp;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) sp, options(nomem, nostack, preserves_flags)) };
    sp
}

/// The register file of an interrupted thread.
pub fn registers(context: &libc::ucontext_t) -> Registers {
    let g = |index: i32| context.uc_mcontext.gregs[index as usize] as u64;
    // DWARF numbering: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8..r15.
    let general = [
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
    Registers::x86_64(g(libc::REG_RIP), general.map(g))
}

/// The registers of a thread of which only these are known. Where a frame depends on others, which are 0, the stack cannot
/// be read there, and the path is partial.
pub fn registers_at(pc: u64, sp: u64) -> Registers {
    let mut general = [0; 16];
    general[7] = sp;
    Registers::x86_64(pc, general)
}

/// Where an interrupted thread goes on.
pub fn interrupted_pc(context: &libc::ucontext_t) -> u64 {
    context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64
}

/// The stack pointer of an interrupted thread.
pub fn interrupted_stack_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize
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
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "lea rsi, [rsp + 16]",
        "call {begin}",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "mov rdi, rdx",
        "jmp rax",
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
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push rsi",
        "push rdx",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "call {stack}",
        "pop rdx",
        "pop rsi",
        "test rax, rax",
        "jz 2f",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rsp, rax",
        "call {sample}",
        "mov rsp, rbp",
        "2:",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        stack = sym crate::handler::stack_for,
        sample = sym crate::handler::on_sample,
    )
}

/// Whether the instruction before `code`'s end is a system call: a thread that goes on after it has given the CPU up.
pub fn ends_in_system_call(code: &[u8]) -> bool {
    code.ends_with(&[0x0f, 0x05])
}

/// Bytes of a system call instruction.
pub const SYSTEM_CALL_LENGTH: u64 = 2;

/// Words from the start of what [`watch`] leaves on the stack to each argument.
pub const ARGUMENTS: [usize; 6] = [7, 6, 5, 4, 3, 2];

/// What an interrupted system call has answered.
pub fn system_call_result(context: &libc::ucontext_t) -> i64 {
    context.uc_mcontext.gregs[libc::REG_RAX as usize]
}

/// Registers that [`watch`] keeps of a caller: r15, r14, r13, r12, rbx.
pub const SAVED: usize = 5;

/// The registers of a caller as its call returns, `sp` being above the return address. What calls do not preserve is 0: nobody
/// restores a frame from it.
pub fn registers_after_call(
    saved: [u64; SAVED],
    frame_pointer: u64,
    return_address: u64,
    sp: u64,
) -> Registers {
    let [r15, r14, r13, r12, rbx] = saved;
    let general = [0, 0, 0, rbx, 0, 0, frame_pointer, sp, 0, 0, 0, 0, r12, r13, r14, r15];
    // The call itself, as for every caller.
    Registers::x86_64(return_address.wrapping_sub(1), general)
}

/// Relocations that write the address of a symbol into a table: absolute, of data and of functions.
pub const SYMBOL_RELOCATIONS: [u32; 3] = [1, 6, 7];

/// Arguments that are passed in registers.
pub const ARGUMENT_REGISTERS: usize = 6;
