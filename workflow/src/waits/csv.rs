//! All values as CSV, one line each.

use falloff_postprocess::views::csv::quoted;

use super::Waiting;

/// All values that are not 0, exclusive; fields with a comma, a quote or a line end are quoted as in RFC 4180.
pub fn csv(waiting: &Waiting) -> String {
    let mut out = "rank,thread,metric,path,value_ns\n".to_owned();
    for (location, path, metric, ns) in waiting.analysis.times.sorted() {
        let of = waiting.locations[location as usize];
        let names = waiting.paths.get(&path).map(|names| names.join(";")).unwrap_or_default();
        out += &format!("{},{},{},{},{ns}\n", of.rank, of.thread, quoted(metric.name()), quoted(&names));
    }
    out
}
