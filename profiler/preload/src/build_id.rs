//! Signal context: yes. The GNU build id in a module's mapped notes.

use falloff_format::records::BUILD_ID_MAX;

const NT_GNU_BUILD_ID: u32 = 3;

/// A build id: bytes and how many of them count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BuildId {
    /// Zero padded.
    pub bytes: [u8; BUILD_ID_MAX],
    /// 0 if the module has none.
    pub len: u32,
}

impl BuildId {
    /// No build id.
    pub const NONE: BuildId = BuildId { bytes: [0; BUILD_ID_MAX], len: 0 };

    /// Finds it in the bytes of a PT_NOTE segment.
    pub fn in_notes(mut notes: &[u8]) -> Option<BuildId> {
        loop {
            let word = |i: usize| Some(u32::from_ne_bytes(notes.get(4 * i..4 * i + 4)?.try_into().ok()?));
            let (name_len, desc_len, kind) = (word(0)? as usize, word(1)? as usize, word(2)?);
            let desc_at = 12usize.checked_add(name_len.checked_next_multiple_of(4)?)?;
            let desc = notes.get(desc_at..desc_at.checked_add(desc_len)?)?;
            if kind == NT_GNU_BUILD_ID && notes.get(12..16) == Some(b"GNU\0") && name_len == 4 {
                let mut id = BuildId::NONE;
                let kept = desc.get(..desc.len().min(BUILD_ID_MAX))?;
                id.bytes.get_mut(..kept.len())?.copy_from_slice(kept);
                id.len = kept.len() as u32;
                return Some(id);
            }
            notes = notes.get(desc_at.checked_add(desc_len.checked_next_multiple_of(4)?)?..)?;
        }
    }
}
