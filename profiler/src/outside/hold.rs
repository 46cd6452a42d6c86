//! Holding a program before its exec until the events that are to see it are open.

use std::io::{Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;

/// The end of the program that is held: called between fork and exec.
pub(crate) struct Hold {
    theirs: UnixStream,
    ours: RawFd,
}

/// The end of who holds it.
pub(super) struct Holder(UnixStream);

/// Both ends.
pub(super) fn pair() -> std::io::Result<(Hold, Holder)> {
    let (theirs, ours) = UnixStream::pair()?;
    Ok((Hold { theirs, ours: ours.as_raw_fd() }, Holder(ours)))
}

impl Hold {
    /// Says who this is and waits. Only in the child of a fork: system calls that may be made between fork and exec.
    pub(crate) fn wait(&self) {
        let pid = std::process::id().to_ne_bytes();
        let mut released = [0u8];
        let theirs = self.theirs.as_raw_fd();
        // SAFETY: a descriptor that the fork has copied and the child does not need, and buffers of these lengths. Without the
        // copy, the wait ends also if the holder is gone.
        unsafe {
            libc::close(self.ours);
            libc::write(theirs, pid.as_ptr().cast(), pid.len());
            while libc::read(theirs, released.as_mut_ptr().cast(), 1) < 0
                && nix::errno::Errno::last() == nix::errno::Errno::EINTR
            {}
        }
    }
}

impl Holder {
    /// Process id of the program, once it waits; `None` if it never came so far.
    pub(super) fn pid(&mut self) -> Option<i32> {
        let mut pid = [0; 4];
        self.0.read_exact(&mut pid).ok()?;
        Some(i32::from_ne_bytes(pid))
    }

    /// Lets it go.
    pub(super) fn release(mut self) {
        // Should it be gone, there is nobody to let go.
        let _ = self.0.write_all(&[0]);
    }
}
