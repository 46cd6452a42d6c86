//! Measurement files.

use std::fs;
use std::sync::LazyLock;

use falloff_postprocess::entrances;

use crate::database::look;
use crate::edits::{Editable, edited};
use crate::input::Input;
use crate::scratch::{Scratch, list, source};
use crate::symbol_cache::packed;

/// The input is the measurement, and no edits of one.
const RAW: u8 = 1;
/// It is sealed afterwards, with a checksum that is right.
const SEALED: u8 = 2;
/// Its workers' paths go under the regions that they work for.
const GRAFTED: u8 = 4;
/// A second one, not edited, is of the same run.
const BESIDE: u8 = 8;

/// Flags, the number of the measurement that is edited, and the edits.
pub(crate) fn merge(input: &[u8]) {
    static SEEDS: LazyLock<Vec<Editable>> = LazyLock::new(|| {
        let read = |path| fs::read(path).expect("failed to read a seed");
        list(&source("seeds/measurement"))
            .iter()
            .map(|path| Editable::whole(String::new(), read(path)))
            .collect()
    });
    let mut input = Input(input);
    let flags = input.byte();
    let number = usize::from(input.byte()) % SEEDS.len();
    let seed = &SEEDS[number..=number];
    let bytes = if flags & RAW == 0 { edited(seed, &mut input).concat() } else { input.0.to_vec() };
    let scratch = Scratch::new();
    scratch.write("1.falloff", &if flags & SEALED == 0 { bytes } else { packed(&[&bytes]) });
    if flags & BESIDE != 0 {
        scratch.write("2.falloff", &seed[0].bytes);
    }
    if let Ok(database) = entrances::merge(scratch.path(), flags & GRAFTED != 0) {
        look(&database);
    }
}
