//! The packing of items: differences to what came before in the chunk, and nothing at all where a guess is right.

use super::item::{Item, Message, Mode, Operation, Synchronisation, TransferKind};
use super::varint::{VARINT_MAX, put, take, unzigzag, zigzag};
use crate::node::NodeId;
use crate::read::Error;

/// Longest packed item, bytes.
pub const ITEM_MAX: usize = 64;
const _: () = assert!(2 + 6 * VARINT_MAX <= ITEM_MAX);

/// Slots for contexts of functions and for sequences of communicators.
const SLOTS: usize = 64;

/// What the low four bits of an item's first byte say.
mod kind {
    pub const ENTER: u8 = 1;
    pub const LEAVE: u8 = 2;
    pub const SEND: u8 = 3;
    pub const RECEIVE: u8 = 4;
    pub const COLLECTIVE: u8 = 5;
    pub const TRANSFER: u8 = 6;
    pub const SYNCHRONISE: u8 = 7;
    pub const COMPLETE: u8 = 8;
}

/// What the high four bits say: which fields follow that were guessed wrongly, or are not always there.
mod flag {
    /// Enter: the context is not that of the last function with this number, modulo [`super::SLOTS`].
    pub const CONTEXT: u8 = 0x10;
    /// Enter: the section is not that of the call before.
    pub const SECTION: u8 = 0x20;
    /// Operations: the communicator is not that of the one before.
    pub const COMMUNICATOR: u8 = 0x10;
    /// Send, receive: the tag is not that of the last message.
    pub const TAG: u8 = 0x20;
    /// Operations: the number does not follow the last one.
    pub const POST: u8 = 0x40;
    /// Send: the mode is not standard.
    pub const MODE: u8 = 0x80;
    /// Collective: the sequence does not follow the last of the communicator with this number, modulo [`super::SLOTS`].
    pub const SEQUENCE: u8 = 0x20;
    /// Collective: there is a root.
    pub const ROOT: u8 = 0x80;
    /// Complete: nothing was matched.
    pub const VOID: u8 = 0x10;
    /// Complete: a message came.
    pub const MESSAGE: u8 = 0x20;
    /// Complete: the operation is not the last one begun.
    pub const OTHER: u8 = 0x40;
    /// Complete: the tag is not that of the last message.
    pub const OTHER_TAG: u8 = 0x80;
}

/// What a writer and a reader of a chunk both remember of it. Zeroed memory is the beginning of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coder {
    at_ns: u64,
    post: u64,
    section: u16,
    communicator: u32,
    peer: u32,
    tag: i32,
    contexts: [u32; SLOTS],
    sequences: [u64; SLOTS],
}

impl Default for Coder {
    fn default() -> Self {
        Self::new()
    }
}

impl Coder {
    /// At the beginning of a chunk.
    pub const fn new() -> Coder {
        Coder {
            at_ns: 0,
            post: 0,
            section: 0,
            communicator: 0,
            peer: 0,
            tag: 0,
            contexts: [0; SLOTS],
            sequences: [0; SLOTS],
        }
    }

