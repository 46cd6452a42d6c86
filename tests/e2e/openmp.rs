//! Workers of OpenMP under the parallel regions that they work for, when asked.

use std::collections::BTreeMap;

use crate::support::folded::Sample;
use crate::support::{Folded, Workshop, bash, build_with, outcome, tools, total};

/// `regions.c` says the shares.
const SHARES: &[(&[&str], f64)] = &[
    (&["main", "light", "GOMP_parallel", "light._omp_fn.0", "burn"], 1.0 / 15.0),
    (&["main", "light", "spread", "GOMP_parallel", "spread._omp_fn.0", "burn"], 1.0 / 15.0),
    (&["main", "heavy", "GOMP_parallel", "heavy._omp_fn.0", "burn"], 4.0 / 15.0),
    (&["main", "heavy", "spread", "GOMP_parallel", "spread._omp_fn.0", "burn"], 9.0 / 15.0),
];

/// Samples of all threads but the one that began the process.
fn without_main(folded: &Folded) -> impl Iterator<Item = &Sample> {
    // That one has the process's number.
    let is_main = |process: &str| process.rsplit(':').next() == process.rsplit(':').nth(1);
    folded.samples.iter().filter(move |sample| !is_main(&sample.process))
}

/// Whether these are the innermost frames.
fn has_end(sample: &Sample, path: &[&str]) -> bool {
    let frames = sample.frames.len().checked_sub(path.len()).map(|from| &sample.frames[from..]);
    frames.is_some_and(|frames| frames == path)
}

fn totals(folded: &Folded) -> BTreeMap<&str, u64> {
    let mut sums = BTreeMap::new();
    for sample in folded.samples.iter().chain(&folded.unsampled) {
        *sums.entry(sample.process.as_str()).or_insert(0) += sample.value;
    }
    sums
}

#[test]
fn workers_stand_under_the_region_that_forked_them() {
    let shop = Workshop::alone();
    if !tools::have(&["gcc"]) || !tools::compiles(&shop, "gcc -fopenmp") {
        return;
    }
    build_with(&shop, "gcc -O2 -g -fopenmp", "regions.c", "regions");
    let text = "OMP_NUM_THREADS=2 exec \"$FALLOFF\" run -e cpu@1000 -o run -- ./regions 4000000";
    outcome(&mut bash(shop.dir(), text)).expect_code(0);
    let export = |metric: &str, options: &[&str]| {
        Folded::try_export(&shop.path("run"), metric, "thread", options, shop.dir())
            .unwrap_or_else(|why| panic!("{why}"))
    };
    let plain = export("cpu", &[]);
    assert!(without_main(&plain).all(|sample| !sample.passes(&["main".to_owned()])), "{plain:?}");
    let grafted = export("cpu", &["--graft-openmp"]);
    let work = total(without_main(&grafted).filter(|sample| sample.ends_in("burn")));
    for (path, share) in SHARES {
        let here = without_main(&grafted).filter(|sample| has_end(sample, path));
        let found = total(here) as f64 / work as f64;
        assert!((found - share).abs() < 0.05, "{path:?}: {found:.3}, not {share:.3}\n{grafted:?}");
    }
    // What a worker does between regions is under a node of its own.
    for sample in without_main(&grafted).filter(|sample| !sample.ends_in("burn")) {
        let marked = sample.frames[0] == "[openmp idle]" || sample.passes(&["main".to_owned()]);
        assert!(marked || sample.frames == ["[unwatched wait]"], "{sample:?}");
    }
    // Counts are exact, and every thread keeps its own.
    assert_eq!(totals(&export("samples", &["--graft-openmp"])), totals(&export("samples", &[])));
}
