//! Whatever a user gets wrong is answered by one clear message: what failed, on which file, and what to do.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Outcome, Workshop, bash, build, outcome};

/// One message, no panic, the wanted exit status, the name of what is at fault, and a hint.
#[track_caller]
fn clear(end: &Outcome, code: i32, names: &str) {
    assert_eq!(end.code(), code, "{end}");
    assert!(end.stdout.is_empty(), "a message belongs on stderr\n{end}");
    assert!(end.stderr.contains(names), "the message must name `{names}`\n{end}");
    assert!(!end.stderr.contains("panicked") && !end.stderr.contains("RUST_BACKTRACE"), "{end}");
    assert!(end.stderr.contains("hint:"), "the message must say what to do\n{end}");
    assert!(end.stderr.lines().count() <= 4, "one message, not a list\n{end}");
}

fn falloff(shop: &Workshop, args: &str) -> Outcome {
    outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" {args}")))
}

/// A workshop with one measured run in `run`.
fn measured() -> Workshop {
    let shop = Workshop::shared();
    build(&shop, "work");
    falloff(&shop, "run -o run -- ./work").expect_code(7);
    shop
}

/// The measurement file of the run.
fn measurement_file(shop: &Workshop) -> PathBuf {
    let mut files = Vec::new();
    find(&shop.path("run"), &mut files);
    let len = |path: &PathBuf| fs::metadata(path).map_or(0, |meta| meta.len());
    files.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains("work")));
    files.into_iter().max_by_key(len).expect("the run left no measurement file")
}

