//! The file.

use std::io::{self, Write};

use super::graph::{Costs, Graph};
use super::names::{Names, clean, event};
use crate::cct::Scope;
use crate::export::{Profile, negative};

/// Writes all metrics of the profile as events, in whole nanoseconds or counts; if locations are kept apart, one event for
/// each metric and group, `METRIC@GROUP`.
///
/// The format knows calls between functions and no call paths. Costs of a function stand at its lines, inlined functions are
/// called by the functions that hold them, and `<program>` calls the outermost functions. A call says `calls=1`, since calls
/// are not counted. Where a function enters itself again, directly or through others, that call has no cost, so that
/// inclusive costs count recursion once.
///
/// # Errors
/// Those of `out`; [`io::ErrorKind::InvalidInput`] for negative values.
pub fn callgrind(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    negative::refuse(profile, "callgrind")?;
    let graph = Graph::new(profile);
    head(profile, out)?;
    let mut names = Tables { objects: Names::new(), files: Names::new(), functions: Names::new() };
    for function in 0..graph.functions.len() as u32 {
        names.write(&graph, function, ["ob", "fl", "fn"], out)?;
        for (line, costs) in &graph.own[function as usize] {
            writeln!(out, "{line}{}", numbers(costs))?;
        }
        for ((line, callee), costs) in &graph.calls[function as usize] {
            names.write(&graph, *callee, ["cob", "cfi", "cfn"], out)?;
            writeln!(out, "calls=1 {}", defined(graph.functions[*callee as usize]))?;
            writeln!(out, "{line}{}", numbers(costs))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "totals:{}", numbers(&graph.totals))
}

fn head(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let groups = profile.groups();
    let labels = if groups.is_empty() { vec![""] } else { groups.iter().map(|g| g.label.as_str()).collect() };
    let events =
        profile.metrics().iter().flat_map(|metric| labels.iter().map(|label| event(&metric.name, label)));
    let events = events.collect::<Vec<_>>().join(" ");
    let command = clean(&profile.database().provenance().command.join(" "));
    writeln!(out, "# callgrind format\nversion: 1\ncreator: falloff {}", env!("CARGO_PKG_VERSION"))?;
    writeln!(out, "cmd: {command}\npositions: line\nevents: {events}\n")
}

/// Costs, each after a blank, up to the last that is not 0; at least one.
fn numbers(costs: &Costs) -> String {
    let used = costs.iter().rposition(|cost| cost.round() != 0.0).map_or(0, |last| last + 1);
    let text: String = costs.iter().take(used).map(|cost| format!(" {}", cost.round() as i64)).collect();
    if text.is_empty() { " 0".to_owned() } else { text }
}

/// Line where a function is defined, 0 if not known.
fn defined(function: Option<&Scope>) -> u32 {
    function.and_then(|scope| scope.line).unwrap_or(0)
}

struct Tables<'a> {
    objects: Names<&'a str>,
    files: Names<&'a str>,
    functions: Names<u32>,
}

impl<'a> Tables<'a> {
    /// Names object, file and function.
    fn write(
        &mut self,
        graph: &Graph<'a>,
        function: u32,
        words: [&str; 3],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let scope = graph.functions[function as usize];
        let module = scope.and_then(|scope| scope.module.as_deref()).unwrap_or("");
        let file = scope.and_then(|scope| scope.file.as_deref()).unwrap_or("");
        let name = scope.map_or("<program>", |scope| &scope.name);
        writeln!(out, "{}={}", words[0], self.objects.text(module, module))?;
        writeln!(out, "{}={}", words[1], self.files.text(file, file))?;
        writeln!(out, "{}={}", words[2], self.functions.text(function, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Database;
    use crate::export::{By, samples};
    use crate::synthetic;

    fn text(database: &Database, metrics: &[&str], by: By) -> String {
        let mut out = Vec::new();
        callgrind(&Profile::new(database, metrics, by), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_file_is_as_it_was() {
        let database = synthetic::database();
        insta::assert_snapshot!("callgrind", text(&database, &["cpu", "samples"], By::None));
        assert!(text(&database, &["cpu"], By::Rank).contains("\nevents: cpu@rank_0 cpu@rank_1\n"));
    }

    /// The sum of the first event over all lines that are not those of calls.
    fn own_total(text: &str) -> f64 {
        let mut call = false;
        let mut total = 0.0;
        for line in text.lines() {
            let own = line.starts_with(|c: char| c.is_ascii_digit()) && !call;
            total += if own { line.split(' ').nth(1).unwrap().parse().unwrap() } else { 0.0 };
            call = line.starts_with("calls=");
        }
        total
    }

    #[test]
    fn lines_add_up_to_the_total() {
        for (database, by) in [(synthetic::database(), By::None), (samples::awkward(), By::Process)] {
            let text = text(&database, &["cpu"], by);
            let total: f64 = database.exclusive_totals("cpu").unwrap().iter().sum();
            assert_eq!(own_total(&text), total);
            assert!(text.ends_with(&format!("totals: {total}\n")), "{text}");
        }
    }

    #[test]
    fn recursion_is_counted_once() {
        let text = text(&samples::awkward(), &["cpu"], By::None);
        assert!(text.contains("calls=1 70\n71 2000\n"), "the outermost call has all");
        assert!(text.contains("calls=1 70\n71 0\n"), "calls within it have none");
    }

    #[test]
    fn empty_profiles_are_written_and_negative_ones_refused() {
        let empty = text(&samples::empty(), &["cpu"], By::None);
        assert!(empty.contains("\nevents: cpu\n") && empty.ends_with("\ntotals: 0\n"), "{empty}");
        let difference = samples::difference();
        let error = callgrind(&Profile::new(&difference, &["cpu"], By::Rank), &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(error.to_string().contains("negative"), "{error}");
    }
}
