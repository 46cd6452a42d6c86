//! Machine code, names, and the files of generated code.

use falloff_postprocess::entrances;

use crate::input::Input;
use crate::scratch::Scratch;

/// Addresses that are asked for of generated code.
const ADDRESSES_MAX: usize = 64;

/// Loops of a function: two bytes for its address, then its code.
pub(crate) fn code(input: &[u8]) {
    let mut input = Input(input);
    let start = match input.u16() {
        0xffff => u64::MAX - 100,
        start => u64::from(start),
    };
    entrances::code(start, input.0);
}

/// Names of symbols, one a line.
pub(crate) fn names(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let symbols: Vec<&str> = text.lines().collect();
    entrances::names(&symbols);
}

/// A perf map and a jitdump file: two bytes for the length of the map, then both.
pub(crate) fn generated_code(input: &[u8]) {
    let mut input = Input(input);
    let length = usize::from(input.u16());
    let (map, dump) = (input.bytes(length), input.0);
    let scratch = Scratch::new();
    scratch.write("perf-1.map", map);
    scratch.write("jit-1.dump", dump);
    // Every number of the one, and every word of the other.
    let words = dump.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()));
    let text = String::from_utf8_lossy(map);
    let numbers = text.split([' ', '\n']).filter_map(|number| u64::from_str_radix(number, 16).ok());
    let addresses: Vec<u64> =
        [0, u64::MAX].into_iter().chain(numbers).chain(words).take(ADDRESSES_MAX).collect();
    entrances::generated_code(scratch.path(), &addresses);
}
