//! Queues of sends or receives that wait for the other side, chained through the slab of operations.

use super::{
    messages::Messages,
    operations::{Id, NONE, Side},
};
use crate::Visitor;
use std::collections::hash_map::Entry;

/// What messages must have in common with their receives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pub comm: u32,
    pub from: u32,
    pub to: u32,
    pub tag: i32,
}

/// Sends or receives of one key that wait for the other side, in order.
#[derive(Clone, Copy)]
pub(super) struct Queue {
    pub first: Id,
    pub last: Id,
    pub of_sends: bool,
}

impl<V: Visitor> Messages<V> {
    /// The number of an operation in its rank.
    pub(super) fn post(&self, id: Id) -> u64 {
        match self.operations.get(id).map(|operation| &operation.side) {
            Some(Side::Send { send, .. }) => send.post,
            Some(Side::Receive { receive, .. }) => receive.post,
            None => u64::MAX,
        }
    }

    pub(super) fn append(&mut self, key: Key, id: Id, of_sends: bool) {
        match self.queues_mut(key.to).entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(Queue { first: id, last: id, of_sends });
            }
            Entry::Occupied(mut entry) => {
                let last = std::mem::replace(&mut entry.get_mut().last, id);
                if let Some(last) = self.operations.get_mut(last) {
                    last.next = id;
                }
            }
        }
    }

    /// Puts a receive among those of its key, in the order of their posts: one whose message was learnt late comes before others.
    pub(super) fn insert(&mut self, key: Key, post: u64, id: Id) {
        let Some(queue) = self.queues(key.to).get(&key).copied() else { return };
        if self.post(queue.last) < post {
            return self.append(key, id, false);
        }
        let (mut before, mut after) = (NONE, queue.first);
        while self.post(after) < post {
            before = after;
            after = self.operations.get(after).map_or(NONE, |operation| operation.next);
        }
        if let Some(operation) = self.operations.get_mut(id) {
            operation.next = after;
        }
        self.link(key, before, id);
    }

    /// The first of a queue leaves it, if that is one of sends, or of receives, as asked for.
    pub(super) fn pop(&mut self, key: Key, of_sends: bool) -> Option<Id> {
        let place = self.place(key.to);
        let Entry::Occupied(mut entry) = self.ranks[place].queues.entry(key) else { return None };
        let Queue { first, .. } = *entry.get();
        if entry.get().of_sends != of_sends {
            return None;
        }
        let operation = self.operations.get_mut(first)?;
        let sender = operation.rank;
        match std::mem::replace(&mut operation.next, NONE) {
            NONE => {
                entry.remove();
            }
            next => entry.get_mut().first = next,
        }
        if of_sends {
            self.ranks[sender as usize].ahead -= 1;
        }
        Some(first)
    }

    pub(super) fn unlink(&mut self, key: Key, id: Id) {
        let Some(queue) = self.queues(key.to).get(&key).copied() else { return };
        let (mut before, mut at) = (NONE, queue.first);
        while at != id {
            let Some(operation) = self.operations.get(at) else { return };
            (before, at) = (at, operation.next);
        }
        let Some(operation) = self.operations.get_mut(id) else { return };
        let next = std::mem::replace(&mut operation.next, NONE);
        if queue.of_sends {
            let sender = operation.rank;
            self.ranks[sender as usize].ahead -= 1;
        }
        if queue.first == id && queue.last == id {
            self.queues_mut(key.to).remove(&key);
            return;
        }
        if let Some(queue) = self.queues_mut(key.to).get_mut(&key).filter(|queue| queue.last == id) {
            queue.last = before;
        }
        self.link(key, before, next);
    }

    /// Lets an operation follow another, or be the first.
    fn link(&mut self, key: Key, before: Id, id: Id) {
        if let Some(before) = self.operations.get_mut(before) {
            before.next = id;
        } else if let Some(queue) = self.queues_mut(key.to).get_mut(&key) {
            queue.first = id;
        }
    }
}