    /// Packs the next item of the chunk at the start of `out` and gives its length; `None` if `out` is too short, which
    /// [`ITEM_MAX`] bytes never are. After `None` the chunk cannot be gone on with.
    pub fn encode(&mut self, item: &Item, out: &mut [u8]) -> Option<usize> {
        let (head, rest) = out.split_first_mut()?;
        let mut out = Out { bytes: rest, at: 0 };
        *head = match *item {
            Item::Enter { function, section, context, at_ns } => {
                out.number(function.into())?;
                out.number(at_ns.wrapping_sub(self.at_ns))?;
                self.at_ns = at_ns;
                let mut head = kind::ENTER;
                let known = slot(&mut self.contexts, function.into())?;
                if core::mem::replace(known, context.0) != context.0 {
                    head |= flag::CONTEXT;
                    out.number(context.0.into())?;
                }
                if core::mem::replace(&mut self.section, section) != section {
                    head |= flag::SECTION;
                    out.number(section.into())?;
                }
                head
            }
            Item::Leave { at_ns } => {
                out.number(at_ns.wrapping_sub(self.at_ns))?;
                self.at_ns = at_ns;
                kind::LEAVE
            }
            Item::Send { post, mode, to, tag, communicator, bytes } => {
                let mut head = kind::SEND | self.put_post(post, &mut out)?;
                head |= self.put_communicator(communicator, &mut out)?;
                self.put_peer(to, &mut out)?;
                head |= self.put_tag(tag, flag::TAG, &mut out)?;
                if mode != Mode::Standard {
                    head |= flag::MODE;
                    out.number(mode as u64)?;
                }
                out.number(bytes)?;
                head
            }
            Item::Receive { post, from, tag, communicator } => {
                let mut head = kind::RECEIVE | self.put_post(post, &mut out)?;
                head |= self.put_communicator(communicator, &mut out)?;
                out.number(from.map_or(0, |rank| 1 + zigzag(i64::from(rank) - i64::from(self.peer))))?;
                self.peer = from.unwrap_or(self.peer);
                match tag {
                    Some(tag) if tag == self.tag => {}
                    _ => {
                        head |= flag::TAG;
                        out.number(tag.map_or(0, |tag| 1 + zigzag(tag.into())))?;
                        self.tag = tag.unwrap_or(self.tag);
                    }
                }
                head
            }
            Item::Collective { post, operation, communicator, sequence, root, sent, received } => {
                let mut head = kind::COLLECTIVE | self.put_post(post, &mut out)?;
                head |= self.put_communicator(communicator, &mut out)?;
                out.number(operation as u64)?;
                let next = slot(&mut self.sequences, communicator)?;
                if core::mem::replace(next, sequence.wrapping_add(1)) != sequence {
                    head |= flag::SEQUENCE;
                    out.number(sequence)?;
                }
                if let Some(root) = root {
                    head |= flag::ROOT;
                    out.number(root.into())?;
                }
                out.number(sent)?;
                out.number(received)?;
                head
            }
            Item::Transfer { kind, window, target, bytes } => {
                let head = kind::TRANSFER | self.put_communicator(window, &mut out)?;
                out.number(kind as u64)?;
                self.put_peer(target, &mut out)?;
                out.number(bytes)?;
                head
            }
            Item::Synchronise { window, how } => {
                let head = kind::SYNCHRONISE | self.put_communicator(window, &mut out)?;
                let (code, number) = how.code();
                out.number(code)?;
                out.number(number)?;
                head
            }
            Item::Complete { post, message, void } => {
                let mut head = kind::COMPLETE | if void { flag::VOID } else { 0 };
                let back = self.post.wrapping_sub(post).wrapping_sub(1);
                if back != 0 {
                    head |= flag::OTHER;
                    out.number(zigzag(back as i64))?;
                }
                if let Some(Message { from, tag, bytes }) = message {
                    head |= flag::MESSAGE;
                    self.put_peer(from, &mut out)?;
                    head |= self.put_tag(tag, flag::OTHER_TAG, &mut out)?;
                    out.number(bytes)?;
                }
                head
            }
        };
        Some(1 + out.at)
    }

    fn put_post(&mut self, post: u64, out: &mut Out<'_>) -> Option<u8> {
        let next = core::mem::replace(&mut self.post, post.wrapping_add(1));
        if next == post {
            return Some(0);
        }
        out.number(zigzag(post.wrapping_sub(next) as i64))?;
        Some(flag::POST)
    }

    fn put_communicator(&mut self, communicator: u32, out: &mut Out<'_>) -> Option<u8> {
        if core::mem::replace(&mut self.communicator, communicator) == communicator {
            return Some(0);
        }
        out.number(communicator.into())?;
        Some(flag::COMMUNICATOR)
    }

    fn put_peer(&mut self, rank: u32, out: &mut Out<'_>) -> Option<()> {
        let last = core::mem::replace(&mut self.peer, rank);
        out.number(zigzag(i64::from(rank) - i64::from(last)))
    }

    fn put_tag(&mut self, tag: i32, flag: u8, out: &mut Out<'_>) -> Option<u8> {
        if core::mem::replace(&mut self.tag, tag) == tag {
            return Some(0);
        }
        out.number(zigzag(tag.into()))?;
        Some(flag)
    }

