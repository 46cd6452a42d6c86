//! One location in place of several.

use crate::database::{Clocks, CpuClock, Location, WaitClock};

/// Which locations become one. Threads that the program did not start are kept apart from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gathering {
    /// All of them.
    All,
    /// Those of a rank; all that have none are one.
    Ranks,
    /// Those of a host.
    Hosts,
}

impl Gathering {
    /// The word that the command line and histories use.
    pub fn word(self) -> &'static str {
        match self {
            Gathering::All => "one",
            Gathering::Ranks => "ranks",
            Gathering::Hosts => "hosts",
        }
    }
}

/// Thread name of a location that stands for many threads.
const ALL_THREADS: &str = "(all threads)";
/// Program of a location that stands for several programs.
const SEVERAL: &str = "(several)";

impl Location {
    /// Whether it stands for many threads. No process of a user has number 0.
    pub fn is_gathered(&self) -> bool {
        self.pid == 0
    }
}

/// A location with the counters of all members: the same thread in several databases, called as in the first, or what is
/// gathered, with what its members have in common.
pub(super) fn gathered(members: &[&Location], gathering: Option<Gathering>) -> Location {
    let Some(first) = members.first() else { return Location::default() };
    let mut all = Location {
        clocks: Clocks {
            cpu: common(members, |l| l.clocks.cpu, CpuClock::NotMeasured, CpuClock::Unknown),
            waits: common(members, |l| l.clocks.waits, WaitClock::NotMeasured, WaitClock::Unknown),
        },
        rate_hz: same(members, |l| l.rate_hz).unwrap_or_default(),
        periods: same(members, |l| l.periods.clone()).unwrap_or_default(),
        ranks: members.iter().map(|l| l.ranks).max().unwrap_or_default(),
        helper: members.iter().all(|l| l.helper),
        state: members.iter().map(|l| l.state).max().unwrap_or_default(),
        ..(*first).clone()
    };
    for other in &members[1..] {
        add(&mut all, other);
    }
    let Some(gathering) = gathering else { return all };
    Location {
        rank: all.rank.filter(|_| gathering == Gathering::Ranks),
        host: same(members, |l| l.host.clone()).filter(|_| gathering != Gathering::All).unwrap_or_default(),
        image: same(members, |l| l.image.clone()).unwrap_or_else(|| SEVERAL.into()),
        argv: same(members, |l| l.argv.clone()).unwrap_or_default(),
        thread: ALL_THREADS.into(),
        main: members.iter().any(|l| l.main),
        forked: false,
        exec: false,
        start_ns: 0,
        pid: 0,
        ppid: 0,
        tid: 0,
        // Tells the two locations of one gathering apart.
        ordinal: u32::from(all.helper),
        ..all
    }
}

fn add(all: &mut Location, other: &Location) {
    let counters = [
        (&mut all.wall_ns, other.wall_ns),
        (&mut all.cpu_ns, other.cpu_ns),
        (&mut all.blocked_ns, other.blocked_ns),
        (&mut all.preempted_ns, other.preempted_ns),
        (&mut all.handler_ns, other.handler_ns),
        (&mut all.samples, other.samples),
        (&mut all.wait_samples, other.wait_samples),
        (&mut all.truncated, other.truncated),
        (&mut all.overruns, other.overruns),
    ];
    for (sum, n) in counters {
        *sum = sum.saturating_add(n);
    }
    all.dropped.add(other.dropped);
    all.partial.add(other.partial);
}

/// What all have, if it is the same.
fn same<T: PartialEq>(members: &[&Location], of: impl Fn(&Location) -> T) -> Option<T> {
    let mut all = members.iter().map(|l| of(l));
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// What all have that were measured at all.
fn common<T: PartialEq + Copy>(members: &[&Location], of: impl Fn(&Location) -> T, none: T, unlike: T) -> T {
    let mut all = members.iter().map(|l| of(l)).filter(|clock| *clock != none);
    let Some(first) = all.next() else { return none };
    if all.all(|other| other == first) { first } else { unlike }
}
