//! Signal context: yes. What differs on x86-64: system calls, the entries of threads, signals and calls, the register file.

use core::arch::{asm, naked_asm};
use core::ffi::{c_int, c_void};

use unwinder::Registers;

use crate::thread::Thread;

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

/// Defines an exported function that jumps to the C library's of its name, unless calls of its kind are watched.
macro_rules! watched_call {
    ($name:ident, $index:expr, $watching:path, $watch:path) => {
        /// Replaces the C library's function of this name.
        ///
        /// # Safety
        /// As that function.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "cmp byte ptr [rip + {watching}], 0",
                "jne 2f",
                "mov r11, qword ptr [rip + {real} + {offset}]",
                "test r11, r11",
                "jz 2f",
                "jmp r11",
                "2:",
                "mov r11d, {index}",
                "jmp {watch}",
                watching = sym $watching,
                real = sym $crate::calls::REAL,
                offset = const 8 * ($index),
                index = const $index,
                watch = sym $watch,
            )
        }
    };
}
pub(crate) use watched_call;

/// Does the yield with the index in r11, and seldom has it timed after that: see [`yields`](crate::calls::yields).
///
/// # Safety
/// Only jumped to by the entries of watched calls.
#[unsafe(naked)]
#[unsafe(link_section = ".text.hot.yields")]
pub unsafe extern "C" fn watch_yield() {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push r11",
        "push r11",
        "mov rdi, r11",
        "call {yields}",
        "pop r11",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        ".cfi_restore rbp",
        "cmp rax, 1",
        "je {watch}",
        "jb 2f",
        "mov rdi, rax",
        "mov rsi, rdx",
        "mov r10, r11",
        "mov eax, {number}",
        "jmp {yield_now}",
        "2:",
        "xor eax, eax",
        "ret",
        ".cfi_endproc",
        yields = sym crate::calls::yields,
        number = const libc::SYS_sched_yield,
        yield_now = sym yield_now,
        watch = sym watch,
    )
}

/// Yields for the thread whose state is in rdi, in a call with the index in r10; has it timed if it returns at the mark in rsi
/// or later.
///
/// # Safety
/// Only jumped to by [`watch_yield`].
#[unsafe(naked)]
#[unsafe(link_section = ".text.hot.yields")]
pub unsafe extern "C" fn yield_now() {
    naked_asm!(
        ".cfi_startproc",
        "syscall",
        "rdtsc",
        "shl rdx, 32",
        "or rax, rdx",
        "mov byte ptr [rdi + {is_calling}], 0",
        "mov [rdi + {returned}], rax",
        "cmp rax, rsi",
        "jae 2f",
        "xor eax, eax",
        "ret",
        "2:",
        "mov r11, r10",
        "jmp {watch}",
        ".cfi_endproc",
        is_calling = const Thread::IS_CALLING,
        returned = const Thread::RETURNED,
        watch = sym watch,
    )
}

/// Bytes of a function that yields which tell whether it does nothing else.
pub const YIELD_LENGTH: usize = 11;

/// Whether the code of a function begins with the system call that yields, after an instruction that does nothing but let
/// branches come there.
pub fn is_plain_yield(code: &[u8; YIELD_LENGTH]) -> bool {
    const NOTHING: &[u8] = &[0xf3, 0x0f, 0x1e, 0xfa];
    const CALL: &[u8] = &[0xb8, libc::SYS_sched_yield as u8, 0, 0, 0, 0x0f, 0x05];
    code.strip_prefix(NOTHING).unwrap_or(code).starts_with(CALL)
}

/// Runs the call with the index in r11 between [`begin`](crate::calls::begin) and [`end`](crate::calls::end). On the
/// stack from rbp down: six argument registers, index, time; after the call the [`Frame`]. One word of stack arguments
/// is passed on, which `syscall` has.
///
/// # Safety
/// Only jumped to by the entries of watched calls.
#[unsafe(naked)]
pub unsafe extern "C" fn watch() {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push r11",
        "push 0",
        "mov rsi, rdi",
        "mov rdi, r11",
        "call {begin}",
        "mov [rbp - 64], rax",
        "mov r11, rdx",
        "6:",
        "mov rdi, [rbp - 8]",
        "mov rsi, [rbp - 16]",
        "mov rdx, [rbp - 24]",
        "mov rcx, [rbp - 32]",
        "mov r8, [rbp - 40]",
        "mov r9, [rbp - 48]",
        "sub rsp, 8",
        "push qword ptr [rbp + 16]",
        "xor eax, eax",
        "call r11",
        "add rsp, 16",
        "cmp qword ptr [rbp - 64], 0",
        "je 2f",
        "cmp byte ptr [rip + {retrying}], 0",
        "jne 4f",
        "5:",
        "mov [rbp - 8], rax",
        "mov [rbp - 16], rbx",
        "mov [rbp - 24], r12",
        "mov [rbp - 32], r13",
        "mov [rbp - 40], r14",
        "mov [rbp - 48], r15",
        // From low to high: time, index, r15, r14, r13, r12, rbx, result.
        "lea rdi, [rbp - 64]",
        "call {end}",
        "test rax, rax",
        "jz 3f",
        "lea rdi, [rbp - 64]",
        "mov rsp, rax",
        "call {sample}",
        "lea rsp, [rbp - 64]",
        "call {sampled}",
        "3:",
        "mov rax, [rbp - 8]",
        "2:",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_remember_state",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_restore_state",
        "4:",
        "push rax",
        "push rax",
        "lea rdi, [rbp - 64]",
        "mov rsi, rax",
        "call {again}",
        "mov r11, rax",
        "pop rax",
        "pop rax",
        "test r11, r11",
        "jz 5b",
        "jmp 6b",
        ".cfi_endproc",
        again = sym crate::retry::again,
        retrying = sym crate::retry::RETRYING,
        begin = sym crate::calls::begin,
        end = sym crate::calls::end,
        sample = sym crate::calls::sample,
        sampled = sym crate::calls::sampled,
    )
}

