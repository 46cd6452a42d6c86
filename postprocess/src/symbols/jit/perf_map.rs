//! The perf map: a text file with one function a line, `START SIZE NAME`, numbers hexadecimal.

use std::sync::Arc;

use super::code_map::{Code, CodeMap};

/// Functions of a perf map; lines that make no sense are skipped.
pub(super) fn parse(bytes: &[u8]) -> CodeMap {
    let mut map = CodeMap::default();
    for (start, size, name) in bytes.split(|b| *b == b'\n').filter_map(entry) {
        map.insert(start, size, Arc::new(Code { name: name.into(), lines: Vec::new() }));
    }
    map
}

/// Start, size and name; the name may hold blanks.
fn entry(line: &[u8]) -> Option<(u64, u64, String)> {
    let text = String::from_utf8_lossy(line);
    let (start, rest) = text.split_once(' ')?;
    let (size, name) = rest.split_once(' ')?;
    let name = name.trim();
    (!name.is_empty()).then_some(())?;
    Some((number(start)?, number(size)?, name.to_owned()))
}

fn number(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_as_in_the_map() {
        let map = parse(b"7f0010 20 LazyCompile:~add /srv/a b.js:3\r\n# note\n0x7f0030 0x10 stub\n7f0040 zz bad\n7f0050 8");
        let name = |address| map.find(address).map(|(code, _)| code.name.to_string());
        assert_eq!(name(0x7f002f).as_deref(), Some("LazyCompile:~add /srv/a b.js:3"));
        assert_eq!(name(0x7f0030).as_deref(), Some("stub"));
        assert_eq!((name(0x7f0040), name(0x7f0050)), (None, None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            parse(&bytes);
        }

        #[test]
        fn any_lines_are_read(text in "([0-9a-fx]{0,17} [0-9a-f]{0,17} .{0,5}\n){0,12}", address in any::<u64>()) {
            parse(text.as_bytes()).find(address);
        }
    }
}
