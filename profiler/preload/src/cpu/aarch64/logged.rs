//! The entries of calls of MPI that are logged, on 64-bit ARM.

use core::arch::naked_asm;

/// Defines a function of MPI that jumps to the library's of that name unless events are logged.
macro_rules! logged_call {
    ($(#[$attribute:meta])* $entry:ident, $index:expr) => {
        $(#[$attribute])*
        #[unsafe(naked)]
        pub unsafe extern "C" fn $entry() {
            core::arch::naked_asm!(
                "adrp x16, {logging}",
                "ldrb w16, [x16, :lo12:{logging}]",
                "cbnz w16, 2f",
                "adrp x16, {real}",
                "add x16, x16, :lo12:{real}",
                "ldr x16, [x16, {offset}]",
                "cbz x16, 2f",
                "br x16",
                "2:",
                "mov x9, {index}",
                "b {log}",
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

/// Runs the call with the index in x9 between [`begin`](crate::events::begin) and [`end`](crate::events::end), or jumps on
/// to it if it is not to be logged. At x29 - 152 lies the [`Frame`](crate::events). Eight words of stack arguments
/// are passed on.
///
/// # Safety
/// Only jumped to by the entries of logged calls.
#[unsafe(naked)]
pub unsafe extern "C" fn log() {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, -16]!",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset 29, -16",
        ".cfi_offset 30, -8",
        "mov x29, sp",
        ".cfi_def_cfa_register x29",
        // Eight words for stack arguments below the frame, and one between them.
        "sub sp, sp, 224",
        "str x9, [x29, -152]",
        "stp x19, x20, [x29, -144]",
        "stp x21, x22, [x29, -128]",
        "stp x23, x24, [x29, -112]",
        "stp x25, x26, [x29, -96]",
        "stp x27, x28, [x29, -80]",
        "stp x0, x1, [x29, -64]",
        "stp x2, x3, [x29, -48]",
        "stp x4, x5, [x29, -32]",
        "stp x6, x7, [x29, -16]",
        "sub x0, x29, 152",
        "bl {begin}",
        "mov x9, x0",
        "cbz x1, 3f",
        "ldp x0, x1, [x29, 16]",
        "ldp x2, x3, [x29, 32]",
        "ldp x4, x5, [x29, 48]",
        "ldp x6, x7, [x29, 64]",
        "stp x0, x1, [sp]",
        "stp x2, x3, [sp, 16]",
        "stp x4, x5, [sp, 32]",
        "stp x6, x7, [sp, 48]",
        "ldp x0, x1, [x29, -64]",
        "ldp x2, x3, [x29, -48]",
        "ldp x4, x5, [x29, -32]",
        "ldp x6, x7, [x29, -16]",
        "blr x9",
        "mov x1, x0",
        "sub x0, x29, 152",
        "bl {end}",
        "mov sp, x29",
        "ldp x29, x30, [sp], 16",
        ".cfi_remember_state",
        ".cfi_restore 30",
        ".cfi_restore 29",
        ".cfi_def_cfa sp, 0",
        "ret",
        ".cfi_restore_state",
        "3:",
        "ldp x0, x1, [x29, -64]",
        "ldp x2, x3, [x29, -48]",
        "ldp x4, x5, [x29, -32]",
        "ldp x6, x7, [x29, -16]",
        "mov sp, x29",
        "ldp x29, x30, [sp], 16",
        ".cfi_restore 30",
        ".cfi_restore 29",
        ".cfi_def_cfa sp, 0",
        "br x9",
        ".cfi_endproc",
        begin = sym crate::events::begin,
        end = sym crate::events::end,
    )
}
