//! Reading the calls of one thread, one after the other.

use std::ops::Range;

use falloff_format::events::{Coder, Item};
use falloff_messages::{Call, Collective, CommId, Completion, Op, Receive, Send, Transfer};
use rustc_hash::FxHashMap;

/// How the numbers of a file are called in all of the run.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// By number of a function in the file.
    pub functions: FxHashMap<u32, u16>,
    /// By number of a communicator in the file.
    pub communicators: FxHashMap<u32, CommId>,
}

/// Where a thread's log has been read to.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    /// Where in the file the items are.
    ranges: Vec<Range<usize>>,
    range: usize,
    at: usize,
    coder: Coder,
}

/// What stands next in a log.
pub(super) enum Next {
    /// A call that has ended.
    Call,
    /// A call in which the log ends.
    Unfinished,
    /// The end.
    End,
    /// Something that makes no sense, at this place of the file.
    Damaged(usize),
}

impl Cursor {
    /// At the beginning.
    pub fn new(ranges: Vec<Range<usize>>) -> Cursor {
        Cursor { ranges, range: 0, at: 0, coder: Coder::new() }
    }

    /// To the beginning.
    pub fn rewind(&mut self) {
        (self.range, self.at, self.coder) = (0, 0, Coder::new());
    }

    /// Reads a call.
    pub fn next(&mut self, file: &[u8], numbers: &Numbers, call: &mut Call) -> Next {
        call.ops.clear();
        let mut entered = false;
        loop {
            let Some(range) = self.ranges.get(self.range).cloned() else {
                return if entered { Next::Unfinished } else { Next::End };
            };
            let bytes = file.get(range.clone()).unwrap_or_default();
            if self.at >= bytes.len() {
                (self.range, self.at, self.coder) = (self.range + 1, 0, Coder::new());
                continue;
            }
            let place = range.start + self.at;
            match self.coder.decode(bytes, &mut self.at) {
                Some(Item::Enter { function, section, context, at_ns }) if !entered => {
                    entered = true;
                    call.function = numbers.functions.get(&function.into()).copied().unwrap_or(0);
                    (call.section, call.context) = (section, context.0);
                    (call.enter, call.leave) = (at_ns, at_ns);
                }
                Some(Item::Leave { at_ns }) if entered => {
                    call.leave = at_ns;
                    return Next::Call;
                }
                Some(item) if entered => match op(&item, numbers) {
                    Some(op) => call.ops.push(op),
                    None => return Next::Damaged(place),
                },
                _ => return Next::Damaged(place),
            }
        }
    }
}

/// An item as an operation; `None` if it is none, or of a communicator that the file says nothing of.
fn op(item: &Item, numbers: &Numbers) -> Option<Op> {
    let comm = |number: u32| numbers.communicators.get(&number).copied();
    Some(match *item {
        Item::Send { post, mode, to, tag, communicator, bytes } => {
            Op::Send(Send { post, mode, to, tag, comm: comm(communicator)?, bytes })
        }
        Item::Receive { post, from, tag, communicator } => {
            Op::Receive(Receive { post, from, tag, comm: comm(communicator)? })
        }
        Item::Collective { post, operation, communicator, sequence, root, sent, received } => {
            let comm = comm(communicator)?;
            Op::Collective(Collective { post, operation, comm, sequence, root, sent, received })
        }
        Item::Transfer { kind, window, target, bytes } => {
            Op::Transfer(Transfer { kind, window: comm(window)?, target, bytes })
        }
        Item::Synchronise { window, how } => Op::Synchronise { window: comm(window)?, how },
        Item::Complete { post, message, void } => Op::Complete(Completion {
            post,
            from: message.map(|message| message.from),
            tag: message.map(|message| message.tag),
            bytes: message.map_or(0, |message| message.bytes),
            void,
        }),
        Item::Enter { .. } | Item::Leave { .. } => return None,
    })
}
