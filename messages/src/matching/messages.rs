//! Messages between pairs: which send belongs to which receive.
//!
//! A message goes to the first receive posted that it fits and that is not cancelled, and a receive gets the first message sent that
//! fits. Receives queue by communicator, source, destination and tag, as their completions tell them; those from any source, or
//! with any tag, stand aside until a message comes that could be theirs.

use super::{
    Error,
    by_post::ByPost,
    operations::{Id, Operation, Side, Slab},
    outcome::Outcome,
    queues::{Key, Queue},
    reader::Reader,
};
use crate::{Completion, Log, Receive, Send, Visitor};
use rustc_hash::FxHashMap;

pub(super) struct Messages<V: Visitor> {
    pub operations: Slab<Operation<V>>,
    /// By rank; the last stands for all that have no log.
    pub(super) ranks: Vec<Rank>,
    /// Locations that waited for what has happened since.
    pub woken: Vec<usize>,
}

/// What a rank has under way.
pub(super) struct Rank {
    /// Operations that it has not completed, by post.
    open: ByPost<Id>,
    /// Receives from any source or with any tag whose message is not known yet, in the order of their posts.
    any: Vec<(u64, Id)>,
    /// Messages to it that wait for their receives, and receives that wait for their messages.
    pub(super) queues: FxHashMap<Key, Queue>,
    /// Messages from it without a receive.
    pub(super) ahead: usize,
}

impl Rank {
    fn new() -> Rank {
        Rank { open: ByPost::new(), any: Vec::new(), queues: FxHashMap::default(), ahead: 0 }
    }
}

impl<V: Visitor> Messages<V> {
    pub fn new(ranks: usize) -> Messages<V> {
        Messages {
            operations: Slab::new(),
            ranks: (0..=ranks).map(|_| Rank::new()).collect(),
            woken: Vec::new(),
        }
    }

    /// The operation of a rank that has this number and is not complete.
    pub fn open(&self, rank: u32, post: u64) -> Option<Id> {
        self.ranks[rank as usize].open.get(post).copied()
    }

    /// How many messages of a rank nobody has received yet.
    pub fn ahead(&self, rank: u32) -> usize {
        self.ranks[rank as usize].ahead
    }

    /// The queues of messages to a rank.
    pub(super) fn queues(&self, to: u32) -> &FxHashMap<Key, Queue> {
        &self.ranks[self.place(to)].queues
    }

    /// The same, to be changed.
    pub(super) fn queues_mut(&mut self, to: u32) -> &mut FxHashMap<Key, Queue> {
        let place = self.place(to);
        &mut self.ranks[place].queues
    }

    pub(super) fn place(&self, rank: u32) -> usize {
        (rank as usize).min(self.ranks.len() - 1)
    }

    /// A message sets out.
    pub fn send<L: Log + ?Sized>(
        &mut self,
        operation: Operation<V>,
        send: &Send,
        reader: &mut Reader<L>,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let from = operation.rank;
        let key = Key { comm: send.comm.0, from, to: send.to, tag: send.tag };
        let id = self.operations.insert(operation);
        self.ranks[from as usize].open.insert(send.post, id);
        if (send.to as usize) < self.ranks.len() - 1 {
            if !self.ranks[send.to as usize].any.is_empty() {
                self.resolve_for(key, reader, outcome)?;
            }
            if let Some(receive) = self.first_receive(key, reader)? {
                self.pair(id, receive, outcome);
                return Ok(());
            }
        }
        self.ranks[from as usize].ahead += 1;
        self.append(key, id, true);
        Ok(())
    }

    /// A receive is posted.
    pub fn receive<L: Log + ?Sized>(
        &mut self,
        operation: Operation<V>,
        receive: &Receive,
        reader: &mut Reader<L>,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let rank = operation.rank;
        let id = self.operations.insert(operation);
        self.ranks[rank as usize].open.insert(receive.post, id);
        if let (Some(from), Some(tag)) = (receive.from, receive.tag) {
            let key = Key { comm: receive.comm.0, from, to: rank, tag };
            return self.await_message(key, receive.post, id, reader, outcome);
        }
        self.ranks[rank as usize].any.push((receive.post, id));
        let mut queues = self.ranks[rank as usize].queues.iter();
        if queues.any(|(key, queue)| queue.of_sends && fits(receive, key.comm, key.from, key.tag)) {
            self.resolve(rank, self.ranks[rank as usize].any.len() - 1, reader, outcome)?;
        }
        Ok(())
    }

    /// A receive from any source or with any tag is being completed: its message is known now, if it was not.
    pub fn complete_any<L: Log + ?Sized>(
        &mut self,
        rank: u32,
        completion: &Completion,
        reader: &mut Reader<L>,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let any = &self.ranks[rank as usize].any;
        match any.iter().position(|&(post, _)| post == completion.post) {
            Some(place) => self.end_any(rank, place, Some(*completion), reader, outcome),
            None => Ok(()),
        }
    }

    /// Its rank has completed an operation, or given it up.
    pub fn close(&mut self, rank: u32, post: u64, id: Id) -> Option<Operation<V>> {
        self.ranks[rank as usize].open.remove(post);
        let operation = self.operations.get_mut(id)?;
        if let Side::Send { is_matched: false, .. } = operation.side {
            operation.is_open = false;
            return None;
        }
        self.operations.remove(id)
    }

