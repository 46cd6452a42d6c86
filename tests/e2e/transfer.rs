//! What the network costs the runs of a sweep: communication efficiency in two parts.

use serde_json::Value;

use crate::support::{Workshop, bash, build_with, outcome, tools};

fn json(shop: &Workshop, args: &str) -> Value {
    let end = outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" {args}"))).expect_code(0);
    serde_json::from_str(&end.stdout).unwrap_or_else(|error| panic!("{error}\n{end}"))
}

/// Time of a run on a network that costs nothing, and as measured, as its replay says.
fn times(shop: &Workshop, run: &str) -> (u64, u64) {
    let replayed = json(shop, &format!("replay {run} --ideal-network --format json"));
    let last = |times: &Value| times.as_array().unwrap().iter().filter_map(Value::as_u64).max().unwrap();
    (last(&replayed["cases"][0]["finish_ns"]), last(&replayed["measured_ns"]))
}

#[test]
fn communication_is_serialisation_and_transfer_where_all_runs_have_logs() {
    if !tools::have(&["mpicc.mpich", "mpirun.mpich"]) {
        return;
    }
    let shop = Workshop::shared();
    build_with(&shop, "mpicc.mpich -O2 -g", "ranks.c", "ranks");
    let sweep = |options: &str| {
        let text = format!(
            "exec \"$FALLOFF\" sweep -n 1,2 --repeat 2 --launcher 'mpirun.mpich -n {{n}}' {options} -- ./ranks 0.1"
        );
        outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    };
    sweep("--events mpi -o logged");
    let score = json(&shop, "score logged --metric time --format json");
    for scale in score["efficiencies"].as_array().unwrap() {
        let percent = |name: &str| scale[format!("{name}_percent")].as_f64().expect(name);
        let (serialisation, transfer) = (percent("serialisation"), percent("transfer"));
        assert!((serialisation * transfer / 100.0 - percent("communication")).abs() < 1e-9, "{scale}");
        let run =
            |repetition| format!("logged/runs/n{:04}-r{repetition}", scale["processors"].as_u64().unwrap());
        let [a, b] = [1, 2].map(|repetition| times(&shop, &run(repetition)));
        let wanted = 100.0 * (a.0 + b.0) as f64 / (a.1 + b.1) as f64;
        assert!((transfer - wanted).abs() < 1e-9 && transfer < 100.0, "{transfer} is not {wanted}");
    }
    let steps = score["waterfall"].as_array().unwrap();
    let factors: Vec<&str> = steps.iter().filter_map(|step| step["factor"].as_str()).collect();
    assert_eq!(factors, ["load_balance", "serialisation", "transfer", "computational"]);
    let sum: f64 = steps.iter().filter_map(|step| step["change_percent"].as_f64()).sum();
    assert!((sum + score["total_excess_percent"].as_f64().unwrap()).abs() < 1e-9, "{score}");

    let text = outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" score logged --metric time")).expect_code(0);
    for words in ["= serialisation %", "x transfer %", "serialisation efficiency", "transfer efficiency"] {
        assert!(text.stdout.contains(words), "{words}\n{text}");
    }
    let csv = "exec \"$FALLOFF\" score logged --metric time --format csv --table efficiencies";
    let csv = outcome(&mut bash(shop.dir(), csv)).expect_code(0);
    assert!(csv.stdout.contains("communication_percent,serialisation_percent,transfer_percent"), "{csv}");

    // Of the time of processors only a part is the run's; and without logs nothing is known.
    let of_processors = json(&shop, "score logged --metric cpu --format json");
    sweep("-o unlogged");
    let unlogged = json(&shop, "score unlogged --metric time --format json");
    for score in [of_processors, unlogged] {
        assert!(score["efficiencies"][1]["transfer_percent"].is_null(), "{score}");
        assert_eq!(score["waterfall"][1]["factor"], "communication", "{score}");
    }
}
