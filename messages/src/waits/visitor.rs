//! Finds waiting on a walk through all calls of a run.

use rustc_hash::FxHashMap;

use super::critical_path::{Stand, follow, last};
use super::delay::{Blames, share_out};
use super::epoch::{Epoch, Indexed, Place, Step, Wait};
use super::moment::latest;
use super::one_sided::{Deed, What, Windows};
use super::operations::Manner;
use super::thread::{Candidate, Open, Thread};
use super::{
    Analysis, Checks, Found, Metric, Moment, Options, Paths, Severities, completion, late_receiver,
    wait_until,
};
use crate::{Call, Collective, CommId, Completion, Location, Matched, Mode, Op, Receive, Send, Visitor};

/// Finds what ranks wait for.
///
/// Memory: each call needs 32 bytes, each wait 24 and each member of a collective operation 8 (32 to 64 MB for a million calls),
/// until all ranks of the run meet in an operation in which each needs all. Then what came before is settled and forgotten:
/// whatever comes later hung on the last to come. Ranks with several threads that call MPI never meet so.
/// Calls that synchronise windows otherwise than by fences need 40 bytes to the end.
pub struct Waits<P> {
    paths: P,
    options: Options,
    /// Functions that never wait, by number.
    tests: Vec<bool>,
    pub(super) threads: Vec<Thread>,
    epoch: Epoch,
    epochs: u32,
    meetings: FxHashMap<(CommId, u64), Meeting>,
    pub(super) windows: Windows,
    times: Severities,
    blames: Blames,
    checks: Checks,
    /// Keeps everything to the end: the same must come of it.
    #[cfg(test)]
    pub(super) remembers: bool,
}

/// An operation in which each needs all.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    last: Moment,
    first_leave: u64,
    /// Members that have not completed it.
    to_come: usize,
    /// Its members waited for the last to come.
    holds: bool,
}

impl<P: Paths> Waits<P> {
    /// Of a log with these locations and functions.
    pub fn new(locations: &[Location], functions: &[&str], paths: P, options: Options) -> Self {
        let thread = |location: &Location| Thread { rank: location.rank, ..Thread::default() };
        Self {
            paths,
            options,
            tests: functions.iter().map(|name| name.starts_with("MPI_Test")).collect(),
            threads: locations.iter().map(thread).collect(),
            epoch: Epoch { tracks: vec![Vec::new(); locations.len()], ..Epoch::default() },
            epochs: 0,
            meetings: FxHashMap::default(),
            windows: Windows::default(),
            times: Severities::default(),
            blames: Blames::default(),
            checks: Checks::default(),
            #[cfg(test)]
            remembers: false,
        }
    }

    /// What was found, after the walk.
    pub fn finish(mut self) -> Analysis {
        if let Some(end) = last(&self.epoch) {
            self.settle(end);
        }
        self.count_one_sided();
        let begin = self.threads.iter().filter_map(|thread| thread.begin).min().unwrap_or(0);
        let end = self.threads.iter().map(|thread| thread.end).max().unwrap_or(0);
        let mut blames: Vec<_> = self.blames.into_iter().collect();
        blames.sort_unstable_by_key(|(blame, ns)| (std::cmp::Reverse(*ns), *blame));
        Analysis {
            times: self.times,
            blames,
            length_ns: end.saturating_sub(begin),
            locations: self.threads.len(),
            checks: self.checks,
        }
    }

    /// Shares out the waits on record, and follows the critical path back through it.
    fn settle(&mut self, end: Stand) {
        let indexed = Indexed::new(&self.epoch);
        share_out(&indexed, &self.paths, &mut self.times, &mut self.blames);
        follow(&indexed, end, &self.paths, &mut self.times);
    }

    /// Counts waits for others' memory, the longest of each call, as what they are.
    fn count_one_sided(&mut self) {
        for ((location, path, _), (metric, ns)) in self.window_waits() {
            self.times.transfer(location, path, Metric::OneSidedRest, metric, ns);
        }
    }

    /// Keeps what a call does with a window.
    fn note(&mut self, location: usize, window: CommId, what: What) {
        self.belongs(location, Metric::OneSidedRest);
        let Open { path, enter, leave, .. } = self.threads[location].open;
        self.windows.note(window, Deed { location: location as u32, path, enter, leave, what });
    }

    fn moment(&self, location: usize, blocks: bool) -> Moment {
        let Open { enter, leave, .. } = self.threads[location].open;
        Moment { place: self.place(location), epoch: self.epochs, enter, leave, blocks }
    }

    /// The step of the call that a location is in.
    fn place(&self, location: usize) -> Place {
        let step = self.epoch.tracks[location].len().saturating_sub(1);
        Place { location: location as u32, step: step as u32 }
    }

    fn belongs(&mut self, location: usize, rest: Metric) {
        self.threads[location].belongs(rest);
    }

