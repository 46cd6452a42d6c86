//! The targets by name.

use crate::{database, debug_files, debuginfod, events, measurement, symbol_cache, text, watch};

/// What reads an input.
type Target = fn(&[u8]);

/// All targets.
const TARGETS: [(&str, Target); 12] = [
    ("cache", symbol_cache::load),
    ("cells", database::cells),
    ("code", text::code),
    ("database", database::files),
    ("debuginfod", debuginfod::answer),
    ("elf", debug_files::elf),
    ("events", events::items),
    ("jit", text::generated_code),
    ("linked", debug_files::linked),
    ("measurement", measurement::merge),
    ("names", text::names),
    ("split", debug_files::split),
];

/// Names of all targets.
pub const NAMES: [&str; TARGETS.len()] = {
    let mut names = [""; TARGETS.len()];
    let mut at = 0;
    while at < TARGETS.len() {
        names[at] = TARGETS[at].0;
        at += 1;
    }
    names
};

/// Has a target read an input. Nothing happens if there is no target of that name.
///
/// # Panics
/// If falloff's own code panicked, even where that is caught, or if it needed more than the time or memory that an input
/// may.
pub fn run(name: &str, input: &[u8]) {
    if let Some((_, target)) = TARGETS.iter().find(|(known, _)| *known == name) {
        watch::watched(|| target(input));
    }
}
