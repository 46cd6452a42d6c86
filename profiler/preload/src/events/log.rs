//! What a thread has for its event log: the chunk that it writes, the paths of its calls, and what the call under way has begun.

use core::sync::atomic::{AtomicU64, Ordering};

use falloff_format::NodeId;
use falloff_format::chunk::Kind;
use falloff_format::events::{Coder, ITEM_MAX, Item};
use falloff_format::records::keys;
use unwinder::{Replay, Room};

use super::completion::Taken;
use super::frame::Call;
use super::functions;
use super::shapes::Shape;
use crate::file::Chunk;
use crate::memory::{Copies, Stack};
use crate::path::{self, Place, Walk};
use crate::plan::Class;
use crate::sections::{section_of, undisturbed};
use crate::thread::{DEPTH_MAX, Thread};
use crate::tree::Tree;
use crate::{clock, identity, inside, modules, raw, records};

/// Longest chunk of events, bytes.
const CHUNK_MAX: u64 = 64 << 10;
/// Looks at the path of a call after one that has met an unknown module, or a list of modules that another thread was at.
const TRIES: usize = 8;

/// Operations that the process has begun.
static POSTS: AtomicU64 = AtomicU64::new(0);
/// Bytes of chunks that the process has claimed.
static CLAIMED: AtomicU64 = AtomicU64::new(0);

/// Number of the next operation.
pub fn next_post() -> u64 {
    POSTS.fetch_add(1, Ordering::Relaxed)
}

/// The log of a thread.
pub struct Log {
    /// How deep in the stack the call under way was made; 0 if there is none.
    depth: usize,
    is_entered: bool,
    /// When a call began that is written only if it finds something.
    pub begun_ns: u64,
    /// Section of the call under way.
    section: u16,
    owner: u32,
    chunk: Chunk,
    coder: Coder,
    /// Bytes behind the chunk's used ones that are written.
    unpublished: u64,
    stack: Stack,
    copies: Copies,
    list: u64,
    tree: Tree,
    replay: Replay<DEPTH_MAX>,
    room: Room,
    /// Which name the call under way is by.
    index: usize,
    /// What the call does.
    pub shape: Shape,
    /// What it has begun: complete when it returns, or when the request is that it gives.
    pub begun: [Option<Item>; 2],
    /// Requests that it looks at, the first `taken` of them.
    pub requests: Buffer<Taken>,
    /// How many there are.
    pub taken: usize,
    /// Statuses that the caller does not want.
    pub statuses: Buffer<u64>,
}