    /// A call could not end before `cause`.
    fn waited(&mut self, location: usize, found: Found, metric: Metric, cause: Moment, sender: u32) {
        self.checks.made += 1;
        self.checks.violated += u64::from(found.violated);
        self.threads[location].waited(Candidate { metric, ns: found.wait, cause, sender });
    }

    /// The meeting that an operation is, from all that take part in it.
    fn meeting(&mut self, manner: Manner, key: (CommId, u64), all: &[(u32, Moment)]) -> Option<Meeting> {
        let known = self.meetings.remove(&key);
        let mut meeting = match known {
            Some(meeting) => meeting,
            None => self.begin_meeting(manner, all)?,
        };
        meeting.to_come -= 1;
        if meeting.to_come > 0 {
            self.meetings.insert(key, meeting);
        }
        Some(meeting)
    }

    fn begin_meeting(&mut self, manner: Manner, all: &[(u32, Moment)]) -> Option<Meeting> {
        let last = latest(all.iter().map(|(_, moment)| *moment))?;
        let first_leave = all.iter().map(|(_, moment)| moment.leave).min()?;
        let block = all.iter().all(|(_, moment)| moment.blocks);
        let holds = !manner.is_loose || block && first_leave >= last.enter;
        let meeting = Meeting { last, first_leave, to_come: all.len(), holds };
        if holds && block {
            let mut members: Vec<Moment> = all.iter().map(|(_, moment)| *moment).collect();
            members.sort_unstable_by_key(|moment| moment.place);
            if members.iter().zip(&self.epoch.tracks).filter(|(m, steps)| self.is_now(m, steps)).count()
                == self.threads.len()
            {
                self.all_met(&members, last);
            } else if members.iter().all(|moment| moment.epoch == self.epochs) {
                self.epoch.meetings.push(members.iter().map(|moment| moment.place).collect());
            }
        }
        Some(meeting)
    }

    fn is_now(&self, moment: &Moment, steps: &[Step]) -> bool {
        moment.epoch == self.epochs && moment.place.step as usize + 1 == steps.len()
    }

    /// All locations are in one operation, for which each needs all: whatever comes later hung on the last to come.
    fn all_met(&mut self, members: &[Moment], last: Moment) {
        for member in members.iter().filter(|member| member.place != last.place) {
            let ns = wait_until(member.enter, member.leave, last.enter).wait;
            let at = member.place;
            self.epoch.tracks[at.location as usize][at.step as usize].wait = ns;
            self.epoch.waits.push(Wait { at, cause: last.place, ns });
            self.threads[at.location as usize].open.has_met = true;
        }
        self.threads[last.place.location as usize].open.has_met = true;
        #[cfg(test)]
        if self.remembers {
            self.epoch.meetings.push(members.iter().map(|member| member.place).collect());
            return;
        }
        self.settle(Stand::Enter(last.place));
        self.epoch.waits.clear();
        self.epoch.meetings.clear();
        self.epoch.tracks.iter_mut().for_each(|steps| drop(steps.drain(..steps.len() - 1)));
        self.epochs += 1;
    }

    /// Puts a call's wait on record.
    fn record(&mut self, location: usize, wait: Candidate) {
        let at = self.place(location);
        self.epoch.tracks[location][at.step as usize].wait = wait.ns;
        // What is before the record can only be waited for by clocks that disagree.
        let step = if wait.cause.epoch == self.epochs { wait.cause.place.step } else { 0 };
        let cause = Place { step, ..wait.cause.place };
        if !self.threads[location].open.has_met {
            self.epoch.waits.push(Wait { at, cause, ns: wait.ns });
        }
    }

    /// A message is received: late ones that were sent after it came in the wrong order.
    fn find_wrong_order(&mut self, location: usize, sent: u64, sender: u32) {
        for message in self.threads[location].out_of_order(sent) {
            let metric = if message.sender == sender {
                Metric::WrongOrderSameSource
            } else {
                Metric::WrongOrderOtherSource
            };
            self.times.transfer(location as u32, message.path, Metric::LateSender, metric, message.ns);
        }
    }
}

impl<P: Paths> Visitor for Waits<P> {
    type Sent = Moment;
    type Posted = Moment;
    type Joined = Moment;

    fn enter(&mut self, location: usize, call: &Call) {
        let rank = self.threads[location].rank;
        let enter = self.options.clocks.common(rank, call.enter);
        let leave = self.options.clocks.common(rank, call.leave).max(enter);
        let path = self.paths.path(location, call.context);
        let is_test = self.tests.get(call.function as usize).copied().unwrap_or(false);
        let thread = &mut self.threads[location];
        thread.begin.get_or_insert(enter);
        thread.end = thread.end.max(leave);
        thread.open = Open { path, enter, leave, is_test, ..Open::default() };
        let steps = &mut self.epoch.tracks[location];
        if steps.is_empty() {
            steps.push(Step { path, enter, leave: enter, wait: 0 });
        }
        steps.push(Step { path, enter, leave, wait: 0 });
        let place = self.place(location);
        self.epoch.computation(place, &self.paths, &mut |path, ns| {
            self.times.add(location as u32, path, Metric::Computation, ns);
        });
    }

