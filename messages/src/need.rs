//! Whom a member of a collective operation has to wait for.

use crate::{Collective, Operation};

/// Whom a member of a collective operation has to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// All members; of an operation between two groups that has a root, at the root: all of the other group.
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
            _ if is_bystander(collective) => Need::Nobody,
            (Operation::Scan | Operation::ExclusiveScan, _) => Need::Before,
            _ => Need::All,
        }
    }

    /// Whether some members need not wait for all, and can be any number of such operations ahead of others.
    pub fn lets_run_ahead(operation: Operation) -> bool {
        has_root(operation) || matches!(operation, Operation::Scan | Operation::ExclusiveScan)
    }
}

/// Whether the operation has a root but the member takes no part in it: between two groups, those who stand beside the root.
pub(crate) fn is_bystander(collective: &Collective) -> bool {
    has_root(collective.operation) && collective.root.is_none()
}

/// Whether one member gives to all others or gets from them.
pub(crate) fn has_root(operation: Operation) -> bool {
    matches!(operation, Operation::Broadcast | Operation::Scatter | Operation::Reduce | Operation::Gather)
}
