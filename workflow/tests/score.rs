//! Scores of tables whose excess is known, and what must hold for any table.

mod sweep_state;
mod table;

use falloff_postprocess::views::ViewKind;
use falloff_postprocess::{Clocks, CpuClock, Health, Partials, WaitClock};
use falloff_workflow::report::{Paint, TextOptions, csv, csv_tables, json, text};
use falloff_workflow::results::SweepState;
use falloff_workflow::scoring::{Class, RunHealth, Scaling, Score, ScoredView};
use proptest::prelude::*;

use sweep_state::sweep_state;
use table::Table;

/// The table of a program under strong scaling whose total work is 17.5, 19.5, 25 and 42 s at 1, 2, 4 and 8.
fn strong_table() -> Table {
    let text = include_str!("data/strong.csv");
    let lines: Vec<_> = text
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |i: usize| cells[i].parse().unwrap();
            (number(1), number(2), number(3), cells[4], cells[5].parse().unwrap())
        })
        .collect();
    Table::new(&lines)
}

fn excess(view: &ScoredView, name: &str) -> f64 {
    let row = view.rows.iter().find(|r| *r.name == *name);
    row.unwrap_or_else(|| panic!("no row `{name}`")).inclusive.excess
}

fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-12, "found {found}, wanted {wanted}");
}

#[test]
fn the_strong_table_scores_as_known() {
    let table = strong_table();
    for (at, total) in [(1, 0.0), (2, 2.0 / 19.5), (4, 7.5 / 25.0), (8, 24.5 / 42.0)] {
        let score = table.score(Some(1), Some(at), Scaling::Strong);
        close(score.total().excess, total);
        assert_eq!(excess(&score.flat, "solve").to_bits(), 0.0f64.to_bits());
    }
    let score = table.score(None, None, Scaling::Strong);
    assert_eq!((score.base, score.at, score.swapped), (1, 8, false));
    for view in score.views() {
        close(excess(view, "init"), 7.0 / 42.0);
        close(excess(view, "reduce"), 14.0 / 42.0);
        close(excess(view, "parallel_io"), 4.0 / 42.0);
        close(excess(view, "serial_io"), -0.5 / 42.0);
    }
    close(score.divergence.new + score.divergence.vanished, 3.5 / 42.0 + excess(&score.context, "reduce"));
    close(table.score(Some(4), Some(8), Scaling::Strong).total().excess, 17.0 / 42.0);
}

#[test]
fn scales_the_wrong_way_round_are_swapped() {
    let score = strong_table().score(Some(8), Some(1), Scaling::Strong);
    assert_eq!((score.base, score.at, score.swapped), (1, 8, true));
}

#[test]
fn classes_and_divergent_paths() {
    let score = strong_table().score(Some(1), Some(2), Scaling::Strong);
    let class = |name: &str| score.context.rows.iter().find(|r| *r.name == *name).unwrap().class;
    assert_eq!(class("serial_io"), Class::Vanished);
    assert_eq!(class("parallel_io"), Class::New);
    assert_eq!(class("init"), Class::Common);
    let names: Vec<&str> =
        score.divergence.paths.iter().map(|p| score.context.rows[p.row as usize].name.as_ref()).collect();
    assert_eq!(names, ["parallel_io", "reduce", "serial_io"]);
}

#[test]
fn every_scale_is_compared_with_the_base_and_the_one_before() {
    let score = strong_table().score(None, None, Scaling::Strong);
    let steps: f64 =
        score.scales.iter().filter_map(|s| s.against_previous).map(|(_, x)| x.work_at * x.excess).sum();
    close(steps, score.total().work_at * score.total().excess);
    close(1.0 - score.scales[3].against_base.excess, 17.5 / 42.0);
}

