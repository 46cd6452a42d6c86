//! The entries of calls of the C library that are watched, on x86-64.

use core::arch::naked_asm;

use crate::thread::Thread;

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

/// Does the yield with the index in r11, and seldom has it timed after that: see [`yields`](crate::yields::yields).
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
        yields = sym crate::yields::yields,
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

/// What a function may begin with that only lets branches come there: `endbr64`.
pub const LANDINGS: &[[u8; 4]] = &[*b"\xf3\x0f\x1e\xfa"];

/// The code, up to its return, of a function that does nothing but the system call that yields: `mov eax, 24`, `syscall`,
/// `cmp rax, -4095`, `jae` over the `ret`, `ret`.
pub const PLAIN_YIELD: &[u8] = b"\xb8\x18\x00\x00\x00\x0f\x05\x48\x3d\x01\xf0\xff\xff\x73\x01\xc3";

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
