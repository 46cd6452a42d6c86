//! The command line: help, and what it says when it is used wrongly.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn falloff(args: &[&str], dir: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_falloff"))
        .args(args)
        .current_dir(dir)
        .env("COLUMNS", "100")
        .env_remove("FALLOFF_RUN_ID")
        .output()
        .unwrap()
}

/// Exit code and standard error, with the directory's name taken out; standard output must be empty.
fn refusal(args: &[&str], dir: &Path) -> String {
    let output = falloff(args, dir);
    assert!(output.stdout.is_empty(), "{args:?} wrote to standard output");
    let text = String::from_utf8(output.stderr).unwrap().replace(&dir.display().to_string(), "DIR");
    format!("$ falloff {}\n{text}exit code {}\n", args.join(" "), output.status.code().unwrap())
}

#[test]
fn help_reads_well() {
    let dir = tempfile::tempdir().unwrap();
    for verb in [
        "", "run", "sweep", "view", "score", "model", "check", "export", "merge", "diff", "mean", "scale",
        "filter", "cut", "collapse", "doctor", "demo",
    ] {
        let args: Vec<&str> = [verb, "--help"].into_iter().filter(|a| !a.is_empty()).collect();
        let output = falloff(&args, dir.path());
        assert!(output.status.success() && output.stderr.is_empty());
        let name = if verb.is_empty() { "falloff" } else { verb };
        insta::assert_snapshot!(format!("help_{name}"), String::from_utf8(output.stdout).unwrap());
    }
}

#[test]
fn wrong_use_is_one_clear_message() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    std::fs::create_dir(path.join("empty")).unwrap();
    std::fs::create_dir(path.join("other")).unwrap();
    std::fs::write(path.join("other/notes.txt"), "mine").unwrap();
    std::fs::create_dir(path.join("broken")).unwrap();
    std::fs::write(path.join("broken/sweep.json"), "{").unwrap();
    std::fs::create_dir_all(path.join("run/measurements")).unwrap();
    let cases: &[&[&str]] = &[
        &[],
        &["scor"],
        &["--bogus"],
        &["run"],
        &["run", "-e", "cycle@100", "--", "true"],
        &["run", "-e", "preempted", "--", "true"],
        &["run", "-e", "time/5", "--", "true"],
        &["run", "-e", "page-faults,cpu@0", "--", "true"],
        &["run", "-e", "cpu@100", "-e", "time@200", "--", "true"],
        &["run", "-e", "page-faults,faults/10", "--", "true"],
        &["run", "-e", "r1,r2,r3,r4,r5,r6,r7", "--", "true"],
        &["run", "--waits", "never", "--", "true"],
        &["run", "--cpu-clock", "sun", "--", "true"],
        &["sweep", "-n", "1", "-e", "time@100", "--rate", "200", "--", "true"],
        &["sweep", "-n", "1", "-e", "page-faults", "--rate", "200", "--", "true"],
        &["run", "-o", "r", "--", "./no-such-program"],
        &["sweep", "--", "true"],
        &["sweep", "-n", "0", "--", "true"],
        &["sweep", "-n", "1,x", "--", "true"],
        &["sweep", "-n", "1", "--strong", "--weak", "--", "true"],
        &["sweep", "-n", "1", "--launcher", "plain", "--", "./no-such-program"],
        &["sweep", "-n", "1", "--launcher", "mpirum", "--", "true"],
        &["sweep", "-n", "1", "--launcher", "no-such-launcher -n {n}", "--", "true"],
        &["sweep", "-n", "1", "--launcher", "plain", "--timeout", "soon", "--", "true"],
        &["sweep", "-n", "1", "--launcher", "plain", "-o", "other", "--", "true"],
        &["sweep", "-n", "1", "--launcher", "plain", "-o", "/proc/no/such", "--", "true"],
        &["view", "missing"],
        &["view", "empty"],
        &["view", "broken"],
        &["view", "empty", "--location", "node=1"],
        &["view", "empty", "--focus", "MPI_("],
        &["view", "empty", "--derive", "ipc=instructions/"],
        &["view", "empty", "--derive", "ipc"],
        &["view", "empty", "--hot-path=2"],
        &["view", "empty", "--hot-path", "--sort", "name"],
        &["view", "empty", "--source", "a.c", "--view", "flat"],
        &["score", "missing"],
        &["score", "empty"],
        &["score", "run"],
        &["score", "broken"],
        &["score", "empty", "--view", "side"],
        &["score", "empty", "--expect", "solve"],
        &["score", "empty", "--expect", "solve=n^/p"],
        &["model", "empty"],
        &["model", "empty", "--target", "N=64"],
        &["model", "empty", "--target", "p=4,p=8"],
        &["model", "500=empty", "other"],
        &["model", "500=empty", "600=other", "--weak"],
        &["model", "0=empty"],
        &["model", "empty", "--terms", "N^3"],
        &["check", "empty"],
        &["check", "missing", "empty"],
        &["check", "empty", "empty", "--threshold", "101"],
        &["check", "empty", "empty", "--limits", "missing.toml"],
        &["export", "empty", "--format", "svg", "-o", "-"],
        &["export", "empty", "--format", "extrap", "-o", "-"],
        &["export", "missing", "--format", "folded", "-o", "-"],
    ];
    let texts: Vec<String> = cases.iter().map(|args| refusal(args, path)).collect();
    insta::assert_snapshot!("refusals", texts.join("\n"));
}

