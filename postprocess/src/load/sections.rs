//! What a measurement says of sections.

use falloff_format::Measurement;
use falloff_format::sections::{
    CheckpointRecord, CommunicatorRecord, DwellRecord, INSTANCE_UNCLOSED, SectionRecord,
};

use super::source::text_of;

/// Sections of a process. Indices are those of `sections` here; times are of its own clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProcessSections {
    /// Parents before their children.
    pub sections: Vec<ProcessSection>,
    pub communicators: Vec<CommunicatorRecord>,
    pub checkpoints: Vec<CheckpointRecord>,
    /// With the index of the section and the ordinal of the thread.
    pub dwells: Vec<(u32, u32, DwellRecord)>,
    pub stays: Vec<Stay>,
}

/// A section of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessSection {
    pub parent: Option<u32>,
    /// Number of the communicator in the file.
    pub communicator: u32,
    pub label: String,
}

/// One time that a thread was in a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stay {
    pub section: u32,
    pub number: u32,
    pub in_ns: u64,
    pub out_ns: u64,
    pub unclosed: bool,
}

/// Gathers the records, which may stand in any order.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    sections: Vec<(SectionRecord, String)>,
    communicators: Vec<CommunicatorRecord>,
    checkpoints: Vec<CheckpointRecord>,
    dwells: Vec<DwellRecord>,
}

/// Index of each number of a section.
pub(super) type Numbers = rustc_hash::FxHashMap<u32, u32>;

impl Gathered {
    pub fn section(&mut self, record: SectionRecord, label: &[u8]) {
        self.sections.push((record, text_of(label)));
    }

    pub fn communicator(&mut self, record: CommunicatorRecord) {
        self.communicators.push(record);
    }

    pub fn checkpoint(&mut self, record: CheckpointRecord) {
        self.checkpoints.push(record);
    }

    pub fn dwell(&mut self, record: DwellRecord) {
        self.dwells.push(record);
    }

    /// Everything by index, and the index of each section's number. What refers to a section that is not there is told to
    /// `warn`.
    pub fn finish(
        mut self,
        measurement: &Measurement<'_>,
        warn: &mut dyn FnMut(String),
    ) -> (ProcessSections, Numbers) {
        // A number is given after that of the section around it.
        self.sections.sort_by_key(|(record, _)| record.id);
        self.sections.dedup_by_key(|(record, _)| record.id);
        let mut numbers = Numbers::default();
        let mut out = ProcessSections::default();
        for (record, label) in self.sections {
            let parent = numbers.get(&record.parent).copied();
            numbers.insert(record.id, out.sections.len() as u32);
            out.sections.push(ProcessSection { parent, communicator: record.communicator, label });
        }
        let mut lost = 0u64;
        for dwell in self.dwells {
            match numbers.get(&dwell.section) {
                Some(section) => out.dwells.push((*section, dwell.owner, dwell)),
                None => lost += 1,
            }
        }
        for instance in measurement.instances() {
            match instance {
                Ok((_, i)) => match numbers.get(&i.section.into()) {
                    Some(section) => out.stays.push(Stay {
                        section: *section,
                        number: i.number,
                        in_ns: i.in_ns,
                        out_ns: i.out_ns,
                        unclosed: i.flags & INSTANCE_UNCLOSED != 0,
                    }),
                    None => lost += 1,
                },
                Err(error) => warn(format!("{error}; times of sections are missing")),
            }
        }
        if lost > 0 {
            warn(format!("{lost} sums and times of sections are left out: the sections are not there"));
        }
        (out.communicators, out.checkpoints) = (self.communicators, self.checkpoints);
        (out, numbers)
    }
}
