//! What a module is to an OpenMP thread.

use crate::load::{ModuleKey, Origin};

/// Beginnings of file names of OpenMP run-time libraries, followed by a version or a hash.
const RUNTIMES: [&str; 3] = ["libgomp", "libomp", "libiomp"];
/// Beginnings of file names of what starts threads and stands between: the C library, the loader, the sampler.
const SYSTEM: [&str; 5] = ["libc", "libpthread", "ld", "ld-linux", "libfalloff"];

/// What a module is to an OpenMP thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// An OpenMP run-time library. Its own functions have no names in most installations.
    Runtime,
    /// The C library, the loader, the kernel's code, or the sampler.
    System,
    /// Anything else: it may hold the code of parallel regions.
    Program,
}

impl Role {
    /// Of a module of a process.
    pub fn of(module: &ModuleKey) -> Role {
        match module.origin {
            Origin::File => Role::of_file(module.file_name()),
            Origin::Vdso => Role::System,
            Origin::Anonymous(_) => Role::Program,
        }
    }

    fn of_file(name: &str) -> Role {
        let is = |stem: &str| {
            // A letter would make it another library: libompitrace, libcrypt.
            name.strip_prefix(stem)
                .is_some_and(|rest| rest.starts_with(|c: char| !c.is_ascii_alphabetic() && c != '_'))
        };
        if RUNTIMES.iter().any(|s| is(s)) {
            Role::Runtime
        } else if SYSTEM.iter().any(|s| is(s)) {
            Role::System
        } else {
            Role::Program
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_tell_runtimes_from_their_namesakes() {
        for name in ["libgomp.so.1", "libgomp-a34b3233.so.1.0.0", "libomp.so.5", "libomp5.so", "libiomp5.so"]
        {
            assert_eq!(Role::of_file(name), Role::Runtime, "{name}");
        }
        for name in ["libc.so.6", "libc-2.31.so", "libpthread-2.31.so", "ld-linux-x86-64.so.2", "ld-2.31.so"]
        {
            assert_eq!(Role::of_file(name), Role::System, "{name}");
        }
        for name in ["libompitrace.so.40", "libomptarget.so", "libcrypt.so.1", "ldd", "lmp", "libc_helper.so"]
        {
            assert_eq!(Role::of_file(name), Role::Program, "{name}");
        }
    }
}
