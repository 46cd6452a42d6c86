//! The archive: a tar file with fixed names.

use std::io::{self, Read, Write};

use super::anchor::anchor;
use super::metrics::Metrics;
use super::system::System;
use super::values::{Rows, index};
use crate::export::calls::Calls;
use crate::export::profile::Profile;

/// Writes what the Cube tools, pyCubexR and `extrap --cube` read: format 4.4, values of every call at every location.
///
/// The program is one artificial root with its functions, inlined functions, loops and pseudo frames below; statements count
/// to what they are in, and calls from several lines are one. Locations are what the profile keeps apart, in a tree of
/// machine, host, process (by rank) and thread. All metrics are exclusive along the calls, in seconds or counts;
/// `cpu`, `blocked` and `preempted` are below `time` if they add up to it, and what ranks waited for is a tree. Nothing
/// depends on when it is written.
///
/// # Errors
/// Those of `out`.
pub fn cube(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let calls = Calls::by_source(profile.tree());
    let system = System::of(profile);
    let mut archive = tar::Builder::new(out);
    let metrics = Metrics::of(profile);
    let anchor = anchor(profile, &metrics, &calls, &system);
    append(&mut archive, "anchor.xml", anchor.len() as u64, anchor.as_bytes())?;
    for (id, metric) in metrics.all().iter().enumerate() {
        let index = index(calls.tree.len());
        append(&mut archive, &format!("{id}.index"), index.len() as u64, &*index)?;
        let rows = Rows::of(profile, metric, &calls, &system.columns());
        append(&mut archive, &format!("{id}.data"), rows.length(), rows)?;
    }
    archive.finish()
}

fn append<W: Write>(
    archive: &mut tar::Builder<W>,
    name: &str,
    bytes: u64,
    data: impl Read,
) -> io::Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_size(bytes);
    header.set_mode(0o644);
    archive.append_data(&mut header, name, data)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::database::Database;
    use crate::export::By;
    use crate::export::samples::{awkward, empty};
    use crate::synthetic::{database, time_database, waits_database};

    /// The files of the archive.
    fn files(database: &Database, metrics: &[&str], by: By) -> BTreeMap<String, Vec<u8>> {
        let mut out = Vec::new();
        cube(&Profile::new(database, metrics, by), &mut out).unwrap();
        let mut archive = tar::Archive::new(&*out);
        archive
            .entries()
            .unwrap()
            .map(|entry| {
                let mut entry = entry.unwrap();
                let name = entry.path().unwrap().display().to_string();
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).unwrap();
                (name, bytes)
            })
            .collect()
    }

    fn anchor(database: &Database, metrics: &[&str], by: By) -> String {
        String::from_utf8(files(database, metrics, by)["anchor.xml"].clone()).unwrap()
    }

    #[test]
    fn a_whole_description() {
        insta::assert_snapshot!("anchor", anchor(&database(), &["cpu", "samples"], By::Thread));
    }

    #[test]
    fn times_that_add_up_are_a_tree() {
        let metrics = ["time", "blocked", "cpu", "preempted", "cycles"];
        insta::assert_snapshot!("anchor_of_times", anchor(&time_database(), &metrics, By::Thread));
        assert!(anchor(&time_database(), &metrics[..3], By::Thread).contains("</descr>\n</metric>\n<metric"));
    }

    /// The metrics of a description, each with how many it is below.
    fn tree_of_metrics(anchor: &str) -> Vec<(usize, &str)> {
        let mut found = Vec::new();
        let mut depth = 0;
        for line in anchor.lines() {
            depth += usize::from(line.starts_with("<metric id="));
            depth -= usize::from(line == "</metric>");
            let name = line.strip_prefix("<uniq_name>").and_then(|rest| rest.strip_suffix("</uniq_name>"));
            found.extend(name.map(|name| (depth - 1, name)));
        }
        found
    }

    #[test]
    fn what_ranks_waited_for_is_a_tree_whose_metrics_hold_those_below() {
        let database = waits_database();
        let names: Vec<&str> = database.metrics().iter().map(|metric| &*metric.name).collect();
        let files = files(&database, &names, By::Thread);
        let anchor = String::from_utf8(files["anchor.xml"].clone()).unwrap();
        let metrics = tree_of_metrics(&anchor);
        let wanted = [
            (0, "mpi-span"),
            (1, "computation"),
            (1, "mpi"),
            (2, "point-to-point"),
            (3, "late-sender"),
            (4, "wrong-order-same-source"),
            (3, "transfer"),
            (2, "collective"),
            (3, "wait-at-barrier"),
        ];
        assert_eq!(metrics, wanted);
        let total = |id: usize| -> f64 {
            let values = &files[&format!("{id}.data")][b"CUBEX.DATA".len()..];
            values.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).sum()
        };
        assert_eq!((0..9).map(total).collect::<Vec<_>>(), [77.0, 60.0, 17.0, 10.0, 8.0, 3.0, 2.0, 7.0, 7.0]);
    }

    #[test]
    fn one_of_them_is_by_itself_and_holds_its_own() {
        let files = files(&waits_database(), &["late-sender"], By::Thread);
        let anchor = String::from_utf8(files["anchor.xml"].clone()).unwrap();
        assert_eq!(tree_of_metrics(&anchor), [(0, "late-sender")]);
        let values = &files["0.data"][b"CUBEX.DATA".len()..];
        let values = values.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()));
        assert_eq!(values.sum::<f64>(), 5.0);
    }

    #[test]
    fn every_call_has_a_value_at_every_location() {
        let database = database();
        let files = files(&database, &["cpu", "samples"], By::Thread);
        let names: Vec<&String> = files.keys().collect();
        assert_eq!(names, ["0.data", "0.index", "1.data", "1.index", "anchor.xml"]);
        let calls = Calls::by_source(database.tree()).tree.len();
        let values: Vec<f64> = files["0.data"][b"CUBEX.DATA".len()..]
            .chunks_exact(8)
            .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
            .collect();
        assert_eq!(values.len(), 2 * calls);
        for rank in 0..2 {
            let ns: f64 = database.exclusive_at("cpu", |l| l.rank == Some(rank as u32)).unwrap().iter().sum();
            let of_rank: f64 = values.iter().skip(rank).step_by(2).sum();
            assert!((of_rank - ns / 1e9).abs() < 1e-12);
        }
    }

    #[test]
    fn names_cannot_break_the_description() {
        let text = anchor(&awkward(), &["cpu"], By::Thread);
        assert!(text.contains("operator&lt;=&gt;(std::vector&lt;int"));
        assert!(text.contains("a=b,c\\d;&quot;e&quot; 'f' &amp; g"));
        assert_eq!(text.matches("<cnode ").count(), text.matches("</cnode>").count());
        assert!(!text.contains('\u{1}') && !text.contains('\u{ffff}'));
    }

    #[test]
    fn an_empty_profile_is_an_archive_too() {
        let files = files(&empty(), &["cpu"], By::Thread);
        assert_eq!(files["0.data"], b"CUBEX.DATA");
    }
}
