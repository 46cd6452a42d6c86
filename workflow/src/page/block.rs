//! Columns of numbers and texts as bytes.

use serde::Serialize;

/// How the numbers of a block are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Encoding {
    /// Natural numbers, seven bits a byte, the lowest first; all bytes but a number's last have the highest bit.
    Natural,
    /// Whole numbers, of which n ≥ 0 is written as the natural number 2n and n < 0 as −2n − 1.
    Whole,
    /// UTF-8.
    Text,
}

/// What the head says of a block.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct BlockInfo {
    name: String,
    encoding: Encoding,
    /// Numbers, or UTF-16 code units of a text.
    count: usize,
    bytes: usize,
}

/// Blocks in order, each with a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Blocks {
    pub infos: Vec<BlockInfo>,
    pub bytes: Vec<u8>,
}

impl Blocks {
    /// Adds natural numbers.
    pub fn natural(&mut self, name: &str, numbers: impl IntoIterator<Item = u64>) {
        self.add(name, Encoding::Natural, |bytes| {
            numbers.into_iter().map(|number| push(bytes, number)).count()
        });
    }

    /// Adds whole numbers.
    pub fn whole(&mut self, name: &str, numbers: impl IntoIterator<Item = i64>) {
        self.add(name, Encoding::Whole, |bytes| {
            numbers.into_iter().map(|n| push(bytes, (n << 1 ^ n >> 63) as u64)).count()
        });
    }

    /// Adds a text.
    pub fn text(&mut self, name: &str, text: &str) {
        self.add(name, Encoding::Text, |bytes| {
            bytes.extend_from_slice(text.as_bytes());
            units(text)
        });
    }

    /// Adds texts: their lengths under `name.lengths`, in UTF-16 code units, and all of them in one.
    pub fn texts<'a>(&mut self, name: &str, texts: impl Iterator<Item = &'a str> + Clone) {
        self.natural(&format!("{name}.lengths"), texts.clone().map(|text| units(text) as u64));
        self.text(name, &texts.collect::<String>());
    }

    fn add(&mut self, name: &str, encoding: Encoding, write: impl FnOnce(&mut Vec<u8>) -> usize) {
        let start = self.bytes.len();
        let count = write(&mut self.bytes);
        self.infos.push(BlockInfo { name: name.into(), encoding, count, bytes: self.bytes.len() - start });
    }
}

/// Length of a text as the browser counts it.
fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_short_as_they_are_small() {
        let mut blocks = Blocks::default();
        blocks.natural("n", [0, 127, 128, 300]);
        blocks.whole("w", [0, -1, 1, -64, 64, i64::MIN]);
        let natural = [0, 127, 0x80, 1, 0xac, 2];
        let whole = [0, 1, 2, 127, 0x80, 1];
        assert_eq!(blocks.bytes[..12], [natural, whole].concat());
        assert_eq!(blocks.bytes.len(), 12 + 10);
        assert_eq!((blocks.infos[1].count, blocks.infos[1].bytes), (6, 16));
    }

    #[test]
    fn texts_have_lengths_of_the_browser() {
        let mut blocks = Blocks::default();
        blocks.texts("t", ["aé", "𝛼", ""].into_iter());
        assert_eq!(blocks.bytes[..3], [2, 2, 0]);
        assert_eq!((&blocks.infos[1].name[..], blocks.infos[1].count), ("t", 4));
        assert_eq!(&blocks.bytes[3..], "aé𝛼".as_bytes());
    }
}