#[test]
fn work_on_one_rank_is_seen_as_imbalance() {
    let table = Table::new(&[
        (2, 1, 0, "main;serial", 2.0),
        (2, 1, 0, "main;even", 1.0),
        (2, 1, 1, "main;even", 1.0),
        (4, 1, 0, "main;serial", 2.0),
        (4, 1, 0, "main;even", 0.5),
        (4, 1, 1, "main;even", 0.5),
        (4, 1, 2, "main;even", 0.5),
        (4, 1, 3, "main;even", 0.5),
    ]);
    let score = table.score(None, None, Scaling::Strong);
    for view in [&score.context, &score.flat] {
        let ratio = |name: &str| view.rows.iter().find(|r| *r.name == *name).unwrap().max_over_mean;
        assert_eq!(ratio("serial"), Some(4.0));
        assert_eq!(ratio("even"), Some(1.0));
        assert_eq!(ratio("main"), Some(2.5));
    }
}

#[test]
fn a_run_without_cost_is_an_error() {
    let table = Table::new(&[(1, 1, 0, "main", 1.0), (2, 1, 0, "main", 0.0)]);
    let error = table.try_score(None, None, Scaling::Strong).unwrap_err();
    assert!(error.to_string().contains("no `cpu` cost"), "{error}");
    assert_eq!(error.exit_code(), 5);
}

#[test]
fn unknown_scales_are_named() {
    let error = strong_table().try_score(Some(3), None, Scaling::Strong).unwrap_err();
    assert_eq!(
        (error.exit_code(), error.hint().unwrap().as_str()),
        (2, "good runs are there at: 1, 2, 4, 8")
    );
    let one = Table::new(&[(2, 1, 0, "main", 1.0)]);
    assert_eq!(one.try_score(None, None, Scaling::Strong).unwrap_err().exit_code(), 5);
}

/// A program with long names, repetitions that differ, a failed run and a warning.
fn application() -> (Table, SweepState) {
    let main = "_start;main;app::Simulation::run";
    let force =
        format!("{main};app::PairLennardJonesCut<app::Vector3<double>, app::NeighbourList<32u>>::compute");
    let comm = format!("{main};app::Comm::forward");
    let mut lines = Vec::new();
    for (repetition, noise) in [(1, 1.0), (2, 1.01), (3, 0.985)] {
        for n in [1u32, 4] {
            for rank in 0..n {
                let share = f64::from(n);
                let mut add = |path: String, cost: f64| lines.push((n, repetition, rank, path, noise * cost));
                add(force.clone(), 12.0 / share);
                add(format!("{main};app::Setup::tables"), 0.8);
                if n > 1 {
                    add(format!("{comm};MPI_Allreduce"), 0.4 + 0.1 * f64::from(rank));
                } else {
                    add(format!("{comm};memcpy"), 0.15);
                }
            }
        }
    }
    let lines: Vec<_> = lines.iter().map(|(n, m, r, p, c)| (*n, *m, *r, p.as_str(), *c)).collect();
    (Table::new(&lines), sweep_state(&[1, 4], 3))
}

fn report(width: usize, colour: bool, view: ViewKind) -> String {
    let (table, state) = application();
    let mut score = table.score(None, None, Scaling::Strong);
    score.health = RunHealth {
        sum: Health {
            samples: 41_234,
            partial: 3,
            partial_by_reason: Partials { no_cfi: 3, ..Partials::default() },
            truncated: 1,
            processes: 15,
            cpu_used_ns: 206_300_000_000,
            cpu_booked_ns: Some(206_250_000_000),
            cpu_unsampled_ns: Some(150_000_000),
            handler_ns: 900_000_000,
            asked_rates_hz: vec![200],
            clocks: vec![Clocks { cpu: CpuClock::Timer, waits: WaitClock::NotMeasured }],
            ..Health::default()
        },
        threads: 15,
        warnings: vec![("no symbols in libfast.so".into(), 6)],
    };
    let options = TextOptions { paint: Paint { colour }, width, threshold: 0.005, most_rows: Some(60), view };
    text(&state, &score, &options)
}

#[test]
fn the_report_reads_well() {
    let report = report(110, false, ViewKind::Context);
    assert!(report.lines().all(|l| l.chars().count() <= 120), "{report}");
    insta::assert_snapshot!("report", report);
}

