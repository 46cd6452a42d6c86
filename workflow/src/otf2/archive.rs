//! A trace that is being written.

use std::ffi::{CStr, CString, c_int, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use super::library::{FlushCallbacks, Handle, Library};

/// The library's enumerations, as its headers number them.
const FILEMODE_WRITE: u8 = 0;
const SUBSTRATE_POSIX: u8 = 1;
const COMPRESSION_NONE: u8 = 1;
const CHUNK_EVENTS: u64 = 1 << 20;
const CHUNK_DEFINITIONS: u64 = 4 << 20;
const FLUSH: u8 = 1;
const ROLE_FUNCTION: u8 = 1;
const PARADIGM_MPI: u8 = 4;
const PROCESS: u8 = 1;
const CPU_THREAD: u8 = 1;
const COMM_LOCATIONS: u8 = 4;
const COMM_GROUP: u8 = 5;
const UNDEFINED: u32 = u32::MAX;
const NANOSECONDS: u64 = 1_000_000_000;

extern "C" fn flush(_: *mut c_void, _: u8, _: u64, _: *mut c_void, _: bool) -> u8 {
    FLUSH
}

/// The library keeps where it is and asks until the trace is closed.
static FULL_BUFFERS: FlushCallbacks = FlushCallbacks { before: flush, after: None };

/// A thread of a rank in the trace.
pub(super) struct Thread {
    pub rank: u32,
    pub thread: u32,
}

/// The trace, whose locations are numbered from 0.
pub(super) struct Archive {
    library: Library,
    archive: Handle,
    writers: Vec<Handle>,
    /// Latest time written, by location: times never go back.
    latest: Vec<u64>,
    strings: u32,
}

/// What the trace's definitions are made of.
pub(super) struct Definitions<'a> {
    pub threads: &'a [Thread],
    pub regions: &'a [String],
    /// Ranks of each communicator, in its order. The first is that of all.
    pub communicators: &'a [Vec<u32>],
}

#[expect(unsafe_code, reason = "functions of a library that is only known by its names")]
impl Archive {
    /// Begins a trace of so many locations in a directory.
    pub fn begin(dir: &Path, locations: usize) -> io::Result<Archive> {
        let library = Library::load()?;
        let path = CString::new(dir.as_os_str().as_bytes())?;
        // SAFETY: C strings that live through the call; the library copies texts, here and below.
        let archive = unsafe {
            (library.open)(
                path.as_ptr(),
                c"traces".as_ptr(),
                FILEMODE_WRITE,
                CHUNK_EVENTS,
                CHUNK_DEFINITIONS,
                SUBSTRATE_POSIX,
                COMPRESSION_NONE,
            )
        };
        if archive.is_null() {
            return Err(io::Error::other("the library of OTF2 cannot begin a trace"));
        }
        // SAFETY: an open archive; callbacks that are there for ever and touch nothing.
        unsafe {
            checked(
                c"SetFlushCallbacks",
                (library.set_flush)(archive, &raw const FULL_BUFFERS, ptr::null_mut()),
            )?;
            checked(c"SetSerialCollectiveCallbacks", (library.set_serial)(archive))?;
            checked(c"OpenEvtFiles", (library.open_events)(archive))?;
        }
        let writers = (0..locations as u64)
            // SAFETY: an open archive with open event files.
            .map(|location| unsafe { (library.event_writer)(archive, location) })
            .map(
                |writer| {
                    if writer.is_null() { Err(io::Error::other("no writer of events")) } else { Ok(writer) }
                },
            )
            .collect::<io::Result<Vec<Handle>>>()?;
        Ok(Archive { library, archive, latest: vec![0; locations], writers, strings: 0 })
    }

    fn writer(&mut self, location: usize, time: u64) -> (Handle, u64) {
        let latest = &mut self.latest[location];
        *latest = time.max(*latest);
        (self.writers[location], *latest)
    }

    /// A call begins.
    pub fn enter(&mut self, location: usize, time: u64, region: u32) -> io::Result<()> {
        let (writer, time) = self.writer(location, time);
        // SAFETY: a writer of this archive, without attributes; so in all events.
        checked(c"Enter", unsafe { (self.library.enter)(writer, ptr::null_mut(), time, region) })
    }

