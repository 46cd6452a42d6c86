//! `falloff merge`: of a run, of parts of it, and of databases, at a scale that real programs reach.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use falloff_generator::Shape;
use falloff_postprocess::Database;

use crate::support::{Workshop, bash, cost, outcome};

const SMALL: Shape = Shape { locations: 23, contexts: 3000, density: 0.05 };

fn generated(shape: Shape) -> Workshop {
    let shop = Workshop::alone();
    shape.write(&shop.path("run")).unwrap();
    shop
}

#[track_caller]
fn merge(shop: &Workshop, args: &str) -> String {
    outcome(&mut bash(shop.dir(), &format!("\"$FALLOFF\" merge {args}"))).expect_code(0).stderr
}

/// Names of the files of a database with their bytes.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.map(|path| (path.strip_prefix(dir).unwrap().to_owned(), fs::read(&path).unwrap())).collect()
}

#[track_caller]
fn assert_same(shop: &Workshop, a: &str, b: &str) {
    let (a, b) = (contents(&shop.path(a)), contents(&shop.path(b)));
    assert!(a.keys().eq(b.keys()));
    for (name, bytes) in &a {
        assert!(*bytes == b[name], "{} differs", name.display());
    }
}

#[test]
fn every_value_comes_back() {
    let shop = generated(SMALL);
    merge(&shop, "run -o whole");
    let database = Database::open(&shop.path("whole")).unwrap();
    let contexts: BTreeMap<String, u32> = (0..SMALL.contexts).map(|c| (Shape::name(c), c)).collect();
    assert_eq!(database.tree().len() as u32, SMALL.contexts + 1);
    let mut found = 0;
    for value in database.values() {
        let context = contexts[&*database.tree().scope(value.context).name];
        let location = database.locations()[value.location as usize].rank.unwrap();
        let cost = SMALL.cost(location, context).expect("a value that was never measured");
        assert_eq!(value.exclusive as u64, cost[value.metric as usize]);
        found += 1;
    }
    let expected =
        (0..SMALL.locations).flat_map(|l| (0..SMALL.contexts).filter_map(move |c| SMALL.cost(l, c)));
    assert_eq!(found, 2 * expected.count());
    for context in 1..database.tree().len() as u32 {
        let parent = database.tree().parent(context).unwrap();
        let caller = SMALL.caller(contexts[&*database.tree().scope(context).name]);
        let name = caller.map_or("<program>".into(), Shape::name);
        assert_eq!(*database.tree().scope(parent).name, *name);
    }
}

#[test]
fn parts_join_to_the_whole_bit_by_bit() {
    let shop = generated(SMALL);
    let run = shop.path("run");
    // A copy, a file that is cut short, one of nothing, and a process without a file.
    fs::copy(run.join("000003-host-app.falloff"), run.join("a copy.falloff")).unwrap();
    let cut = fs::read(run.join("000007-host-app.falloff")).unwrap();
    fs::write(run.join("000007-host-app.falloff"), &cut[..cut.len() / 2]).unwrap();
    fs::write(run.join("empty.falloff"), []).unwrap();
    fs::remove_file(run.join("000011-host-app.falloff")).unwrap();
    let said = merge(&shop, "run -o whole");
    for expected in [
        "22 processes, 22 threads, 22 of 23 ranks, rank 11 is missing",
        "a copy.falloff: left out: it measures the same process as another file",
        "000007-host-app.falloff: cut short",
        "empty.falloff: left out: the file is empty",
    ] {
        assert!(said.contains(expected), "{expected} is not in\n{said}");
    }
    for rank in 0..5 {
        let text = format!("PMI_RANK={rank} PMI_SIZE=5 \"$FALLOFF\" merge run --shard auto -o parts");
        outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    }
    merge(&shop, "parts -o joined");
    assert_same(&shop, "whole", "joined");
    // In another order, and in two steps; a part that is there twice is taken once.
    let some = merge(&shop, "parts/part-4-of-5 parts/part-2-of-5 -o some");
    assert!(some.contains("3 of 5 parts of the measurement are missing: 1, 3, 5"), "{some}");
    merge(&shop, "parts/part-5-of-5 some parts/part-1-of-5 parts/part-3-of-5 -o again");
    for name in ["contexts", "locations", "metrics", "modules", "summary", "values"] {
        let bytes = |dir: &str| fs::read(shop.path(&format!("{dir}/{name}.parquet"))).unwrap();
        assert!(bytes("again") == bytes("whole"), "{name} differs");
    }
    let twice = merge(&shop, "parts whole -o twice");
    assert!(twice.contains("22 processes are in several of the joined databases"), "{twice}");
    // More parts than processes.
    for part in 1..=30 {
        merge(&shop, &format!("run --shard {part}/30 -o many"));
    }
    merge(&shop, "many -o many-joined");
    assert_same(&shop, "whole", "many-joined");
}

#[test]
fn what_cannot_be_merged_is_told() {
    let shop = generated(Shape { locations: 2, ..SMALL });
    merge(&shop, "run -o whole");
    fs::create_dir(shop.path("thesis")).unwrap();
    fs::write(shop.path("thesis/thesis.tex"), "x").unwrap();
    let refused = |args: &str, code: i32, words: &str| {
        let end = outcome(&mut bash(shop.dir(), &format!("\"$FALLOFF\" merge {args}"))).expect_code(code);
        assert!(end.stderr.contains(words), "{end}");
    };
    refused("whole --shard 1/2 -o parts", 2, "--shard is for the measurement files of one run");
    refused("run --shard 3/2 -o parts", 2, "`3/2` is no part");
    refused("run --shard auto -o parts", 2, "no launcher says");
    refused("run -o thesis", 2, "is not a database");
    refused("nothing -o x", 2, "failed to look into `nothing`");
    assert_eq!(fs::read(shop.path("thesis/thesis.tex")).unwrap(), b"x");
    // Damage is found before anything of it is shown.
    let path = shop.path("whole/values.parquet");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0x55);
    fs::write(&path, bytes).unwrap();
    outcome(&mut bash(shop.dir(), "\"$FALLOFF\" view whole")).expect_code(0);
    let end = outcome(&mut bash(shop.dir(), "\"$FALLOFF\" view whole --location rank=1")).expect_code(3);
    assert!(end.stderr.contains("values.parquet"), "{end}");
}

/// The same tree over many more locations takes no more memory, and time grows as the input does.
#[test]
fn merging_needs_memory_for_the_tree_and_time_for_the_input() {
    let shape = Shape { locations: 0, contexts: 20_000, density: 0.02 };
    let [few, some, many] = [10, 200, 800]
        .map(|locations| cost(&generated(Shape { locations, ..shape }), "merge run -o database"));
    assert!(many.0 < 1.25 * few.0, "{} KiB for 800 locations, {} KiB for 10", many.0, few.0);
    assert!(many.1 < 4.0 * 1.6 * some.1, "{} s for 800 locations, {} s for 200", many.1, some.1);
}
