//! Who is led through the matched calls of all ranks.

use crate::{Call, Collective, Completion, Op, Receive, Send};

/// Both sides of a message, with what a visitor made of them.
#[derive(Clone, Copy, Debug)]
pub struct Matched<S, P> {
    /// The send.
    pub send: Send,
    /// Rank that sent.
    pub sender: u32,
    /// What [`Visitor::sent`] gave.
    pub sent: S,
    /// The receive.
    pub receive: Receive,
    /// What [`Visitor::posted`] gave.
    pub posted: P,
}

/// Is told of each call, in an order in which whatever a call waited for was told before: the calls of a location in
/// their order, the operations of a call in theirs; a receive is completed after its message was sent, a collective operation
/// after all that it needs have entered it. Which of several possible orders it is, is unspecified: results must not depend on it.
pub trait Visitor {
    /// Travels with a message from its sender to its receiver.
    type Sent: Clone;
    /// Waits at a receive for its message, and goes back to a sender that needs the receive.
    type Posted: Clone;
    /// Goes from each member of a collective operation to all that need it.
    type Joined: Clone;

    /// A location enters a call.
    fn enter(&mut self, location: usize, call: &Call);
    /// It begins to send.
    fn sent(&mut self, location: usize, call: &Call, send: &Send) -> Self::Sent;
    /// It begins to receive.
    fn posted(&mut self, location: usize, call: &Call, receive: &Receive) -> Self::Posted;
    /// It enters a collective operation.
    fn joined(&mut self, location: usize, call: &Call, collective: &Collective) -> Self::Joined;
    /// A receive is complete.
    fn received(&mut self, location: usize, call: &Call, message: &Matched<Self::Sent, Self::Posted>);
    /// A send is complete. `posted` is what the receiver made of its receive, if the send had to wait for it
    /// ([`Visitor::is_synchronous`]).
    fn send_completed(
        &mut self,
        location: usize,
        call: &Call,
        send: &Send,
        sent: Self::Sent,
        posted: Option<Self::Posted>,
    );
    /// A collective operation is complete; `all` has what [`Visitor::joined`] gave of the members that this one needed, with
    /// their ranks, in the order of the communicator: all of them; or itself and the root; or itself and those before it; or
    /// itself alone, for who only gives.
    fn collective_completed(
        &mut self,
        location: usize,
        call: &Call,
        collective: &Collective,
        all: &[(u32, Self::Joined)],
    );
    /// Something else, or an operation that was void or whose other side no log tells of.
    fn other(&mut self, location: usize, call: &Call, op: &Op, completion: Option<&Completion>);
    /// A location leaves a call.
    fn leave(&mut self, location: usize, call: &Call);

    /// Whether a send is taken to complete with its receive only. Synchronous sends are, and those beyond an eager limit.
    fn is_synchronous(&self, send: &Send) -> bool;
}
