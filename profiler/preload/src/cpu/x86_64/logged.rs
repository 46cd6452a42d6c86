//! The entries of calls of MPI that are logged, on x86-64.

use core::arch::naked_asm;

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
