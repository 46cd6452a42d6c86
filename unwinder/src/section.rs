//! Signal context: yes
//!
//! A piece of a loaded object: its bytes and the address they have in the process. Every read is checked against the
//! bytes, so a table that lies about sizes or offsets yields `None`, never a fault.

/// Bytes of a loaded object together with the address of the first one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Section<'a> {
    address: u64,
    bytes: &'a [u8],
}

impl<'a> Section<'a> {
    /// Describes `bytes`, which stand at `address` in the process (or would, for tables read from a file).
    pub const fn new(address: u64, bytes: &'a [u8]) -> Self {
        Self { address, bytes }
    }

    /// Describes `length` mapped bytes at `address`.
    ///
    /// # Safety
    /// The range must be readable and unchanged for all of `'a`.
    pub const unsafe fn from_mapped(address: u64, length: usize) -> Self {
        if address == 0 || length == 0 || length > isize::MAX as usize {
            return Self { address, bytes: &[] };
        }
        // SAFETY: the caller vouches for `length` readable, unchanging bytes at `address`; it is not null and not longer
        // than a slice may be.
        let bytes = unsafe { core::slice::from_raw_parts(address as usize as *const u8, length) };
        Self { address, bytes }
    }

    /// Address of the first byte.
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// The bytes.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Address after the last byte.
    pub const fn end(&self) -> u64 {
        self.address.saturating_add(self.bytes.len() as u64)
    }

    /// `N` bytes at `address`, if all of them lie in the section.
    pub(crate) fn array<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let offset = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.bytes.get(offset..offset.checked_add(N)?)?.try_into().ok()
    }

    /// The little-endian 32-bit word at byte `offset`.
    pub(crate) fn word_at(&self, offset: usize) -> Option<u32> {
        let bytes = self.bytes.get(offset..offset.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_stay_inside() {
        let section = Section::new(0x1000, &[1, 2, 3, 4, 5]);
        assert_eq!(section.array::<2>(0x1003), Some([4, 5]));
        assert_eq!(section.array::<2>(0x1004), None);
        assert_eq!(section.array::<1>(0xfff), None);
        assert_eq!(section.array::<1>(u64::MAX), None);
        assert_eq!(section.word_at(1), Some(0x0504_0302));
        assert_eq!(section.word_at(2), None);
        assert_eq!(section.word_at(usize::MAX), None);
        assert_eq!(section.end(), 0x1005);
    }

    #[test]
    fn mapped_bytes() {
        let bytes = [7u8; 3];
        // SAFETY: the array outlives the section.
        let section = unsafe { Section::from_mapped(bytes.as_ptr() as u64, 3) };
        assert_eq!(section.bytes(), &[7, 7, 7]);
        // SAFETY: an absent range is described as empty and nothing is read.
        assert!(unsafe { Section::from_mapped(0, 3) }.bytes().is_empty());
    }
}
