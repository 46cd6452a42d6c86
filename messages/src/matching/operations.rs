//! Messages under way and receives that wait for one: a slab of them, chained into queues.

use crate::{Receive, Send, Visitor};

/// Where an operation is in the slab.
pub(super) type Id = u32;

/// The end of a chain.
pub(super) const NONE: Id = u32::MAX;

/// The call that began an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub location: u32,
    pub call: u64,
    pub function: u16,
    pub section: u16,
    pub context: u32,
}

/// A message, or a receive.
pub(super) struct Operation<V: Visitor> {
    pub rank: u32,
    pub origin: Origin,
    /// Which operation follows in its queue.
    pub next: Id,
    /// Its rank has not completed it.
    pub is_open: bool,
    /// Which location waits for it.
    pub waiter: Option<u32>,
    pub side: Side<V>,
}

pub(super) enum Side<V: Visitor> {
    Send {
        send: Send,
        sent: V::Sent,
        is_synchronous: bool,
        is_matched: bool,
        /// What the receiver made of its receive, where the send is synchronous.
        posted: Option<V::Posted>,
    },
    Receive {
        receive: Receive,
        posted: V::Posted,
        /// The message, and who sent it.
        message: Option<(Send, u32, V::Sent)>,
    },
}

impl<V: Visitor> Operation<V> {
    /// Whether it is a receive of which nothing has told yet whose message it gets.
    pub fn is_unknown(&self) -> bool {
        matches!(&self.side, Side::Receive { receive, .. } if receive.from.is_none() || receive.tag.is_none())
    }
}

/// All of them, with the places of those that are gone to be used again.
pub(super) struct Slab<T> {
    slots: Vec<Slot<T>>,
    free: Id,
    /// How many there are.
    pub live: usize,
}

enum Slot<T> {
    Used(T),
    Free { next: Id },
}

impl<T> Slab<T> {
    pub fn new() -> Slab<T> {
        Slab { slots: Vec::new(), free: NONE, live: 0 }
    }

    pub fn insert(&mut self, value: T) -> Id {
        self.live += 1;
        let id = self.free;
        match self.slots.get_mut(id as usize) {
            Some(slot) => {
                if let Slot::Free { next } = slot {
                    self.free = *next;
                }
                *slot = Slot::Used(value);
                id
            }
            None => {
                self.slots.push(Slot::Used(value));
                self.slots.len() as Id - 1
            }
        }
    }

    pub fn get(&self, id: Id) -> Option<&T> {
        match self.slots.get(id as usize) {
            Some(Slot::Used(value)) => Some(value),
            _ => None,
        }
    }

    pub fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        match self.slots.get_mut(id as usize) {
            Some(Slot::Used(value)) => Some(value),
            _ => None,
        }
    }

    pub fn remove(&mut self, id: Id) -> Option<T> {
        let slot = self.slots.get_mut(id as usize)?;
        match std::mem::replace(slot, Slot::Free { next: self.free }) {
            Slot::Used(value) => {
                self.free = id;
                self.live -= 1;
                Some(value)
            }
            free => {
                *slot = free;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again() {
        let mut slab = Slab::new();
        let [a, b] = [slab.insert('a'), slab.insert('b')];
        assert_eq!(slab.remove(a), Some('a'));
        assert_eq!(slab.remove(a), None);
        assert_eq!(slab.insert('c'), a);
        assert_eq!((slab.get(a), slab.get(b), slab.live), (Some(&'c'), Some(&'b'), 2));
        assert_eq!(slab.insert('d'), 2);
    }
}
