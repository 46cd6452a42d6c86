//! What the kernel writes into a ring, read with every length checked.

use super::registers::COUNT;

const LOST: u32 = 2;
const NAMED: u32 = 3;
const ENDED: u32 = 4;
const FORKED: u32 = 7;
const READ: u32 = 8;
const SAMPLE: u32 = 9;
const MAPPED: u32 = 10;
/// Flag of [`NAMED`]: the name changed by an exec.
const BY_EXEC: u16 = 1 << 13;
/// Flag of [`MAPPED`]: with a build id instead of device and inode, which is not asked for.
const BUILD_ID: u16 = 1 << 14;
/// Copied registers are those of a 64-bit program.
const ABI_64: u64 = 2;
/// Length of the head of each record: type, flags, length.
pub(super) const HEAD: usize = 8;

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    pub pid: u32,
    pub tid: u32,
    pub what: What,
}

/// What it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The thread has used CPU time.
    Sampled(Sample),
    /// The process has mapped executable memory.
    Mapped(Mapped),
    /// The thread has a new name; by an exec the process has a new image.
    Named { name: Vec<u8>, exec: bool },
    /// The thread begins. It is the first of a process if its process is not its parent's.
    Forked { parent: u32 },
    /// The thread ends.
    Ended,
    /// The thread has ended and used so much CPU time on one processor, ns.
    Used(u64),
    /// Records have found no room while the thread ran.
    Lost(u64),
}

/// Where a thread was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// CPU time that the sample stands for, ns.
    pub period_ns: u64,
    /// Registers in user mode, none if there were none to copy.
    pub registers: Option<[u64; COUNT]>,
    /// The stack from the stack pointer on.
    pub stack: Vec<u64>,
}

/// Executable memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    pub start: u64,
    pub end: u64,
    /// Place in the file.
    pub offset: u64,
    pub path: Vec<u8>,
}

/// Length of the record that begins like this, with its head.
pub(super) fn length(head: [u8; HEAD]) -> usize {
    usize::from(u16::from_ne_bytes([head[6], head[7]]))
}

/// Reads one record, as the events of [`Events`](super::events::Events) have it written. `None` for what is not wanted or
/// cannot be.
pub(super) fn parse(bytes: &[u8]) -> Option<Record> {
    let mut body = Bytes(bytes);
    let kind = body.u32()?;
    let misc = body.u32()? as u16;
    if kind == SAMPLE {
        return sample(body);
    }
    // All others end with thread and time.
    let (body, trailer) = body.0.split_at_checked(body.0.len().checked_sub(16)?)?;
    let (mut body, mut trailer) = (Bytes(body), Bytes(trailer));
    let (current_pid, current_tid, time_ns) = (trailer.u32()?, trailer.u32()?, trailer.u64()?);
    let record = |pid, tid, what| Some(Record { time_ns, pid, tid, what });
    match kind {
        LOST => {
            let (_event, count) = (body.u64()?, body.u64()?);
            record(current_pid, current_tid, What::Lost(count))
        }
        NAMED => {
            let (pid, tid) = (body.u32()?, body.u32()?);
            record(pid, tid, What::Named { name: body.text(), exec: misc & BY_EXEC != 0 })
        }
        ENDED | FORKED => {
            let (pid, parent, tid) = (body.u32()?, body.u32()?, body.u32()?);
            record(pid, tid, if kind == FORKED { What::Forked { parent } } else { What::Ended })
        }
        READ => {
            let (pid, tid, count) = (body.u32()?, body.u32()?, body.u64()?);
            record(pid, tid, What::Used(count))
        }
        MAPPED if misc & BUILD_ID == 0 => {
            let (pid, tid) = (body.u32()?, body.u32()?);
            let (start, length, offset) = (body.u64()?, body.u64()?, body.u64()?);
            // Device, inode, protection and flags.
            body.take(32)?;
            let end = start.checked_add(length)?;
            record(pid, tid, What::Mapped(Mapped { start, end, offset, path: body.text() }))
        }
        _ => None,
    }
}

