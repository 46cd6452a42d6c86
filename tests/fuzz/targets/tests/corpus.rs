//! The corpus of every fuzzer, replayed.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use falloff_fuzz_targets::{NAMES, run};

/// Bytes of all inputs together.
const CORPUS_MAX: u64 = 1 << 20;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")
}

fn inputs(name: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(corpus().join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn every_target_has_a_corpus_and_it_is_small() {
    let mut targets: Vec<_> = fs::read_dir(corpus()).unwrap().map(|e| e.unwrap().file_name()).collect();
    targets.sort();
    assert_eq!(targets, NAMES);
    let sizes = NAMES.iter().flat_map(|name| inputs(name)).map(|path| path.metadata().unwrap().len());
    let bytes: u64 = sizes.sum();
    assert!(bytes < CORPUS_MAX, "{bytes}");
}

/// One test for all: that memory is bounded can be seen of a process only.
#[test]
fn every_input_is_read_in_bounds() {
    for name in NAMES {
        let inputs = inputs(name);
        assert!(!inputs.is_empty(), "{name}");
        for input in inputs {
            let bytes = fs::read(&input).unwrap();
            let read = catch_unwind(|| run(name, &bytes));
            assert!(read.is_ok(), "{}", input.display());
        }
    }
}
