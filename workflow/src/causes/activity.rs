//! What the time of a call path is spent on.

/// An activity of the program or of a run-time library for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Activity {
    /// The program's own work.
    Compute,
    /// Messages between two processes, and waiting for them.
    PointToPoint,
    /// A collective in which every process needs something of every other.
    AllToAll,
    /// A collective in which all need something of one.
    OneToAll,
    /// A collective in which one needs something of all.
    AllToOne,
    /// A barrier of processes.
    Barrier,
    /// Access to the memory of another process.
    OneSided,
    /// Threads waiting for each other.
    ThreadBarrier,
    /// Waiting for a lock.
    Lock,
    /// Files and pipes.
    Io,
    /// Sleeping and polling outside of any operation.
    Sleep,
    /// A run-time library's own business: starting, ending, administration.
    Runtime,
}

impl Activity {
    /// All of them.
    pub const ALL: [Activity; 12] = [
        Activity::Compute,
        Activity::PointToPoint,
        Activity::AllToAll,
        Activity::OneToAll,
        Activity::AllToOne,
        Activity::Barrier,
        Activity::OneSided,
        Activity::ThreadBarrier,
        Activity::Lock,
        Activity::Io,
        Activity::Sleep,
        Activity::Runtime,
    ];

    /// The word in the table of frames and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Activity::Compute => "compute",
            Activity::PointToPoint => "pointtopoint",
            Activity::AllToAll => "alltoall",
            Activity::OneToAll => "onetoall",
            Activity::AllToOne => "alltoone",
            Activity::Barrier => "barrier",
            Activity::OneSided => "onesided",
            Activity::ThreadBarrier => "threadbarrier",
            Activity::Lock => "lock",
            Activity::Io => "io",
            Activity::Sleep => "sleep",
            Activity::Runtime => "runtime",
        }
    }

    /// The activity with this [`Activity::word`].
    pub fn from_word(word: &str) -> Option<Activity> {
        Activity::ALL.into_iter().find(|a| a.word() == word)
    }

    /// Whether all processes come together in it, so that those who come first wait for the last.
    pub fn is_meeting(self) -> bool {
        matches!(self, Activity::AllToAll | Activity::OneToAll | Activity::AllToOne | Activity::Barrier)
    }
}
