//! `cargo install` gives one binary that works alone.

use std::path::Path;
use std::time::Duration;

use crate::support::{Running, Workshop, bash, build, outcome, tools};

/// What an installation may take beside other tests: it links the whole once more and builds some dependencies again, since
/// the workspace has them with more features.
const BUILD_LIMIT: Duration = Duration::from_secs(1200);

#[test]
fn an_installed_binary_works_without_the_sources() {
    let shop = Workshop::alone();
    build(&shop, "work");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().unwrap();
    // The build directory in use holds nearly everything that an installation has to build.
    let target = Path::new(env!("CARGO_BIN_EXE_falloff")).ancestors().nth(2).expect("a build directory");
    let text = format!("cargo install --quiet --locked --path {manifest:?} --root installed");
    let install = Running::start(bash(shop.dir(), &text).env("CARGO_TARGET_DIR", target));
    install.wait_at_most(BUILD_LIMIT).expect_code(0);

    let alone = "env -i PATH=/usr/bin:/bin HOME=/nonexistent installed/bin/falloff";
    let text = format!("{alone} run -o run -- ./work; [ $? = 7 ] && {alone} view run --metric cpu");
    let view = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    assert!(view.stdout.contains("plain_work"), "{view}");

    if tools::root() {
        // An empty file system over the source tree and the build directory takes both out of reach.
        let sources = manifest.parent().expect("the manifest lies in the workspace");
        let hide = |dir: &Path| format!("mount -t tmpfs none {dir:?}");
        let text = format!(
            "exec unshare -m bash -c '{}; [ ! -d {target:?} ] || {}; {alone} run -o hidden -- ./work; [ $? = 7 ] && {alone} view hidden --metric cpu'",
            hide(sources),
            hide(target)
        );
        let view = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
        assert!(view.stdout.contains("plain_work"), "{view}");
    }
}
