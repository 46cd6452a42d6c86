//! The entries of calls of the C library that are watched, on 64-bit ARM.

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
                "adrp x16, {watching}",
                "ldrb w16, [x16, :lo12:{watching}]",
                "cbnz w16, 2f",
                "adrp x16, {real}",
                "add x16, x16, :lo12:{real}",
                "ldr x16, [x16, {offset}]",
                "cbz x16, 2f",
                "br x16",
                "2:",
                "mov x9, {index}",
                "b {watch}",
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

/// Does the yield with the index in x9, and seldom has it timed after that: see [`yields`](crate::yields::yields).
///
/// # Safety
/// Only jumped to by the entries of watched calls.
#[unsafe(naked)]
#[unsafe(link_section = ".text.hot.yields")]
pub unsafe extern "C" fn watch_yield() {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, -32]!",
        ".cfi_def_cfa_offset 32",
        ".cfi_offset 29, -32",
        ".cfi_offset 30, -24",
        "mov x29, sp",
        "str x9, [sp, 16]",
        "mov x0, x9",
        "bl {yields}",
        "ldr x9, [sp, 16]",
        "ldp x29, x30, [sp], 32",
        ".cfi_def_cfa_offset 0",
        ".cfi_restore 29",
        ".cfi_restore 30",
        "cbz x0, 2f",
        "cmp x0, 1",
        "b.ne 3f",
        "b {watch}",
        "2:",
        "ret",
        "3:",
        "mov x2, x0",
        "mov x3, {is_calling}",
        "mov x4, {returned}",
        "mov x8, {number}",
        "b {yield_now}",
        ".cfi_endproc",
        yields = sym crate::yields::yields,
        is_calling = const Thread::IS_CALLING,
        returned = const Thread::RETURNED,
        number = const libc::SYS_sched_yield,
        yield_now = sym yield_now,
        watch = sym watch,
    )
}

/// Yields for the thread whose state is in x2, with what it changes there at x3 and x4, in a call with the index in x9; has it
/// timed if it returns at the mark in x1 or later.
///
/// # Safety
/// Only jumped to by [`watch_yield`].
#[unsafe(naked)]
#[unsafe(link_section = ".text.hot.yields")]
pub unsafe extern "C" fn yield_now() {
    naked_asm!(
        ".cfi_startproc",
        "svc 0",
        "mrs x0, cntvct_el0",
        "strb wzr, [x2, x3]",
        "str x0, [x2, x4]",
        "cmp x0, x1",
        "b.hs 2f",
        "mov w0, 0",
        "ret",
        "2:",
        "b {watch}",
        ".cfi_endproc",
        watch = sym watch,
    )
}

/// What a function may begin with that does nothing, or only lets branches come there: `nop`, `bti c`.
pub const LANDINGS: &[[u8; 4]] = &[*b"\x1f\x20\x03\xd5", *b"\x5f\x24\x03\xd5"];

/// The code, up to its return, of a function that does nothing but the system call that yields: `mov x8, 124`, `svc 0`,
/// `cmn x0, 4095`, `b.hs` over the `ret`, `ret`.
pub const PLAIN_YIELD: &[u8] =
    b"\x88\x0f\x80\xd2\x01\x00\x00\xd4\x1f\xfc\x3f\xb1\x42\x00\x00\x54\xc0\x03\x5f\xd6";

/// Runs the call with the index in x9 between [`begin`](crate::calls::begin) and [`end`](crate::calls::end). On the
/// stack below x29: first the argument registers, index, time; after the call the [`Frame`].
///
/// # Safety
/// Only jumped to by the entries of watched calls.
#[unsafe(naked)]
pub unsafe extern "C" fn watch() {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, -16]!",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset 29, -16",
        ".cfi_offset 30, -8",
        "mov x29, sp",
        ".cfi_def_cfa_register x29",
        "sub sp, sp, 112",
        "stp x0, x1, [x29, -88]",
        "stp x2, x3, [x29, -72]",
        "stp x4, x5, [x29, -56]",
        "stp x6, x7, [x29, -40]",
        "str x9, [x29, -96]",
        "mov x1, x0",
        "mov x0, x9",
        "bl {begin}",
        "str x0, [x29, -104]",
        "mov x9, x1",
        "6:",
        "ldp x0, x1, [x29, -88]",
        "ldp x2, x3, [x29, -72]",
        "ldp x4, x5, [x29, -56]",
        "ldp x6, x7, [x29, -40]",
        "blr x9",
        "ldr x9, [x29, -104]",
        "cbz x9, 2f",
        "str x0, [x29, -8]",
        "adrp x9, {retrying}",
        "ldrb w9, [x9, :lo12:{retrying}]",
        "cbnz w9, 4f",
        "5:",
        "stp x19, x20, [x29, -88]",
        "stp x21, x22, [x29, -72]",
        "stp x23, x24, [x29, -56]",
        "stp x25, x26, [x29, -40]",
        "stp x27, x28, [x29, -24]",
        "sub x0, x29, 104",
        "bl {end}",
        "cbz x0, 3f",
        "mov x9, x0",
        "sub x0, x29, 104",
        "mov sp, x9",
        "bl {sample}",
        "sub sp, x29, 112",
        "bl {sampled}",
        "3:",
        "ldr x0, [x29, -8]",
        "2:",
        "mov sp, x29",
        "ldp x29, x30, [sp], 16",
        ".cfi_remember_state",
        ".cfi_restore 30",
        ".cfi_restore 29",
        ".cfi_def_cfa sp, 0",
        "ret",
        ".cfi_restore_state",
        "4:",
        "mov x1, x0",
        "sub x0, x29, 104",
        "bl {again}",
        "mov x9, x0",
        "cbnz x9, 6b",
        "b 5b",
        ".cfi_endproc",
        again = sym crate::retry::again,
        retrying = sym crate::retry::RETRYING,
        begin = sym crate::calls::begin,
        end = sym crate::calls::end,
        sample = sym crate::calls::sample,
        sampled = sym crate::calls::sampled,
    )
}
