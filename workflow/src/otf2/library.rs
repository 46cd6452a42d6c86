//! The reference library, by its names.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io;

/// Names of the library of OTF2 3, whose prototypes are these: that of Debian and that of the project.
const NAMES: [&CStr; 2] = [c"libopen-trace-format2.so.10", c"libotf2.so.10"];

/// An archive, or a writer of it.
pub(super) type Handle = *mut c_void;
type OpenArchive = unsafe extern "C" fn(*const c_char, *const c_char, u8, u64, u64, u8, u8) -> Handle;
type SetFlush = unsafe extern "C" fn(Handle, *const FlushCallbacks, *mut c_void) -> c_int;
type Plain = unsafe extern "C" fn(Handle) -> c_int;
type GetWriter = unsafe extern "C" fn(Handle, u64) -> Handle;
type GetGlobal = unsafe extern "C" fn(Handle) -> Handle;
type CloseWriter = unsafe extern "C" fn(Handle, Handle) -> c_int;
type InRegion = unsafe extern "C" fn(Handle, *mut c_void, u64, u32) -> c_int;
type Message = unsafe extern "C" fn(Handle, *mut c_void, u64, u32, u32, u32, u64) -> c_int;
type Begin = unsafe extern "C" fn(Handle, *mut c_void, u64) -> c_int;
type End = unsafe extern "C" fn(Handle, *mut c_void, u64, u8, u32, u32, u64, u64) -> c_int;
type Count = unsafe extern "C" fn(Handle, *mut u64) -> c_int;
type Clock = unsafe extern "C" fn(Handle, u64, u64, u64, u64) -> c_int;
type Text = unsafe extern "C" fn(Handle, u32, *const c_char) -> c_int;
type Region = unsafe extern "C" fn(Handle, u32, u32, u32, u32, u8, u8, u32, u32, u32, u32) -> c_int;
type TreeNode = unsafe extern "C" fn(Handle, u32, u32, u32, u32) -> c_int;
type LocationGroup = unsafe extern "C" fn(Handle, u32, u32, u8, u32, u32) -> c_int;
type Location = unsafe extern "C" fn(Handle, u64, u32, u8, u64, u32) -> c_int;
type Group = unsafe extern "C" fn(Handle, u32, u32, u8, u8, u32, u32, *const u64) -> c_int;
type Communicator = unsafe extern "C" fn(Handle, u32, u32, u32, u32, u32) -> c_int;

/// What the library asks when a buffer is full.
#[repr(C)]
pub(super) struct FlushCallbacks {
    pub before: extern "C" fn(*mut c_void, u8, u64, *mut c_void, bool) -> u8,
    /// Absent: no record says that a buffer was written out.
    pub after: Option<extern "C" fn(*mut c_void, u8, u64) -> u64>,
}

macro_rules! library {
    ($($field:ident: $kind:ty = $name:literal,)*) => {
        /// Functions of the library, with its enumerations as the integers that they are.
        pub(super) struct Library {
            $(pub $field: $kind,)*
        }

        impl Library {
            #[expect(unsafe_code, reason = "functions of a library that is only known by its names")]
            fn of(handle: *mut c_void) -> io::Result<Library> {
                Ok(Library {
                    // SAFETY: the C prototype of the function of that name in version 3 of the library, which its file name says.
                    $($field: unsafe { std::mem::transmute::<*mut c_void, $kind>(find(handle, $name)?) },)*
                })
            }
        }
    };
}

library! {
    open: OpenArchive = c"OTF2_Archive_Open",
    set_flush: SetFlush = c"OTF2_Archive_SetFlushCallbacks",
    set_serial: Plain = c"OTF2_Archive_SetSerialCollectiveCallbacks",
    open_events: Plain = c"OTF2_Archive_OpenEvtFiles",
    close_events: Plain = c"OTF2_Archive_CloseEvtFiles",
    open_definitions: Plain = c"OTF2_Archive_OpenDefFiles",
    close_definitions: Plain = c"OTF2_Archive_CloseDefFiles",
    event_writer: GetWriter = c"OTF2_Archive_GetEvtWriter",
    close_event_writer: CloseWriter = c"OTF2_Archive_CloseEvtWriter",
    definition_writer: GetWriter = c"OTF2_Archive_GetDefWriter",
    close_definition_writer: CloseWriter = c"OTF2_Archive_CloseDefWriter",
    global_writer: GetGlobal = c"OTF2_Archive_GetGlobalDefWriter",
    close_global_writer: CloseWriter = c"OTF2_Archive_CloseGlobalDefWriter",
    close: Plain = c"OTF2_Archive_Close",
    enter: InRegion = c"OTF2_EvtWriter_Enter",
    leave: InRegion = c"OTF2_EvtWriter_Leave",
    send: Message = c"OTF2_EvtWriter_MpiSend",
    receive: Message = c"OTF2_EvtWriter_MpiRecv",
    collective_begin: Begin = c"OTF2_EvtWriter_MpiCollectiveBegin",
    collective_end: End = c"OTF2_EvtWriter_MpiCollectiveEnd",
    count: Count = c"OTF2_EvtWriter_GetNumberOfEvents",
    clock: Clock = c"OTF2_GlobalDefWriter_WriteClockProperties",
    text: Text = c"OTF2_GlobalDefWriter_WriteString",
    region: Region = c"OTF2_GlobalDefWriter_WriteRegion",
    tree_node: TreeNode = c"OTF2_GlobalDefWriter_WriteSystemTreeNode",
    location_group: LocationGroup = c"OTF2_GlobalDefWriter_WriteLocationGroup",
    location: Location = c"OTF2_GlobalDefWriter_WriteLocation",
    group: Group = c"OTF2_GlobalDefWriter_WriteGroup",
    communicator: Communicator = c"OTF2_GlobalDefWriter_WriteComm",
}

impl Library {
    /// Loads it.
    ///
    /// # Errors
    /// It is not installed.
    #[expect(unsafe_code, reason = "a library that need not be installed")]
    pub fn load() -> io::Result<Library> {
        for name in NAMES {
            // SAFETY: a C string; the library's constructors do no more than set it up.
            let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            if !handle.is_null() {
                return Library::of(handle);
            }
        }
        let names = NAMES.map(CStr::to_string_lossy).join(" or ");
        Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!(
                "the library of OTF2 version 3 is not installed ({names}); Debian has it in libopen-trace-format2-10"
            ),
        ))
    }
}

#[expect(unsafe_code, reason = "functions of a library that is only known by its names")]
fn find(handle: *mut c_void, name: &CStr) -> io::Result<*mut c_void> {
    // SAFETY: a handle of the loader and a C string.
    let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
    if found.is_null() {
        return Err(io::Error::other(format!("the library of OTF2 has no {}", name.to_string_lossy())));
    }
    Ok(found)
}
