//! Signal context: yes (with `Patience::Try`). Appends records about process, modules and threads to the file.

use core::fmt::Write;

use falloff_format::chunk::{Kind as ChunkKind, NO_OWNER};
use falloff_format::read::CLAIM_UNIT;
use falloff_format::records::{self, Kind, MetricRecord, RECORD_HEADER_LEN, keys};
use zerocopy::IntoBytes;

use crate::file::{self, Chunk};
use crate::identity::Identity;
use crate::plan;
use crate::sync::Lock;
use crate::text::Text;

/// Longest chunk of records; the first is the rest of the header's page.
const CHUNK_MAX: u64 = 64 << 10;

static CHUNK: Lock<Chunk> = Lock::new(Chunk::NONE);

/// Begins the records of a new file.
///
/// # Safety
/// In the constructor, or in the child of a fork: no other thread appends.
pub unsafe fn begin() {
    // SAFETY: by contract nobody holds the lock who could still let go of it.
    unsafe { CHUNK.reset() };
    *CHUNK.lock() = Chunk::first(ChunkKind::Records, NO_OWNER);
}

/// How long to wait for somebody else who is appending. A handler not for long: it may have interrupted him.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Outside handlers, or where nobody else can be appending.
    Wait,
    /// In handlers.
    Try,
}

/// Appends a record; gives the file offset of its fixed part.
pub fn append(patience: Patience, kind: Kind, fixed: &[u8], text: &[&[u8]]) -> Option<u64> {
    let mut chunk = if patience == Patience::Wait { CHUNK.lock() } else { CHUNK.lock_soon()? };
    if !file::is_open() {
        return None;
    }
    let body = text.iter().fold(fixed.len(), |n, t| n + t.len());
    let length = (RECORD_HEADER_LEN + body).next_multiple_of(8) as u64;
    let (offset, address) = match chunk.reserve(length) {
        Some(room) => room,
        None => {
            let wanted = chunk.next_length(CHUNK_MAX).max((length + CLAIM_UNIT).next_multiple_of(CLAIM_UNIT));
            let Some(room) = chunk.claim_next(ChunkKind::Records, NO_OWNER, 0, wanted).and_then(|fresh| {
                *chunk = fresh;
                chunk.reserve(length)
            }) else {
                file::count_refused();
                return None;
            };
            room
        }
    };
    // SAFETY: `reserve` gave `length` bytes that exist, belong to the lock's holder and are not yet committed.
    let out = unsafe { core::slice::from_raw_parts_mut(address, length as usize) };
    records::encode(out, kind, fixed, text)?;
    chunk.commit(length);
    Some(offset + RECORD_HEADER_LEN as u64)
}

/// A META record.
pub fn meta(key: &str, value: &[u8]) {
    append(Patience::Wait, Kind::Meta, &[], &[key.as_bytes(), b"\0", value]);
}

/// What is known of the process before anything is sampled. Nobody else appends yet.
pub fn describe_process(who: &Identity) {
    for (index, (name, unit, period)) in (0..).zip(plan::get().metrics(who.options.period_ns)) {
        let record = MetricRecord { index, unit: unit as u16, reserved: 0, period };
        append(Patience::Wait, Kind::Metric, record.as_bytes(), &[name]);
    }
    let mut rate = Text::<24>::new();
    let _ = write!(rate, "{}", who.options.rate);
    meta(keys::WRITER, concat!("falloff ", env!("CARGO_PKG_VERSION")).as_bytes());
    meta(keys::RATE, rate.as_bytes());
    meta(keys::HOST, who.host.as_bytes());
    meta(keys::KERNEL, who.kernel.as_bytes());
    meta(keys::IMAGE, who.image.as_bytes());
    meta(keys::CWD, who.directory.as_bytes());
    who.arguments().for_each(|argument| meta(keys::ARGV, argument));
    who.environment.kept().for_each(|entry| meta(keys::ENV, entry));
}
