//! Signal context: yes
//!
//! The entries of `.eh_frame` and `.debug_frame`: frame descriptions (FDE) and what is common to many of them (CIE).

use crate::error::TableError;
use crate::reader::{OMIT, PointerBase, Reader};
use crate::section::Section;

/// Which of the two layouts a section has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.eh_frame`: loaded with the program, entries refer back to their CIE.
    EhFrame,
    /// `.debug_frame`: entries name their CIE by offset and have no pointer encodings.
    DebugFrame,
}

/// A section of call frame entries and what its pointers are relative to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frames<'a> {
    pub(crate) section: Section<'a>,
    pub(crate) format: Format,
    pub(crate) base: PointerBase,
}

/// A byte range of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Result<Self, TableError> {
        match (u32::try_from(start), u32::try_from(end)) {
            (Ok(start), Ok(end)) => Ok(Self { start, end }),
            _ => Err(TableError::OutOfBounds),
        }
    }
}

/// A common information entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cie {
    pub(crate) code_factor: u64,
    pub(crate) data_factor: i64,
    pub(crate) return_column: u16,
    pub(crate) encoding: u8,
    pub(crate) signal: bool,
    augmented: bool,
    pub(crate) instructions: Span,
}

/// A frame description entry: the code it covers and the instructions that describe its frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fde<'a> {
    pub(crate) frames: Frames<'a>,
    pub(crate) cie: Cie,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) instructions: Span,
}

/// What stands at an offset of a section, before it is parsed.
pub(crate) enum Entry {
    /// The end mark of `.eh_frame`, or padding.
    End,
    Cie {
        next: usize,
    },
    Fde {
        next: usize,
    },
}

/// An entry's frame: a reader limited to it, the offset of its id field, and the id.
struct Opened<'a> {
    reader: Reader<'a>,
    id_offset: usize,
    id: u64,
    wide: bool,
}

impl<'a> Frames<'a> {
    /// Says what stands at `offset` and where the next entry begins.
    pub(crate) fn entry_at(&self, offset: usize) -> Result<Entry, TableError> {
        match self.open(offset)? {
            None => Ok(Entry::End),
            Some(opened) if self.is_cie(&opened) => Ok(Entry::Cie { next: opened.reader.end() }),
            Some(opened) => Ok(Entry::Fde { next: opened.reader.end() }),
        }
    }

