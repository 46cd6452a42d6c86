//! Reading the calls of one thread, one after the other.

use std::io;
use std::ops::Range;

use falloff_format::events::{Coder, Item};
use falloff_messages::{Call, Collective, CommId, Completion, Op, Receive, Send, Transfer};
use rustc_hash::FxHashMap;

use crate::load::Kept;

/// No item takes so many bytes, whatever its numbers.
const ITEM_MAX: usize = 128;

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
    /// Where in the file the next item is, if the range has been begun.
    at: usize,
    /// A piece of the range, and where in the file it begins.
    bytes: Vec<u8>,
    first: usize,
    /// How many bytes are read at a time.
    pub piece: usize,
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
    /// The file cannot be read any more.
    Unreadable(io::Error),
    /// Something that makes no sense, at this place of the file.
    Damaged(usize),
}

impl Cursor {
    /// At the beginning.
    pub fn new(ranges: Vec<Range<usize>>) -> Cursor {
        let (bytes, coder) = (Vec::new(), Coder::new());
        Cursor { ranges, range: 0, at: 0, bytes, first: 0, piece: ITEM_MAX, coder, communicator: None }
    }

    /// To the beginning.
    pub fn rewind(&mut self) {
        (self.range, self.at, self.first, self.coder) = (0, 0, 0, Coder::new());
        self.bytes.clear();
    }

    /// Reads a call.
    pub fn next(&mut self, file: &Kept, numbers: &Numbers, call: &mut Call) -> Next {
        call.ops.clear();
        let mut entered = false;
        while let Some(Range { start, end }) = self.ranges.get(self.range).cloned() {
            self.at = self.at.max(start);
            while self.at < end {
                let there = self.first + self.bytes.len();
                if there < end.min(self.at + ITEM_MAX)
                    && let Err(error) = self.fill(file, end)
                {
                    return Next::Unreadable(error);
                }
                let place = self.at;
                let mut at = place - self.first;
                let item = self.coder.decode(&self.bytes, &mut at);
                self.at = self.first + at;
                match item {
                    Some(Item::Enter { function, section, context, at_ns }) if !entered => {
                        entered = true;
                        call.function = numbers.functions.get(usize::from(function)).copied().unwrap_or(0);
                        (call.section, call.context) = (section, context.0);
                        (call.enter, call.leave) = (at_ns, at_ns);
                    }
                    Some(Item::Leave { at_ns }) if entered => {
                        call.leave = at_ns;
                        return Next::Call;
                    }
                    Some(item) if entered => match self.op(&item, numbers) {
                        Some(op) => call.ops.push(op),
                        None => return Next::Damaged(place),
                    },
                    _ => return Next::Damaged(place),
                }
            }
            (self.range, self.at, self.first, self.coder) = (self.range + 1, 0, 0, Coder::new());
            self.bytes.clear();
        }
        if entered { Next::Unfinished } else { Next::End }
    }

    /// Reads the next piece of a range that ends here.
    #[cold]
    fn fill(&mut self, file: &Kept, end: usize) -> io::Result<()> {
        self.first = self.at;
        self.bytes.resize(self.piece.max(ITEM_MAX).min(end - self.at), 0);
        file.read(&mut self.bytes, self.first)
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
