//! Functions whose arguments stand one after the other, on 64-bit ARM.

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
