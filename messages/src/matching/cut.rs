//! What ranks wait for in the calls in which their logs end: a run that was killed when it had got stuck tells so by these alone.

use super::{Awaited, lead::Leader, operations::Side};
use crate::{Call, Collective, Log, Op, Receive, Send, Visitor};

/// Operations whose other side has not come, each with the rank that began it.
#[derive(Default)]
struct Pending {
    sends: Vec<(u32, Send)>,
    receives: Vec<(u32, Receive)>,
    collectives: Vec<(u32, Collective)>,
}

impl<L: Log + ?Sized, V: Visitor> Leader<'_, L, V> {
    /// The locations whose logs end in a call, with what that waits for, as far as it can be told.
    pub(super) fn awaited_at_ends(&self) -> Vec<(usize, Option<Awaited>)> {
        let log = self.reader.log();
        let calls: Vec<(usize, &Call)> =
            (0..self.states.len()).filter_map(|location| Some((location, log.last(location)?))).collect();
        let mut pending = Pending::default();
        for (_, operation) in self.messages.unmatched() {
            pending.add_message(operation.rank, &operation.side);
        }
        self.messages.unresolved().for_each(|operation| pending.add_message(operation.rank, &operation.side));
        for (location, call) in &calls {
            call.ops.iter().for_each(|op| pending.add(self.reader.rank(*location), op));
        }
        let awaited = |(location, call)| (location, self.awaited_in(location, call, &pending));
        calls.into_iter().map(awaited).collect()
    }

    fn awaited_in(&self, location: usize, call: &Call, pending: &Pending) -> Option<Awaited> {
        let rank = self.reader.rank(location);
        if !call.ops.is_empty() {
            return call.ops.iter().find_map(|op| self.awaited_for(rank, op, pending));
        }
        // A call that waits for what was begun before does not say for which of it.
        let functions = self.reader.log().functions();
        let name = functions.get(call.function as usize).copied().unwrap_or_default();
        let receives = pending.receives.iter().map(|&(of, receive)| (of, Op::Receive(receive)));
        let sends = pending.sends.iter().map(|&(of, send)| (of, Op::Send(send)));
        let mut own = receives.chain(sends).filter(|(of, _)| *of == rank && name.starts_with("MPI_Wait"));
        own.find_map(|(_, op)| self.awaited_for(rank, &op, pending))
    }

    /// What an operation waits for, unless it has its other side.
    fn awaited_for(&self, rank: u32, op: &Op, pending: &Pending) -> Option<Awaited> {
        match op {
            Op::Receive(receive) => {
                let Receive { from, tag, comm, .. } = *receive;
                let has_come = |(sender, send): &(u32, Send)| fits(*sender, send, rank, receive);
                (!pending.sends.iter().any(has_come)).then_some(Awaited::Message { from, tag, comm })
            }
            Op::Send(send) if self.visitor.is_synchronous(send) => {
                let Send { to, tag, comm, .. } = *send;
                let is_there = |(of, receive): &(u32, Receive)| fits(rank, send, *of, receive);
                (!pending.receives.iter().any(is_there)).then_some(Awaited::Receiver { to, tag, comm })
            }
            Op::Collective(collective) => {
                let Collective { comm, sequence, operation, .. } = *collective;
                let mut missing = self.collectives.awaited(rank, collective);
                let is_there = |member: u32| {
                    let is_it = |of: &Collective| of.comm == comm && of.sequence == sequence;
                    pending.collectives.iter().any(|(of, other)| *of == member && is_it(other))
                };
                missing.retain(|member| !is_there(*member));
                (!missing.is_empty()).then_some(Awaited::Members { comm, sequence, operation, missing })
            }
            _ => None,
        }
    }
}

impl Pending {
    fn add(&mut self, rank: u32, op: &Op) {
        match *op {
            Op::Send(send) => self.sends.push((rank, send)),
            Op::Receive(receive) => self.receives.push((rank, receive)),
            Op::Collective(collective) => self.collectives.push((rank, collective)),
            _ => {}
        }
    }

    fn add_message<V: Visitor>(&mut self, rank: u32, side: &Side<V>) {
        match side {
            Side::Send { send, .. } => self.sends.push((rank, *send)),
            Side::Receive { receive, .. } => self.receives.push((rank, *receive)),
        }
    }
}

/// Whether a message is one for a receive.
fn fits(sender: u32, send: &Send, receiver: u32, receive: &Receive) -> bool {
    send.to == receiver
        && send.comm == receive.comm
        && receive.from.is_none_or(|from| from == sender)
        && receive.tag.is_none_or(|tag| tag == send.tag)
}