    /// Parses the frame description entry at byte `offset`.
    pub(crate) fn fde_at(&self, offset: usize) -> Result<Fde<'a>, TableError> {
        let opened = self.open(offset)?.ok_or(TableError::OutOfBounds)?;
        if self.is_cie(&opened) {
            return Err(TableError::OutOfBounds);
        }
        let cie_offset = match self.format {
            Format::EhFrame => (opened.id_offset as u64).checked_sub(opened.id),
            Format::DebugFrame => Some(opened.id),
        };
        let cie_offset = cie_offset.and_then(|offset| usize::try_from(offset).ok());
        let cie = self.cie_at(cie_offset.ok_or(TableError::OutOfBounds)?)?;
        let mut reader = opened.reader;
        let start = reader.pointer(cie.encoding, self.base).ok_or(TableError::Encoding)?;
        let length = reader.encoded_value(cie.encoding).ok_or(TableError::Encoding)?;
        if cie.augmented {
            let length = reader.uleb().ok_or(TableError::OutOfBounds)?;
            reader.take(length).ok_or(TableError::OutOfBounds)?;
        }
        let instructions = Span::new(reader.position(), reader.end())?;
        let end = start.checked_add(length).ok_or(TableError::OutOfBounds)?;
        Ok(Fde { frames: *self, cie, start, end, instructions })
    }

    fn open(&self, offset: usize) -> Result<Option<Opened<'a>>, TableError> {
        self.open_checked(offset).ok_or(TableError::OutOfBounds)
    }

    fn open_checked(&self, offset: usize) -> Option<Option<Opened<'a>>> {
        let mut reader = Reader::new(self.section, 0);
        reader.seek(offset)?;
        let short = reader.u32()?;
        let wide = short == u32::MAX;
        let length = if wide { reader.u64()? } else { u64::from(short) };
        if length == 0 {
            return Some(None);
        }
        let id_offset = reader.position();
        reader.limit(id_offset.checked_add(usize::try_from(length).ok()?)?)?;
        // The id of `.eh_frame` has four bytes even in an entry with a 64-bit length (as libgcc and gimli read it).
        let id = match (self.format, wide) {
            (Format::DebugFrame, true) => reader.u64()?,
            _ => u64::from(reader.u32()?),
        };
        Some(Some(Opened { reader, id_offset, id, wide }))
    }

    fn is_cie(&self, opened: &Opened<'_>) -> bool {
        match (self.format, opened.wide) {
            (Format::EhFrame, _) => opened.id == 0,
            (Format::DebugFrame, false) => opened.id == u64::from(u32::MAX),
            (Format::DebugFrame, true) => opened.id == u64::MAX,
        }
    }

    fn cie_at(&self, offset: usize) -> Result<Cie, TableError> {
        let opened = self.open(offset)?.ok_or(TableError::OutOfBounds)?;
        if !self.is_cie(&opened) {
            return Err(TableError::OutOfBounds);
        }
        let mut reader = opened.reader;
        let version = reader.u8().ok_or(TableError::OutOfBounds)?;
        if !matches!(version, 1 | 3 | 4) {
            return Err(TableError::Version);
        }
        let letters = reader.short_string().ok_or(TableError::Augmentation)?;
        if version == 4 && (reader.u8() != Some(8) || reader.u8() != Some(0)) {
            return Err(TableError::Version);
        }
        let mut cie = Self::cie_factors(&mut reader, version).ok_or(TableError::OutOfBounds)?;
        if let Some((first, letters)) = letters.split_first() {
            if *first != b'z' {
                return Err(TableError::Augmentation);
            }
            cie.augmented = true;
            let length = reader.uleb().ok_or(TableError::OutOfBounds)?;
            let start = reader.position();
            reader.take(length).ok_or(TableError::OutOfBounds)?;
            let end = reader.position();
            reader.seek(start).ok_or(TableError::OutOfBounds)?;
            Self::augment(&mut cie, &mut reader, letters)?;
            if reader.position() > end {
                return Err(TableError::Augmentation);
            }
            reader.seek(end).ok_or(TableError::OutOfBounds)?;
        }
        cie.instructions = Span::new(reader.position(), reader.end())?;
        Ok(cie)
    }

    fn cie_factors(reader: &mut Reader<'a>, version: u8) -> Option<Cie> {
        let code_factor = reader.uleb()?;
        let data_factor = reader.sleb()?;
        let return_column = if version == 1 { u16::from(reader.u8()?) } else { reader.register()? };
        let instructions = Span::default();
        Some(Cie {
            code_factor,
            data_factor,
            return_column,
            encoding: 0,
            signal: false,
            augmented: false,
            instructions,
        })
    }

    fn augment(cie: &mut Cie, reader: &mut Reader<'a>, letters: &[u8]) -> Result<(), TableError> {
        for letter in letters {
            match letter {
                b'R' => cie.encoding = reader.u8().ok_or(TableError::OutOfBounds)?,
                b'L' => {
                    reader.u8().ok_or(TableError::OutOfBounds)?;
                }
                b'P' => {
                    let encoding = reader.u8().ok_or(TableError::OutOfBounds)?;
                    if encoding != OMIT {
                        reader.encoded_value(encoding).ok_or(TableError::Encoding)?;
                    }
                }
                b'S' => cie.signal = true,
                // Return addresses signed with the B key; they are stripped whichever key signed them.
                b'B' => {}
                // Unknown letters can only be skipped, with all that follows them; the encoding may be among it.
                _ => return Err(TableError::Augmentation),
            }
        }
        Ok(())
    }
}
