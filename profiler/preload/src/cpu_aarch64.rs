//! Signal context: yes. What differs on 64-bit ARM: system calls, the entries of threads, signals and calls, the register
//! file.

use core::arch::{asm, naked_asm};
use core::ffi::{c_int, c_void};

use unwinder::Registers;

use crate::thread::Thread;

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

/// Does the yield with the index in x9, and seldom has it timed after that: see [`yields`](crate::calls::yields).
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
        yields = sym crate::calls::yields,
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

/// Bytes of a function that yields which tell whether it does nothing else.
pub const YIELD_LENGTH: usize = 12;

/// Whether the code of a function begins with the system call that yields, after an instruction that does nothing, or nothing
/// but let branches come there.
pub fn is_plain_yield(code: &[u8; YIELD_LENGTH]) -> bool {
    const NOTHING: [&[u8]; 2] = [&[0x1f, 0x20, 0x03, 0xd5], &[0x5f, 0x24, 0x03, 0xd5]];
    const CALL: &[u8] = &[0x88, 0x0f, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4];
    let code = NOTHING.iter().find_map(|nothing| code.strip_prefix(*nothing)).unwrap_or(code);
    code.starts_with(CALL)
}

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

/// Relocations that write the address of a symbol into a table: absolute, of data and of functions.
pub const SYMBOL_RELOCATIONS: [u32; 3] = [257, 1025, 1026];

/// Arguments that are passed in registers.
pub const ARGUMENT_REGISTERS: usize = 8;

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

/// Defines an exported function `(path, argument, argument, …, null)` that calls `(path, array of arguments)`: the argument
/// registers are put right below the arguments on the stack.
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
                "sub sp, sp, 80",
                ".cfi_def_cfa_offset 80",
                "stp x29, x30, [sp]",
                ".cfi_offset 29, -80",
                ".cfi_offset 30, -72",
                "mov x29, sp",
                "str x1, [sp, 24]",
                "stp x2, x3, [sp, 32]",
                "stp x4, x5, [sp, 48]",
                "stp x6, x7, [sp, 64]",
                "add x1, sp, 24",
                "bl {with_array}",
                "ldp x29, x30, [sp]",
                "add sp, sp, 80",
                ".cfi_restore 30",
                ".cfi_restore 29",
                ".cfi_def_cfa_offset 0",
                "ret",
                ".cfi_endproc",
                with_array = sym $with_array,
            )
        }
    };
}
pub(crate) use argument_list;
