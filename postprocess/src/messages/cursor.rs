//! Reading the calls of one thread, one after the other.

use std::ops::Range;

use falloff_format::events::{Coder, Item};
use falloff_messages::{Call, Collective, CommId, Completion, Op, Receive, Send, Transfer};
use rustc_hash::FxHashMap;

use crate::load::Content;

/// Memory of a file is given back when so many bytes of it have been read.
const BLOCK: usize = 1 << 16;

/// How the numbers of a file are called in all of the run.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// By number of a function in the file, which items have in two bytes.
    pub functions: Vec<u16>,
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
    /// Up to where in the file memory has been given back.
    released: usize,
    coder: Coder,
    /// The communicator of the last operation: its number in the file, and in the run.
    communicator: Option<(u32, CommId)>,
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
        Cursor { ranges, range: 0, at: 0, released: 0, coder: Coder::new(), communicator: None }
    }

    /// To the beginning.
    pub fn rewind(&mut self) {
        (self.range, self.at, self.released, self.coder) = (0, 0, 0, Coder::new());
    }

    /// Reads a call. Memory of the file behind it is given back now and then.
    pub fn next(&mut self, file: &Content, numbers: &Numbers, call: &mut Call) -> Next {
        call.ops.clear();
        let mut entered = false;
        while let Some(range) = self.ranges.get(self.range).cloned() {
            let bytes = file.get(range.clone()).unwrap_or_default();
            while self.at < bytes.len() {
                let place = range.start + self.at;
                match self.coder.decode(bytes, &mut self.at) {
                    Some(Item::Enter { function, section, context, at_ns }) if !entered => {
                        entered = true;
                        call.function = numbers.functions.get(usize::from(function)).copied().unwrap_or(0);
                        (call.section, call.context) = (section, context.0);
                        (call.enter, call.leave) = (at_ns, at_ns);
                    }
                    Some(Item::Leave { at_ns }) if entered => {
                        call.leave = at_ns;
                        self.release(file, range.start, place - place % BLOCK);
                        return Next::Call;
                    }
                    Some(item) if entered => match self.op(&item, numbers) {
                        Some(op) => call.ops.push(op),
                        None => return Next::Damaged(place),
                    },
                    _ => return Next::Damaged(place),
                }
            }
            file.release(self.released.max(range.start)..range.end);
            (self.range, self.at, self.coder) = (self.range + 1, 0, Coder::new());
        }
        if entered { Next::Unfinished } else { Next::End }
    }

    /// Gives memory back from the place up to which that was done, in a range that starts here, to another.
    fn release(&mut self, file: &Content, start: usize, to: usize) {
        let from = self.released.max(start);
        if to >= from + BLOCK {
            file.release(from..to);
            self.released = to;
        }
    }

    /// An item as an operation; `None` if it is none, or of a communicator that the file says nothing of.
    #[inline]
    fn op(&mut self, item: &Item, numbers: &Numbers) -> Option<Op> {
        let mut comm = |number: u32| match self.communicator {
            Some((known, comm)) if known == number => Some(comm),
            _ => {
                let comm = numbers.communicators.get(&number).copied()?;
                self.communicator = Some((number, comm));
                Some(comm)
            }
        };
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
}
