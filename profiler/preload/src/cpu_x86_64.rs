//! Signal context: yes. What differs on x86-64: system calls, the thread entry, the register file.

use core::arch::{asm, naked_asm};
use core::ffi::{c_int, c_void};

use unwinder::Registers;

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