    fn sent(&mut self, location: usize, _call: &Call, _send: &Send) -> Moment {
        self.belongs(location, Metric::Transfer);
        self.moment(location, false)
    }

    fn posted(&mut self, location: usize, _call: &Call, _receive: &Receive) -> Moment {
        self.belongs(location, Metric::Transfer);
        self.moment(location, false)
    }

    fn joined(&mut self, location: usize, call: &Call, collective: &Collective) -> Moment {
        self.belongs(location, Manner::of(collective.operation).rest);
        let completes = |op: &Op| matches!(op, Op::Complete(done) if done.post == collective.post);
        self.moment(location, call.ops.iter().any(completes))
    }

    fn received(&mut self, location: usize, _call: &Call, message: &Matched<Moment, Moment>) {
        self.belongs(location, Metric::Transfer);
        self.find_wrong_order(location, message.sent.enter, message.sender);
        let Open { enter, leave, is_test, .. } = self.threads[location].open;
        if !is_test && !message.sent.is_of(location) {
            let found = wait_until(enter, leave, message.sent.enter);
            self.waited(location, found, Metric::LateSender, message.sent, message.sender);
        }
    }

    fn send_completed(
        &mut self,
        location: usize,
        _call: &Call,
        send: &Send,
        _sent: Moment,
        posted: Option<Moment>,
    ) {
        self.belongs(location, Metric::Transfer);
        let Open { enter, leave, is_test, .. } = self.threads[location].open;
        if let Some(posted) = posted.filter(|posted| !is_test && !posted.is_of(location)) {
            let found = late_receiver(enter, leave, posted.enter, send.mode == Mode::Synchronous);
            self.waited(location, found, Metric::LateReceiver, posted, send.to);
        }
    }

    fn collective_completed(
        &mut self,
        location: usize,
        _call: &Call,
        collective: &Collective,
        all: &[(u32, Moment)],
    ) {
        let manner = Manner::of(collective.operation);
        self.belongs(location, manner.rest);
        let Open { enter, leave, is_test, .. } = self.threads[location].open;
        let last = if manner.is_n_to_n {
            let key = (collective.comm, collective.sequence);
            let Some(meeting) = self.meeting(manner, key, all).filter(|meeting| meeting.holds) else {
                return;
            };
            let blocks = all.iter().any(|(_, moment)| moment.blocks && moment.is_of(location));
            if let Some(metric) = manner.completion.filter(|_| blocks && all.len() > 1) {
                let ns = completion(leave, meeting.first_leave, meeting.last.enter);
                self.threads[location].open.completion = Some((metric, ns));
            }
            Some(meeting.last)
        } else {
            latest(all.iter().map(|(_, moment)| *moment).filter(|moment| !moment.is_of(location)))
        };
        let last = last.filter(|last| !is_test && !last.is_of(location));
        if let Some((last, metric)) = last.zip(manner.wait) {
            self.waited(location, wait_until(enter, leave, last.enter), metric, last, 0);
        }
    }

    fn other(&mut self, location: usize, _call: &Call, op: &Op, _completion: Option<&Completion>) {
        match op {
            Op::Send(_) | Op::Receive(_) => self.belongs(location, Metric::Transfer),
            Op::Collective(collective) => self.belongs(location, Manner::of(collective.operation).rest),
            Op::Transfer(transfer) => self.note(location, transfer.window, What::Transfer(transfer.target)),
            Op::Synchronise { window, how } => self.note(location, *window, What::Synchronise(*how)),
            Op::Complete(_) => {}
        }
    }

    fn leave(&mut self, location: usize, _call: &Call) {
        let Open { path, enter, leave, rest, longest, completion, .. } = self.threads[location].open;
        let mut left = leave - enter;
        let mut count = |metric, ns: u64| {
            let ns = ns.min(left);
            left -= ns;
            self.times.add(location as u32, path, metric, ns);
        };
        if let Some(wait) = longest {
            count(wait.metric, wait.ns);
        }
        if let Some((metric, ns)) = completion {
            count(metric, ns);
        }
        count(rest.unwrap_or(Metric::Mpi), u64::MAX);
        if let Some(wait) = longest {
            self.record(location, wait);
            if wait.metric == Metric::LateSender {
                self.threads[location].remember(wait);
            }
        }
    }

    fn is_synchronous(&self, send: &Send) -> bool {
        self.options.is_synchronous(send)
    }
}
