//! Programs that cannot be measured run unchanged, and one line on stderr says why there is no profile.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::{Outcome, Workshop, bash, build, build_with, falloff_run, outcome, tools};

/// Runs a program that prints `done` and ends with status 7, and insists on the one line.
#[track_caller]
fn refused(end: &Outcome, why: &str) {
    assert_eq!(end.code(), 7, "{end}");
    assert_eq!(end.stdout, "done\n", "{end}");
    assert_eq!(end.stderr.lines().count(), 1, "one line on stderr expected\n{end}");
    assert!(end.stderr.contains(why), "the line must say `{why}`\n{end}");
    assert!(end.stderr.contains("no profile"), "the line must say that there is no profile\n{end}");
}

#[track_caller]
fn run(shop: &Workshop, program: &Path) -> Outcome {
    outcome(&mut falloff_run(shop.dir(), &shop.path("dir"), [program]))
}

/// A loader of that name is taken to be that library's, though here it is this system's own.
#[test]
fn a_program_of_an_unknown_c_library() {
    let shop = Workshop::shared();
    let link =
        "ln -sf \"$(readelf -lW /proc/self/exe | sed -n 's/.*interpreter: \\(.*\\)]/\\1/p')\" ld-uClibc.so.0";
    outcome(&mut bash(shop.dir(), link)).expect_code(0);
    let loader = shop.path("ld-uClibc.so.0");
    let compiler = format!("gcc -O2 -g -Wl,--dynamic-linker={}", loader.display());
    let program = build_with(&shop, &compiler, "work.c", "work-uclibc");
    refused(&run(&shop, &program), "ld-uClibc");
}

#[test]
fn a_go_program() {
    if !tools::have(&["go"]) {
        return;
    }
    let shop = Workshop::shared();
    let program = build_with(&shop, "go build", "goes.go", "goes");
    refused(&run(&shop, &program), "Go program");
}

#[test]
fn a_set_user_id_program_started_by_another_user() {
    if !tools::root() || !tools::have(&["setpriv"]) {
        return;
    }
    let shop = Workshop::shared();
    let program = build(&shop, "work");
    let mode = |path: &Path, bits| fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
    mode(&program, 0o4755);
    mode(shop.dir(), 0o777);
    // The other user may not be able to reach the build directory: a copy lies beside the program.
    fs::copy(env!("CARGO_BIN_EXE_falloff"), shop.path("falloff")).unwrap();
    let text = "exec setpriv --reuid=65534 --regid=65534 --clear-groups ./falloff run -o dir -- ./work";
    let end = outcome(bash(shop.dir(), text).env("HOME", shop.dir()).env("TMPDIR", shop.dir()));
    refused(&end, "set-user-id");
}

#[test]
fn a_script_is_measured_through_its_interpreter() {
    let shop = Workshop::shared();
    build(&shop, "work");
    let script = shop.path("script");
    fs::write(&script, "#!/bin/sh\n./work\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let end = run(&shop, &script);
    assert_eq!((end.code(), end.stdout.as_str()), (7, "done\n"), "{end}");
    let folded = crate::support::Folded::export(&shop.path("dir"), &[], shop.dir());
    assert!(folded.program().any(|sample| sample.ends_in("plain_work")), "{folded:?}");
}
