//! Files that are damaged, missing, or of other runs, and the kept database.

use std::fs;
use std::io::Write;

use falloff_format::read::CLAIM_UNIT;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::{costs, open_default, process};
use crate::error::Error;
use crate::load::find;
use crate::synthetic::Synthetic;

#[test]
fn bad_files_are_named_and_cost_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let good = process(10, &[(&[1, 2], 100)]);
    good.write(dir.path());
    let bytes = process(11, &[(&[1, 2], 5)]).bytes();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    write("a-empty.falloff", &[]);
    write("b-foreign.falloff", &[b'x'; 5000]);
    write("c-header.falloff", &bytes[..100]);
    write("d-cut.falloff", &bytes[..bytes.len() - (CLAIM_UNIT as usize - 6)]);
    let mut broken = process(12, &[(&[1, 2], 5)]).bytes();
    broken[256 + 16..256 + 24].fill(0xff);
    write("e-broken.falloff", &broken);
    let mut version = bytes;
    version[8] = 9;
    write("f-version.falloff", &version);
    fs::create_dir(dir.path().join("g-dir.falloff")).unwrap();
    let database = open_default(dir.path()).unwrap();
    assert_eq!(database.exclusive_totals("cpu").unwrap().iter().sum::<f64>(), 100.0);
    let warnings = database.warnings().join("\n");
    for expected in [
        "a-empty.falloff: left out: the file is empty",
        "b-foreign.falloff: left out: not a falloff measurement file",
        "c-header.falloff: left out: the file ends after 100 bytes",
        "d-cut.falloff: cut short: 506 bytes",
        "e-broken.falloff: damaged chunk at offset 256",
        "f-version.falloff: left out: format version 9",
        "g-dir.falloff: left out: not a regular file",
    ] {
        assert!(warnings.contains(expected), "{expected} is not in\n{warnings}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn sealed_files_are_read_as_far_as_they_are_whole() {
    let dir = tempfile::tempdir().unwrap();
    let sealed = gzip(&process(10, &[(&[1, 2], 100)]).bytes());
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    write("a-whole.falloff", &sealed);
    write("b-cut.falloff", &gzip(&process(11, &[(&[1, 2], 5)]).bytes())[..sealed.len() - 30]);
    write("c-nothing.falloff", &sealed[..12]);
    write("d-foreign.falloff", &gzip(&[b'x'; 5000]));
    let database = open_default(dir.path()).unwrap();
    assert!(database.exclusive_totals("cpu").unwrap().iter().sum::<f64>() >= 100.0);
    let warnings = database.warnings().join("\n");
    for expected in ["b-cut.falloff: ", "c-nothing.falloff: left out: ", "d-foreign.falloff: left out: "] {
        assert!(warnings.contains(expected), "{expected} is not in\n{warnings}");
    }
    assert!(!warnings.contains("a-whole"), "{warnings}");
}

#[test]
fn errors_name_the_place_and_say_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let missing = open_default(&dir.path().join("none")).unwrap_err();
    assert!(matches!(missing, Error::Directory { .. }), "{missing}");
    let empty = open_default(dir.path()).unwrap_err();
    assert!(matches!(empty, Error::NoMeasurements { .. }));
    assert!(empty.hint().unwrap().contains("falloff run"));
    fs::write(dir.path().join("a.falloff"), []).unwrap();
    let unreadable = open_default(dir.path()).unwrap_err();
    assert!(unreadable.to_string().contains("a.falloff: left out: the file is empty"), "{unreadable}");
    process(10, &[(&[1], 1)]).write(dir.path());
    Synthetic { run_id: "run-2", ..process(11, &[(&[1], 1)]) }.write(dir.path());
    let mixed = open_default(dir.path()).unwrap_err();
    assert!(matches!(mixed, Error::MixedRuns { .. }));
    assert!(mixed.to_string().contains("-10-") && mixed.to_string().contains("-11-"), "{mixed}");
}

#[test]
fn a_database_that_is_older_or_of_other_files_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    process(10, &[(&[1], 1)]).write(dir.path());
    assert_eq!(costs(&open_default(dir.path()).unwrap())[0].1, 1);
    process(11, &[(&[1], 2)]).write(dir.path());
    assert_eq!(costs(&open_default(dir.path()).unwrap())[0].1, 3);
    process(11, &[(&[1], 20)]).write(dir.path());
    assert_eq!(costs(&open_default(dir.path()).unwrap())[0].1, 21);
    // A damaged kept database is no obstacle.
    fs::write(dir.path().join("database/contexts.parquet"), b"PAR1").unwrap();
    assert_eq!(costs(&open_default(dir.path()).unwrap())[0].1, 21);
    // Measurement files that were taken away leave the database.
    for file in find(dir.path()).unwrap() {
        fs::remove_file(file).unwrap();
    }
    assert_eq!(costs(&open_default(dir.path()).unwrap())[0].1, 21);
}