impl Log {
    /// The log of a measured thread, made if need be.
    pub fn of(thread: &mut Thread) -> Option<&'static mut Log> {
        if thread.log.is_null() {
            let log = raw::map_private(size_of::<Log>())?.cast::<Log>();
            // SAFETY: mapped for this; all else may be zero.
            unsafe {
                (&raw mut (*log).shape).write(Shape::Plain);
                (&raw mut (*log).begun).write([None; 2]);
            }
            thread.log = log;
            Log::renew(thread);
        }
        // SAFETY: mapped for this thread state, never unmapped, and used by the thread itself only.
        Some(unsafe { &mut *thread.log })
    }

    /// Begins anew if there is one, for a thread that begins.
    pub fn renew(thread: &mut Thread) {
        // SAFETY: null or mapped for this thread state, whose thread is the calling one.
        let Some(log) = (unsafe { thread.log.as_mut() }) else { return };
        log.owner = thread.tree.owner();
        log.tree.begin(log.owner);
        (log.depth, log.chunk, log.unpublished, log.stack) = (0, Chunk::NONE, 0, thread.stack);
        log.replay.clear();
    }

    /// Begins a call, unless it is made by the library within another one.
    pub fn begin(&mut self, thread: &Thread, call: Call) -> bool {
        if self.depth != 0 {
            if call.depth() < self.depth {
                return false;
            }
            // An error handler has jumped out of the last one.
            self.end(clock::wall_ns());
        }
        (self.index, self.shape) = (call.index(), functions::shape(call.index()).0);
        (self.depth, self.is_entered, self.begun) = (call.depth(), false, [None; 2]);
        self.section = section_of(thread);
        true
    }

    /// Number of the thread.
    pub fn owner(&self) -> u32 {
        self.owner
    }

    /// Whether this is the call under way.
    pub fn is_in(&self, call: Call) -> bool {
        self.depth == call.depth()
    }

    /// Writes that the call begins, now unless it has begun earlier.
    pub fn enter(&mut self, call: Call, function: u64, begun_ns: Option<u64>) {
        let context = self.context(call, function);
        self.is_entered = true;
        let function = functions::number(self.index);
        let at_ns = begun_ns.unwrap_or_else(clock::wall_ns);
        self.write(&Item::Enter { function, section: self.section, context, at_ns });
    }

    /// Writes that the call has begun when it did, now that it is known to be worth it.
    pub fn enter_late(&mut self, (call, function): (Call, u64)) {
        if !self.is_entered {
            self.enter(call, function, Some(self.begun_ns));
        }
    }

    /// Ends the call.
    pub fn end(&mut self, at_ns: u64) {
        if self.is_entered {
            self.write(&Item::Leave { at_ns });
            self.publish();
        }
        self.depth = 0;
    }

    /// The node of the caller's path to the function.
    fn context(&mut self, call: Call, function: u64) -> NodeId {
        let (registers, _) = call.caller();
        let place = Place::called(registers, function);
        let mut look = || {
            let _inside = inside::enter();
            let view = modules::view()?;
            let Log { stack, copies, replay, room, tree, list, .. } = self;
            let walk = Walk { stack, copies, replay, room, tree, list };
            path::path(walk, &view, &place, Class::Caller, 0).ok()
        };
        let found = look().or_else(|| {
            (0..TRIES).find_map(|_| {
                modules::refresh_when_free();
                look()
            })
        });
        found.map_or(NodeId::NONE, |(node, _)| NodeId(node))
    }

    /// One of the first `count` requests that the call looks at.
    pub fn taken_at(&mut self, count: usize, at: usize) -> Option<&mut Taken> {
        // SAFETY: the call has written as many as it has taken.
        if at < count { Some(unsafe { &mut *self.requests.start.add(at) }) } else { None }
    }

    /// Writes an item, which counts from the next [`publish`](Self::publish) on.
    pub fn write(&mut self, item: &Item) {
        if !super::is_on() {
            return;
        }
        let wanted = self.unpublished + ITEM_MAX as u64;
        let room = match self.chunk.reserve(wanted) {
            Some((_, start)) => Some(start.wrapping_add(self.unpublished as usize)),
            None => self.next_chunk(),
        };
        let Some(address) = room else { return };
        // SAFETY: reserved for this item, in a chunk of this thread's, and not yet used.
        let out = unsafe { core::slice::from_raw_parts_mut(address, ITEM_MAX) };
        self.unpublished += self.coder.encode(item, out).unwrap_or(0) as u64;
    }

    /// Lets what is written count.
    pub fn publish(&mut self) {
        if self.unpublished > 0 {
            self.chunk.commit(core::mem::take(&mut self.unpublished));
        }
    }

    /// Room for an item in a new chunk; none if the log is as long as it may be, or the file is full.
    fn next_chunk(&mut self) -> Option<*mut u8> {
        self.publish();
        let limit = identity::get().map_or(0, |who| who.options.events_limit);
        let length = self.chunk.next_length(CHUNK_MAX);
        if CLAIMED.fetch_add(length, Ordering::Relaxed) + length > limit {
            stopped(b"the limit of the event log was reached; --events-limit raises it");
            return None;
        }
        let Some(chunk) = self.chunk.claim_next(Kind::Events, self.owner, 0, length) else {
            stopped(b"the measurement file has no room for more events");
            return None;
        };
        (self.chunk, self.coder) = (chunk, Coder::new());
        self.chunk.reserve(ITEM_MAX as u64).map(|(_, address)| address)
    }
}

/// Ends the log of the process and says why.
pub fn stopped(why: &[u8]) {
    if super::stop() {
        undisturbed(|| {
            records::meta(keys::EVENTS_STOPPED, why);
            records::meta(keys::WARNING, why);
        });
    }
}

/// Memory that grows: for what calls with arrays need.
pub struct Buffer<T> {
    start: *mut T,
    room: usize,
}

impl<T> Buffer<T> {
    /// Elements of the first memory.
    const FIRST: usize = 64;
    /// Bytes at most.
    const BYTES_MAX: usize = 1 << 28;

    /// Room for so many elements, of which nothing is said what they are.
    pub fn reserve(&mut self, count: usize) -> Option<*mut T> {
        if count > self.room {
            let room = count.next_power_of_two().max(Self::FIRST);
            let length = room.checked_mul(size_of::<T>()).filter(|length| *length <= Self::BYTES_MAX)?;
            let fresh = raw::map_private(length)?;
            if !self.start.is_null() {
                // SAFETY: mapped with this length, and nobody has a pointer into it between two calls.
                unsafe { raw::unmap(self.start.cast(), self.room * size_of::<T>()) };
            }
            (self.start, self.room) = (fresh.cast(), room);
        }
        Some(self.start)
    }
}
