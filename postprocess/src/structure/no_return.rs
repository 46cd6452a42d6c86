//! Functions that never come back, by name: where they are called, the code does not go on.

/// Of the C library, the run-time libraries of C++ and Fortran, and the unwinder.
const NAMES: [&str; 32] = [
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "pthread_exit",
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "__longjmp_chk",
    "err",
    "errx",
    "verr",
    "verrx",
    "__assert",
    "__assert_fail",
    "__assert_perror_fail",
    "__chk_fail",
    "__fortify_fail",
    "__stack_chk_fail",
    "__libc_fatal",
    "__clang_call_terminate",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
    "__cxa_call_unexpected",
    "__cxa_pure_virtual",
    "__cxa_rethrow",
    "__cxa_throw",
    "__cxa_throw_bad_array_new_length",
    "_Unwind_Resume",
    "_ZSt9terminatev",
    "_gfortran_os_error_at",
];

/// Beginnings of names.
const BEGINNINGS: [&str; 5] = [
    "_gfortran_stop_",
    "_gfortran_error_stop_",
    "_gfortran_runtime_error",
    "_ZN4core9panicking",
    "_ZN3std9panicking",
];

/// Whether a function never returns, by its name for the linker.
///
/// Of Rust's functions those are known that panics begin with, of C++ also the standard library's `std::__throw_…`.
pub(crate) fn never_returns(name: &str) -> bool {
    let thrower = name.starts_with("_ZSt") && name.contains("__throw_");
    let panic = name.starts_with("_R") && name.contains("4core9panicking");
    NAMES.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || thrower
        || panic
}

#[cfg(test)]
mod tests {
    use super::never_returns;

    #[test]
    fn names_are_those_of_the_linker() {
        for name in ["abort", "_ZSt20__throw_length_errorPKc", "_gfortran_stop_numeric", "_Unwind_Resume"] {
            assert!(never_returns(name), "{name}");
        }
        for name in ["aborted", "_ZNSt6vectorIiE5beginEv", "main", "_gfortran_st_write", ""] {
            assert!(!never_returns(name), "{name}");
        }
    }
}