/// Runs that `falloff sweep` made, and one that was made again without waits.
#[test]
fn unlike_runs_are_not_compared() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = "sweep -n 1,2 --repeat 1 --launcher plain --cpu-clock timer --waits calls -o s -- sleep 0.05";
    let words = |text: &'static str| text.split(' ').collect::<Vec<_>>();
    assert!(falloff(&words(sweep), dir.path()).status.success());
    std::fs::remove_dir_all(dir.path().join("s/runs/n0002-r1")).unwrap();
    let again = "run -o s/runs/n0002-r1 -e cpu --cpu-clock timer -- sleep 0.05";
    assert!(falloff(&words(again), dir.path()).status.success());
    let texts = [words(sweep), words("score s"), words("score s --metric page-faults")]
        .map(|args| refusal(&args, dir.path()));
    insta::assert_snapshot!("unlike_runs", texts.join("\n"));
    // CPU time was measured alike.
    assert!(falloff(&words("score s --metric cpu"), dir.path()).status.success());
}

#[test]
fn what_cannot_be_had_is_told_and_the_rest_measured() {
    let dir = tempfile::tempdir().unwrap();
    let output = falloff(&["run", "-o", "r", "-e", "time,rffffffffffffffff", "--", "true"], dir.path());
    assert!(output.status.success() && output.stdout.is_empty());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("falloff: no rffffffffffffffff: ") && text.contains("(to enable: "), "{text}");
    assert_eq!(text.lines().count(), 1);
    let run = std::fs::read_to_string(dir.path().join("r/run.json")).unwrap();
    assert!(run.contains("\"events_missing\": [\n    {\n      \"name\": \"rffffffffffffffff\""), "{run}");
    let output = falloff(&["run", "-o", "n", "-e", "rffffffffffffffff", "--", "true"], dir.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(!dir.path().join("n").exists());
}

#[test]
fn health_is_told_on_request() {
    let dir = tempfile::tempdir().unwrap();
    let output = falloff(&["run", "-o", "r", "--health", "--", "sleep", "0.05"], dir.path());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("falloff: 1 process, 1 thread, "), "{text}");
    assert!(text.contains("falloff: clocks: "), "{text}");
}

#[test]
fn only_named_programs_are_measured() {
    let dir = tempfile::tempdir().unwrap();
    let files = |name: &str| std::fs::read_dir(dir.path().join(name).join("measurements")).unwrap().count();
    let script = ["sh", "-c", "sleep 0.01; true"];
    let output = falloff(&[&["run", "-o", "one", "--only", "sleep", "--"][..], &script].concat(), dir.path());
    assert!(output.status.success() && output.stderr.is_empty());
    assert_eq!(files("one"), 1);
    let output = falloff(&[&["run", "-o", "none", "--only", "app", "--"][..], &script].concat(), dir.path());
    assert!(String::from_utf8(output.stderr).unwrap().contains("no process ran a program named app"));
    assert_eq!(files("none"), 0);
}

#[test]
fn the_doctor_reports_and_judges() {
    let dir = tempfile::tempdir().unwrap();
    let output = falloff(&["doctor", "--format", "json"], dir.path());
    let text = String::from_utf8(output.stdout).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["schema"], "falloff.doctor");
    assert!(json["trial_failure"].is_null(), "{text}");
    assert_eq!(output.status.code(), Some(if json["works"] == true { 0 } else { 3 }));
}

#[test]
fn a_dry_run_prints_the_commands() {
    let dir = tempfile::tempdir().unwrap();
    let args = [
        "sweep",
        "-n",
        "2",
        "--repeat",
        "1",
        "--launcher",
        "plain",
        "--dry-run",
        "-o",
        "s",
        "--",
        "true",
        "{n}",
    ];
    let output = falloff(&args, dir.path());
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout)
        .unwrap()
        .replace(env!("CARGO_BIN_EXE_falloff"), "FALLOFF")
        .replace(&dir.path().display().to_string(), "DIR");
    insta::assert_snapshot!("dry_run", text);
    assert!(!dir.path().join("s").exists());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_falloff"))
        .arg("--help")
        .current_dir(dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}
