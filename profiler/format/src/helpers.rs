//! Threads that run-time libraries start for their own work.
//!
//! Progress engines of message-passing libraries start threads that the application knows nothing of: their cost
//! counts, but they are no processing units that the run was given. Worker threads of OpenMP run-times (libgomp,
//! libomp) execute the application's code and are none of these.

/// Beginnings of file names of modules whose threads are helpers.
const HELPER_MODULES: [&str; 17] = [
    "libopen-pal.so",
    "libopen-rte.so",
    "libprrte.so",
    "libpmix.so",
    "libmpi.so",
    "libmpich.so",
    "libmpi_cray",
    "libucs.so",
    "libuct.so",
    "libucp.so",
    "libucm.so",
    "libfabric.so",
    "libevent",
    "libpsm2.so",
    "libpsm3",
    "libibverbs.so",
    "libhwloc.so",
];

/// Whether a thread whose start function lies in the module of this file name is a helper.
///
/// ```
/// use falloff_format::helpers::starts_helpers;
/// assert!(starts_helpers(b"libpmix.so.2.9.5") && !starts_helpers(b"libgomp.so.1"));
/// ```
pub fn starts_helpers(module_file_name: &[u8]) -> bool {
    HELPER_MODULES.iter().any(|beginning| module_file_name.starts_with(beginning.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_threads_are_helpers_and_workers_are_not() {
        assert!(starts_helpers(b"libopen-pal.so.40.30.2"));
        assert!(starts_helpers(b"libevent_core-2.1.so.7"));
        assert!(!starts_helpers(b"libgomp.so.1.0.0"));
        assert!(!starts_helpers(b"libomp.so.5"));
        assert!(!starts_helpers(b"lmp"));
    }
}
