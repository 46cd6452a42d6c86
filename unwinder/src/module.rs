//! Signal context: yes
//!
//! One loaded object: where its code lies and where its unwind tables are.

use core::ops::Range;

use crate::entry::{Fde, Format, Frames};
use crate::error::TableError;
use crate::header::{Candidate, Header};
use crate::index::{self, IndexEntry};
use crate::reader::PointerBase;
use crate::section::Section;

/// Where a module's frame descriptions are found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tables<'a>(pub(crate) Source<'a>);

#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Source<'a> {
    #[default]
    None,
    Header {
        header: Header<'a>,
        frames: Frames<'a>,
    },
    Index {
        entries: &'a [IndexEntry],
        frames: Frames<'a>,
    },
}

impl<'a> Tables<'a> {
    /// A module without unwind tables.
    pub const NONE: Self = Self(Source::None);

    /// Tables searched through `.eh_frame_hdr`. `eh_frame` must begin where the header says, and may be longer than the
    /// section (it is cut there).
    pub fn from_header(eh_frame_hdr: Section<'a>, eh_frame: Section<'a>) -> Result<Self, TableError> {
        let header = Header::parse(eh_frame_hdr)?;
        if header.frames_address() != eh_frame.address() {
            return Err(TableError::OutOfBounds);
        }
        let base = PointerBase { bias: 0, data: Some(eh_frame_hdr.address()) };
        Ok(Self(Source::Header {
            header,
            frames: Frames { section: eh_frame, format: Format::EhFrame, base },
        }))
    }

    /// Tables searched through the `.eh_frame_hdr` that is mapped at `header`; `.eh_frame` is found through it and
    /// reaches at most to the end of the range of `readable` (the module's readable segments) that it begins in.
    ///
    /// # Safety
    /// `header` and `readable` must stay mapped, readable and unchanged for all of `'a`.
    pub unsafe fn from_mapped_header(
        header: Range<u64>,
        readable: &[Range<u64>],
    ) -> Result<Self, TableError> {
        let length = usize::try_from(header.end.saturating_sub(header.start));
        // SAFETY: passed on to the caller.
        let section = unsafe { Section::from_mapped(header.start, length.unwrap_or(0)) };
        let frames = Header::parse(section)?.frames_address();
        let segment = readable.iter().find(|range| range.contains(&frames)).ok_or(TableError::OutOfBounds)?;
        let length = usize::try_from(segment.end - frames).map_err(|_| TableError::OutOfBounds)?;
        // SAFETY: the range ends with a readable segment of the caller's.
        Self::from_header(section, unsafe { Section::from_mapped(frames, length) })
    }

    /// The `.eh_frame_hdr` and the `.eh_frame` (possibly longer) of tables that are searched through a header: what has
    /// to be copied for [`from_header`](Self::from_header) to work without the module.
    pub fn sections(&self) -> Option<(Section<'a>, Section<'a>)> {
        match &self.0 {
            Source::Header { header, frames } => Some((header.section(), frames.section)),
            Source::None | Source::Index { .. } => None,
        }
    }

    /// Tables searched through an index made by [`index::build`] from the same section, format and bias.
    pub fn from_index(entries: &'a [IndexEntry], section: Section<'a>, format: Format, bias: u64) -> Self {
        let base = PointerBase { bias, data: None };
        Self(Source::Index { entries, frames: Frames { section, format, base } })
    }
}

/// One loaded object. A plain value: what it borrows must stay as it is while the module is in use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Module<'a> {
    /// First address that belongs to the module's code.
    pub start: u64,
    /// Address after the last one.
    pub end: u64,
    /// Given back in each [`Frame`](crate::Frame) of this module.
    pub id: u32,
    /// Address of the ELF entry point, 0 if there is none.
    pub entry: u64,
    /// Whether this is the dynamic loader.
    pub is_loader: bool,
    /// The code bytes that may be read, to see whether an address follows a call. Empty if none may be.
    pub code: Section<'a>,
    /// The unwind tables.
    pub tables: Tables<'a>,
    /// Whether tables and code must not be read just now, because the module may be going away. Rules that are already
    /// cached stay good: code that is on a stack is still there.
    pub closed: bool,
}

/// Where a module lies: all that a frame needs to know of it whose rule is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// As [`Module::start`].
    pub start: u64,
    /// As [`Module::end`].
    pub end: u64,
    /// As [`Module::id`].
    pub id: u32,
    /// As [`Module::closed`].
    pub closed: bool,
}

impl Extent {
    /// Whether `pc` belongs to the module.
    #[inline]
    pub fn contains(&self, pc: u64) -> bool {
        self.start <= pc && pc < self.end
    }
}

/// What the tables say of an address.
#[derive(Clone, Debug)]
pub(crate) struct Location<'a> {
    /// The description that covers it.
    pub(crate) fde: Option<Fde<'a>>,
    /// If none does: the addresses around it that none covers.
    pub(crate) gap: Range<u64>,
}

impl<'a> Module<'a> {
    /// Whether `pc` belongs to the module.
    #[inline]
    pub fn contains(&self, pc: u64) -> bool {
        self.start <= pc && pc < self.end
    }

    /// Where it lies.
    pub fn extent(&self) -> Extent {
        Extent { start: self.start, end: self.end, id: self.id, closed: self.closed }
    }

    /// Whether there are any frame descriptions.
    pub(crate) fn has_tables(&self) -> bool {
        !matches!(self.tables.0, Source::None)
    }

    /// Finds the frame description of `pc`, or the gap it lies in.
    pub(crate) fn locate(&self, pc: u64) -> Result<Location<'a>, TableError> {
        let (frames, candidate) = match &self.tables.0 {
            _ if self.closed => return Ok(Location { fde: None, gap: self.start..self.end }),
            Source::None => return Ok(Location { fde: None, gap: self.start..self.end }),
            Source::Header { header, frames } => {
                let candidate = header.find(pc).ok_or(TableError::OutOfBounds)?;
                let offset = match candidate.fde {
                    Some(fde) => {
                        Some(fde.checked_sub(frames.section.address()).ok_or(TableError::OutOfBounds)?)
                    }
                    None => None,
                };
                (frames, Candidate { fde: offset, ..candidate })
            }
            Source::Index { entries, frames } => (frames, index::find(entries, pc)),
        };
        let mut gap = self.start..candidate.next_start.unwrap_or(self.end).min(self.end);
        if let Some(offset) = candidate.fde {
            let offset = usize::try_from(offset).map_err(|_| TableError::OutOfBounds)?;
            let fde = frames.fde_at(offset)?;
            if fde.start <= pc && pc < fde.end {
                return Ok(Location { fde: Some(fde), gap: 0..0 });
            }
            gap.start = gap.start.max(fde.end);
        }
        Ok(Location { fde: None, gap })
    }
}
