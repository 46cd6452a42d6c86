//! Reading a measurement file of any state: running, ended, killed, cut short or damaged.
//!
//! Everything is checked against the bytes that are there; a broken chunk ends the walk and is told, what came
//! before it stays usable.

use core::fmt;

use zerocopy::FromBytes;

use crate::chunk::{self, CHUNK_HEADER_LEN, ChunkHeader};
use crate::events::{self, Decoder, FunctionRecord, GroupRecord, TopologyRecord};
use crate::header::{BYTE_ORDER, HEADER_LEN, Header, MAGIC, MAJOR};
use crate::node::{NODE_KEY_LEN, NodeId, NodeKey, node_len};
use crate::records::{self, MetricRecord, ModuleRecord, RECORD_HEADER_LEN, RecordHeader, ThreadRecord};
use crate::sections::{
    CheckpointRecord, CommunicatorRecord, DwellRecord, INSTANCE_LEN, Instance, SectionRecord,
};

/// Metrics that a file may declare; more is damage.
const METRICS_MAX: u32 = 64;

/// Why a file or a part of it cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Shorter than a header, found this many bytes.
    TooShort(u64),
    /// The first bytes are not [`MAGIC`].
    NotAMeasurement,
    /// Written on a machine of the other byte order.
    ByteOrder,
    /// Another major version, found this.
    Version(u16),
    /// A header field that cannot be: its name.
    Header(&'static str),
    /// A chunk at this file offset that does not fit or does not make sense.
    Chunk(u64),
    /// A record at this file offset that does not fit or does not make sense.
    Record(u64),
    /// An item of an event log at this file offset that does not make sense.
    Event(u64),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::TooShort(0) => f.write_str("the file is empty"),
            Error::TooShort(n) => write!(f, "the file ends after {n} bytes, inside its header"),
            Error::NotAMeasurement => f.write_str("not a falloff measurement file"),
            Error::ByteOrder => f.write_str("written on a machine of the other byte order"),
            Error::Version(v) => write!(f, "format version {v}, this falloff reads version {MAJOR}"),
            Error::Header(field) => write!(f, "header field `{field}` is damaged"),
            Error::Chunk(at) => write!(f, "damaged chunk at offset {at}"),
            Error::Record(at) => write!(f, "damaged record at offset {at}"),
            Error::Event(at) => write!(f, "damaged event at offset {at}"),
        }
    }
}

impl core::error::Error for Error {}

/// A measurement file over borrowed bytes.
#[derive(Clone, Copy, Debug)]
pub struct Measurement<'a> {
    bytes: &'a [u8],
    header: Header,
}

/// A chunk in the file.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// Offset of its head in the file.
    pub offset: u64,
    /// Its head.
    pub header: ChunkHeader,
    /// Its complete bytes.
    pub payload: &'a [u8],
}

impl Chunk<'_> {
    /// Whether the head is one that a writer of this version makes: what a page must begin with to be taken for a chunk
    /// after damage.
    fn is_plausible(&self) -> bool {
        let head = &self.header;
        let kinds = chunk::Kind::Records as u16..=chunk::Kind::Instances as u16;
        kinds.contains(&head.kind)
            && head.version == chunk::CHUNK_VERSION
            && (head.metrics == 0 || head.kind == chunk::Kind::Nodes as u16)
            && head.length.is_multiple_of(CLAIM_UNIT)
            && head.used > 0
    }
}

