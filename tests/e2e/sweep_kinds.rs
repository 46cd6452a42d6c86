//! Sweeps of two builds in turns, and over processes and threads.

use std::fs;

use crate::support::{Outcome, Workshop, bash, build, outcome, sweeps};

fn falloff(shop: &Workshop, args: &str) -> Outcome {
    outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" {args}")))
}

#[test]
fn two_builds_are_swept_in_turns() {
    let shop = Workshop::shared();
    build(&shop, "uneven");
    outcome(&mut bash(shop.dir(), "cp uneven old; cp uneven new")).expect_code(0);
    let versus = |program: &str| {
        let args = format!("sweep -n 1,2 --repeat 2 --launcher plain -o change --versus ./old {program}");
        falloff(&shop, &args)
    };
    let end = versus("./missing").expect_code(2);
    assert!(end.stderr.contains("./missing"), "{end}");
    let end = versus("./new").expect_code(0);
    assert!(end.stderr.contains("next: falloff check change/old change/new"), "{end}");
    for (dir, program) in [("change/old", "./old"), ("change/new", "./new")] {
        let runs = sweeps::completed(&shop.path(dir));
        assert!(runs.len() == 4 && runs.values().all(|times| *times == 1), "{runs:?}");
        let plan = fs::read_to_string(shop.path(dir).join("sweep.json")).unwrap();
        assert!(plan.contains(program), "{plan}");
    }
    // Each run of one is next to that of the other.
    let lines: Vec<&str> = end.stderr.lines().filter(|line| line.starts_with('[')).collect();
    let place =
        |line: &str| line.split_once("n = ").map(|(_, place)| place.split(':').next().map(str::to_owned));
    assert_eq!(lines.len(), 8, "{end}");
    assert!(lines.chunks(2).all(|pair| place(pair[0]) == place(pair[1])), "{end}");
    let end = versus("./new").expect_code(0);
    assert_eq!(end.stderr.matches("kept from before").count(), 8, "{end}");
    let check = falloff(&shop, "check change/old change/new");
    assert!([0, 1, 5].contains(&check.code()), "they can be compared\n{check}");
}

#[test]
fn a_grid_runs_every_pair_and_its_score_says_which_is_meant() {
    let shop = Workshop::shared();
    build(&shop, "uneven");
    fs::write(
        shop.path("noted"),
        "#!/bin/sh\necho \"$PMI_SIZE $OMP_NUM_THREADS $*\" >> runs\nexec ./uneven\n",
    )
    .unwrap();
    outcome(&mut bash(shop.dir(), "chmod +x noted")).expect_code(0);
    let sweep = "sweep -n 1,2 --threads 1,2 --repeat 1 --launcher plain -o grid -- ./noted {n} {threads} {p}";
    let end = falloff(&shop, sweep).expect_code(0);
    assert!(end.stderr.contains("n = 2x2, repetition 1"), "{end}");
    let text = fs::read_to_string(shop.path("runs")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines, ["1 1 1 1 1", "1 2 1 2 2", "2 1 2 1 2", "2 2 2 2 4"]);
    assert!(shop.path("grid/runs/n0002t02-r1").is_dir());
    let end = falloff(&shop, sweep).expect_code(0);
    assert_eq!(end.stderr.matches("kept from before").count(), 4, "{end}");

    let score = |more: &str| falloff(&shop, &format!("score grid --metric cpu {more}")).expect_code(0);
    let end = score("");
    assert!(end.stdout.contains("1 = 1x1, 2 = 2x1, 4 = 2x2; not here: 1x2"), "{end}");
    let end = score("--at 1x2");
    assert!(end.stdout.contains("1 = 1x1, 2 = 1x2, 4 = 2x2; not here: 2x1"), "{end}");
    assert!(end.stdout.contains("1 (1x1) -> 2 (1x2) processors"), "{end}");
    // Wherever a count is named, so is its pair.
    let end = score("--at 1x2 --format csv --table scales");
    let pairs: Vec<&str> = end.stdout.lines().filter_map(|line| line.split(',').nth(1)).collect();
    assert_eq!(pairs, ["pair", "1x1", "1x2", "2x2"], "{end}");
    let end = score("--format csv --table runs");
    assert!(end.stdout.contains("n0001t02-r1,2,1x2,1,"), "{end}");
    let document = score("--format json").json();
    let pairs = serde_json::json!({"1": "1x1", "2": "2x1", "4": "2x2"});
    assert_eq!(document["grid_pairs"], pairs);
    assert_eq!(document["efficiencies"][1]["pair"], "2x1");
    score("--plots plots");
    for figure in ["speedup", "efficiency", "causes"] {
        let svg = fs::read_to_string(shop.path(&format!("plots/{figure}.svg"))).unwrap();
        assert!(svg.contains(">2x2<") && svg.contains(">processes x threads<"), "{figure}: {svg}");
    }
    let export = |format: &str, to: &str| {
        falloff(&shop, &format!("export grid --metric cpu --format {format} -o {to}")).expect_code(0)
    };
    export("hpctoolkit", "excess");
    let meta = fs::read(shop.path("excess/meta.db")).unwrap();
    let text = String::from_utf8_lossy(&meta);
    assert!(text.contains("4 (2x2) processors") && text.contains("2 = 2x1"), "{text}");
    assert!(export("extrap", "grid.jsonl").stderr.contains("4 = 2x2"));
    falloff(&shop, "score grid --at 3y").expect_code(2);
    let end = falloff(&shop, "sweep -n 1 --threads 2 --launcher threads -- ./noted").expect_code(2);
    assert!(end.stderr.contains("--threads"), "{end}");
}
