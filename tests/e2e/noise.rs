//! The signature of a machine: noise that was made is found, and messages under both MPIs.

use std::fs;

use serde_json::Value;

use crate::support::{Workshop, bash, build_with, outcome, tools};

/// Builds the program that takes a processor again and again.
fn injector(shop: &Workshop) {
    build_with(shop, "gcc -O2", "noise/injector.c", "injector");
}

/// Measures on the first processor, before all ordinary programs, beside bursts of so many microseconds every so many, if any.
fn measured(shop: &Workshop, name: &str, bursts: Option<(u32, u32)>) -> Value {
    let beside = bursts.map_or(String::new(), |(length, period)| {
        // It begins before and ends after the measurement.
        format!("./injector {period} {length} 0 9 0 > injected.json & sleep 0.3; ")
    });
    let text = format!(
        "{beside}chrt -f 5 taskset -c 0 \"$FALLOFF\" noise --seconds 6 -o {name} --svg {name}.svg && wait"
    );
    outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    serde_json::from_str(&fs::read_to_string(shop.path(name)).unwrap()).unwrap()
}

fn number(of: &Value, path: &str) -> f64 {
    of.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number at {path}"))
}

/// The middle of the shares lost in each twentieth of a measurement, which what disturbs now and then does not move.
fn steady_loss(signature: &Value, of: &str) -> f64 {
    let batches = signature["ranks"][0][of]["batch_lost_percent"].as_array().unwrap();
    let mut batches: Vec<f64> = batches.iter().map(|batch| batch.as_f64().unwrap()).collect();
    assert_eq!(batches.len(), 20);
    batches.sort_by(f64::total_cmp);
    (batches[9] + batches[10]) / 2.0
}

/// The period of the detours that are as long as the bursts, milliseconds.
fn period_ms(signature: &Value, of: &str) -> f64 {
    let periods = signature["ranks"][0]["detours"]["periods"].as_array().unwrap();
    let found = periods.iter().find(|period| period["of"].as_str().unwrap().contains(of));
    number(found.unwrap_or_else(|| panic!("no period of {of}: {periods:?}")), "/period_ms")
}

#[test]
fn injected_bursts_are_found_with_their_period_and_duty() {
    if !tools::have(&["gcc", "taskset", "chrt"]) || !tools::root() {
        return;
    }
    let shop = Workshop::alone();
    injector(&shop);
    let quiet = measured(&shop, "quiet.json", None);
    let noisy = measured(&shop, "noisy.json", Some((4000, 20_000)));
    let injected: Value =
        serde_json::from_str(&fs::read_to_string(shop.path("injected.json")).unwrap()).unwrap();
    assert_eq!(injected["first"], true, "the bursts were not first");
    let length_ms = number(&injected, "/total_ns") / number(&injected, "/count") * 1e-6;
    assert!((4.0..5.0).contains(&length_ms), "{injected}");

    let duty = 100.0 * length_ms / 20.0;
    for of in ["detours", "fixed_work", "fixed_time"] {
        let added = steady_loss(&noisy, of) - steady_loss(&quiet, of);
        assert!((added / duty - 1.0).abs() < 0.4, "{of}: {added} % more lost, {duty} % injected");
    }
    let period = period_ms(&noisy, "longer than 1 ms");
    assert!((period / 20.0 - 1.0).abs() < 0.1, "{period}");
    assert!(
        number(&noisy, "/ranks/0/counters/involuntary_switches") > 200.0,
        "{}",
        noisy["ranks"][0]["counters"]
    );
    assert_eq!(noisy["ranks"][0]["host"]["pinned"], true);

    let text = "exec \"$FALLOFF\" noise --compare quiet.json noisy.json";
    let compared = outcome(&mut bash(shop.dir(), text)).expect_code(0);
    assert!(compared.stdout.contains("the second is noisier: between "), "{compared}");
    let json = outcome(&mut bash(shop.dir(), &format!("{text} --format json"))).expect_code(0).json();
    assert_eq!((&json["schema"], &json["noisier"]), (&"falloff.noise-comparison".into(), &"second".into()));
    // As surely as what else ran meanwhile allows.
    let lost = &json["changes"][0];
    let (difference, width) = (number(lost, "/difference"), number(lost, "/difference_half_width"));
    assert!((difference - duty).abs() < width + 0.1 * duty, "{duty} % injected: {lost}");
    assert!(width < 0.8 * duty, "too unsure to tell: {lost}");
    let svg = fs::read_to_string(shop.path("noisy.json.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("Time lost by length of detours"), "{svg}");
}

#[test]
fn without_a_launcher_only_noise_is_measured_and_that_is_said() {
    let shop = Workshop::shared();
    let end = outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" noise --seconds 1")).expect_code(0);
    for wanted in
        ["1 rank,", "NOISE", "DETOURS BY LENGTH, rank 0", "no messages were measured", "mpirun -n 2"]
    {
        assert!(end.stdout.contains(wanted), "{wanted} is missing\n{end}");
    }
    let end = outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" noise --seconds 0.5 --format json"));
    let signature = end.expect_code(0).json();
    assert_eq!((&signature["schema"], &signature["version"]), (&"falloff.noise".into(), &1.into()));
    assert!(signature["messages"].is_null());
    assert_eq!(signature["ranks"][0]["detours"]["length_ns"]["percentiles"].as_array().unwrap().len(), 101);
}