/// A record, decoded.
#[derive(Clone, Copy, Debug)]
pub enum Record<'a> {
    /// Key and value.
    Meta(&'a [u8], &'a [u8]),
    /// A metric and its name.
    Metric(MetricRecord, &'a [u8]),
    /// A module and its path.
    Module(ModuleRecord, &'a [u8]),
    /// A thread.
    Thread(ThreadRecord),
    /// A section and its label.
    Section(SectionRecord, &'a [u8]),
    /// A communicator of sections.
    Communicator(CommunicatorRecord),
    /// What a thread has spent in a section.
    Dwell(DwellRecord),
    /// The order of a communicator's calls so far.
    Checkpoint(CheckpointRecord),
    /// A function that was called, and its name.
    Function(FunctionRecord, &'a [u8]),
    /// A list of ranks, packed: [`events::Ranks`].
    Group(GroupRecord, &'a [u8]),
    /// A communicator or window of the event log.
    EventCommunicator(events::CommunicatorRecord),
    /// The neighbours in a communicator, packed: [`events::numbers`].
    Topology(TopologyRecord, &'a [u8]),
}

/// A node with its values still as bytes.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// Its id.
    pub id: NodeId,
    /// Ordinal of the thread that owns it.
    pub owner: u32,
    /// Parent, frame, section.
    pub key: NodeKey,
    /// The metrics it carries, a bit for each.
    pub metrics: u64,
    values: &'a [u8],
}

impl Node<'_> {
    /// Value of metric `index`, 0 if it carries none.
    pub fn value(&self, index: u32) -> u64 {
        let Some(bit) = 1u64.checked_shl(index).filter(|bit| self.metrics & bit != 0) else { return 0 };
        let place = 8 * (self.metrics & (bit - 1)).count_ones() as usize;
        let bytes = self.values.get(place..place + 8).and_then(|b| b.try_into().ok());
        bytes.map_or(0, u64::from_ne_bytes)
    }
}

impl<'a> Measurement<'a> {
    /// Checks the header. `bytes` is the whole file; holes may be cut off the end.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let Ok((header, _)) = Header::read_from_prefix(bytes) else {
            let magic_so_far = &MAGIC[..bytes.len().min(MAGIC.len())];
            let ours = bytes.starts_with(magic_so_far);
            return Err(if ours { Error::TooShort(bytes.len() as u64) } else { Error::NotAMeasurement });
        };
        if header.magic != MAGIC {
            return Err(Error::NotAMeasurement);
        }
        if header.byte_order != BYTE_ORDER {
            return Err(if header.byte_order == BYTE_ORDER.swap_bytes() {
                Error::ByteOrder
            } else {
                Error::Header("byte_order")
            });
        }
        if header.major != MAJOR {
            return Err(Error::Version(header.major));
        }
        if (header.header_len as usize) < HEADER_LEN || !header.header_len.is_multiple_of(8) {
            return Err(Error::Header("header_len"));
        }
        if header.node_key_len as usize != NODE_KEY_LEN {
            return Err(Error::Header("node_key_len"));
        }
        if header.metric_count > METRICS_MAX {
            return Err(Error::Header("metric_count"));
        }
        Ok(Measurement { bytes, header })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Bytes that chunks claimed but the file does not have: it was cut short.
    pub fn missing_bytes(&self) -> u64 {
        self.header.next.saturating_sub(self.bytes.len() as u64)
    }

    /// All chunks that were begun, in file order. After a damaged one the next page that begins with a plausible
    /// head goes on.
    pub fn chunks(&self) -> impl Iterator<Item = Result<Chunk<'a>, Error>> + use<'a> {
        let bytes = self.bytes;
        let end = self.header.next.min(bytes.len() as u64);
        let mut at = u64::from(self.header.header_len);
        let mut lost = false;
        core::iter::from_fn(move || {
            while at < end {
                let offset = at;
                match read_chunk(bytes, offset) {
                    Ok(Some(chunk)) if !lost || chunk.is_plausible() => {
                        lost = false;
                        // A damaged length may be any number.
                        at = offset.saturating_add(chunk.header.length);
                        return Some(Ok(chunk));
                    }
                    // A page claimed by a thread that died before it wrote the head, or one to pass over in
                    // search of the next head. Chunks after the first begin on pages.
                    Ok(_) => at = (offset + 1).next_multiple_of(CLAIM_UNIT),
                    Err(e) => {
                        at = (offset + 1).next_multiple_of(CLAIM_UNIT);
                        if !core::mem::replace(&mut lost, true) {
                            return Some(Err(e));
                        }
                    }
                }
            }
            None
        })
    }

    /// All records; goes on after an error.
    pub fn records(&self) -> impl Iterator<Item = Result<Record<'a>, Error>> + use<'a> {
        self.chunks_of(chunk::Kind::Records).flat_map(|chunk| {
            let (chunk, error) = split(chunk);
            chunk
                .into_iter()
                .flat_map(|c| records_in(c.offset + CHUNK_HEADER_LEN as u64, c.payload))
                .chain(error)
        })
    }

    /// All nodes; goes on after an error.
    pub fn nodes(&self) -> impl Iterator<Item = Result<Node<'a>, Error>> + use<'a> {
        self.chunks_of(chunk::Kind::Nodes).flat_map(move |chunk| {
            let (chunk, error) = split(chunk);
            let nodes = chunk.into_iter().flat_map(move |c| {
                let first = c.offset + CHUNK_HEADER_LEN as u64;
                let metrics = c.header.metrics;
                let node_len = node_len(metrics);
                c.payload.chunks_exact(node_len).enumerate().filter_map(move |(i, bytes)| {
                    let (key, values) = bytes.split_at_checked(NODE_KEY_LEN)?;
                    Some(Ok(Node {
                        id: NodeId::from_offset(first + (i * node_len) as u64)?,
                        owner: c.header.owner,
                        key: NodeKey::read_from_bytes(key).ok()?,
                        metrics,
                        values,
                    }))
                })
            });
            nodes.chain(error)
        })
    }

    /// All instances of sections with the ordinal of their thread; goes on after an error.
    pub fn instances(&self) -> impl Iterator<Item = Result<(u32, Instance), Error>> + use<'a> {
        self.chunks_of(chunk::Kind::Instances).flat_map(|chunk| {
            let (chunk, error) = split(chunk);
            let instances = chunk.into_iter().flat_map(|c| {
                let all = c.payload.chunks_exact(INSTANCE_LEN);
                all.filter_map(move |bytes| {
                    Some(Ok((c.header.owner, Instance::read_from_bytes(bytes).ok()?)))
                })
            });
            instances.chain(error)
        })
    }

    /// The event log of the thread with this ordinal; goes on after an error, with the next chunk.
    pub fn events(&self, owner: u32) -> impl Iterator<Item = Result<events::Item, Error>> + use<'a> {
        let chunks = self.chunks_of(chunk::Kind::Events);
        let own = chunks.filter(move |c| c.as_ref().map_or(true, |c| c.header.owner == owner));
        own.flat_map(|chunk| {
            let (chunk, error) = split(chunk);
            let items =
                chunk.into_iter().flat_map(|c| Decoder::new(c.payload, c.offset + CHUNK_HEADER_LEN as u64));
            items.chain(error)
        })
    }

    fn chunks_of(&self, kind: chunk::Kind) -> impl Iterator<Item = Result<Chunk<'a>, Error>> + use<'a> {
        self.chunks().filter(move |c| c.as_ref().map_or(true, |c| c.header.kind == kind as u16))
    }
}

