//! Functions whose arguments stand one after the other, on x86-64.

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
