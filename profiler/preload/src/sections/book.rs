//! What a thread writes about its sections: how long it was in each, and when, for as many instances as there is room.

use falloff_format::chunk::Kind as ChunkKind;
use falloff_format::records::Kind;
use falloff_format::sections::{DwellRecord, INSTANCE_LEN, Instance, SECTIONS_MAX};
use zerocopy::IntoBytes;

use crate::file::{self, Chunk};
use crate::records::{self, Patience};

/// Instances that a thread writes, of all sections and of one; of more, only the sums are kept.
const INSTANCES_MAX: u32 = 1 << 16;
const OF_A_SECTION_MAX: u64 = 1 << 14;
/// The first of each section are written in any case: those around many others end last.
const FIRST: u64 = 64;
/// Longest chunk of instances, bytes.
const CHUNK_MAX: u64 = 64 << 10;

/// A thread's own records. Zeroed memory is an empty one.
pub struct Book {
    owner: u32,
    written: u32,
    chunk: Chunk,
    /// By section: offset of its [`DwellRecord`]'s fixed part divided by 8, 0 if it has none.
    dwells: [u32; SECTIONS_MAX + 1],
}

/// How an instance went.
pub struct Stay {
    /// Section, not 0.
    pub section: u16,
    /// `INSTANCE_…` flags.
    pub flags: u16,
    /// Its number.
    pub number: u32,
    /// Entry and exit.
    pub in_ns: u64,
    /// Exit.
    pub out_ns: u64,
    /// Time in sections within.
    pub nested_ns: u64,
}

impl Book {
    /// Begins anew, for the thread of this ordinal; `is_used`: there may be something in it.
    pub fn begin(&mut self, owner: u32, is_used: bool) {
        (self.owner, self.written, self.chunk) = (owner, 0, Chunk::NONE);
        if is_used {
            self.dwells.fill(0);
        }
    }

    /// Counts an instance that begins, of the thread; gives how many there were.
    pub fn enter(&mut self, section: u16) -> u32 {
        let mut before = 0;
        self.update(section, |record| {
            before = record.entered;
            record.entered += 1;
        });
        before as u32
    }

    /// Books an instance that has ended.
    pub fn leave(&mut self, stay: &Stay) {
        let mut before = u64::MAX;
        self.update(stay.section, |record| {
            before = record.count;
            record.count += 1;
            record.dwell_ns += stay.out_ns.saturating_sub(stay.in_ns);
            record.nested_ns += stay.nested_ns;
        });
        let wanted = before < FIRST || before < OF_A_SECTION_MAX && self.written < INSTANCES_MAX;
        if !wanted || !self.log(stay) {
            self.update(stay.section, |record| record.unlogged += 1);
        }
    }

    fn update(&mut self, section: u16, change: impl FnOnce(&mut DwellRecord)) {
        let owner = self.owner;
        let Some(slot) = self.dwells.get_mut(usize::from(section)).filter(|_| file::is_open()) else {
            return;
        };
        if *slot == 0 {
            let fixed = DwellRecord { section: section.into(), owner, ..DwellRecord::default() };
            let place = records::append(Patience::Wait, Kind::Dwell, fixed.as_bytes(), &[]);
            *slot = place.map_or(0, |p| (p / 8) as u32);
        }
        if *slot != 0 {
            // SAFETY: the offset of the fixed part of a record that only this thread changes, or the one that ends the
            // process; the compiler may not keep what readers of a running file are to see.
            unsafe {
                let record = file::object::<DwellRecord>(u64::from(*slot) * 8);
                let mut value = record.read_volatile();
                change(&mut value);
                record.write_volatile(value);
            }
        }
    }

    /// Writes when it was; false if there is no room.
    fn log(&mut self, stay: &Stay) -> bool {
        if !file::is_open() {
            return false;
        }
        let length = INSTANCE_LEN as u64;
        let room = self.chunk.reserve(length).or_else(|| {
            let wanted = self.chunk.next_length(CHUNK_MAX);
            self.chunk = self.chunk.claim_next(ChunkKind::Instances, self.owner, 0, wanted)?;
            self.chunk.reserve(length)
        });
        let Some((_, address)) = room else {
            file::count_refused();
            return false;
        };
        let Stay { section, flags, number, in_ns, out_ns, .. } = *stay;
        // SAFETY: reserved for this instance.
        unsafe { address.cast::<Instance>().write(Instance { section, flags, number, in_ns, out_ns }) };
        self.chunk.commit(length);
        self.written += 1;
        true
    }
}