/// Chunks after the first begin at multiples of this and are claimed in multiples of it, bytes: small, so that the many
/// short rows of nodes of idle threads share pages.
pub const CLAIM_UNIT: u64 = 512;

/// A good chunk, or the error as the one item of an iterator.
fn split<'a, T>(chunk: Result<Chunk<'a>, Error>) -> (Option<Chunk<'a>>, Option<Result<T, Error>>) {
    match chunk {
        Ok(c) => (Some(c), None),
        Err(e) => (None, Some(Err(e))),
    }
}

fn read_chunk(bytes: &[u8], offset: u64) -> Result<Option<Chunk<'_>>, Error> {
    let broken = Error::Chunk(offset);
    let rest = usize::try_from(offset).ok().and_then(|at| bytes.get(at..)).ok_or(broken)?;
    let (header, body) = ChunkHeader::read_from_prefix(rest).map_err(|_| broken)?;
    if header.length == 0 {
        return Ok(None);
    }
    let room = header.length.checked_sub(CHUNK_HEADER_LEN as u64).ok_or(broken)?;
    if header.used > room || !header.length.is_multiple_of(8) {
        return Err(broken);
    }
    // A file cut inside this chunk still gives what is left of it.
    let used = (header.used as usize).min(body.len());
    Ok(Some(Chunk { offset, header, payload: &body[..used] }))
}