    /// As [`Messages::close`], for an operation that nothing will match.
    pub fn drop(&mut self, rank: u32, post: u64, id: Id) {
        self.ranks[rank as usize].open.remove(post);
        self.ranks[rank as usize].any.retain(|&(_, any)| any != id);
        let Some(operation) = self.operations.get(id) else { return };
        let key = match &operation.side {
            Side::Send { send, is_matched: false, .. } => {
                Some(Key { comm: send.comm.0, from: rank, to: send.to, tag: send.tag })
            }
            Side::Receive {
                receive: Receive { from: Some(from), tag: Some(tag), comm, .. },
                message: None,
                ..
            } => Some(Key { comm: comm.0, from: *from, to: rank, tag: *tag }),
            _ => None,
        };
        if let Some(key) = key {
            self.unlink(key, id);
        }
        self.operations.remove(id);
    }

    /// What waits for its other side, by key.
    pub fn unmatched(&self) -> Vec<(Key, &Operation<V>)> {
        let mut unmatched = Vec::new();
        for (&key, queue) in self.ranks.iter().flat_map(|rank| &rank.queues) {
            let mut id = queue.first;
            while let Some(operation) = self.operations.get(id) {
                unmatched.push((key, operation));
                id = operation.next;
            }
        }
        unmatched.sort_by_key(|&(key, operation)| (key, operation.rank, operation.origin.call));
        unmatched
    }

    /// Receives whose message nothing tells.
    pub fn unresolved(&self) -> impl Iterator<Item = &Operation<V>> {
        self.ranks.iter().flat_map(|rank| &rank.any).filter_map(|&(_, id)| self.operations.get(id))
    }

    /// Learns the messages of those receives from any source that come before the first receive known to fit a message.
    fn resolve_for<L: Log + ?Sized>(
        &mut self,
        key: Key,
        reader: &mut Reader<L>,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let mut place = 0;
        while let Some(&(post, id)) = self.ranks[key.to as usize].any.get(place) {
            if self
                .queues(key.to)
                .get(&key)
                .is_some_and(|queue| !queue.of_sends && self.post(queue.first) < post)
            {
                return Ok(());
            }
            let fits = match self.operations.get(id).map(|operation| &operation.side) {
                Some(Side::Receive { receive, .. }) => fits(receive, key.comm, key.from, key.tag),
                _ => false,
            };
            if fits {
                self.resolve(key.to, place, reader, outcome)?;
            } else {
                place += 1;
            }
        }
        Ok(())
    }

    /// Learns from its completion, ahead in the log, which message a receive gets.
    fn resolve<L: Log + ?Sized>(
        &mut self,
        rank: u32,
        place: usize,
        reader: &mut Reader<L>,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let end = reader.end_of(rank, self.ranks[rank as usize].any[place].0)?;
        self.end_any(rank, place, end, reader, outcome)
    }

    fn end_any<L: Log + ?Sized>(
        &mut self,
        rank: u32,
        place: usize,
        end: Option<Completion>,
        reader: &mut Reader<L>,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let (post, id) = self.ranks[rank as usize].any.remove(place);
        let known = end.filter(|end| !end.void).and_then(|end| Some((end.from?, end.tag?)));
        let Some((from, tag)) = known else {
            outcome.unresolved += u64::from(!end.is_some_and(|end| end.void));
            return Ok(());
        };
        let Some(Side::Receive { receive, .. }) = self.operations.get_mut(id).map(|o| &mut o.side) else {
            return Ok(());
        };
        (receive.from, receive.tag) = (Some(from), Some(tag));
        let key = Key { comm: receive.comm.0, from, to: rank, tag };
        self.await_message(key, post, id, reader, outcome)
    }

    /// Gives a receive the first message of its key, or lets it wait for one.
    fn await_message<L: Log + ?Sized>(
        &mut self,
        key: Key,
        post: u64,
        id: Id,
        reader: &mut Reader<L>,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let Some(queue) = self.queues(key.to).get(&key).copied() else {
            self.append(key, id, false);
            return Ok(());
        };
        if !queue.of_sends {
            self.insert(key, post, id);
        } else if !is_void(reader.end_of(key.to, post)?)
            && let Some(send) = self.pop(key, true)
        {
            self.pair(send, id, outcome);
        }
        Ok(())
    }

    /// The first receive of a key that is not cancelled leaves the queue.
    fn first_receive<L: Log + ?Sized>(
        &mut self,
        key: Key,
        reader: &mut Reader<L>,
    ) -> Result<Option<Id>, Error> {
        while let Some(id) = self.pop(key, false) {
            if !is_void(reader.end_of(key.to, self.post(id))?) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    fn pair(&mut self, send: Id, receive: Id, outcome: &mut Outcome) {
        let Some(receiver) = self.operations.get(receive) else { return };
        let Side::Receive { posted, .. } = &receiver.side else { return };
        let posted_now = posted.clone();
        let Some(sender) = self.operations.get_mut(send) else { return };
        let Side::Send { send: message, sent, is_synchronous, is_matched, posted } = &mut sender.side else {
            return;
        };
        *is_matched = true;
        if *is_synchronous {
            *posted = Some(posted_now);
        }
        let matched = (*message, sender.rank, sent.clone());
        outcome.messages += 1;
        outcome.bytes += message.bytes;
        self.woken.extend(sender.waiter.take().map(|location| location as usize));
        if !sender.is_open {
            self.operations.remove(send);
        }
        if let Some(receiver) = self.operations.get_mut(receive) {
            self.woken.extend(receiver.waiter.take().map(|location| location as usize));
            if let Side::Receive { message, .. } = &mut receiver.side {
                *message = Some(matched);
            }
        }
    }
}

/// Whether a message could be the one that is waited for.
fn fits(receive: &Receive, comm: u32, from: u32, tag: i32) -> bool {
    receive.comm.0 == comm
        && receive.from.is_none_or(|wanted| wanted == from)
        && receive.tag.is_none_or(|wanted| wanted == tag)
}

fn is_void(end: Option<Completion>) -> bool {
    end.is_some_and(|end| end.void)
}
