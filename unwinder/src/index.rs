//! Signal context: yes, except [`build`], which may take long.
//!
//! A sorted index of frame descriptions for modules whose linker made none: `.debug_frame` only, or no `.eh_frame_hdr`.
//! It is built beforehand into memory of the caller's.

use crate::entry::{Entry, Format, Frames};
use crate::error::TableError;
use crate::header::Candidate;
use crate::reader::PointerBase;
use crate::section::Section;

/// One stretch of code and the offset of its frame description in the section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexEntry {
    /// First address, as loaded.
    pub start: u64,
    /// Address after the last one.
    pub end: u64,
    /// Byte offset of the entry in its section.
    pub offset: u64,
}

/// Number of frame descriptions in a section: the room that [`build`] needs at most.
pub fn count(section: Section<'_>, format: Format) -> Result<usize, TableError> {
    let mut count = 0usize;
    let frames = frames(section, format, 0);
    visit(&frames, |_| {
        count += 1;
        Ok(())
    })?;
    Ok(count)
}

/// Fills `entries` with the descriptions of `section`, sorted, and yields how many there are.
///
/// `bias` is added to absolute addresses: the load bias for sections that were read from a file, 0 for those that the
/// loader has relocated. Descriptions that cover nothing are left out, and so are those that the linker has discarded
/// (their code starts at address 0).
pub fn build(
    section: Section<'_>,
    format: Format,
    bias: u64,
    entries: &mut [IndexEntry],
) -> Result<usize, TableError> {
    let frames = frames(section, format, bias);
    let mut count = 0usize;
    visit(&frames, |offset| {
        // One description that cannot be read costs its own code only.
        let Ok(fde) = frames.fde_at(offset) else { return Ok(()) };
        if fde.start == bias || fde.start >= fde.end {
            return Ok(());
        }
        let slot = entries.get_mut(count).ok_or(TableError::IndexFull)?;
        *slot = IndexEntry { start: fde.start, end: fde.end, offset: offset as u64 };
        count += 1;
        Ok(())
    })?;
    if let Some(filled) = entries.get_mut(..count) {
        filled.sort_unstable_by_key(|entry| (entry.start, entry.end));
    }
    Ok(count)
}

/// Looks `pc` up; the candidate's `fde` is an offset into the section.
pub(crate) fn find(entries: &[IndexEntry], pc: u64) -> Candidate {
    let after = entries.partition_point(|entry| entry.start <= pc);
    let fde = after.checked_sub(1).and_then(|index| entries.get(index)).map(|entry| entry.offset);
    Candidate { fde, next_start: entries.get(after).map(|entry| entry.start) }
}

fn frames(section: Section<'_>, format: Format, bias: u64) -> Frames<'_> {
    Frames { section, format, base: PointerBase { bias, data: None } }
}

/// Calls `each` with the offset of every frame description.
fn visit(
    frames: &Frames<'_>,
    mut each: impl FnMut(usize) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let length = frames.section.bytes().len();
    let mut offset = 0usize;
    while offset.saturating_add(4) <= length {
        match frames.entry_at(offset)? {
            // `.eh_frame` ends here; in `.debug_frame` it is padding.
            Entry::End if frames.format == Format::EhFrame => break,
            Entry::End => offset += 4,
            Entry::Cie { next } => offset = next,
            Entry::Fde { next } => {
                each(offset)?;
                offset = next;
            }
        }
    }
    Ok(())
}