fn sample(mut body: Bytes<'_>) -> Option<Record> {
    let _ip = body.u64()?;
    let (pid, tid, time_ns, period_ns) = (body.u32()?, body.u32()?, body.u64()?, body.u64()?);
    let abi = body.u64()?;
    let mut copied = [0; COUNT];
    if abi != 0 {
        for register in &mut copied {
            *register = body.u64()?;
        }
    }
    let room = usize::try_from(body.u64()?).ok()?;
    let stack = body.take(room)?;
    let filled = if room == 0 { 0 } else { usize::try_from(body.u64()?).ok()?.min(room) };
    let words = stack.get(..filled)?.chunks_exact(8);
    let stack = words.filter_map(|w| Some(u64::from_ne_bytes(w.try_into().ok()?))).collect();
    let registers = (abi == ABI_64).then_some(copied);
    Some(Record { time_ns, pid, tid, what: What::Sampled(Sample { period_ns, registers, stack }) })
}

/// Bytes that are yet to be read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.take(8)?.try_into().ok()?))
    }

    /// All up to a zero byte.
    fn text(&self) -> Vec<u8> {
        self.0.split(|b| *b == 0).next().unwrap_or(&[]).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(kind: u32, misc: u16, words: &[u64], text: &[u8]) -> Vec<u8> {
        let mut body: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
        body.extend_from_slice(text);
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend_from_slice(&misc.to_ne_bytes());
        bytes.extend_from_slice(&((HEAD + body.len()) as u16).to_ne_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }

    fn pair(low: u32, high: u32) -> u64 {
        u64::from_ne_bytes([low.to_ne_bytes(), high.to_ne_bytes()].concat().try_into().unwrap())
    }

    #[test]
    fn samples_with_and_without_registers() {
        let mut words = vec![0x1234, pair(7, 8), 99, 5_000_000, ABI_64];
        words.extend(1..=COUNT as u64);
        words.extend([24, 0xa, 0xb, 0xc, 16]);
        let bytes = record(SAMPLE, 0, &words, &[]);
        assert_eq!(length(bytes[..HEAD].try_into().unwrap()), bytes.len());
        let sampled = parse(&bytes).unwrap();
        assert_eq!((sampled.pid, sampled.tid, sampled.time_ns), (7, 8, 99));
        let What::Sampled(sample) = sampled.what else { panic!("{sampled:?}") };
        assert_eq!((sample.period_ns, sample.stack), (5_000_000, vec![0xa, 0xb]));
        assert_eq!(sample.registers.unwrap()[COUNT - 1], COUNT as u64);
        let bare = record(SAMPLE, 0, &[0x1234, pair(7, 8), 99, 5_000_000, 0, 0], &[]);
        let What::Sampled(sample) = parse(&bare).unwrap().what else { panic!() };
        assert_eq!((sample.registers, sample.stack), (None, vec![]));
    }

    #[test]
    fn records_about_processes() {
        let trailer = [pair(1, 2), 50];
        let of =
            |kind, misc, words: &[u64]| parse(&record(kind, misc, &[words, &trailer].concat(), &[])).unwrap();
        let forked = of(FORKED, 0, &[pair(10, 9), pair(11, 9), 50]);
        assert_eq!((forked.pid, forked.tid, forked.what), (10, 11, What::Forked { parent: 9 }));
        assert_eq!(of(ENDED, 0, &[pair(10, 9), pair(11, 9), 50]).what, What::Ended);
        let used = of(READ, 0, &[pair(10, 11), 777]);
        assert_eq!((used.tid, used.time_ns, used.what), (11, 50, What::Used(777)));
        let lost = of(LOST, 0, &[5, 3]);
        assert_eq!((lost.pid, lost.tid, lost.what), (1, 2, What::Lost(3)));
        let name = u64::from_ne_bytes(*b"prog\0\0\0\0");
        let named = of(NAMED, BY_EXEC, &[pair(10, 10), name]);
        assert_eq!(named.what, What::Named { name: b"prog".to_vec(), exec: true });
        let mapped = of(MAPPED, 0, &[pair(10, 10), 0x1000, 0x500, 0x40, 0, 0, 0, 0, name]);
        let wanted = Mapped { start: 0x1000, end: 0x1500, offset: 0x40, path: b"prog".to_vec() };
        assert_eq!(mapped.what, What::Mapped(wanted));
        assert_eq!(parse(&record(1, 0, &trailer, &[])), None);
    }

    proptest! {
        #[test]
        fn anything_can_be_read(kind in 0u32..20, misc: u16, body in proptest::collection::vec(any::<u8>(), 0..600)) {
            parse(&record(kind, misc, &[], &body));
            parse(&body);
        }

        #[test]
        fn lengths_may_lie(words in proptest::collection::vec(prop_oneof![0u64..64, any::<u64>()], 0..60)) {
            parse(&record(SAMPLE, 0, &words, &[]));
            parse(&record(MAPPED, 0, &words, &[]));
        }
    }
}
