//! Bytes of a file that know where in it they will be.
//!
//! All numbers are little-endian. Addresses are counted from the beginning of the file; gaps are zero.

/// A growing part of a file.
#[derive(Debug)]
pub(super) struct Section {
    base: u64,
    bytes: Vec<u8>,
}

impl Section {
    /// A section that begins at the first address from `from` on that is a multiple of 8.
    pub fn from(from: u64) -> Section {
        Section { base: from.next_multiple_of(8), bytes: Vec::new() }
    }

    /// Where it begins.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Where the next byte goes.
    pub fn here(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    /// What it holds.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Size and address, as file headers have them.
    pub fn extent(&self) -> (u64, u64) {
        (self.bytes.len() as u64, self.base)
    }

    /// Goes on at a multiple of `alignment`.
    pub fn align(&mut self, alignment: u64) {
        let wanted = self.here().next_multiple_of(alignment) - self.base;
        self.bytes.resize(wanted as usize, 0);
    }

    /// Goes on at least so many bytes behind the beginning.
    pub fn pad_to(&mut self, size: u64) {
        self.bytes.resize(self.bytes.len().max(size as usize), 0);
    }

    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub fn u16(&mut self, value: u16) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn u64(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn f64(&mut self, value: f64) {
        self.bytes.extend(value.to_le_bytes());
    }

    /// What another section holds, wherever that would be.
    pub fn append(&mut self, other: &Section) {
        self.bytes.extend(&other.bytes);
    }

    /// A string with its end, and its address.
    pub fn text(&mut self, text: &str) -> u64 {
        let address = self.here();
        self.bytes.extend(ascii(text).as_bytes());
        self.u8(0);
        address
    }

    /// As [`Section::text`], with the line breaks as they are.
    pub fn lines(&mut self, text: &str) -> u64 {
        let address = self.here();
        let lines: Vec<String> = text.lines().map(ascii).collect();
        self.bytes.extend(lines.join("\n").as_bytes());
        self.u8(0);
        address
    }

    /// Puts an address where one was left open.
    pub fn set_u64(&mut self, address: u64, value: u64) {
        let at = (address - self.base) as usize;
        self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
}

/// A string as it is written: characters beyond ASCII and controls as `\u{…}`.
///
/// The format has UTF-8, but Hatchet refuses a whole database for one byte above 127, and hpcviewer takes each byte for a
/// character.
pub(super) fn ascii(text: &str) -> String {
    let plain = |c: char| (' '..='~').contains(&c);
    if text.chars().all(plain) {
        return text.to_owned();
    }
    text.chars().map(|c| if plain(c) { c.to_string() } else { c.escape_unicode().to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_the_file() {
        let mut section = Section::from(17);
        assert_eq!(section.base(), 24);
        section.u16(1);
        section.align(8);
        assert_eq!(section.here(), 32);
        section.u64(0);
        let address = section.text("ab");
        section.set_u64(32, address);
        assert_eq!(section.extent(), (19, 24));
        assert_eq!(section.bytes()[8..], [40, 0, 0, 0, 0, 0, 0, 0, b'a', b'b', 0]);
        section.lines("c\u{1}\nd");
        assert!(section.bytes().ends_with(b"\0c\\u{1}\nd\0"));
        section.pad_to(30);
        section.pad_to(5);
        assert_eq!(section.here(), 24 + 30);
    }

    #[test]
    fn strings_are_ascii() {
        assert_eq!(ascii("f<int>(\"x\")"), "f<int>(\"x\")");
        assert_eq!(ascii("größe\0\t"), "gr\\u{f6}\\u{df}e\\u{0}\\u{9}");
    }
}
