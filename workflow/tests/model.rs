//! Outlooks of tables whose laws are known.

mod sweep_state;
#[allow(dead_code, reason = "it makes scores for other tests")]
mod table;

use falloff_workflow::outlook::{Elsewhere, Marked, Outlook, Question, RunSections, Spent};
use falloff_workflow::report::Paint;
use falloff_workflow::report::outlook::{
    OutlookOptions, bounds, json, laws, notes, paths, section_times, sections, text,
};
use falloff_workflow::results::SweepState;
use falloff_workflow::scoring::Scaling;
use serde_json::Value;

use sweep_state::sweep_state;
use table::Table;

const COUNTS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// A program whose shared work takes 96/p s a process, its tables 1 s, and its exchange 0.05·p s, with repetitions that differ by 1 %.
fn application(counts: &[u32], targets: &[u32]) -> (SweepState, Outlook) {
    let mut lines = Vec::new();
    for n in counts {
        for (repetition, noise) in [(1, 1.0), (2, 1.01), (3, 0.99)] {
            for rank in 0..*n {
                let p = f64::from(*n);
                lines.push((*n, repetition, rank, "main;solve", noise * 96.0 / p));
                lines.push((*n, repetition, rank, "main;setup;tables", noise));
                lines.push((*n, repetition, rank, "main;exchange;MPI_Alltoall;poll", noise * 0.05 * p));
                lines.push((*n, repetition, rank, "main;seldom", 0.0002));
            }
        }
    }
    let question = Question {
        dir: "sweep".into(),
        metric: "cpu".into(),
        scaling: Scaling::Strong,
        targets: targets.to_vec(),
        period: 0.005,
        runs: counts.iter().map(|n| (1..=3).map(|m| format!("n{n:04}-r{m}")).collect()).collect(),
    };
    (sweep_state(counts, 3), Table::new(&lines).outlook(&question).unwrap_or_else(|error| panic!("{error}")))
}

fn options() -> OutlookOptions {
    OutlookOptions { paint: Paint { colour: false }, width: 110, threshold: 0.005, limit: 12 }
}

#[test]
fn what_grows_is_predicted_to_come_first() {
    let (_, outlook) = application(&COUNTS, &[256, 64]);
    assert_eq!((outlook.targets.clone(), outlook.ranked_at), (vec![64, 256], Some(256)));
    let first = &outlook.parts[0];
    assert_eq!(
        (first.standing.name(), first.standing.rank, first.standing.rank_then),
        ("MPI_Alltoall", 2, Some(1))
    );
    let seconds = first.forecast.predictions[1].seconds.as_ref().unwrap();
    assert!(seconds.holds(12.8), "{seconds:?}");
    assert!(outlook.parts.iter().map(|part| part.standing.share).sum::<f64>() > 1.0 - 1e-9);
    // The whole run is fastest between 32 and 64: √(96/0.05) = 43.8.
    let turning = outlook.whole.turning.unwrap().p;
    assert!(turning.holds(43.8), "{turning:?}");
}

#[test]
fn the_report_reads_well() {
    let (state, outlook) = application(&COUNTS, &[]);
    insta::assert_snapshot!("report", text(&state, &outlook, &options()));
}

#[test]
fn two_counts_have_bounds_and_no_models() {
    let (state, outlook) = application(&[1, 4], &[]);
    insta::assert_snapshot!("report_of_two", text(&state, &outlook, &options()));
    assert!(
        outlook.parts.iter().all(|part| part.forecast.model.is_err() && part.standing.rank_then.is_none())
    );
}

#[test]
fn a_target_out_of_reach_is_refused() {
    let (_, outlook) = application(&COUNTS, &[1024]);
    assert_eq!(outlook.ranked_at, None);
    let refused = outlook.whole.forecast.predictions[0].seconds.clone().unwrap_err();
    assert_eq!(refused, "32.000 times the largest count measured; models reach 8 times");
}

#[test]
fn json_and_csv_have_what_is_promised() {
    let (state, outlook) = application(&COUNTS, &[]);
    let document: Value = serde_json::from_str(&json(&state, &outlook, 0.0).unwrap()).unwrap();
    assert_eq!((&document["schema"], &document["version"]), (&"falloff.model".into(), &1.into()));
    assert_eq!(document["targets"], serde_json::json!([64, 256]));
    let all = document["paths"].as_array().unwrap();
    let first = &all[0];
    assert_eq!(first["path"], serde_json::json!(["main", "exchange", "MPI_Alltoall"]));
    assert_eq!(first["predictions"][1]["refusal"], Value::Null);
    assert!(all.iter().any(|path| path["name"] == "<rare>" && path["context"].is_null()));
    let cut: Value = serde_json::from_str(&json(&state, &outlook, 0.1).unwrap()).unwrap();
    assert!(cut["paths"].as_array().unwrap().len() < all.len());
    let lines = |text: String| text.lines().count();
    assert_eq!(lines(paths(&outlook).unwrap()), 1 + 2 * all.len());
    assert_eq!(lines(laws(&outlook).unwrap()), 1 + document["laws"].as_array().unwrap().len());
    assert!(notes(&outlook).unwrap().is_empty() == outlook.notes.is_empty());
}

