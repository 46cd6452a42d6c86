//! Whom a member of a collective operation has to wait for.

use crate::{Collective, Operation};

/// Whom a member of a collective operation has to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// All members.
    All,
    /// The root, a rank of the run.
    Root(u32),
    /// Those before it in the communicator.
    Before,
    /// Nobody.
    Nobody,
}

impl Need {
    /// What a rank needs of an operation. Neighbours are not known, so all members are taken for neighbours.
    pub fn of(collective: &Collective, rank: u32) -> Need {
        match (collective.operation, collective.root) {
            (Operation::Broadcast | Operation::Scatter, Some(root)) if root != rank => Need::Root(root),
            (Operation::Reduce | Operation::Gather, Some(root)) if root != rank => Need::Nobody,
            (Operation::Broadcast | Operation::Scatter, Some(_)) => Need::Nobody,
            (Operation::Scan | Operation::ExclusiveScan, _) => Need::Before,
            _ => Need::All,
        }
    }

    /// Whether some members need not wait for all, and can be any number of such operations ahead of others.
    pub fn lets_run_ahead(operation: Operation) -> bool {
        matches!(
            operation,
            Operation::Broadcast
                | Operation::Scatter
                | Operation::Reduce
                | Operation::Gather
                | Operation::Scan
                | Operation::ExclusiveScan
        )
    }
}