    /// A call ends.
    pub fn leave(&mut self, location: usize, time: u64, region: u32) -> io::Result<()> {
        let (writer, time) = self.writer(location, time);
        // SAFETY: as in `enter`.
        checked(c"Leave", unsafe { (self.library.leave)(writer, ptr::null_mut(), time, region) })
    }

    /// A message sets out to a rank of a communicator.
    pub fn send(
        &mut self,
        location: usize,
        time: u64,
        to: u32,
        comm: u32,
        tag: i32,
        bytes: u64,
    ) -> io::Result<()> {
        let (writer, time) = self.writer(location, time);
        let tag = tag.cast_unsigned();
        // SAFETY: as in `enter`.
        checked(c"MpiSend", unsafe {
            (self.library.send)(writer, ptr::null_mut(), time, to, comm, tag, bytes)
        })
    }

    /// A message has come from a rank of a communicator.
    pub fn receive(
        &mut self,
        location: usize,
        time: u64,
        from: u32,
        comm: u32,
        tag: i32,
        bytes: u64,
    ) -> io::Result<()> {
        let (writer, time) = self.writer(location, time);
        let tag = tag.cast_unsigned();
        // SAFETY: as in `enter`.
        checked(c"MpiRecv", unsafe {
            (self.library.receive)(writer, ptr::null_mut(), time, from, comm, tag, bytes)
        })
    }

    /// A collective operation, from the latest time on to the one given, with bytes sent and received.
    pub fn collective(
        &mut self,
        location: usize,
        time: u64,
        operation: u8,
        comm: u32,
        root: Option<u32>,
        bytes: (u64, u64),
    ) -> io::Result<()> {
        let (writer, begin) = self.writer(location, 0);
        let (_, end) = self.writer(location, time);
        let root = root.unwrap_or(UNDEFINED);
        // SAFETY: as in `enter`.
        unsafe {
            checked(c"MpiCollectiveBegin", (self.library.collective_begin)(writer, ptr::null_mut(), begin))?;
            let code = (self.library.collective_end)(
                writer,
                ptr::null_mut(),
                end,
                operation,
                comm,
                root,
                bytes.0,
                bytes.1,
            );
            checked(c"MpiCollectiveEnd", code)
        }
    }

    /// Writes what the events refer to, and ends the trace.
    pub fn end(mut self, definitions: &Definitions) -> io::Result<()> {
        let counts = self.close_events()?;
        // SAFETY: an open archive, whose event files are closed.
        let writer = unsafe { (self.library.global_writer)(self.archive) };
        if writer.is_null() {
            return Err(io::Error::other("no writer of definitions"));
        }
        let length = self.latest.iter().copied().max().unwrap_or(0);
        // SAFETY: a writer of this archive, here and below.
        checked(c"WriteClockProperties", unsafe {
            (self.library.clock)(writer, NANOSECONDS, 0, length, u64::MAX)
        })?;
        let empty = self.text(writer, "")?;
        self.regions(writer, definitions.regions, empty)?;
        self.system(writer, definitions.threads, &counts)?;
        self.communicators(writer, definitions, empty)?;
        // SAFETY: the archive's own writer; nothing is used after it is closed.
        unsafe {
            checked(c"CloseGlobalDefWriter", (self.library.close_global_writer)(self.archive, writer))?;
            checked(c"Close", (self.library.close)(self.archive))
        }
    }

    /// Ends the events; how many there are of each location.
    fn close_events(&mut self) -> io::Result<Vec<u64>> {
        let (library, archive) = (&self.library, self.archive);
        let mut counts = vec![0; self.writers.len()];
        for (writer, count) in self.writers.drain(..).zip(&mut counts) {
            // SAFETY: a writer of this archive that is used no more.
            unsafe {
                checked(c"GetNumberOfEvents", (library.count)(writer, &raw mut *count))?;
                checked(c"CloseEvtWriter", (library.close_event_writer)(archive, writer))?;
            }
        }
        // SAFETY: an open archive. Readers want a file of definitions for each location, if an empty one.
        unsafe {
            checked(c"CloseEvtFiles", (library.close_events)(archive))?;
            checked(c"OpenDefFiles", (library.open_definitions)(archive))?;
            for location in 0..counts.len() as u64 {
                let writer = (library.definition_writer)(archive, location);
                checked(c"CloseDefWriter", (library.close_definition_writer)(archive, writer))?;
            }
            checked(c"CloseDefFiles", (library.close_definitions)(archive))?;
        }
        Ok(counts)
    }

