//! Reading the calls of a log on a thread of its own, ahead of whoever goes through them.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use falloff_messages::{Broken, Call, Log, Op};

/// Calls that are read ahead of all locations together: a few megabytes.
const AHEAD: usize = 1 << 15;
/// Of one location, at most,
const BATCH_MAX: usize = 64;
/// and at least.
const BATCH_MIN: usize = 4;
/// Batches that are ordered together, at most, since it takes time to wake the other thread.
const ORDER: usize = 32;

/// A log that is being read ahead. Of each location one batch of calls is here, and another is on order.
pub(super) struct Ahead {
    /// By location.
    calls: Vec<Batch>,
    /// By location: what follows, if it has come.
    following: Vec<Option<Batch>>,
    /// Read to their ends, to be filled again.
    spent: Vec<Batch>,
    orders: Sender<Vec<Batch>>,
    filled: Receiver<Batch>,
    reader: Option<JoinHandle<()>>,
}

/// Calls of a location that follow one another.
#[derive(Default)]
struct Batch {
    location: usize,
    heads: Vec<Head>,
    ops: Vec<Op>,
    /// How many calls have been taken, and where the operations of the next begin.
    taken: (usize, usize),
    then: Then,
}

/// A call but for its operations.
struct Head {
    function: u16,
    section: u16,
    context: u32,
    enter: u64,
    leave: u64,
    /// Where those of the batch's that are its own end.
    ops_end: usize,
}

/// What follows on a batch.
#[derive(Default)]
enum Then {
    #[default]
    Calls,
    /// Nothing; the log may end in a call.
    End(Option<Call>),
    Broken(Broken),
}

impl Ahead {
    /// Begins to read a log.
    ///
    /// # Errors
    /// No thread can be had.
    pub fn begin<L: Log + Send + 'static>(log: L) -> io::Result<Ahead> {
        let locations = log.locations().len();
        let size = (AHEAD / locations.max(1)).clamp(BATCH_MIN, BATCH_MAX);
        let (orders, ordered) = channel();
        let (filler, filled) = channel();
        let name = "falloff-log".to_owned();
        let reader = thread::Builder::new().name(name).spawn(move || fill_all(log, size, ordered, filler))?;
        let batch = |location| Batch { location, ..Batch::default() };
        let ahead = Ahead {
            calls: (0..locations).map(batch).collect(),
            following: (0..locations).map(|_| None).collect(),
            spent: (0..locations).map(batch).collect(),
            orders,
            filled,
            reader: Some(reader),
        };
        Ok(ahead)
    }

    /// The next call of a location, as [`Log::next`].
    ///
    /// # Errors
    /// Those of the log.
    pub fn next(&mut self, location: usize, call: &mut Call) -> Result<bool, Broken> {
        loop {
            if self.calls[location].take(call) {
                return Ok(true);
            }
            match &self.calls[location].then {
                Then::Calls => self.go_on(location),
                Then::End(_) => return Ok(false),
                Then::Broken(broken) => return Err(broken.clone()),
            }
        }
    }

    /// The call in which a location's log ends, as [`Log::last`].
    pub fn last(&self, location: usize) -> Option<&Call> {
        match &self.calls[location] {
            Batch { heads, taken, then: Then::End(last), .. } if taken.0 == heads.len() => last.as_ref(),
            _ => None,
        }
    }

    /// Waits for the next batch of a location.
    fn go_on(&mut self, location: usize) {
        let next = loop {
            if let Some(next) = self.following[location].take() {
                break next;
            }
            self.order();
            match self.filled.recv() {
                Ok(batch) => {
                    let place = batch.location;
                    self.following[place] = Some(batch);
                }
                Err(_) => self.fail(),
            }
        };
        let is_last = !matches!(next.then, Then::Calls);
        let spent = std::mem::replace(&mut self.calls[location], next);
        if !is_last {
            self.spent.push(spent);
        }
        if self.spent.len() >= ORDER.min(self.calls.len()) {
            self.order();
        }
    }

    fn order(&mut self) {
        if !self.spent.is_empty() && self.orders.send(std::mem::take(&mut self.spent)).is_err() {
            self.fail();
        }
    }

    /// The reader is gone before its time, which only a panic explains.
    fn fail(&mut self) -> ! {
        match self.reader.take().map(JoinHandle::join) {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            _ => unreachable!("the reader waits for orders until they can no longer come"),
        }
    }
}

impl Batch {
    fn take(&mut self, call: &mut Call) -> bool {
        let (taken, first) = self.taken;
        let Some(head) = self.heads.get(taken) else { return false };
        (call.function, call.section, call.context) = (head.function, head.section, head.context);
        (call.enter, call.leave) = (head.enter, head.leave);
        call.ops.clear();
        call.ops.extend_from_slice(&self.ops[first..head.ops_end]);
        self.taken = (taken + 1, head.ops_end);
        true
    }