fn find(dir: &Path, files: &mut Vec<PathBuf>) {
    for path in fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path()) {
        if path.is_dir() { find(&path, files) } else { files.push(path) }
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn wrong_flags_are_usage_errors() {
    let shop = Workshop::shared();
    for args in [
        "view",
        "view run --view sideways",
        "view run --format yaml",
        "run",
        "run -e nonsense@@ -- true",
        "sweep -n 1,2",
        "sweep -n 0 -- true",
        "sweep -n 1,x -- true",
        "sweep -n 1 --launcher '' -- true",
        "score run --at none",
        "export run --format nonsense -o -",
        "nonsense",
        "run --nonsense -- true",
    ] {
        let end = falloff(&shop, args);
        assert_eq!(end.code(), 2, "falloff {args}\n{end}");
        assert!(!end.stderr.contains("panicked") && !end.stderr.is_empty(), "{end}");
    }
}

#[test]
fn a_missing_program() {
    let shop = Workshop::shared();
    let end = falloff(&shop, "run -o run -- ./no-such-program");
    clear(&end, 2, "no-such-program");
    assert!(!shop.path("run").exists(), "nothing was run, so nothing may be left behind");
    clear(&falloff(&shop, "run -o run -- no-such-program-on-the-path"), 2, "no-such-program-on-the-path");
}

#[test]
fn a_program_that_is_not_executable() {
    let shop = Workshop::shared();
    fs::write(shop.path("data"), "no program").unwrap();
    clear(&falloff(&shop, "run -o run -- ./data"), 2, "data");
}

#[test]
fn an_unwritable_directory() {
    let shop = Workshop::shared();
    fs::write(shop.path("file"), "in the way").unwrap();
    clear(&falloff(&shop, "run -o file -- true"), 3, "file");
    clear(&falloff(&shop, "run -o file/below -- true"), 3, "file/below");
    clear(&falloff(&shop, "run -o /proc/nowhere -- true"), 3, "/proc/nowhere");
}

#[test]
fn the_directory_of_another_run() {
    let shop = measured();
    clear(&falloff(&shop, "run -o run -- ./work"), 2, "run");
    fs::create_dir(shop.path("mine")).unwrap();
    fs::write(shop.path("mine/notes"), "a user's own file").unwrap();
    clear(&falloff(&shop, "run -o mine -- ./work"), 2, "mine");
    assert_eq!(fs::read_to_string(shop.path("mine/notes")).unwrap(), "a user's own file");
}

#[test]
fn nothing_to_read() {
    let shop = Workshop::shared();
    for verb in ["view", "score", "export --format folded -o -"] {
        clear(&falloff(&shop, &format!("{verb} nowhere")), 2, "nowhere");
    }
    fs::create_dir(shop.path("empty")).unwrap();
    clear(&falloff(&shop, "view empty"), 3, "empty");
    fs::write(shop.path("file"), "no directory").unwrap();
    clear(&falloff(&shop, "view file"), 2, "file");
}

#[test]
fn an_empty_measurement_file() {
    let shop = measured();
    let file = measurement_file(&shop);
    fs::write(&file, "").unwrap();
    clear(&falloff(&shop, "view run"), 3, &name(&file));
}

#[test]
fn a_file_that_is_no_measurement() {
    let shop = measured();
    let file = measurement_file(&shop);
    fs::write(&file, "this is no measurement file, but it is long enough to hold a header\n".repeat(200))
        .unwrap();
    clear(&falloff(&shop, "view run"), 3, &name(&file));
}

#[test]
fn a_file_of_an_unknown_version() {
    let shop = measured();
    let file = measurement_file(&shop);
    let whole = fs::read(&file).unwrap();
    // The version stands in the first bytes after the magic: whichever byte it is, no change of it may be a panic.
    for at in 0..32 {
        let mut changed = whole.clone();
        changed[at] ^= 0x55;
        fs::write(&file, changed).unwrap();
        let _ = fs::remove_dir_all(shop.path("run/database"));
        let end = falloff(&shop, "view run");
        assert!([0, 3].contains(&end.code()) && !end.stderr.contains("panicked"), "byte {at}\n{end}");
    }
}

#[test]
fn a_truncated_measurement_file_gives_what_is_left() {
    let shop = measured();
    let file = measurement_file(&shop);
    let whole = fs::read(&file).unwrap();
    for keep in [1, 7, 64, 100, 500, 4095, 4096, 5000, whole.len() / 2, whole.len() - 1] {
        fs::write(&file, &whole[..keep.min(whole.len())]).unwrap();
        let _ = fs::remove_dir_all(shop.path("run/database"));
        let end = falloff(&shop, "view run");
        if end.code() == 0 {
            assert!(
                end.stdout.contains("cut short") || end.stdout.contains("plain_work"),
                "{keep} bytes\n{end}"
            );
        } else {
            clear(&end, 3, &name(&file));
        }
    }
}

#[test]
fn damage_anywhere_is_no_panic() {
    let shop = measured();
    let file = measurement_file(&shop);
    let whole = fs::read(&file).unwrap();
    // A fixed sequence of places and values, so that a failure can be repeated.
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize
    };
    for round in 0..60 {
        let mut changed = whole.clone();
        for _ in 0..=round % 8 {
            let at = next() % changed.len().min(16 * 1024);
            changed[at] = next() as u8;
        }
        fs::write(&file, changed).unwrap();
        let _ = fs::remove_dir_all(shop.path("run/database"));
        let end = falloff(&shop, "view run");
        assert!([0, 3].contains(&end.code()) && !end.stderr.contains("panicked"), "round {round}\n{end}");
    }
}

#[test]
fn a_mixed_directory() {
    let shop = measured();
    falloff(&shop, "run -o other -- ./work").expect_code(7);
    let mut files = Vec::new();
    find(&shop.path("other"), &mut files);
    let own = measurement_file(&shop);
    let _ = fs::remove_dir_all(shop.path("run/database"));
    let foreign = files.iter().find(|path| name(path).contains("work")).expect("a second measurement file");
    fs::copy(foreign, own.with_file_name(name(foreign))).unwrap();
    clear(&falloff(&shop, "view run"), 3, &name(foreign));
}

#[test]
fn a_foreign_file_beside_the_measurements_is_left_alone() {
    let shop = measured();
    fs::write(measurement_file(&shop).with_file_name("notes.txt"), "a user's own file").unwrap();
    falloff(&shop, "view run").expect_code(0);
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let shop = measured();
    let end = outcome(&mut bash(
        shop.dir(),
        "\"$FALLOFF\" export run --format folded -o - | true; \"$FALLOFF\" view run | head -1",
    ));
    assert!(!end.stderr.contains("panicked"), "{end}");
}

#[test]
fn a_full_disk_costs_the_report_not_the_senses() {
    let shop = measured();
    let end = outcome(&mut bash(shop.dir(), "\"$FALLOFF\" view run > /dev/full"));
    assert!(end.code() != 0 && !end.stderr.contains("panicked") && !end.stderr.is_empty(), "{end}");
}