fn records_in(mut at: u64, mut bytes: &[u8]) -> impl Iterator<Item = Result<Record<'_>, Error>> {
    core::iter::from_fn(move || {
        while !bytes.is_empty() {
            let Some((header, here, rest)) = next_record(bytes) else {
                bytes = &[];
                return Some(Err(Error::Record(at)));
            };
            let place = at;
            at += u64::from(header.length);
            bytes = rest;
            match decode(header, here) {
                Some(Some(record)) => return Some(Ok(record)),
                Some(None) => {}
                None => return Some(Err(Error::Record(place))),
            }
        }
        None
    })
}

fn next_record(bytes: &[u8]) -> Option<(RecordHeader, &[u8], &[u8])> {
    let (header, _) = RecordHeader::read_from_prefix(bytes).ok()?;
    let (here, rest) = bytes.split_at_checked(header.length as usize)?;
    let text_end = here.len().checked_sub(usize::from(header.padding))?;
    let body = here.get(RECORD_HEADER_LEN..text_end)?;
    Some((header, body, rest))
}

/// `Some(None)` is a kind that this version does not know.
fn decode(header: RecordHeader, body: &[u8]) -> Option<Option<Record<'_>>> {
    const KINDS: [records::Kind; 12] = [
        records::Kind::Meta,
        records::Kind::Metric,
        records::Kind::Module,
        records::Kind::Thread,
        records::Kind::Section,
        records::Kind::Communicator,
        records::Kind::Dwell,
        records::Kind::Checkpoint,
        records::Kind::Function,
        records::Kind::Group,
        records::Kind::EventCommunicator,
        records::Kind::Topology,
    ];
    let Some(kind) = KINDS.into_iter().find(|k| *k as u16 == header.kind) else {
        return Some(None);
    };
    let record = match kind {
        records::Kind::Meta => {
            let zero = body.iter().position(|b| *b == 0)?;
            Record::Meta(&body[..zero], &body[zero + 1..])
        }
        records::Kind::Metric => {
            let (fixed, name) = MetricRecord::read_from_prefix(body).ok()?;
            Record::Metric(fixed, name)
        }
        records::Kind::Module => {
            let (fixed, path) = ModuleRecord::read_from_prefix(body).ok()?;
            Record::Module(fixed, path)
        }
        records::Kind::Thread => Record::Thread(ThreadRecord::read_from_prefix(body).ok()?.0),
        records::Kind::Section => {
            let (fixed, label) = SectionRecord::read_from_prefix(body).ok()?;
            Record::Section(fixed, label)
        }
        records::Kind::Communicator => {
            Record::Communicator(CommunicatorRecord::read_from_prefix(body).ok()?.0)
        }
        records::Kind::Dwell => Record::Dwell(DwellRecord::read_from_prefix(body).ok()?.0),
        records::Kind::Checkpoint => Record::Checkpoint(CheckpointRecord::read_from_prefix(body).ok()?.0),
        records::Kind::Function => {
            let (fixed, name) = FunctionRecord::read_from_prefix(body).ok()?;
            Record::Function(fixed, name)
        }
        records::Kind::Group => {
            let (fixed, ranks) = GroupRecord::read_from_prefix(body).ok()?;
            Record::Group(fixed, ranks)
        }
        records::Kind::EventCommunicator => {
            Record::EventCommunicator(events::CommunicatorRecord::read_from_prefix(body).ok()?.0)
        }
        records::Kind::Topology => {
            let (fixed, numbers) = TopologyRecord::read_from_prefix(body).ok()?;
            Record::Topology(fixed, numbers)
        }
    };
    Some(Some(record))
}