    /// Number of a text.
    fn text(&mut self, writer: Handle, text: &str) -> io::Result<u32> {
        let number = self.strings;
        self.strings += 1;
        let text = CString::new(text)?;
        // SAFETY: a C string that lives through the call.
        checked(c"WriteString", unsafe { (self.library.text)(writer, number, text.as_ptr()) })?;
        Ok(number)
    }

    fn regions(&mut self, writer: Handle, names: &[String], empty: u32) -> io::Result<()> {
        for (number, name) in (0..).zip(names) {
            let name = self.text(writer, name)?;
            // SAFETY: a writer of this archive.
            let code = unsafe {
                (self.library.region)(
                    writer,
                    number,
                    name,
                    name,
                    empty,
                    ROLE_FUNCTION,
                    PARADIGM_MPI,
                    0,
                    empty,
                    0,
                    0,
                )
            };
            checked(c"WriteRegion", code)?;
        }
        Ok(())
    }

    /// Ranks are processes of one machine: on which host each was is not part of a log.
    fn system(&mut self, writer: Handle, threads: &[Thread], counts: &[u64]) -> io::Result<()> {
        let (machine, run) = (self.text(writer, "machine")?, self.text(writer, "run")?);
        // SAFETY: a writer of this archive.
        checked(c"WriteSystemTreeNode", unsafe {
            (self.library.tree_node)(writer, 0, run, machine, UNDEFINED)
        })?;
        for (number, thread) in threads.iter().enumerate() {
            if thread.thread == 0 {
                let name = self.text(writer, &format!("rank {}", thread.rank))?;
                // SAFETY: as above.
                let code = unsafe {
                    (self.library.location_group)(writer, thread.rank, name, PROCESS, 0, UNDEFINED)
                };
                checked(c"WriteLocationGroup", code)?;
            }
            let name = self.text(writer, &format!("thread {}", thread.thread))?;
            // SAFETY: as above.
            let code = unsafe {
                (self.library.location)(writer, number as u64, name, CPU_THREAD, counts[number], thread.rank)
            };
            checked(c"WriteLocation", code)?;
        }
        Ok(())
    }

    fn communicators(&mut self, writer: Handle, definitions: &Definitions, empty: u32) -> io::Result<()> {
        let firsts = (0..).zip(definitions.threads).filter(|(_, thread)| thread.thread == 0);
        let all: Vec<u64> = firsts.map(|(number, _): (u64, _)| number).collect();
        self.group(writer, 0, empty, COMM_LOCATIONS, &all)?;
        for (number, members) in (0..).zip(definitions.communicators) {
            let members: Vec<u64> = members.iter().map(|rank| u64::from(*rank)).collect();
            self.group(writer, number + 1, empty, COMM_GROUP, &members)?;
            let name = self.text(
                writer,
                &if number == 0 { "MPI_COMM_WORLD".into() } else { format!("communicator {number}") },
            )?;
            // SAFETY: a writer of this archive.
            let code = unsafe { (self.library.communicator)(writer, number, name, number + 1, UNDEFINED, 0) };
            checked(c"WriteComm", code)?;
        }
        Ok(())
    }

    fn group(&self, writer: Handle, number: u32, name: u32, kind: u8, members: &[u64]) -> io::Result<()> {
        let count = members.len() as u32;
        // SAFETY: a writer of this archive, and `count` members.
        let code = unsafe {
            (self.library.group)(writer, number, name, kind, PARADIGM_MPI, 0, count, members.as_ptr())
        };
        checked(c"WriteGroup", code)
    }
}

fn checked(function: &CStr, code: c_int) -> io::Result<()> {
    if code == 0 {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "{} of the library of OTF2 failed with error {code}",
        function.to_string_lossy()
    )))
}
