//! The thread that holds the program, opens the events, empties their rings and writes the measurements.

use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::thread::{self, JoinHandle};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow};
use nix::time::{ClockId, clock_gettime};

use super::events::Events;
use super::file::{Common, is_measured};
use super::hold::{self, Hold, Holder};
use super::identity::Identity;
use super::image::Whose;
use super::observer::Observer;
use super::record::Record;
use super::truth::Truth;
use crate::launch::{self, Ended};

/// Longest time that records lie in a ring, so that what they name is still there when it is looked at.
const LOOK_MS: u16 = 200;
/// Records of one processor may be written so much later than younger ones of another, ns.
const LATE_NS: u64 = 20_000_000;

/// What to measure and where to write it.
pub(crate) struct Plan {
    /// The folder for measurements.
    pub measurements: PathBuf,
    /// Run that they belong to.
    pub run_id: String,
    /// Samples a second of CPU time.
    pub rate_hz: u32,
    /// File names of the programs that are measured; all if there are none.
    pub only: Vec<String>,
    /// Events that are asked for beside CPU time.
    pub(crate) events: Vec<String>,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

/// A program that is being sampled.
pub(crate) struct Session {
    thread: JoinHandle<Result<(), Errno>>,
    /// Takes the program's ending; closed without, nothing is written.
    end: PipeWriter,
}

impl Session {
    /// Begins to wait for a program that is to start with the [`Hold`].
    pub(crate) fn begin(plan: Plan) -> io::Result<(Session, Hold)> {
        let (hold, holder) = hold::pair()?;
        let (ended, end) = io::pipe()?;
        // Signals are for who waits for the program.
        let mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
        let thread = thread::Builder::new().name("outside".into()).spawn(move || sample(plan, holder, ended));
        mask.thread_set_mask()?;
        Ok((Session { thread: thread?, end }, hold))
    }

    /// After the program's end: writes the measurements. Fails if the events were refused; then there are none.
    pub(crate) fn finish(mut self, ended: &Ended) -> Result<(), Errno> {
        // Should the thread be gone, it has its own result.
        let _ = self.end.write_all(&encode(ended));
        drop(self.end);
        self.thread.join().unwrap_or(Err(Errno::EIO))
    }
}

/// How the program has ended, as bytes.
fn encode(ended: &Ended) -> [u8; 24] {
    let mut bytes = [0; 24];
    let words = [u64::from(ended.status.into_raw().cast_unsigned()), ended.own_ns, ended.waited_ns];
    bytes.chunks_exact_mut(8).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_ne_bytes()));
    bytes
}

fn decode(bytes: [u8; 24]) -> (ExitStatus, Truth) {
    let word = |at: usize| bytes[8 * at..].first_chunk().map_or(0, |word| u64::from_ne_bytes(*word));
    let status = ExitStatus::from_raw((word(0) as u32).cast_signed());
    (status, Truth { own_ns: word(1), waited_ns: word(2) })
}

fn sample(plan: Plan, mut holder: Holder, ended: PipeReader) -> Result<(), Errno> {
    let Some(pid) = holder.pid() else { return Ok(()) };
    let epoch_ns = now_ns(ClockId::CLOCK_REALTIME).saturating_sub(now_ns(ClockId::CLOCK_MONOTONIC));
    let mut common = Common {
        dir: plan.measurements,
        run_id: plan.run_id,
        rate_hz: plan.rate_hz,
        events: plan.events,
        with_kernel: true,
        epoch_ns,
    };
    let opened = Events::open(pid, common.period_ns());
    // What it has used so far, on its way from our fork to its exec, no event sees.
    let before_ns = launch::process_cpu_ns(pid);
    holder.release();
    let mut events = opened?;
    common.with_kernel = events.with_kernel;
    let pid = pid.unsigned_abs();
    let mut observer = Observer::new(pid, Identity::inherited(plan.command), plan.only, epoch_ns);
    let Some((status, truth)) = watch(&mut events, &mut observer, ended)? else { return Ok(()) };
    let images = observer.finish(events.used_ns() + before_ns, truth);
    for (image, later) in images {
        if later.contains(&Whose::Others) && is_measured(&common.dir, image.pid) {
            continue;
        }
        let killed = image.pid == pid && !image.replaced && status.signal().is_some();
        // A disk that is full costs the profile: who looks for it will find none.
        let _ = common.write(&image, killed);
    }
    Ok(())
}

/// Hands records to the observer in the order of time, until the program has ended.
fn watch(
    events: &mut Events,
    observer: &mut Observer,
    mut ended: PipeReader,
) -> Result<Option<(ExitStatus, Truth)>, Errno> {
    let mut pending: Vec<Record> = Vec::new();
    let mut alive: Vec<bool> = events.descriptors().map(|_| true).collect();
    loop {
        let over = wait(events, &mut alive, &ended)?;
        let now_ns = now_ns(ClockId::CLOCK_MONOTONIC);
        events.drain(|record| pending.push(record));
        pending.sort_by_key(|record| record.time_ns);
        let complete = pending.partition_point(|r| over || r.time_ns + LATE_NS < now_ns);
        pending.drain(..complete).for_each(|record| observer.apply(record));
        if over {
            let mut told = [0; 24];
            return Ok(ended.read_exact(&mut told).ok().map(|()| decode(told)));
        }
    }
}

/// Waits until there is something to read, but not for long; says whether the program has ended.
fn wait(events: &Events, alive: &mut [bool], ended: &PipeReader) -> Result<bool, Errno> {
    // Who has hung up would wake us for ever.
    let (places, mut waited): (Vec<usize>, Vec<PollFd<'_>>) = events
        .descriptors()
        .enumerate()
        .filter(|(place, _)| alive[*place])
        .map(|(place, event)| (place, PollFd::new(event, PollFlags::POLLIN)))
        .unzip();
    waited.push(PollFd::new(ended.as_fd(), PollFlags::POLLIN));
    match poll(&mut waited, PollTimeout::from(LOOK_MS)) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(errno) => return Err(errno),
    }
    let told = |fd: &PollFd<'_>| fd.revents().unwrap_or(PollFlags::empty());
    for (place, event) in places.into_iter().zip(&waited) {
        alive[place] = !told(event).intersects(PollFlags::POLLHUP | PollFlags::POLLERR);
    }
    Ok(waited.last().is_some_and(|end| !told(end).is_empty()))
}

fn now_ns(clock: ClockId) -> u64 {
    clock_gettime(clock).map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}
