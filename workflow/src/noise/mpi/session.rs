//! MPI from its beginning to its end.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr;
use std::time::Duration;

use super::library::{Library, Status};
use crate::{Error, Result};

/// Tag of all messages.
const TAG: c_int = 4711;
/// Sleep of a rank that waits for orders, so that it takes no processor from those that measure.
const NAP: Duration = Duration::from_micros(200);

/// A process's part in a job, between `MPI_Init` and `MPI_Finalize`. Messages are bytes.
pub(in crate::noise) struct Session {
    library: Library,
    /// Number of this process.
    pub rank: u32,
    /// Processes.
    pub size: u32,
}

/// A send that has begun and not ended.
#[must_use = "a send has to be ended"]
pub(in crate::noise) struct Sending<'a> {
    session: &'a Session,
    request: usize,
    bytes: PhantomData<&'a [u8]>,
}

#[expect(unsafe_code, reason = "functions of a library that is only known by its names")]
impl Session {
    /// Begins MPI.
    ///
    /// # Errors
    /// The library refuses.
    pub fn begin(library: Library) -> Result<Session> {
        // SAFETY: MPI may be begun without the program's arguments; once in a process, which the caller sees to by giving the
        // library away.
        checked("MPI_Init", unsafe { (library.init)(ptr::null_mut(), ptr::null_mut()) })?;
        let (mut rank, mut size) = (0, 0);
        // SAFETY: MPI has begun; both are written to.
        let failed = unsafe {
            (library.rank)(library.world, &raw mut rank) | (library.size)(library.world, &raw mut size)
        };
        checked("MPI_Comm_rank", failed)?;
        let number =
            |n: c_int| u32::try_from(n).map_err(|_| Error::Mpi(format!("MPI says that {n} is a rank")));
        Ok(Session { rank: number(rank)?, size: number(size)?, library })
    }

    /// Which MPI it is, and where it was loaded from.
    pub fn library(&self) -> String {
        format!("{} ({})", self.library.flavour, self.library.path.display())
    }

    /// Waits until all ranks have come.
    pub fn meet(&self) -> Result<()> {
        // SAFETY: MPI has begun and not ended, for `self` is there; so everywhere below.
        checked("MPI_Barrier", unsafe { (self.library.barrier)(self.library.world) })
    }

    /// Sends.
    pub fn send(&self, to: u32, bytes: &[u8]) -> Result<()> {
        let (library, count) = (&self.library, length(bytes)?);
        // SAFETY: `count` bytes are there to be read.
        let failed = unsafe {
            (library.send)(bytes.as_ptr().cast(), count, library.byte, to as c_int, TAG, library.world)
        };
        checked("MPI_Send", failed)
    }

    /// Begins to send.
    pub fn begin_send<'a>(&'a self, to: u32, bytes: &'a [u8]) -> Result<Sending<'a>> {
        let (library, count, mut request) = (&self.library, length(bytes)?, 0);
        // SAFETY: `count` bytes are there to be read and are borrowed until the send has ended; the request is a word or less.
        let failed = unsafe {
            (library.begin_send)(
                bytes.as_ptr().cast(),
                count,
                library.byte,
                to as c_int,
                TAG,
                library.world,
                &raw mut request,
            )
        };
        checked("MPI_Isend", failed)?;
        Ok(Sending { session: self, request, bytes: PhantomData })
    }

    /// Receives as many bytes as there is room for.
    pub fn receive(&self, from: u32, room: &mut [u8]) -> Result<()> {
        let (library, count, mut status) = (&self.library, length(room)?, Status::room());
        // SAFETY: there is room for `count` bytes and for the status.
        let failed = unsafe {
            (library.receive)(
                room.as_mut_ptr().cast(),
                count,
                library.byte,
                from as c_int,
                TAG,
                library.world,
                &raw mut status,
            )
        };
        checked("MPI_Recv", failed)
    }

    /// Receives, asleep until there is something to receive.
    pub fn receive_asleep(&self, from: u32, room: &mut [u8]) -> Result<()> {
        let (library, mut status, mut is_there) = (&self.library, Status::room(), 0);
        while is_there == 0 {
            std::thread::sleep(NAP);
            // SAFETY: both may be written to.
            let failed = unsafe {
                (library.probe)(from as c_int, TAG, library.world, &raw mut is_there, &raw mut status)
            };
            checked("MPI_Iprobe", failed)?;
        }
        self.receive(from, room)
    }

    /// Ends MPI.
    pub fn end(self) -> Result<()> {
        // SAFETY: nothing is under way, for all sends borrow `self`, and nobody can call afterwards.
        checked("MPI_Finalize", unsafe { (self.library.finalize)() })
    }
}

#[expect(unsafe_code, reason = "functions of a library that is only known by its names")]
impl Sending<'_> {
    /// Waits for the end.
    pub fn end(mut self) -> Result<()> {
        let mut status = Status::room();
        // SAFETY: a request that has begun; there is room for the status.
        let failed = unsafe { (self.session.library.wait)(&raw mut self.request, &raw mut status) };
        checked("MPI_Wait", failed)
    }
}

fn length(bytes: &[u8]) -> Result<c_int> {
    c_int::try_from(bytes.len())
        .map_err(|_| Error::Mpi(format!("a message of {} bytes is too long", bytes.len())))
}

fn checked(function: &str, code: c_int) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(Error::Mpi(format!("{function} failed with error {code}"))) }
}
