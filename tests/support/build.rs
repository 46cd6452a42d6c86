//! Building the small programs of `tests/programs`.

use std::path::PathBuf;

use super::{Workshop, bash, outcome, programs};

/// Builds `tests/programs/NAME.c` as any user would, optimised and with debug information.
#[track_caller]
pub fn build(shop: &Workshop, name: &str) -> PathBuf {
    build_with(shop, "gcc -O2 -g -pthread", &format!("{name}.c"), name)
}

/// Builds one source file of `tests/programs` with a compiler command line, to `name` in the workshop.
#[track_caller]
pub fn build_with(shop: &Workshop, compiler: &str, source: &str, name: &str) -> PathBuf {
    let text = format!("{compiler} -o {name} {:?}", programs().join(source));
    outcome(bash(shop.dir(), &text).env("GOCACHE", shop.path("go-cache")).env("GO111MODULE", "off"))
        .expect_code(0);
    shop.path(name)
}
