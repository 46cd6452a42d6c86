//! What `falloff model` says of the sections of a sweep: how they bound its speed-up, and how many threads they want.

use std::collections::BTreeMap;
use std::fs;

use falloff_models::{Inflexion, Observation, Points, State};
use serde_json::Value;

use crate::support::{Workshop, bash, build_with, outcome, programs, tools};

const COUNTS: [u32; 4] = [1, 2, 4, 8];
const REPETITIONS: u32 = 2;
const PHASES: [&str; 6] = ["LOAD", "SCATTER", "CONVOLVE", "HALO", "GATHER", "STORE"];

/// Two readings of a clock lie between falloff's time and the program's own, and where ranks share processors another rank may run
/// there: seconds of a process, in all steps together.
const BETWEEN: f64 = 0.01;

/// What the storage takes before it gives the image, seconds.
const STORAGE: f64 = 1.2;

fn compiler(options: &str) -> String {
    let include = programs().join("../../sections/include").canonicalize().expect("no folder of sections");
    format!("mpicc.openmpi -O2 -g -Wall -Wextra -Werror {options} -I{include:?}")
}

fn run(shop: &Workshop, arguments: &str) -> crate::support::Outcome {
    outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" {arguments}"))).expect_code(0)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The program's own mean seconds of a rank in each phase, in each repetition of a count.
fn own_timers(shop: &Workshop, count: u32) -> BTreeMap<String, Vec<f64>> {
    let mut timers: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for repetition in 1..=REPETITIONS {
        let log = shop.path(&format!("sweep/runs/n{count:04}-r{repetition}/output.log"));
        let log = fs::read_to_string(log).expect("no output");
        assert!(log.contains("every pixel is right"), "{log}");
        let rank = |line: &'_ str| Some(line.strip_prefix("rank ")?.split_once(": ")?.1.to_owned());
        let ranks: Vec<String> = log.lines().filter_map(rank).collect();
        assert_eq!(ranks.len(), count as usize, "{log}");
        let mut sums = BTreeMap::new();
        for line in &ranks {
            let words: Vec<&str> = line.split(' ').collect();
            for pair in words.chunks(2) {
                let seconds: f64 = pair[1].parse().expect("seconds");
                *sums.entry(pair[0]).or_insert(0.0) += seconds / f64::from(count);
            }
        }
        sums.into_iter()
            .for_each(|(phase, seconds)| timers.entry(phase.to_owned()).or_default().push(seconds));
    }
    timers
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The section of this label below `MPI_MAIN`.
fn item<'a>(document: &'a Value, label: &str) -> &'a Value {
    let items = document["sections"]["items"].as_array().expect("items is no list");
    let wanted = serde_json::json!(["MPI_MAIN", label]);
    items.iter().find(|item| item["path"] == wanted).unwrap_or_else(|| panic!("no {label} in {document}"))
}

fn measured(of: &Value, count: u32) -> f64 {
    let all = of["measured"].as_array().expect("measured is no list");
    let at = all.iter().find(|at| at["processors"] == f64::from(count));
    number(&at.unwrap_or_else(|| panic!("nothing at {count} in {of}"))["seconds"])
}

