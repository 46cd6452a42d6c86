//! The exec family. A performance event that is live while a program replaces itself traps in the new image, which has no
//! handler for it and dies. So events stop before, and run on if the exec fails. A child of vfork has none of its own.

use core::ffi::{c_char, c_int};

use crate::{raw, real, signals, start};

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// While it lives, no event of the calling thread traps.
struct Quiet;

impl Quiet {
    fn begin() -> Option<Quiet> {
        start::ensure();
        (start::is_on() && signals::traps_are_ours()).then(|| {
            raw::enable_events(false);
            Quiet
        })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        raw::enable_events(true);
    }
}

macro_rules! replace {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) = $real:ident($($pass:expr),*);)*) => { $(
        /// Replaces the C library's function of this name.
        ///
        /// # Safety
        /// As that function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> c_int {
            let _quiet = Quiet::begin();
            match real::get().and_then(|r| r.$real) {
                // SAFETY: the caller's arguments.
                Some(real) => unsafe { real($($pass),*) },
                None => -1,
            }
        }
    )* };
}

replace! {
    execve(path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char)
        = execve(path, arguments, environment);
    execvpe(file: *const c_char, arguments: *const *const c_char, environment: *const *const c_char)
        = execvpe(file, arguments, environment);
    execv(path: *const c_char, arguments: *const *const c_char) = execve(path, arguments, environ);
    execvp(file: *const c_char, arguments: *const *const c_char) = execvpe(file, arguments, environ);
    fexecve(fd: c_int, arguments: *const *const c_char, environment: *const *const c_char)
        = fexecve(fd, arguments, environment);
    execveat(
        directory: c_int,
        path: *const c_char,
        arguments: *const *const c_char,
        environment: *const *const c_char,
        flags: c_int
    ) = execveat(directory, path, arguments, environment, flags);
}

// The arguments of these stand one after the other: `cpu::argument_list` makes an array of them.
crate::cpu::argument_list!(execl, execv);
crate::cpu::argument_list!(execlp, execvp);
crate::cpu::argument_list!(execle, execle_with);

/// What `execle` does with its arguments as an array: the environment stands behind the null that ends them.
///
/// # Safety
/// As `execle`.
unsafe extern "C" fn execle_with(path: *const c_char, arguments: *const *const c_char) -> c_int {
    let mut end = arguments;
    // SAFETY: the array ends with a null, and one more element follows.
    let environment = unsafe {
        while !(*end).is_null() {
            end = end.add(1);
        }
        *end.add(1)
    };
    // SAFETY: the caller's arguments.
    unsafe { execve(path, arguments, environment.cast()) }
}
