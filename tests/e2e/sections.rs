//! Sections that programs mark: in C, C++, Fortran and Rust, with MPI and without.

use std::fs;
use std::path::PathBuf;

use falloff_postprocess::{Database, OpenOptions, open};
use serde_json::Value;

use crate::support::{Workshop, bash, build_with, outcome, programs, tools};

/// What a program includes or compiles.
fn files() -> PathBuf {
    programs().join("../../sections").canonicalize().expect("no folder of sections")
}

fn include() -> String {
    format!("-O2 -g -Wall -Wextra -Werror -I{:?}", files().join("include"))
}

/// Lines in order of the alphabet, since those of ranks come in any.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// Runs a command line with and without falloff in front of the program `./NAME`, insists on the same output, and gives the
/// sections.
#[track_caller]
fn measured(shop: &Workshop, launcher: &str, program: &str) -> Value {
    let plain = outcome(&mut bash(shop.dir(), &format!("{launcher} {program}"))).expect_code(0);
    let text = format!("{launcher} \"$FALLOFF\" run -o run -- {program}");
    let run = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    assert_eq!(sorted(&run.stdout), sorted(&plain.stdout), "the program runs otherwise\n{run}");
    outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" view run --sections --format json"))
        .expect_code(0)
        .json()
}

/// The sections with this path.
fn rows<'a>(sections: &'a Value, path: &[&str]) -> Vec<&'a Value> {
    let all = sections["sections"].as_array().expect("sections is no list");
    all.iter().filter(|row| row["path"] == serde_json::json!(path)).collect()
}

#[track_caller]
fn row<'a>(sections: &'a Value, path: &[&str]) -> &'a Value {
    let found = rows(sections, path);
    assert_eq!(found.len(), 1, "{path:?} in {sections:#}");
    found[0]
}

/// Instances and locations of the section with this path.
#[track_caller]
fn counts(sections: &Value, path: &[&str]) -> (u64, u64) {
    let row = row(sections, path);
    (row["instances"].as_u64().unwrap(), row["locations"].as_u64().unwrap())
}

fn seconds(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap_or_else(|| panic!("no {field} in {row}"))
}

fn phases(mpi: &str) {
    if !tools::have(&[&format!("mpicc.{mpi}"), &format!("mpirun.{mpi}")]) {
        return;
    }
    let shop = Workshop::alone();
    build_with(&shop, &format!("mpicc.{mpi} {}", include()), "sections/phases.c", "phases");
    let sections = measured(&shop, &format!("mpirun.{mpi} -n 4"), "./phases");

    for (path, instances) in [
        (&["BEFORE"][..], 1),
        (&["AFTER"], 1),
        (&["MPI_MAIN"], 1),
        (&["MPI_MAIN", "SOLVE"], 20),
        (&["MPI_MAIN", "SOLVE", "HALO"], 20),
        (&["MPI_MAIN", "OUTER"], 1),
        (&["MPI_MAIN", "OUTER", "FORGOTTEN"], 1),
        (&["MPI_MAIN", "CONTROLLED"], 1),
    ] {
        assert_eq!(counts(&sections, path), (instances, 4), "{path:?}");
    }
    // Even and odd ranks are communicators of their own, whatever handles they have each time.
    let halves = rows(&sections, &["MPI_MAIN", "HALF"]);
    assert_eq!(halves.len(), 2, "{sections:#}");
    for half in halves {
        assert_eq!((&half["instances"], &half["communicator"]["size"]), (&4.into(), &2.into()));
    }
    let faults = ["unclosed", "stray", "beyond"].map(|fault| sections[fault].as_u64().unwrap());
    assert_eq!(faults, [4, 4, 0], "of each rank one of the first two");

    // The program's own timers, which are read within the calls: the difference is two readings of a clock, or a switch to
    // another rank between them.
    let timers: Vec<(f64, f64)> = (0..4)
        .map(|rank| {
            let text = fs::read_to_string(shop.path(&format!("timers.{rank}"))).unwrap();
            let mut numbers = text.split_whitespace().map(|n| n.parse::<f64>().unwrap());
            (numbers.next().unwrap(), numbers.next().unwrap())
        })
        .collect();
    let mean = |of: fn(&(f64, f64)) -> f64| timers.iter().map(of).sum::<f64>() / 4.0;
    for (path, own) in
        [(&["MPI_MAIN", "SOLVE"][..], mean(|t| t.0)), (&["MPI_MAIN", "SOLVE", "HALO"], mean(|t| t.1))]
    {
        let dwell = seconds(row(&sections, path), "dwell_mean_s");
        assert!((dwell - own).abs() <= 0.02 * own + 0.01, "{path:?}: {dwell} s, by its own timers {own} s");
    }
    let solve = row(&sections, &["MPI_MAIN", "SOLVE"]);
    let within = seconds(row(&sections, &["MPI_MAIN", "SOLVE", "HALO"]), "dwell_mean_s");
    let rest = seconds(solve, "dwell_mean_s") - seconds(solve, "exclusive_mean_s");
    assert!((rest - within).abs() < 1e-6, "what is within is not its own: {rest} {within}");
    let main = row(&sections, &["MPI_MAIN"]);
    assert!(seconds(main, "span_s") >= seconds(main, "dwell_max_s"));
    assert_eq!(main["communicator"]["all_ranks"], true);

    // Samples carry their section: of the function that computes, what lies in SOLVE and what before MPI.
    let database = open(&shop.path("run"), &OpenOptions::default()).unwrap();
    let solve = cost_in(&database, "SOLVE", "compute");
    let all: f64 = cost_of(&database, "compute");
    let before = cost_in(&database, "BEFORE", "compute");
    assert!(all > 0.2, "{all} s");
    assert!((solve + before - all).abs() <= 0.02 * all, "{solve} s and {before} s of {all} s");

    // Call paths below their sections: the same costs, in scopes that every view can be cut by.
    let by_section = OpenOptions { by_section: true, ..OpenOptions::default() };
    let below = open(&shop.path("run"), &by_section).unwrap();
    for function in ["compute", "main"] {
        let (here, there) = (cost_of(&below, function), cost_of(&database, function));
        assert!((here - there).abs() < 1e-9, "{function}: {here} s, {there} s without sections above");
    }
    for section in ["BEFORE", "SOLVE", "HALO"] {
        let here = cost_of(&below, &format!("section {section}"));
        let there = cost_in_or_below(&database, section);
        assert!((here - there).abs() < 1e-9, "{section}: {here} s below its scope, {there} s in it");
    }
    let cut = "exec \"$FALLOFF\" view run --by-section --root '^section SOLVE$' --metric cpu --format json";
    let cut = outcome(&mut bash(shop.dir(), cut)).expect_code(0).json();
    let shown = cut["rows"][0]["inclusive_ns"].as_f64().unwrap_or_else(|| panic!("{cut:#}")) / 1e9;
    assert!((shown - cost_of(&below, "section SOLVE")).abs() < 1e-6, "{shown} s");
}