    fn fill(&mut self, log: &mut impl Log, size: usize, call: &mut Call) {
        self.heads.clear();
        self.ops.clear();
        self.taken = (0, 0);
        self.then = Then::Calls;
        while self.heads.len() < size {
            match log.next(self.location, call) {
                Ok(true) => {
                    self.ops.append(&mut call.ops);
                    let Call { function, section, context, enter, leave, ops: _ } = *call;
                    self.heads.push(Head {
                        function,
                        section,
                        context,
                        enter,
                        leave,
                        ops_end: self.ops.len(),
                    });
                }
                Ok(false) => {
                    self.then = Then::End(log.last(self.location).cloned());
                    return;
                }
                Err(broken) => {
                    self.then = Then::Broken(broken);
                    return;
                }
            }
        }
    }
}

/// Fills batches as long as any are ordered.
fn fill_all(mut log: impl Log, size: usize, ordered: Receiver<Vec<Batch>>, filler: Sender<Batch>) {
    let mut call = Call::default();
    for batch in ordered.into_iter().flatten() {
        let mut batch = batch;
        batch.fill(&mut log, size, &mut call);
        if filler.send(batch).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use falloff_messages::{Completion, MemoryLog};

    use super::*;

    /// Calls of three locations, each call with as many operations as its number modulo 3 says; the second location's log ends in a call.
    fn log() -> MemoryLog {
        let mut log = MemoryLog::new(3);
        for (location, calls) in [(0, 1000), (1, 131), (2, 0)] {
            for number in 0..calls {
                let completion = |post| {
                    Op::Complete(Completion { post, from: None, tag: None, bytes: number, void: false })
                };
                let ops = (0..number % 3).map(completion).collect();
                log.push(
                    location,
                    Call { enter: 10 * number, leave: 10 * number + 5, ops, ..Call::default() },
                );
            }
        }
        log.cut(1, 130);
        log
    }

    /// All that a location's log has, and in which call it ends.
    fn rest(next: &mut dyn FnMut(usize, &mut Call) -> Result<bool, Broken>, location: usize) -> Vec<Call> {
        let (mut calls, mut call) = (Vec::new(), Call::default());
        while next(location, &mut call).unwrap() {
            calls.push(call.clone());
        }
        assert_eq!(next(location, &mut call), Ok(false));
        calls
    }

    #[test]
    fn calls_come_as_they_are_in_the_log_in_whatever_order_locations_are_asked_for() {
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let (mut direct, mut ahead) = (log(), Ahead::begin(log()).unwrap());
            assert_eq!(ahead.last(1), None);
            let mut call = Call::default();
            assert!(ahead.next(0, &mut call).unwrap());
            assert_eq!(call, direct.calls(0)[0]);
            for location in order {
                let found = rest(&mut |location, call| ahead.next(location, call), location);
                let wanted = rest(&mut |location, call| direct.next(location, call), location);
                assert_eq!(found, wanted[usize::from(location == 0)..]);
                assert_eq!(ahead.last(location), direct.last(location));
            }
        }
    }

    /// A log that breaks after some calls, or panics.
    struct Breaking {
        log: MemoryLog,
        left: usize,
        panics: bool,
    }

    impl Log for Breaking {
        fn locations(&self) -> &[falloff_messages::Location] {
            self.log.locations()
        }

        fn communicators(&self) -> &[falloff_messages::Communicator] {
            self.log.communicators()
        }

        fn functions(&self) -> Vec<&str> {
            self.log.functions()
        }

        fn next(&mut self, location: usize, call: &mut Call) -> Result<bool, Broken> {
            self.left -= 1;
            assert!(self.left > 0 || !self.panics, "no more");
            match self.left {
                0 => Err(Broken { place: "file".into(), what: "damaged".into() }),
                _ => self.log.next(location, call),
            }
        }

        fn last(&self, location: usize) -> Option<&Call> {
            self.log.last(location)
        }

        fn is_whole(&self, location: usize) -> bool {
            self.log.is_whole(location)
        }

        fn clock(&self, location: usize) -> u32 {
            self.log.clock(location)
        }
    }

    #[test]
    fn what_is_broken_is_told_after_what_comes_before_it() {
        let mut ahead = Ahead::begin(Breaking { log: log(), left: 41, panics: false }).unwrap();
        let mut call = Call::default();
        for _ in 0..40 {
            assert_eq!(ahead.next(0, &mut call), Ok(true));
        }
        assert_eq!(ahead.next(0, &mut call).unwrap_err().what, "damaged");
    }

    #[test]
    #[should_panic = "no more"]
    fn a_panic_of_the_reader_is_that_of_who_waits_for_it() {
        let mut ahead = Ahead::begin(Breaking { log: log(), left: 200, panics: true }).unwrap();
        let mut call = Call::default();
        while ahead.next(0, &mut call).unwrap() {}
    }
}
