//! Measurement files as they are: what no export tells.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use falloff_format::Measurement;
use falloff_format::read::Record;

/// The measurement files of a run, sealed or not.
#[track_caller]
pub fn measurement_files(run: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(run.join("measurements")).expect("no measurements");
    let files = files.map(|entry| entry.expect("unreadable directory entry").path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "falloff")).collect()
}

/// Whether these are the bytes of a sealed measurement file.
pub fn is_sealed(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// The bytes of a measurement file, unpacked if it is sealed.
#[track_caller]
pub fn measurement_bytes(path: &Path) -> Vec<u8> {
    let mut bytes = fs::read(path).expect("unreadable measurement file");
    if is_sealed(&bytes) {
        let mut whole = Vec::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut whole).expect("damaged seal");
        bytes = whole;
    }
    bytes
}

#[track_caller]
fn all_bytes(run: &Path) -> Vec<Vec<u8>> {
    measurement_files(run).iter().map(|path| measurement_bytes(path)).collect()
}

/// Most bytes of stack that handlers have used in a run, of the processes that have ended in order.
#[track_caller]
pub fn handler_stack(run: &Path) -> u64 {
    let files = all_bytes(run);
    let most = files.iter().flat_map(|bytes| {
        let measurement = Measurement::parse(bytes).expect("unreadable measurement");
        measurement.records().filter_map(|record| match record {
            Ok(Record::Thread(thread)) => Some(thread.handler_stack),
            _ => None,
        })
    });
    most.max().unwrap_or(0)
}

/// How many nodes of a run carry a metric, by its name.
#[track_caller]
pub fn nodes_with(run: &Path, name: &str) -> usize {
    let of_file = |bytes: &Vec<u8>| {
        let measurement = Measurement::parse(bytes).expect("unreadable measurement");
        let metric = measurement.records().find_map(|record| match record {
            Ok(Record::Metric(metric, text)) if text == name.as_bytes() => Some(metric.index),
            _ => None,
        });
        let carries =
            |index: u16| measurement.nodes().flatten().filter(|n| n.metrics >> index & 1 != 0).count();
        metric.map_or(0, carries)
    };
    all_bytes(run).iter().map(of_file).sum()
}
