//! A library of MPI that was loaded, with what differs between libraries.

use std::ffi::{CStr, CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

type Init = unsafe extern "C" fn(*mut c_int, *mut c_void) -> c_int;
type Plain = unsafe extern "C" fn() -> c_int;
type OfCommunicator = unsafe extern "C" fn(usize) -> c_int;
type Number = unsafe extern "C" fn(usize, *mut c_int) -> c_int;
type Send = unsafe extern "C" fn(*const c_void, c_int, usize, c_int, c_int, usize) -> c_int;
type Receive = unsafe extern "C" fn(*mut c_void, c_int, usize, c_int, c_int, usize, *mut Status) -> c_int;
type BeginSend = unsafe extern "C" fn(*const c_void, c_int, usize, c_int, c_int, usize, *mut usize) -> c_int;
type Wait = unsafe extern "C" fn(*mut usize, *mut Status) -> c_int;
type Probe = unsafe extern "C" fn(c_int, c_int, usize, *mut c_int, *mut Status) -> c_int;

/// Room for a status of any library, the largest of which has 32 bytes.
#[repr(C, align(16))]
pub(super) struct Status([u8; 64]);

impl Status {
    pub(super) const fn room() -> Status {
        Status([0; 64])
    }
}

/// Functions of MPI, with handles as machine words.
pub(in crate::noise) struct Library {
    /// Where it was loaded from.
    pub path: PathBuf,
    /// Which MPI it is.
    pub flavour: &'static str,
    /// `MPI_COMM_WORLD`.
    pub(super) world: usize,
    /// `MPI_BYTE`.
    pub(super) byte: usize,
    pub(super) init: Init,
    pub(super) finalize: Plain,
    pub(super) rank: Number,
    pub(super) size: Number,
    pub(super) barrier: OfCommunicator,
    pub(super) send: Send,
    pub(super) receive: Receive,
    pub(super) begin_send: BeginSend,
    pub(super) wait: Wait,
    pub(super) probe: Probe,
}

impl Library {
    /// Loads the first of some libraries that can be loaded.
    ///
    /// # Errors
    /// None can, or it is no library of MPI.
    pub fn first_of(places: &[PathBuf]) -> Result<Library> {
        let mut refusals = Vec::new();
        for path in places {
            match load(path) {
                Ok(handle) => return Library::of(path, handle),
                Err(why) => refusals.push(why),
            }
        }
        Err(Error::Mpi(format!("no library of MPI can be loaded: {}", refusals.join("; "))))
    }

    fn of(path: &Path, handle: *mut c_void) -> Result<Library> {
        let function = |name: &CStr| {
            find(handle, name).ok_or_else(|| {
                let (path, name) = (path.display(), name.to_string_lossy());
                Error::Mpi(format!("`{path}` has no {name}: it is no library of MPI"))
            })
        };
        // Handles are addresses in Open MPI, numbers that the standard says in its own interface, and others in MPICH.
        let open_mpi = find(handle, c"ompi_mpi_comm_world").zip(find(handle, c"ompi_mpi_byte"));
        let standard = path.file_name().is_some_and(|name| name.to_string_lossy().contains("mpi_abi"));
        let (flavour, world, byte) = match open_mpi {
            Some((world, byte)) => ("Open MPI", world as usize, byte as usize),
            None if standard => ("MPI ABI", 0x101, 0x247),
            None => ("MPICH", 0x4400_0000, 0x4c00_010d),
        };
        macro_rules! get {
            ($name:literal as $kind:ty) => {
                // SAFETY: the C prototype of the function of that name, with handles as machine words: libraries whose handles
                // are 32 bits wide ignore the rest of the register.
                unsafe { std::mem::transmute::<*mut c_void, $kind>(function($name)?) }
            };
        }
        #[expect(unsafe_code, reason = "functions of a library that is only known by its names")]
        Ok(Library {
            path: path.to_owned(),
            flavour,
            world,
            byte,
            init: get!(c"MPI_Init" as Init),
            finalize: get!(c"MPI_Finalize" as Plain),
            rank: get!(c"MPI_Comm_rank" as Number),
            size: get!(c"MPI_Comm_size" as Number),
            barrier: get!(c"MPI_Barrier" as OfCommunicator),
            send: get!(c"MPI_Send" as Send),
            receive: get!(c"MPI_Recv" as Receive),
            begin_send: get!(c"MPI_Isend" as BeginSend),
            wait: get!(c"MPI_Wait" as Wait),
            probe: get!(c"MPI_Iprobe" as Probe),
        })
    }
}

/// Loads a library for as long as the process lives, with its names for all, which Open MPI's plugins need.
#[expect(unsafe_code, reason = "which library it is, is known at run time only")]
fn load(path: &Path) -> std::result::Result<*mut c_void, String> {
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|e| e.to_string())?;
    // SAFETY: a C string; the library's constructors are the user's choice, as if the program were linked with it.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    if !handle.is_null() {
        return Ok(handle);
    }
    // SAFETY: gives null or a C string that is valid until the next call of the loader by this thread.
    let why = unsafe { libc::dlerror() };
    if why.is_null() {
        return Err(path.display().to_string());
    }
    // SAFETY: not null, see above.
    Err(unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned())
}

#[expect(unsafe_code, reason = "which library it is, is known at run time only")]
fn find(handle: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a handle that `load` gave, and a C string.
    let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_mpi_is_told() {
        let wrong = |path: &str| Library::first_of(&[path.into()]).err().unwrap().to_string();
        assert!(wrong("libnothing-like-this.so.9").contains("libnothing-like-this.so.9"));
        assert!(wrong("libc.so.6").contains("`libc.so.6` has no MPI_Init"), "{}", wrong("libc.so.6"));
    }
}
