//! Groups of ranks among which messages and collective operations are told apart.

/// Number of a communicator among all of a run, an index into [`crate::Log::communicators`]. Windows have such numbers too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommId(pub u32);

/// A communicator or window, as all its members see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Communicator {
    /// Ranks of the run, in the order of the communicator.
    pub members: Vec<u32>,
    /// The other group of an intercommunicator, empty otherwise.
    pub others: Vec<u32>,
}