/// Relocations that write the address of a symbol into a table: absolute, of data and of functions.
pub const SYMBOL_RELOCATIONS: [u32; 3] = [1, 6, 7];

/// Arguments that are passed in registers.
pub const ARGUMENT_REGISTERS: usize = 6;

/// Defines a function of MPI that jumps to the library's of that name unless events are logged.
macro_rules! logged_call {
    ($(#[$attribute:meta])* $entry:ident, $index:expr) => {
        $(#[$attribute])*
        #[unsafe(naked)]
        pub unsafe extern "C" fn $entry() {
            core::arch::naked_asm!(
                "cmp byte ptr [rip + {logging}], 0",
                "jne 2f",
                "mov r11, qword ptr [rip + {real} + {offset}]",
                "test r11, r11",
                "jz 2f",
                "jmp r11",
                "2:",
                "mov r11d, {index}",
                "jmp {log}",
                logging = sym $crate::events::LOGGING,
                real = sym $crate::events::REAL,
                offset = const 8 * ($index),
                index = const $index,
                log = sym $crate::cpu::log,
            )
        }
    };
}
pub(crate) use logged_call;

/// Runs the call with the index in r11 between [`begin`](crate::events::begin) and [`end`](crate::events::end), or jumps on
/// to it if it is not to be logged. At rbp - 96 lies the [`Frame`](crate::events). Eight words of stack arguments
/// are passed on.
///
/// # Safety
/// Only jumped to by the entries of logged calls.
#[unsafe(naked)]
pub unsafe extern "C" fn log() {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push r9",
        "push r8",
        "push rcx",
        "push rdx",
        "push rsi",
        "push rdi",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "push r11",
        "mov rdi, rsp",
        "call {begin}",
        "mov r11, rax",
        "test rdx, rdx",
        "jz 3f",
        "push qword ptr [rbp + 72]",
        "push qword ptr [rbp + 64]",
        "push qword ptr [rbp + 56]",
        "push qword ptr [rbp + 48]",
        "push qword ptr [rbp + 40]",
        "push qword ptr [rbp + 32]",
        "push qword ptr [rbp + 24]",
        "push qword ptr [rbp + 16]",
        "mov rdi, [rbp - 48]",
        "mov rsi, [rbp - 40]",
        "mov rdx, [rbp - 32]",
        "mov rcx, [rbp - 24]",
        "mov r8, [rbp - 16]",
        "mov r9, [rbp - 8]",
        "xor eax, eax",
        "call r11",
        "lea rdi, [rbp - 96]",
        "mov rsi, rax",
        "call {end}",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_remember_state",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_restore_state",
        "3:",
        "mov rdi, [rbp - 48]",
        "mov rsi, [rbp - 40]",
        "mov rdx, [rbp - 32]",
        "mov rcx, [rbp - 24]",
        "mov r8, [rbp - 16]",
        "mov r9, [rbp - 8]",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        ".cfi_restore rbp",
        "jmp r11",
        ".cfi_endproc",
        begin = sym crate::events::begin,
        end = sym crate::events::end,
    )
}

/// Defines an exported function `(path, argument, argument, …, null)` that calls `(path, array of arguments)`: the argument
/// registers are put below the arguments on the stack, in place of the return address, which waits in a register that calls
/// preserve.
macro_rules! argument_list {
    ($name:ident, $with_array:path) => {
        /// Replaces the C library's function of this name.
        ///
        /// # Safety
        /// As that function.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                // Below: return address, rbx. The array begins with five registers and goes on with the stack's arguments,
                // which are copied as far as they may reach.
                "push rbp",
                ".cfi_adjust_cfa_offset 8",
                ".cfi_offset rbp, -16",
                "mov rbp, rsp",
                ".cfi_def_cfa_register rbp",
                // Count the arguments on the stack up to the null and one word more.
                "xor eax, eax",
                "test rsi, rsi",
                "jz 3f",
                "test rdx, rdx",
                "jz 3f",
                "test rcx, rcx",
                "jz 3f",
                "test r8, r8",
                "jz 3f",
                "test r9, r9",
                "jz 3f",
                "2:",
                "cmp qword ptr [rbp + 16 + 8 * rax], 0",
                "lea rax, [rax + 1]",
                "jne 2b",
                "3:",
                // One more for what may follow the null; the pushes end on a multiple of 16.
                "lea r10, [rax + 1]",
                "mov r11, r10",
                "and r11, 1",
                "jnz 4f",
                "push 0",
                "4:",
                "push qword ptr [rbp + 8 + 8 * r10]",
                "dec r10",
                "jnz 4b",
                "push r9",
                "push r8",
                "push rcx",
                "push rdx",
                "push rsi",
                "mov rsi, rsp",
                "call {with_array}",
                "mov rsp, rbp",
                "pop rbp",
                ".cfi_def_cfa rsp, 8",
                "ret",
                ".cfi_endproc",
                with_array = sym $with_array,
            )
        }
    };
}
pub(crate) use argument_list;