/// The paper's program: a convolution whose image is loaded by one rank while the others wait.
#[test]
fn a_convolution_is_bounded_by_its_sections() {
    if !tools::have(&["mpicc.openmpi", "mpirun.openmpi"]) {
        return;
    }
    let shop = Workshop::alone();
    build_with(&shop, &compiler("-Wl,--no-as-needed -lm"), "sections/convolution.c", "convolution");
    run(
        &shop,
        &format!(
            "sweep -n 1,2,4,8 --strong --repeat {REPETITIONS} --launcher 'mpirun.openmpi -n {{n}}' -o sweep -- ./convolution -n 12 -s 1024x768 -l {}",
            1000.0 * STORAGE
        ),
    );
    let document = run(&shop, "model sweep --target 16 --format json").json();
    let sections = &document["sections"];
    let timers: Vec<BTreeMap<String, Vec<f64>>> =
        COUNTS.iter().map(|count| own_timers(&shop, *count)).collect();
    let own = |place: usize, phase: &str| mean(&timers[place][phase]);

    for (place, count) in COUNTS.iter().enumerate() {
        for phase in PHASES {
            let (found, wanted) = (measured(item(&document, phase), *count), own(place, phase));
            let near = (found - wanted).abs() <= 0.02 * wanted + BETWEEN;
            assert!(near, "{phase} at {count}: {found} s, by the program's own timers {wanted} s");
        }
    }

    // No section allows less than was reached, neither by falloff's times nor by the program's own.
    let speedup = number(&sections["speedup"]);
    let (first, last) = (measured(sections, 1), measured(sections, 8));
    assert!((speedup - first / last).abs() < 1e-9 * speedup);
    for phase in PHASES {
        let of = |form: &str| number(&item(&document, phase)[form]["value"]);
        let (bound, slowest, any) = (of("bound_average"), of("bound_largest"), of("bound_span"));
        assert!(speedup <= bound && speedup <= 1.01 * first / own(3, phase), "{phase}: {speedup}, {bound}");
        let ordered = speedup <= 1.01 * any && any <= 1.001 * slowest && slowest <= 1.001 * bound;
        assert!(
            ordered,
            "{phase}: {speedup}, while any process is in it {any}, by the slowest {slowest}, {bound}"
        );
    }
    let steps = sections["waterfall"].as_array().expect("a waterfall");
    let parts: f64 =
        steps.iter().filter(|step| !step["bound"].is_null()).map(|s| 1.0 / number(&s["bound"])).sum();
    assert!((parts * speedup - 1.0).abs() < 0.01, "{sections}");
    // The program's own times with what falloff has around them are the run as well.
    let around = last - PHASES.iter().map(|phase| measured(item(&document, phase), 8)).sum::<f64>();
    let all = around + PHASES.iter().map(|phase| own(3, phase)).sum::<f64>();
    assert!((all / last - 1.0).abs() < 0.01 + 6.0 * BETWEEN / last, "{all} s of {last} s");

    // The storage takes its time however many ranks wait for it.
    let load = item(&document, "LOAD");
    let bound = number(&load["bound_average"]["value"]);
    assert!(bound <= first / STORAGE, "{bound} by {load}");
    // Where the times stop falling, by the program's own.
    for phase in ["LOAD", "CONVOLVE", "HALO"] {
        let runs =
            COUNTS.iter().zip(&timers).map(|(count, own)| Observation::new(f64::from(*count), &own[phase]));
        let stops = Inflexion::new(&Points::new(&runs.collect::<Vec<_>>()).unwrap()).unwrap();
        let found = &item(&document, phase)["inflexion"];
        let state = match stops.state {
            State::Accelerating => "falls",
            State::Saturated => "flat",
            State::Past => "past",
        };
        assert_eq!((&found["state"], &found["fastest"]), (&state.into(), &stops.fastest.into()), "{phase}");
        assert_eq!(found["bracket_low"], stops.bracket.0, "{phase}");
        assert_eq!(
            found["bracket_high"].as_f64(),
            Some(stops.bracket.1).filter(|high| high.is_finite()),
            "{phase}"
        );
    }

    // What is told to bound the speed-up is the largest part, and the largest of those that no longer fall.
    let bounds: Vec<f64> = steps.iter().filter_map(|step| step["bound"].as_f64()).collect();
    assert!(bounds.is_sorted(), "{bounds:?}");
    assert_eq!(sections["tightest"], 0);
    let stays = steps.iter().position(|step| step["inflexion"]["state"] != "falls").expect("LOAD at least");
    assert_eq!(sections["lasting"], stays, "{sections}");
    let report = run(&shop, "model sweep --target 16");
    let name = |step: &Value| {
        let labels =
            step["path"].as_array().map(|path| path.iter().filter_map(Value::as_str).collect::<Vec<_>>());
        labels.map_or("<outside of sections>".into(), |labels| labels.join(" > "))
    };
    let (tightest, lasting) = (name(&steps[0]), name(&steps[stays]));
    let inflexion = &steps[stays]["inflexion"];
    let words = if inflexion["state"] == "flat" { "flat from" } else { "least at" };
    let stops = format!("{words} {}", number(&inflexion["fastest"]));
    for said in [
        format!("{tightest} bounds the speed-up most at 8"),
        format!("the next bound is {:.1} by {}", bounds[1], name(&steps[1])),
        format!("larger counts: {:.1} times at most unless {lasting}, {stops}", bounds[stays]),
    ] {
        assert!(report.stdout.contains(&said), "the report must say {said}\n{report}");
    }
    let table = run(&shop, "model sweep --format csv --table bounds");
    assert_eq!(table.stdout.lines().count(), 1 + steps.len(), "{table}");
}

/// Main threads alone mark; the time of their sections tells how many threads each is best run with.
#[test]
fn sections_of_a_hybrid_program_tell_their_best_number_of_threads() {
    if !tools::have(&["mpicc.openmpi", "mpirun.openmpi"]) {
        return;
    }
    let shop = Workshop::alone();
    build_with(&shop, &compiler("-fopenmp"), "sections/hybrid.c", "hybrid");
    run(
        &shop,
        "sweep -n 1,2 --threads 1,2,4 --strong --repeat 1 --launcher 'mpirun.openmpi -n {n}' -o grid -- ./hybrid",
    );
    let document = run(&shop, "model grid --format json").json();
    let rows = document["grid"]["rows"].as_array().expect("rows is no list");
    let row = |label: &str, processes: u32| {
        let wanted = serde_json::json!(["MPI_MAIN", label]);
        let found = rows.iter().find(|row| row["path"] == wanted && row["processes"] == processes);
        found.unwrap_or_else(|| panic!("no {label} with {processes} in {document}"))
    };
    for processes in [1, 2] {
        let (shared, crowded) = (row("SHARED", processes), row("CROWDED", processes));
        // Every thread more is planted to pay in one, and to cost in the other.
        assert_eq!(
            (&shared["best_threads"], &crowded["best_threads"]),
            (&4.0.into(), &1.0.into()),
            "{document}"
        );
        assert_eq!(crowded["largest_paying_threads"], 1.0, "{crowded}");
        assert!(number(&shared["largest_paying_threads"]) >= 2.0, "{shared}");
        for (place, threads) in [1, 2, 4].into_iter().enumerate() {
            for (row, wanted) in
                [(shared, 2.4 / f64::from(processes * threads)), (crowded, 0.15 * f64::from(threads))]
            {
                let found = number(&row["measured"][place]["seconds"]);
                assert!(
                    (wanted..1.5 * wanted + 0.25).contains(&found),
                    "{found} s, planted {wanted} s: {row}"
                );
            }
        }
    }
    assert_eq!(document["grid"]["missing_runs"], serde_json::json!([]));
    assert_eq!(document["sections"]["beside"], serde_json::json!([]));
    let report = run(&shop, "model grid");
    assert!(report.stdout.contains("THREADS FOR EACH SECTION"), "{report}");
    let table = run(&shop, "model grid --format csv --table grid");
    let heading = "section,processes,threads,repetitions,seconds,standard_error_seconds,best_threads,largest_paying_threads\n";
    assert!(table.stdout.starts_with(heading), "{table}");
}