#[test]
fn a_report_of_time_does_not_speak_of_work_done() {
    let (table, state) = application();
    let mut score = table.score(None, None, Scaling::Strong);
    (score.metric, score.preempted) = ("time".into(), Some(0.123));
    let options = TextOptions {
        paint: Paint { colour: false },
        width: 110,
        threshold: 0.005,
        most_rows: None,
        view: ViewKind::Context,
    };
    let report = text(&state, &score, &options);
    assert!(report.contains("s of time at 4"), "{report}");
    assert!(report.contains("the same time again on every processor"), "{report}");
    assert!(report.contains("! at n = 4, 12.3 % of the time is that of threads ready to run"), "{report}");
}

#[test]
fn the_report_of_callers_reads_well() {
    insta::assert_snapshot!("report_callers", report(90, true, ViewKind::Callers));
}

/// The JSON of a score, read again.
fn written(state: &SweepState, score: &Score, threshold: f64) -> serde_json::Value {
    let mut text = Vec::new();
    json::json(state, score, threshold, &mut text).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn json_has_what_is_promised() {
    let (table, state) = application();
    let score = table.score(None, None, Scaling::Strong);
    let document = written(&state, &score, 0.0);
    assert_eq!(document["schema"], "falloff.score");
    assert_eq!(document["version"], 1);
    assert_eq!((&document["base"], &document["at"]), (&1.into(), &4.into()));
    let contexts = document["contexts"].as_array().unwrap();
    let number = |row: &serde_json::Value, key: &str| row[key].as_f64().unwrap();
    let total = number(&document, "total_excess_percent");
    assert_eq!(total, number(&contexts[0], "excess_incl_percent"));
    let parts: f64 = contexts.iter().map(|row| number(row, "excess_excl_percent")).sum();
    assert!((parts - total).abs() < 1e-9);
    let setup = contexts.iter().find(|row| row["name"] == "app::Setup::tables").unwrap();
    assert_eq!(setup["path"].as_array().unwrap().len(), 4);
    assert!(number(setup, "imbalance_percent").abs() < 1e-9);
    assert_eq!(document["failed_runs"][0]["reason"], "exit status 3");
    assert!(!document["views"]["callers"].as_array().unwrap().is_empty());
    let cut = written(&state, &score, 0.1);
    assert!(cut["contexts"].as_array().unwrap().len() < contexts.len());
}

#[test]
fn every_call_path_has_its_bounds() {
    let (table, state) = application();
    let score = table.score(None, None, Scaling::Strong);
    let document = written(&state, &score, 0.0);
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    let of = &document["bounds"];
    let steps = of["waterfall"].as_array().unwrap();
    let sum: f64 =
        steps.iter().filter(|step| !step["bound"].is_null()).map(|step| 1.0 / number(&step["bound"])).sum();
    assert!((sum * number(&of["speedup"]) - 1.0).abs() < 1e-9, "{of}");
    let contexts = document["contexts"].as_array().unwrap();
    for row in contexts.iter().filter(|row| row["work_at_incl_seconds"] != 0.0) {
        assert!(number(&row["bound_average"]["value"]) >= number(&of["speedup"]) * (1.0 - 1e-9), "{row}");
    }
    let row = |name: &str| contexts.iter().find(|row| row["name"] == name).unwrap();
    // 0.8 s on each of four, of a run that takes 12.95 s on one.
    let setup = row("app::Setup::tables");
    assert!((number(&setup["bound_average"]["value"]) - 12.95 / 0.8).abs() < 1e-9, "{setup}");
    assert_eq!(setup["inflexion"]["state"], "flat");
    // 0.4 to 0.7 s: the slowest takes 0.7.
    let reduce = row("MPI_Allreduce");
    assert!((number(&reduce["bound_largest"]["value"]) - 12.95 / 0.7).abs() < 1e-9, "{reduce}");
    assert_eq!(row("memcpy")["bound_average"], serde_json::Value::Null);
    assert!(document["views"]["flat"][0]["bound_average"].is_null());
    let lasting = &steps[of["lasting"].as_u64().unwrap() as usize];
    assert_eq!(lasting["name"], "app::Setup::tables");
    assert_eq!(csv_tables::bounds(&score).unwrap().lines().count(), 1 + steps.len());
}

#[test]
fn csv_has_a_line_a_row() {
    let (table, _) = application();
    let score = table.score(None, None, Scaling::Strong);
    let text = csv::csv(&score.flat, None);
    assert_eq!(text.lines().count(), 1 + score.flat.rows.len());
    assert!(
        text.contains("\"app::PairLennardJonesCut<app::Vector3<double>, app::NeighbourList<32u>>::compute\"")
    );
    let bounded = csv::csv(&score.context, score.bounds.as_ref());
    let cells = |line: &str| line.split(',').count();
    let (heading, root) = (bounded.lines().next().unwrap(), bounded.lines().nth(1).unwrap());
    assert_eq!(cells(heading), cells(root));
    assert!(root.contains(",common,") && root.contains(",falls,"), "{root}");
}

/// Any table of runs at 1, 2 and 4 with two repetitions.
fn any_table() -> impl Strategy<Value = Vec<(u32, u32, u32, String, f64)>> {
    let line = (
        prop::sample::select(vec![1u32, 2, 4]),
        1u32..=2,
        0u32..4,
        prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d"]), 1..5),
        0u32..1000,
    );
    prop::collection::vec(line, 0..40).prop_map(|lines| {
        let mut all: Vec<_> = lines
            .into_iter()
            .map(|(n, m, r, path, cost)| (n, m, r % n, path.join(";"), f64::from(cost) / 8.0))
            .collect();
        for n in [1, 2, 4] {
            all.extend([1, 2].map(|m| (n, m, 0, "a".to_owned(), 1.0)));
        }
        all
    })
}

fn score_of(
    lines: &[(u32, u32, u32, String, f64)],
    factor: f64,
    base: u32,
    at: u32,
    scaling: Scaling,
) -> Score {
    let lines: Vec<_> = lines.iter().map(|(n, m, r, p, c)| (*n, *m, *r, p.as_str(), c * factor)).collect();
    Table::new(&lines).score(Some(base), Some(at), scaling)
}

proptest! {
    #[test]
    fn parts_sum_to_the_root(lines in any_table(), weak: bool) {
        let scaling = if weak { Scaling::Weak } else { Scaling::Strong };
        let score = score_of(&lines, 1.0, 1, 4, scaling);
        for view in score.views() {
            let sum: f64 = view.parts().map(|r| r.exclusive.excess).sum();
            prop_assert!((sum - score.total().excess).abs() < 1e-9);
        }
        let children: f64 =
            score.context.rows.iter().filter(|r| r.parent == Some(0)).map(|r| r.inclusive.excess).sum();
        prop_assert!((children - score.total().excess).abs() < 1e-9);
    }

    #[test]
    fn a_scale_against_itself_has_no_excess(lines in any_table()) {
        let score = score_of(&lines, 1.0, 4, 4, Scaling::Strong);
        for row in score.views().flat_map(|view| &view.rows) {
            prop_assert_eq!(row.inclusive.excess.to_bits(), 0.0f64.to_bits());
            prop_assert_eq!(row.exclusive.half_width, 0.0);
        }
        prop_assert!(score.context.hot_path.is_empty());
    }

    #[test]
    fn excess_does_not_depend_on_the_unit(lines in any_table()) {
        let (one, two) =
            (score_of(&lines, 1.0, 1, 4, Scaling::Strong), score_of(&lines, 2.0, 1, 4, Scaling::Strong));
        for (a, b) in one.context.rows.iter().zip(&two.context.rows) {
            prop_assert!((a.inclusive.excess - b.inclusive.excess).abs() < 1e-12);
        }
    }

    #[test]
    fn nothing_is_ever_not_a_number(lines in any_table(), base in 0usize..3, at in 0usize..3) {
        let scale = |i: usize| [1, 2, 4][i];
        let score = score_of(&lines, 1.0, scale(base), scale(at), Scaling::Weak);
        for row in score.views().flat_map(|view| &view.rows) {
            for loss in [row.inclusive, row.exclusive] {
                prop_assert!(loss.excess.is_finite() && loss.half_width.is_finite());
                prop_assert!(loss.excess.to_bits() != (-0.0f64).to_bits());
            }
        }
    }
}
