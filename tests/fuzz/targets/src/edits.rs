//! Edits of files that are in order: an input is short, and what it does not touch stays sound.

use std::ops::Range;

use object::{Object, ObjectSection};

use crate::input::Input;

/// Edits in an input; a longer one says nothing new.
const EDITS_MAX: usize = 64;

/// A file, and the parts of it that edits choose from.
pub(crate) struct Editable {
    pub name: String,
    pub bytes: Vec<u8>,
    parts: Vec<Range<usize>>,
}

impl Editable {
    /// A file of one part.
    pub fn whole(name: String, bytes: Vec<u8>) -> Editable {
        let parts = std::iter::once(0..bytes.len()).collect();
        Editable { name, bytes, parts }
    }

    /// An ELF file: its sections, its heads, and the table of its sections.
    pub fn elf(name: String, bytes: Vec<u8>) -> Editable {
        let mut parts: Vec<Range<usize>> = std::iter::once(0..bytes.len().min(0x200)).collect();
        if let Ok(file) = object::File::parse(&*bytes) {
            let ranges = file.sections().filter_map(|section| section.file_range());
            parts.extend(ranges.map(|(start, size)| start as usize..(start + size) as usize));
        }
        let end = parts.iter().map(|part| part.end).max().unwrap_or(0);
        parts.push(end..bytes.len());
        parts.retain(|part| !part.is_empty() && part.end <= bytes.len());
        Editable { name, bytes, parts }
    }
}

/// The files after the edits of an input: for each one byte that chooses the file and its part, two for the place in it,
/// one that says what is done and how long it is, and what is written.
pub(crate) fn edited(files: &[Editable], input: &mut Input) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = files.iter().map(|file| file.bytes.clone()).collect();
    for _ in 0..EDITS_MAX {
        if input.is_empty() {
            break;
        }
        let mut choice =
            usize::from(input.byte()) % files.iter().map(|file| file.parts.len()).sum::<usize>().max(1);
        let place = usize::from(input.u16());
        let action = input.byte();
        let length = usize::from(action % 64);
        for (file, bytes) in files.iter().zip(&mut all) {
            match file.parts.get(choice) {
                Some(part) => {
                    edit(
                        bytes,
                        part,
                        place,
                        action / 64,
                        input.bytes(if action < 128 { length } else { 1 }),
                        length,
                    );
                    break;
                }
                None => choice -= file.parts.len(),
            }
        }
    }
    all
}

fn edit(bytes: &mut Vec<u8>, part: &Range<usize>, place: usize, action: u8, new: &[u8], length: usize) {
    // An edit before this may have cut the place off.
    let at = (part.start + place % part.len()).min(bytes.len());
    let room = bytes.len() - at;
    let first = new.first().copied().unwrap_or_default();
    match action {
        // Written over what is there.
        0 | 1 => bytes.iter_mut().skip(at).zip(new).for_each(|(byte, new)| *byte = *new),
        // Added to a byte, in which a number may begin.
        2 if length < 32 => {
            bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = byte.wrapping_add(first))
        }
        // One byte all over.
        2 => bytes[at..at + room.min(4 * length)].fill(first),
        // Cut off.
        _ => bytes.truncate(at),
    }
}