/// Two ranks: latency, bandwidth and a whole document.
fn two_ranks(mpi: &str, library: &str) {
    let launcher = format!("mpirun.{mpi}");
    if !tools::have(&[&launcher]) {
        return;
    }
    let shop = Workshop::alone();
    // Ranks that yield to others would measure these.
    let text = format!(
        "OMPI_MCA_mpi_yield_when_idle=0 {launcher} -n 2 \"$FALLOFF\" noise --seconds 2 -o signature.json --svg signature.svg"
    );
    let end = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    assert_eq!(end.stdout.matches("MESSAGES").count(), 1, "rank 0 alone reports\n{end}");
    assert!(end.stdout.contains("LogGP: L "), "{end}");
    let signature: Value =
        serde_json::from_str(&fs::read_to_string(shop.path("signature.json")).unwrap()).unwrap();
    let ranks = signature["ranks"].as_array().unwrap();
    assert_eq!(ranks.iter().map(|rank| rank["rank"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1]);
    assert!(signature["messages"]["library"].as_str().unwrap().starts_with(library), "{end}");
    let pair = &signature["messages"]["pairs"][0];
    assert_eq!(pair["ranks"], serde_json::json!([0, 1]));
    let sizes = pair["sizes"].as_array().unwrap();
    let bytes: Vec<u64> = sizes.iter().map(|times| times["bytes"].as_u64().unwrap()).collect();
    assert_eq!((bytes.first(), bytes.last()), (Some(&0), Some(&(4 << 20))));
    for times in sizes {
        assert_eq!(times["one_way_ns"]["percentiles"].as_array().unwrap().len(), 101);
        assert!(number(times, "/one_way_ns/percentiles/0") > 50.0, "{times}");
        assert!(number(times, "/send_overhead_ns/mean") > 0.0, "{times}");
        assert_eq!(times["batch_one_way_ns"].as_array().unwrap().len(), 20);
    }
    let large = sizes.last().unwrap();
    // Between a slow network and the fastest memory.
    let bandwidth = number(large, "/bandwidth_megabytes_per_second");
    assert!((50.0..200_000.0).contains(&bandwidth), "{bandwidth} MB/s");
    let (small, large) = (&sizes[1], number(large, "/one_way_ns/percentiles/0"));
    assert!(number(small, "/one_way_ns/percentiles/0") < large / 10.0, "{small}");
    assert!(number(pair, "/loggp/gap_per_byte_ns") > 0.005, "{}", pair["loggp"]);
    // Both send a few words at once, and neither megabytes.
    let eager = pair["eager_limit_bytes"].as_u64().unwrap();
    assert!((64..2 << 20).contains(&eager), "{eager}");
    let svg = fs::read_to_string(shop.path("signature.svg")).unwrap();
    assert!(svg.contains("One-way time of messages"), "{svg}");
}

#[test]
fn messages_are_measured_under_mpich() {
    two_ranks("mpich", "MPICH (");
}

#[test]
fn messages_are_measured_under_open_mpi() {
    two_ranks("openmpi", "Open MPI (");
}

#[test]
fn the_wrong_library_is_told() {
    if !tools::have(&["mpirun.mpich"]) {
        return;
    }
    let shop = Workshop::shared();
    let text = "mpirun.mpich -n 2 \"$FALLOFF\" noise --seconds 0.2 --mpi libc.so.6";
    let end = outcome(&mut bash(shop.dir(), text)).expect_code(3);
    assert!(end.stderr.contains("`libc.so.6` has no MPI_Init"), "{end}");
    assert!(end.stderr.contains("hint: name the library") && end.stderr.contains("--mpi LIB"), "{end}");

    fs::write(shop.path("score.json"), r#"{"schema":"falloff.score","version":1}"#).unwrap();
    let text = "exec \"$FALLOFF\" noise --compare score.json missing.json";
    let end = outcome(&mut bash(shop.dir(), text)).expect_code(3);
    assert!(end.stderr.contains("score.json") && end.stderr.contains("not `falloff.noise`"), "{end}");
}
