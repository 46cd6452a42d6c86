//! The file.

use std::io::{self, Write};

use super::document::{Document, Meta};
use super::libs::Lib;
use super::tables::Shared;
use super::threads::threads;
use crate::export::Profile;
use crate::export::frames::{Detail, Frames};

/// Writes one thread for each group in the profile's first metric: call paths with lines, inlined functions marked as such,
/// functions with their source file and load module.
///
/// There is one sample for each call path, weighted by its cost: the times of samples are made up, since a profile does not
/// hold them.
///
/// # Errors
/// Those of `out`.
pub fn firefox(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let database = profile.database();
    let first = database.locations().first();
    let program = first.map_or("", |location| location.program());
    let frames = Frames::new(profile, Detail::Lines);
    let (shared, modules) = Shared::new(&frames, program);
    let start_ns = database.locations().iter().map(|l| l.start_ns).min().unwrap_or(0);
    let rate_hz = first.map_or(0, |location| location.rate_hz);
    let interval_ms = if rate_hz == 0 { 1.0 } else { 1000.0 / f64::from(rate_hz) };
    let document = Document {
        meta: Meta::new(program, &database.provenance().command, start_ns, interval_ms),
        libs: modules.into_iter().map(|module| Lib::of(module, database)).collect(),
        shared,
        threads: threads(profile, &frames),
        pages: [],
        counters: [],
        profiler_overhead: [],
    };
    serde_json::to_writer(&mut *out, &document).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::*;
    use crate::database::Database;
    use crate::export::{By, samples};
    use crate::synthetic;

    fn json(database: &Database, metric: &str, by: By) -> Json {
        let mut out = Vec::new();
        firefox(&Profile::new(database, &[metric], by), &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    fn column<'a>(table: &'a Json, name: &str) -> &'a Vec<Json> {
        let column = table[name].as_array().unwrap();
        assert_eq!(column.len() as u64, table["length"].as_u64().unwrap(), "{name}");
        column
    }

    fn weight(thread: &Json) -> f64 {
        column(&thread["samples"], "weight").iter().map(|w| w.as_f64().unwrap()).sum()
    }

    #[test]
    fn weights_are_the_costs_of_each_thread() {
        let database = synthetic::database();
        let total = |metric: &str| database.exclusive_totals(metric).unwrap().iter().sum::<f64>();
        let whole = json(&database, "cpu", By::None);
        assert!((weight(&whole["threads"][0]) - total("cpu") / 1e6).abs() < 1e-6);
        let ranks = json(&database, "samples", By::Rank);
        let threads = ranks["threads"].as_array().unwrap();
        assert_eq!(threads.iter().map(weight).sum::<f64>(), total("samples"));
        let names: Vec<_> = threads.iter().map(|t| (&t["processName"], &t["pid"], &t["name"])).collect();
        assert_eq!(names[1], (&"rank 1".into(), &"app:101".into(), &"app 101".into()));
    }

    #[test]
    fn inlined_functions_are_deeper_in_one_symbol() {
        let json = json(&synthetic::database(), "cpu", By::None);
        let shared = &json["shared"];
        let text = |index: &Json| shared["stringArray"][index.as_u64().unwrap() as usize].as_str().unwrap();
        let functions = column(&shared["funcTable"], "name");
        let frames = &shared["frameTable"];
        let symbols = column(&shared["nativeSymbols"], "name");
        let inlined: Vec<_> = column(frames, "inlineDepth")
            .iter()
            .zip(column(frames, "func"))
            .zip(column(frames, "nativeSymbol"))
            .zip(column(frames, "line"))
            .filter(|(((depth, _), _), _)| **depth != 0)
            .map(|(((depth, function), symbol), line)| {
                let name = text(&functions[function.as_u64().unwrap() as usize]);
                (depth, name, text(&symbols[symbol.as_u64().unwrap() as usize]), line)
            })
            .collect();
        assert_eq!(inlined, [(&1.into(), "kernel", "solve", &22.into())]);
    }

    #[test]
    fn every_table_has_full_columns() {
        for database in [synthetic::database(), samples::awkward(), samples::difference()] {
            let json = json(&database, "cpu", By::Thread);
            for table in
                ["stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "sources"]
            {
                let table = &json["shared"][table];
                for name in table.as_object().unwrap().keys().filter(|name| *name != "length") {
                    column(table, name);
                }
            }
        }
        let json = json(&samples::awkward(), "cpu", By::None);
        assert_eq!(json["libs"][0]["path"], "/bin/app");
        assert_eq!(json["libs"][0]["codeId"], "c0ffee");
    }

    #[test]
    fn empty_profiles_are_written() {
        let json = json(&samples::empty(), "cpu", By::Rank);
        assert_eq!(json["threads"], Json::Array(Vec::new()));
    }
}
