//! Tools that a test needs and a machine may lack.

use std::path::Path;

use super::{Workshop, bash, outcome};

/// Whether all tools are here. Where continuous integration runs (`CI=true`) a missing tool fails the test;
/// elsewhere the test is skipped with a line that says why.
pub fn have(tools: &[&str]) -> bool {
    let missing: Vec<_> = tools.iter().copied().filter(|tool| !on_path(tool)).collect();
    if missing.is_empty() {
        return true;
    }
    let missing = missing.join(", ");
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "missing tools: {missing} (tests/run installs them)"
    );
    skip(&format!("missing tools: {missing} (tests/run installs them)"))
}

/// Whether this process is root, without which a few programs cannot be prepared.
pub fn root() -> bool {
    nix::unistd::geteuid().is_root() || skip("needs root")
}

/// Says why a test is skipped; always false.
#[expect(clippy::print_stderr, reason = "the test runner shows it")]
pub fn skip(why: &str) -> bool {
    eprintln!("skipped: {why}");
    false
}

fn on_path(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| is_program(&dir.join(tool)))
}

fn is_program(path: &Path) -> bool {
    nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).is_ok() && path.is_file()
}

/// Whether a compiler command line makes programs here; one that does not is as a missing tool.
pub fn compiles(shop: &Workshop, compiler: &str) -> bool {
    let text = format!("echo 'int main(void) {{ return 0; }}' | {compiler} -x c -o probe -");
    let end = outcome(&mut bash(shop.dir(), &text));
    if end.code() == 0 {
        return true;
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{compiler} makes no programs\n{end}");
    skip(&format!("{compiler} makes no programs"))
}
