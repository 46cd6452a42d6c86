//! Where no location can go on: who passes what will not come, who is released, and what is told of the rest.

use super::{
    Awaited, Blocked, Unmatched,
    lead::{Leader, State, Wait, origin, place},
    operations::Side,
};
use crate::{Log, Visitor};

impl<L: Log + ?Sized, V: Visitor> Leader<'_, L, V> {
    /// Lets those on that wait for a rank whose log has ended; false if there are none.
    pub(super) fn pass_broken(&mut self) -> bool {
        if !(0..self.reader.ranks() as u32).any(|rank| self.reader.has_ended(rank)) {
            return false;
        }
        let mut any = false;
        for location in 0..self.states.len() {
            let Some(wait) = self.states[location].wait else { continue };
            let awaits = self.awaited(location, wait);
            let rank = self.reader.rank(location);
            if matches!(wait, Wait::Thread)
                || !awaits.ranks(rank).iter().any(|&rank| self.reader.has_ended(rank))
            {
                continue;
            }
            self.states[location] = State { has_entered: true, wait: None, passes: true };
            self.releasable.remove(&location);
            self.ready.push_back(location);
            any = true;
        }
        any
    }

    /// Lets the first on that waits for the receive of a standard send; false if there is none.
    pub(super) fn release(&mut self) -> bool {
        let Some(location) = self.releasable.pop_first() else { return false };
        let Some(Wait::Receiver(id)) = self.states[location].wait.take() else { return false };
        if let Some(operation) = self.messages.operations.get_mut(id) {
            operation.waiter = None;
            if let Side::Send { is_synchronous, .. } = &mut operation.side {
                *is_synchronous = false;
            }
        }
        self.outcome.released += 1;
        self.ready.push_back(location);
        true
    }

    fn awaited(&self, location: usize, wait: Wait) -> Awaited {
        let rank = self.reader.rank(location);
        match wait {
            Wait::Message(id) | Wait::Receiver(id) => match self.messages.operations.get(id).map(|o| &o.side)
            {
                Some(Side::Send { send, .. }) => {
                    Awaited::Receiver { to: send.to, tag: send.tag, comm: send.comm }
                }
                Some(Side::Receive { receive, .. }) => {
                    Awaited::Message { from: receive.from, tag: receive.tag, comm: receive.comm }
                }
                None => Awaited::Thread,
            },
            Wait::Members(post) => match self.collectives.open(rank, post) {
                Some(membership) => Awaited::Members {
                    comm: membership.collective.comm,
                    sequence: membership.collective.sequence,
                    operation: membership.collective.operation,
                    missing: self.collectives.missing(rank, membership),
                },
                None => Awaited::Thread,
            },
            Wait::Thread => Awaited::Thread,
        }
    }

    /// What could not be matched, and who waits for whom.
    pub(super) fn tell_rest(&mut self) {
        for location in 0..self.states.len() {
            let Some(wait) = self.states[location].wait else { continue };
            let (rank, call) = (self.reader.rank(location), self.reader.current(location));
            let origin = origin(location, self.reader.finished(location), call);
            let place = place(&self.reader, rank, origin);
            let awaits = self.awaited(location, wait);
            self.outcome.blocked.push(Blocked { place, awaits });
        }
        for (location, awaits) in self.awaited_at_ends() {
            let Some(call) = self.reader.log().last(location) else { continue };
            let origin = origin(location, self.reader.finished(location), call);
            let place = place(&self.reader, self.reader.rank(location), origin);
            self.outcome.cut.push(place.clone());
            self.outcome.blocked.extend(awaits.map(|awaits| Blocked { place, awaits }));
        }
        self.outcome.cycle = cycle(&self.outcome.blocked);
        let reader = &self.reader;
        let unmatched = self.messages.unmatched();
        for operation in unmatched.iter().map(|&(_, operation)| operation).chain(self.messages.unresolved()) {
            let place = || place(reader, operation.rank, operation.origin);
            match &operation.side {
                Side::Send { send, .. } => self.outcome.unmatched(true, || Unmatched {
                    place: place(),
                    is_send: true,
                    peer: Some(send.to),
                    tag: Some(send.tag),
                    comm: send.comm,
                }),
                Side::Receive { receive, .. } => self.outcome.unmatched(false, || Unmatched {
                    place: place(),
                    is_send: false,
                    peer: receive.from,
                    tag: receive.tag,
                    comm: receive.comm,
                }),
            }
        }
        let place = |rank, origin| place(reader, rank, origin);
        self.collectives.tell_incomplete(place, &mut self.outcome);
    }
}

/// Follows from each blocked location the first rank that it waits for, until one comes again.
fn cycle(blocked: &[Blocked]) -> Vec<u32> {
    let waiting = |rank: u32| blocked.iter().find(|b| b.place.rank == rank);
    for start in blocked {
        let mut path = vec![start.place.rank];
        let mut at = start;
        while let Some(next) = at.awaits.ranks(at.place.rank).iter().find_map(|&rank| waiting(rank)) {
            if let Some(first) = path.iter().position(|&rank| rank == next.place.rank) {
                return path.split_off(first);
            }
            path.push(next.place.rank);
            at = next;
        }
    }
    Vec::new()
}
