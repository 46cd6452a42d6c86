//! `falloff export` of a sweep: two scales and the excess work between them.

use std::io;
use std::path::Path;

use falloff_postprocess::export::hpctoolkit::{Column, Contents, Id, Kind, Part, Roots, time_name};
use falloff_workflow::results::Results;
use falloff_workflow::scoring::{Compared, ComparedRun, Score};

/// Writes an HPCToolkit database with a profile for every run: the work at both scales and the excess work.
///
/// Node and rank of a profile are processor count and repetition; its values are the run's contribution to the means, so
/// that sums over profiles are what the score shows.
pub fn hpctoolkit(results: &Results, score: &Score, dir: &Path, roots: Roots) -> io::Result<()> {
    let missing = || io::Error::new(io::ErrorKind::InvalidInput, "a run has no such metric");
    let compared = Compared::new(&results.runs, score).ok_or_else(missing)?;
    let mut modules: Vec<_> = results.runs.iter().flat_map(|run| run.database.modules().to_vec()).collect();
    modules.sort();
    modules.dedup();
    let whole = score.total().work_at;
    Contents {
        title: format!(
            "{}: {} against {} processors",
            program(results),
            results.state.name(score.at),
            results.state.name(score.base)
        ),
        description: description(results, score),
        tree: &compared.tree,
        modules: &modules,
        metrics: metrics(results, score),
        parts: compared.runs.iter().map(|run| part(run, whole)).collect(),
    }
    .write(dir, roots)
}

fn program(results: &Results) -> &str {
    let program = results.state.plan.program.first().map_or("sweep", String::as_str);
    program.rsplit('/').next().unwrap_or(program)
}

fn description(results: &Results, score: &Score) -> String {
    let state = &results.state;
    let grid = state.line.as_ref().map(|line| format!("- processors are processes x threads: {line}"));
    [
        format!("A sweep, exported by falloff {}.", env!("CARGO_PKG_VERSION")),
        format!("- command: {}", state.plan.program.join(" ")),
        format!("- metric: {}", score.metric),
        format!("- expectation: {} scaling", score.scaling.name()),
        format!("- good runs: {} of {}", state.good.len(), state.plan.runs().len()),
        "- node and rank of a profile are the processor count and the repetition of a run".into(),
    ]
    .into_iter()
    .chain(grid)
    .collect::<Vec<_>>()
    .join("\n")
}

/// The compared scale comes first, with the name by which Hatchet knows the `time`.
fn metrics(results: &Results, score: &Score) -> Vec<Column> {
    let name = time_name(&score.metric);
    let at = |scale: u32| match results.state.name(scale) {
        one if one == "1" => "1 processor".to_owned(),
        name => format!("{name} processors"),
    };
    let column = |name: String, description: String| Column { name, description };
    vec![
        column(format!("{name} (sec, {})", at(score.at)), format!("mean work with {}", at(score.at))),
        column(
            format!("BASE {name} (sec, {})", at(score.base)),
            format!("mean work with {}", at(score.base)),
        ),
        column("EXCESS WORK (sec)".into(), "work that perfect scaling would not have spent".into()),
        column("EXCESS (%)".into(), format!("excess work in percent of all work with {}", at(score.at))),
    ]
}

fn part(run: &ComparedRun, whole: f64) -> Part {
    let percent: Vec<f64> = run.excess.iter().map(|excess| 100.0 * excess / whole).collect();
    let columns = [&run.at, &run.base, &run.excess, &percent];
    let mut values = Vec::new();
    for (metric, column) in (0..).zip(columns) {
        let present = (0..).zip(column).filter(|(_, value)| **value != 0.0);
        values.extend(present.map(|(context, value)| (context, metric, *value)));
    }
    let ids =
        vec![Id { kind: Kind::Node, number: run.scale }, Id { kind: Kind::Rank, number: run.repetition }];
    Part { ids, values }
}
