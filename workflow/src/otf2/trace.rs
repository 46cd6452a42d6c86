//! Events of a trace out of the calls of a log.

use std::io;
use std::path::Path;

use falloff_messages::graph::{Error, Written};
use falloff_messages::{
    Call, Collective, CommId, Communicator, Completion, Log, Matched, Mode, Op, Operation, Options, Receive,
    Send, Visitor, lead,
};

use super::archive::{Archive, Definitions, Thread};

/// Writes all of a log into a directory, as the anchor file `traces.otf2` and what it refers to.
///
/// Times are nanoseconds of the ranks' own clocks.
///
/// # Errors
/// The library is not installed or refuses; the log cannot be matched.
pub fn otf2<L: Log + ?Sized>(log: &mut L, dir: &Path) -> Result<Written, Error> {
    let threads: Vec<Thread> =
        log.locations().iter().map(|l| Thread { rank: l.rank, thread: l.thread }).collect();
    let regions: Vec<String> = log.functions().iter().map(|name| (*name).to_owned()).collect();
    let communicators = log.communicators().to_vec();
    let mut trace = Trace {
        archive: Archive::begin(dir, threads.len())?,
        communicators: &communicators,
        written: Written::default(),
        failed: Ok(()),
    };
    let outcome = lead(log, &mut trace, &Options::default())?;
    trace.failed?;
    let members: Vec<Vec<u32>> = communicators.iter().map(|comm| comm.members.clone()).collect();
    trace.archive.end(&Definitions { threads: &threads, regions: &regions, communicators: &members })?;
    Ok(Written { outcome, ..trace.written })
}

struct Trace<'a> {
    archive: Archive,
    communicators: &'a [Communicator],
    written: Written,
    failed: io::Result<()>,
}

impl Trace<'_> {
    /// A rank of the run within a communicator, and that. Between the groups of an intercommunicator it is the one of all ranks.
    fn within(&self, comm: CommId, rank: u32) -> (u32, u32) {
        let plain = self.communicators.get(comm.0 as usize).filter(|comm| comm.others.is_empty());
        let place = plain.and_then(|comm| place(&comm.members, rank));
        place.map_or((rank, 0), |place| (place, comm.0))
    }

    fn write(&mut self, write: impl FnOnce(&mut Archive) -> io::Result<()>) {
        if self.failed.is_ok() {
            self.failed = write(&mut self.archive);
        }
    }
}

/// Where a rank is in a list, which mostly ascends from 0.
fn place(members: &[u32], rank: u32) -> Option<u32> {
    if members.get(rank as usize) == Some(&rank) {
        return Some(rank);
    }
    members.iter().position(|member| *member == rank).map(|place| place as u32)
}

/// Number of an operation in the library's headers; `None` of what is no operation of MPI's collectives.
fn number(operation: Operation) -> Option<u8> {
    Some(match operation {
        Operation::Barrier => 0,
        Operation::Broadcast => 1,
        Operation::Gather => 2,
        Operation::Scatter => 4,
        Operation::AllGather => 6,
        Operation::AllToAll => 8,
        Operation::AllReduce => 11,
        Operation::Reduce => 12,
        Operation::ReduceScatter => 13,
        Operation::Scan => 14,
        Operation::ExclusiveScan => 15,
        Operation::Make => 17,
        Operation::Neighbours | Operation::Fence | Operation::Initialise | Operation::Finalise => {
            return None;
        }
    })
}

impl Visitor for Trace<'_> {
    type Sent = ();
    type Posted = ();
    type Joined = ();

    fn enter(&mut self, location: usize, call: &Call) {
        self.written.calls += 1;
        self.write(|archive| archive.enter(location, call.enter, u32::from(call.function)));
    }

    fn sent(&mut self, location: usize, call: &Call, send: &Send) {
        let (to, comm) = self.within(send.comm, send.to);
        self.write(|archive| archive.send(location, call.enter, to, comm, send.tag, send.bytes));
    }

    fn posted(&mut self, _: usize, _: &Call, _: &Receive) {}

    fn joined(&mut self, _: usize, _: &Call, _: &Collective) {}

    fn received(&mut self, location: usize, call: &Call, message: &Matched<(), ()>) {
        self.written.messages += 1;
        let (from, comm) = self.within(message.send.comm, message.sender);
        let (tag, bytes) = (message.send.tag, message.send.bytes);
        self.write(|archive| archive.receive(location, call.leave, from, comm, tag, bytes));
    }

    fn send_completed(&mut self, _: usize, _: &Call, _: &Send, (): (), _: Option<()>) {}

    fn collective_completed(
        &mut self,
        location: usize,
        call: &Call,
        collective: &Collective,
        _: &[(u32, ())],
    ) {
        let Some(operation) = number(collective.operation) else { return };
        let root = collective.root.map(|root| self.within(collective.comm, root).0);
        let bytes = (collective.sent, collective.received);
        let comm = collective.comm.0;
        self.write(|archive| archive.collective(location, call.leave, operation, comm, root, bytes));
    }

    fn other(&mut self, _: usize, _: &Call, _: &Op, _: Option<&Completion>) {}

    fn leave(&mut self, location: usize, call: &Call) {
        self.write(|archive| archive.leave(location, call.leave, u32::from(call.function)));
    }

    fn is_synchronous(&self, send: &Send) -> bool {
        send.mode == Mode::Synchronous
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_have_their_place() {
        assert_eq!([place(&[0, 1, 2], 2), place(&[4, 2, 0], 0), place(&[4, 2], 1)], [Some(2), Some(2), None]);
    }
}