/// Whether a context is of this function or below it.
fn is_in(database: &Database, context: u32, function: &str) -> bool {
    let tree = database.tree();
    tree.path(context).iter().any(|c| &*tree.scope(*c).name == function)
}

/// CPU seconds in a function, helpers left out.
fn cost_of(database: &Database, function: &str) -> f64 {
    let sums = database.clone().without_helpers();
    let costs = sums.exclusive_totals("cpu").unwrap();
    let all = (0u32..).zip(&costs).filter(|(context, _)| is_in(&sums, *context, function));
    all.map(|(_, ns)| ns / 1e9).sum()
}

/// Of these, those in the sections of this label.
fn cost_in(database: &Database, label: &str, function: &str) -> f64 {
    let sections = &database.sections().sections;
    let is_of = |section: u32| &*sections[section as usize].label == label;
    cost_in_sections(database, is_of, |context| is_in(database, context, function))
}

/// CPU seconds in the sections of this label and those within them.
fn cost_in_or_below(database: &Database, label: &str) -> f64 {
    let sections = &database.sections().sections;
    let around = |section: &u32| sections[*section as usize].parent;
    let is_of = |section: u32| {
        std::iter::successors(Some(section), around).any(|s| &*sections[s as usize].label == label)
    };
    cost_in_sections(database, is_of, |_| true)
}

fn cost_in_sections(database: &Database, is_of: impl Fn(u32) -> bool, is_meant: impl Fn(u32) -> bool) -> f64 {
    let cpu = database.metrics().iter().position(|m| m.name == "cpu").unwrap() as u32;
    let values = database.section_values().unwrap();
    let wanted = values.iter().filter(|v| v.metric == cpu && is_of(v.section) && is_meant(v.context));
    wanted.map(|v| v.exclusive as f64 / 1e9).sum()
}

#[test]
fn phases_under_open_mpi() {
    phases("openmpi");
}

#[test]
fn phases_under_mpich() {
    phases("mpich");
}

/// Joined parts are the whole, sections and all.
#[test]
fn parts_of_a_run_with_sections_join_to_the_whole() {
    if !tools::have(&["mpicc.mpich", "mpirun.mpich"]) {
        return;
    }
    let shop = Workshop::shared();
    build_with(&shop, &format!("mpicc.mpich {}", include()), "sections/order.c", "order");
    let text = "mpirun.mpich -n 4 \"$FALLOFF\" run -o run -- ./order \
        && \"$FALLOFF\" merge run -o whole \
        && \"$FALLOFF\" merge run --shard 2/2 -o parts && \"$FALLOFF\" merge run --shard 1/2 -o parts \
        && \"$FALLOFF\" merge parts -o joined && diff -r whole joined && ls joined";
    let files = outcome(&mut bash(shop.dir(), text)).expect_code(0);
    for table in ["sections", "communicators", "section_members", "section_dwells", "section_instances"] {
        assert!(files.stdout.contains(&format!("{table}.parquet")), "{files}");
    }
}

