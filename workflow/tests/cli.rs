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
    for verb in ["", "run", "sweep", "view", "score", "export", "demo"] {
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
        &["run", "-e", "time", "--", "true"],
        &["run", "-e", "cycles@100", "--", "true"],
        &["run", "-e", "cpu@0", "--", "true"],
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
        &["score", "missing"],
        &["score", "empty"],
        &["score", "run"],
        &["score", "broken"],
        &["score", "empty", "--view", "side"],
        &["export", "empty", "--format", "svg", "-o", "-"],
        &["export", "missing", "--format", "folded", "-o", "-"],
    ];
    let texts: Vec<String> = cases.iter().map(|args| refusal(args, path)).collect();
    insta::assert_snapshot!("refusals", texts.join("\n"));
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