    /// Unpacks the next item of the chunk, at `*at` of its bytes, and moves on; `None` if it is damaged.
    #[inline]
    pub fn decode(&mut self, bytes: &[u8], at: &mut usize) -> Option<Item> {
        let head = *bytes.get(*at)?;
        *at += 1;
        let has = |flag: u8| head & flag != 0;
        let number = |at: &mut usize| take(bytes, at);
        Some(match head & 0x0f {
            kind::ENTER => {
                let function = number(at)?.try_into().ok()?;
                self.at_ns = self.at_ns.wrapping_add(number(at)?);
                let known = slot(&mut self.contexts, u32::from(function))?;
                if has(flag::CONTEXT) {
                    *known = number(at)?.try_into().ok()?;
                }
                let context = NodeId(*known);
                if has(flag::SECTION) {
                    self.section = number(at)?.try_into().ok()?;
                }
                Item::Enter { function, section: self.section, context, at_ns: self.at_ns }
            }
            kind::LEAVE => {
                self.at_ns = self.at_ns.wrapping_add(number(at)?);
                Item::Leave { at_ns: self.at_ns }
            }
            kind::SEND => {
                let post = self.take_post(has(flag::POST), bytes, at)?;
                let communicator = self.take_communicator(has(flag::COMMUNICATOR), bytes, at)?;
                let to = self.take_peer(number(at)?)?;
                let tag = self.take_tag(has(flag::TAG), bytes, at)?;
                let mode = if has(flag::MODE) { Mode::from_code(number(at)?)? } else { Mode::Standard };
                Item::Send { post, mode, to, tag, communicator, bytes: number(at)? }
            }
            kind::RECEIVE => {
                let post = self.take_post(has(flag::POST), bytes, at)?;
                let communicator = self.take_communicator(has(flag::COMMUNICATOR), bytes, at)?;
                let from = match number(at)?.checked_sub(1) {
                    Some(difference) => Some(self.take_peer(difference)?),
                    None => None,
                };
                let mut tag = Some(self.tag);
                if has(flag::TAG) {
                    tag = match number(at)?.checked_sub(1) {
                        Some(tag) => Some(unzigzag(tag).try_into().ok()?),
                        None => None,
                    };
                    self.tag = tag.unwrap_or(self.tag);
                }
                Item::Receive { post, from, tag, communicator }
            }
            kind::COLLECTIVE => {
                let post = self.take_post(has(flag::POST), bytes, at)?;
                let communicator = self.take_communicator(has(flag::COMMUNICATOR), bytes, at)?;
                let operation = Operation::from_code(number(at)?)?;
                let next = slot(&mut self.sequences, communicator)?;
                if has(flag::SEQUENCE) {
                    *next = number(at)?;
                }
                let sequence = *next;
                *next = sequence.wrapping_add(1);
                let root = if has(flag::ROOT) { Some(number(at)?.try_into().ok()?) } else { None };
                let (sent, received) = (number(at)?, number(at)?);
                Item::Collective { post, operation, communicator, sequence, root, sent, received }
            }
            kind::TRANSFER => {
                let window = self.take_communicator(has(flag::COMMUNICATOR), bytes, at)?;
                let kind = TransferKind::from_code(number(at)?)?;
                let target = self.take_peer(number(at)?)?;
                Item::Transfer { kind, window, target, bytes: number(at)? }
            }
            kind::SYNCHRONISE => {
                let window = self.take_communicator(has(flag::COMMUNICATOR), bytes, at)?;
                let code = number(at)?;
                let how = Synchronisation::from_code(code, number(at)?.try_into().ok()?)?;
                Item::Synchronise { window, how }
            }
            kind::COMPLETE => {
                let back = if has(flag::OTHER) { unzigzag(number(at)?) as u64 } else { 0 };
                let post = self.post.wrapping_sub(back).wrapping_sub(1);
                let mut message = None;
                if has(flag::MESSAGE) {
                    let from = self.take_peer(number(at)?)?;
                    let tag = self.take_tag(has(flag::OTHER_TAG), bytes, at)?;
                    message = Some(Message { from, tag, bytes: number(at)? });
                }
                Item::Complete { post, message, void: has(flag::VOID) }
            }
            _ => return None,
        })
    }

    #[inline]
    fn take_post(&mut self, is_there: bool, bytes: &[u8], at: &mut usize) -> Option<u64> {
        let difference = if is_there { unzigzag(take(bytes, at)?) } else { 0 };
        let post = self.post.wrapping_add(difference as u64);
        self.post = post.wrapping_add(1);
        Some(post)
    }

    #[inline]
    fn take_communicator(&mut self, is_there: bool, bytes: &[u8], at: &mut usize) -> Option<u32> {
        if is_there {
            self.communicator = take(bytes, at)?.try_into().ok()?;
        }
        Some(self.communicator)
    }

    #[inline]
    fn take_peer(&mut self, difference: u64) -> Option<u32> {
        self.peer = i64::from(self.peer).checked_add(unzigzag(difference))?.try_into().ok()?;
        Some(self.peer)
    }

    #[inline]
    fn take_tag(&mut self, is_there: bool, bytes: &[u8], at: &mut usize) -> Option<i32> {
        if is_there {
            self.tag = unzigzag(take(bytes, at)?).try_into().ok()?;
        }
        Some(self.tag)
    }
}

/// The slot of a number.
#[inline]
fn slot<T>(slots: &mut [T; SLOTS], number: u32) -> Option<&mut T> {
    slots.get_mut(number as usize % SLOTS)
}

struct Out<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Out<'_> {
    fn number(&mut self, number: u64) -> Option<()> {
        put(self.bytes, &mut self.at, number)
    }
}

/// Reads the items of a chunk.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    coder: Coder,
    bytes: &'a [u8],
    at: usize,
    offset: u64,
}

impl<'a> Decoder<'a> {
    /// Over the payload of a chunk, which begins at this offset of the file.
    pub fn new(bytes: &'a [u8], offset: u64) -> Decoder<'a> {
        Decoder { coder: Coder::new(), bytes, at: 0, offset }
    }
}

impl Iterator for Decoder<'_> {
    /// After an error nothing follows.
    type Item = Result<Item, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let mut at = self.at;
        let item = self.coder.decode(self.bytes, &mut at).ok_or(Error::Event(self.offset + self.at as u64));
        self.at = if item.is_ok() { at } else { self.bytes.len() };
        Some(item)
    }
}
