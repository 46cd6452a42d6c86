//! A measured program whose inlined function only debug information tells.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Outcome, Workshop, bash, falloff, falloff_run, outcome};

const PROGRAM: &str = "\
static volatile unsigned long sink;
static inline __attribute__((always_inline)) void inner(void) { for (long i = 0; i < 200000000; i++) sink += i; }
__attribute__((noinline, noclone)) void outer(void) { inner(); sink++; }
int main(void) { outer(); return 0; }
";

/// Builds the program from `prog.c` to `prog` and gives its run directory.
pub fn measured(shop: &Workshop, build: &str) -> PathBuf {
    fs::write(shop.path("prog.c"), PROGRAM).expect("failed to write the source");
    outcome(&mut bash(shop.dir(), build)).expect_code(0);
    let run = shop.path("run");
    outcome(&mut falloff_run(shop.dir(), &run, ["./prog"])).expect_code(0);
    run
}

/// The flat view of a database that is made anew.
pub fn anew(run: &Path, with: impl FnOnce(&mut Command)) -> Outcome {
    let _ = fs::remove_dir_all(run.join("database"));
    let mut command = falloff(["view".as_ref(), run.as_os_str(), "--view".as_ref(), "flat".as_ref()]);
    with(&mut command);
    outcome(&mut command).expect_code(0)
}