#[test]
fn ranks_that_go_another_way_are_named() {
    if !tools::have(&["mpicc.openmpi", "mpirun.openmpi"]) {
        return;
    }
    let shop = Workshop::shared();
    build_with(&shop, &format!("mpicc.openmpi {}", include()), "sections/order.c", "order");
    let text = "mpirun.openmpi -n 4 \"$FALLOFF\" run -o run -- ./order && \"$FALLOFF\" view run --sections";
    let view = outcome(&mut bash(shop.dir(), text)).expect_code(0);
    let sentence = "sections of a communicator of 3: rank 2 entered none or are not measured; rank 1 made other calls than \
                    rank 0, first between calls 1025 and 2048";
    assert!(view.stdout.contains(sentence), "{view}");
}

fn fortran(mpi: &str) {
    if !tools::have(&[&format!("mpif90.{mpi}"), &format!("mpirun.{mpi}")]) {
        return;
    }
    let module = files().join("fortran/falloff_sections.f90");
    for binding in ["mpifh", "mpi", "f08"] {
        let shop = Workshop::shared();
        let compiler = format!("mpif90.{mpi} -O2 -g -J. {module:?}");
        build_with(&shop, &compiler, &format!("sections/fortran_{binding}.f90"), "program");
        let sections = measured(&shop, &format!("mpirun.{mpi} -n 2"), "./program");
        assert_eq!(counts(&sections, &["MPI_MAIN", "REDUCE"]), (5, 2), "{binding}");
        assert_eq!(counts(&sections, &["MPI_MAIN", "ALONE"]), (1, 2), "{binding}");
        let reduce = row(&sections, &["MPI_MAIN", "REDUCE"]);
        assert_eq!(reduce["communicator"]["all_ranks"], true, "{binding}");
        assert_eq!([&sections["unclosed"], &sections["stray"]], [&Value::from(0), &Value::from(0)]);
    }
}

#[test]
fn fortran_by_three_bindings_of_open_mpi() {
    fortran("openmpi");
}

#[test]
fn fortran_by_three_bindings_of_mpich() {
    fortran("mpich");
}

#[test]
fn an_exception_leaves_its_sections() {
    if !tools::have(&["mpicxx.mpich", "mpirun.mpich"]) {
        return;
    }
    let shop = Workshop::shared();
    build_with(&shop, &format!("mpicxx.mpich -std=c++11 {}", include()), "sections/scoped.cpp", "scoped");
    let sections = measured(&shop, "mpirun.mpich -n 1", "./scoped");
    assert_eq!(counts(&sections, &["MPI_MAIN", "SCOPED", "FAILS"]), (1, 1));
    assert_eq!(sections["unclosed"], 0);
}

#[test]
fn another_tool_hears_of_every_section() {
    if !tools::have(&["mpicc.openmpi", "mpirun.openmpi", "gcc"]) {
        return;
    }
    let shop = Workshop::shared();
    build_with(&shop, &format!("mpicc.openmpi {}", include()), "sections/phases.c", "phases");
    build_with(&shop, "gcc -O2 -shared -fPIC", "sections/tool.c", "tool.so");
    let text = "mpirun.openmpi -n 2 env LD_PRELOAD=$PWD/tool.so \"$FALLOFF\" run -o run -- ./phases";
    let run = outcome(&mut bash(shop.dir(), text)).expect_code(0);
    // BEFORE, MPI_MAIN, 20 SOLVE with HALO, 4 HALF, OUTER with FORGOTTEN, AFTER; CONTROLLED has no communicator.
    let heard = "heard 49 49, wrong 0";
    assert_eq!(run.stdout.lines().filter(|line| *line == heard).count(), 2, "{run}");
}

#[test]
fn threads_and_forked_children_have_sections() {
    if !tools::have(&["gcc"]) {
        return;
    }
    let shop = Workshop::alone();
    build_with(&shop, &format!("gcc -pthread {}", include()), "sections/threads.c", "threads");
    let sections = measured(&shop, "", "./threads");
    assert_eq!(counts(&sections, &["ALL", "OWN", "INNER"]), (3, 2));
    assert_eq!(counts(&sections, &["ALL", "WORK"]), (1, 1));
    assert_eq!(counts(&sections, &["ALL", "WORK", "CHILD"]), (1, 1));
    assert_eq!([&sections["unclosed"], &sections["beyond"]], [&Value::from(0), &Value::from(7)]);
    // Two threads that are in no section of their own, and a child of the fork, in that of the main thread.
    let database = open(&shop.path("run"), &OpenOptions::default()).unwrap();
    let (inside, all) = (cost_in(&database, "WORK", "burn"), cost_of(&database, "burn"));
    assert!((0.8..1.1).contains(&all), "{all} s of 0.9 s");
    assert!(inside >= 0.98 * all, "{inside} s of {all} s");
}

