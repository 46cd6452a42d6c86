//! An entry of the cache of resolved symbols.

use std::fs;
use std::io::{Read, Write};

use falloff_postprocess::entrances;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::input::Input;
use crate::scratch::{Scratch, list, source};

/// One byte that says what the rest is: addresses of an entry that is sound otherwise, or its text, or the entry itself.
pub(crate) fn load(input: &[u8]) {
    let mut input = Input(input);
    let program = source("seeds/elf/symbols/program");
    let scratch = Scratch::new();
    entrances::make_cache_entry(scratch.path(), &program);
    // What an unusual environment has kept from being made cannot be loaded.
    let Some(entry) = list(scratch.path()).pop() else { return };
    let bytes = match input.byte() % 4 {
        0 => input.0.to_vec(),
        1 => packed(&[input.0]),
        _ => packed(&[&unpacked(&fs::read(&entry).unwrap_or_default()), b"\n", input.0]),
    };
    fs::write(&entry, bytes).expect("failed to write a temporary file");
    let _ = entrances::load_cache_entry(scratch.path(), &program);
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut text).expect("an entry that was just written is damaged");
    text
}

/// Pieces of a text, compressed.
pub(crate) fn packed(pieces: &[&[u8]]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory cannot fail.
    pieces.iter().for_each(|piece| drop(out.write_all(piece)));
    out.finish().unwrap_or_default()
}