/// The same program with its phases marked: input and output that only rank 0 does while the others wait, solving with a halo
/// exchange within, and a section that worker threads enter.
fn marked(counts: &[u32]) -> (SweepState, Outlook) {
    let (state, mut outlook) = application(counts, &[]);
    let mut runs = Vec::new();
    for n in counts {
        for noise in [1.0, 1.01, 0.99] {
            let p = f64::from(*n);
            let (input, solve, halo) = (2.0 * noise, 96.0 * noise / p, 0.05 * noise * p);
            let inside = input + solve + halo;
            let all = [
                (&["MPI_MAIN"][..], inside + 0.3, 0.3, 0),
                (&["MPI_MAIN", "INPUT"], input, input, 0),
                (&["MPI_MAIN", "SOLVE"], solve + halo, solve, 0),
                (&["MPI_MAIN", "SOLVE", "HALO"], halo, halo, 0),
                (&["MPI_MAIN", "SOLVE", "WORKER"], 0.0, 0.0, 3 * n),
            ];
            let spent = all.map(|(path, inclusive, exclusive, threads)| {
                let elsewhere = Elsewhere { threads, seconds: 0.5 * f64::from(threads) };
                let span = (threads == 0).then_some(1.2 * inclusive);
                let spent = Spent { inclusive, exclusive, largest: 1.1 * inclusive, span, elsewhere };
                (path.iter().map(|label| (*label).into()).collect(), spent)
            });
            let wall = inside + 0.5;
            runs.push(RunSections { processes: *n, threads: 1, wall, spent: spent.into_iter().collect() });
        }
    }
    outlook.sections = Marked::new(runs, Scaling::Strong, &outlook.targets).unwrap();
    (state, outlook)
}

#[test]
fn the_report_of_sections_reads_well() {
    let (state, outlook) = marked(&COUNTS);
    let report = text(&state, &outlook, &options());
    let from = report.find("SECTIONS").unwrap();
    let to = report.find("WHOLE RUN").unwrap();
    insta::assert_snapshot!("report_of_sections", &report[from..to]);
}

#[test]
fn programs_can_read_the_sections() {
    let (state, outlook) = marked(&COUNTS);
    let document: Value = serde_json::from_str(&json(&state, &outlook, 0.0).unwrap()).unwrap();
    let of = &document["sections"];
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    let steps = of["waterfall"].as_array().unwrap();
    let sum: f64 =
        steps.iter().filter(|step| !step["bound"].is_null()).map(|s| 1.0 / number(&s["bound"])).sum();
    assert!((sum * number(&of["speedup"]) - 1.0).abs() < 1e-9, "{of}");
    let at = |place: &Value| &steps[place.as_u64().unwrap() as usize];
    assert_eq!(at(&of["tightest"])["path"], serde_json::json!(["MPI_MAIN", "SOLVE"]));
    let lasting = at(&of["lasting"]);
    assert_eq!((&lasting["path"][1], &lasting["inflexion"]["state"]), (&"INPUT".into(), &"flat".into()));
    assert_eq!(of["beside"][0]["threads"], 96);
    let item = |label: &str| {
        let all = of["items"].as_array().unwrap();
        all.iter().find(|item| item["path"].as_array().unwrap().last().unwrap() == label).unwrap()
    };
    // 1.2 times the mean process's time has any of them in it.
    let (average, span) = (&item("INPUT")["bound_average"]["value"], &item("INPUT")["bound_span"]["value"]);
    assert!((number(average) / number(span) - 1.2).abs() < 1e-9, "{average} {span}");
    assert!(item("INPUT")["turning"].is_null(), "it does not rise");
    assert!(
        of["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|item| item["path"] != serde_json::json!(["MPI_MAIN", "SOLVE", "WORKER"]))
    );

    let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let times = lines(section_times(&outlook).unwrap());
    assert_eq!(times.len(), 1 + 4 * COUNTS.len());
    assert_eq!(
        times[0],
        "section,processors,repetitions,seconds,standard_error_seconds,own_seconds,own_standard_error_seconds"
    );
    assert_eq!(lines(sections(&outlook).unwrap()).len(), 1 + 4 * 2);
    let bounds = lines(bounds(&outlook).unwrap());
    assert!(bounds[0].starts_with(
        "section,seconds,bound,share_percent,without,next_section,next_bound,inflexion_bracket_high,"
    ));
    assert_eq!(bounds.len(), 1 + steps.len());
    // Nothing of it without marks.
    let (state, outlook) = application(&COUNTS, &[]);
    assert!(!json(&state, &outlook, 0.0).unwrap().contains("sections"));
    assert!(section_times(&outlook).unwrap().is_empty());
}