#[test]
fn too_many_sections_are_counted() {
    if !tools::have(&["gcc"]) {
        return;
    }
    let shop = Workshop::shared();
    build_with(&shop, &format!("gcc {}", include()), "sections/many.c", "many");
    let sections = measured(&shop, "", "./many");
    assert_eq!(sections["sections"].as_array().unwrap().len(), 1023);
    assert_eq!([&sections["beyond"], &sections["stray"]], [&Value::from(480), &Value::from(0)]);
    assert_eq!(row(&sections, &[&"x".repeat(63)])["instances"], 1);
    assert_eq!(row(&sections, &[""])["instances"], 1);
    let view = outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" view run --sections")).expect_code(0);
    assert!(view.stdout.contains("\u{fffd};?  ") && view.stdout.contains("(no label)"), "{view}");
}

#[test]
fn a_program_without_sections_is_told_so() {
    let shop = Workshop::shared();
    let text = "\"$FALLOFF\" run -o run -- /bin/true && exec \"$FALLOFF\" view run --sections";
    let view = outcome(&mut bash(shop.dir(), text)).expect_code(0);
    assert!(view.stdout.contains("has marked no sections"), "{view}");
}

/// In C and C++ of every compiler, position-independent or not, linked statically, and in a cargo package.
#[test]
fn header_module_and_crate_compile_alone() {
    if !tools::have(&["gcc", "g++", "clang", "gfortran", "cargo"]) {
        return;
    }
    let shop = Workshop::shared();
    let strict = format!("-std=c99 -pedantic {}", include());
    for (compiler, is_measured) in [
        (format!("gcc {strict}"), true),
        (format!("gcc -fno-pie -no-pie {strict}"), true),
        (format!("gcc -flto {strict}"), true),
        (format!("gcc -static {strict}"), false),
        (format!("clang {strict}"), true),
        (format!("g++ -x c++ -std=c++11 {}", include()), true),
        (format!("clang++ -x c++ -std=c++20 {}", include()), true),
    ] {
        build_with(&shop, &compiler, "sections/many.c", "many");
        let sections = measured(&shop, "", "./many");
        assert_eq!(!rows(&sections, &["section 7"]).is_empty(), is_measured, "{compiler}");
        fs::remove_dir_all(shop.path("run")).unwrap();
    }
    let module = files().join("fortran/falloff_sections.f90");
    outcome(&mut bash(shop.dir(), &format!("gfortran -std=f2008 -Wall -Werror -c {module:?}")))
        .expect_code(0);

    let text = format!(
        "cp -r {:?} falloff-sections && mkdir -p package/src && cp {:?} package/src/main.rs && cd package && \
         printf '[package]\\nname = \"user\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n\
         [dependencies]\\nfalloff-sections = {{ path = \"../falloff-sections\" }}\\n[workspace]\\n' > Cargo.toml && \
         cargo build --quiet --release --offline --target-dir ../target && cp ../target/release/user ..",
        files().join("rust"),
        programs().join("sections/sections.rs")
    );
    outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    let sections = measured(&shop, "", "./user");
    assert_eq!(counts(&sections, &["ALL"]), (1, 1));
    assert_eq!(counts(&sections, &["ALL", "INNER"]), (1, 2));
}

/// A call must not cost what is measured with it. Other programs may slow down any of the rounds, not half of them by that much.
#[test]
fn a_call_costs_little_more_than_a_reading_of_the_clock() {
    if !tools::have(&["mpicc.mpich", "mpirun.mpich"]) {
        return;
    }
    let shop = Workshop::alone();
    build_with(&shop, &format!("mpicc.mpich -DWITH_MPI {}", include()), "sections/cost.c", "cost");
    let text = "mpirun.mpich -n 1 \"$FALLOFF\" run -o run -- ./cost";
    let run = outcome(&mut bash(shop.dir(), text)).expect_code(0);
    let cost = |name: &str| {
        let line = run.stdout.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        line.unwrap_or_else(|| panic!("no {name}\n{run}"))
    };
    // Each call reads the clock once, and what a reading costs is the machine's affair.
    let clock = cost("clock");
    for name in ["falloff_section", "MPIX_Section", "MPI_Pcontrol"] {
        assert!(
            cost(name) < 100.0 + 4.0 * clock,
            "{name}: {} ns, a reading of the clock {clock} ns",
            cost(name)
        );
    }
}
