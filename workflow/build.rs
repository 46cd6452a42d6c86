//! Builds the sampler library, which the falloff executable carries inside it.
//!
//! The library needs `panic = "abort"`, which cargo cannot set for one member of a workspace, so it is a package
//! of its own with a build of its own.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

/// The library's file name, in its target directory and in ours.
const LIBRARY: &str = "libfalloff_preload.so";

/// What the library is built from, relative to this package.
const SOURCES: [&str; 8] = [
    "../profiler/preload/src",
    "../profiler/preload/Cargo.toml",
    "../profiler/preload/Cargo.lock",
    "../profiler/preload/build.rs",
    "../profiler/format/src",
    "../profiler/format/Cargo.toml",
    "../unwinder/src",
    "../unwinder/Cargo.toml",
];

fn main() {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(variable("OUT_DIR"));
    for source in SOURCES.iter().map(|s| here.join(s)).filter(|s| s.exists()) {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    let target = out.join("preload");
    build(&here.join("../profiler/preload/Cargo.toml"), &target);
    let built = target.join(variable("TARGET")).join("release").join(LIBRARY);
    let bytes = match std::fs::read(&built) {
        Ok(bytes) => bytes,
        Err(error) => panic!("failed to read {}: {error}", built.display()),
    };
    if let Err(error) = std::fs::write(out.join(LIBRARY), &bytes) {
        panic!("failed to copy {}: {error}", built.display());
    }
    // Not when it is used: that would be a millisecond of every run.
    let hash: String = Sha256::digest(&bytes).iter().take(16).map(|b| format!("{b:02x}")).collect();
    println!("cargo::rustc-env=FALLOFF_PRELOAD_HASH={hash}");
    if variable("CARGO_CFG_TARGET_ENV") == "gnu" {
        // Linked to run at any address, the loader would write 26,000 pointers before each start of a program.
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

/// A nested cargo run. It must not inherit what the outer cargo has set for this package: flags, wrappers and
/// profiles would build another library, and the outer jobserver may have closed its pipe.
fn build(manifest: &Path, target_dir: &Path) {
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["build", "--release", "--manifest-path"]).arg(manifest);
    cargo.arg("--target-dir").arg(target_dir).args(["--target", &variable("TARGET")]);
    if manifest.with_file_name("Cargo.lock").exists() {
        cargo.arg("--locked");
    }
    for (name, _) in env::vars_os() {
        let name_text = name.to_string_lossy();
        let leaks = name_text.starts_with("CARGO_") && !is_configuration(&name_text)
            || name_text.starts_with("RUSTC")
            || ["RUSTFLAGS", "RUSTDOCFLAGS", "CARGO", "MAKEFLAGS", "MFLAGS", "OUT_DIR", "TARGET", "HOST"]
                .contains(&name_text.as_ref());
        if leaks {
            cargo.env_remove(&name);
        }
    }
    // The compiler of the outer build, whichever way it was chosen.
    cargo.env("RUSTC", variable("RUSTC"));
    match cargo.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("failed to build the sampler library: {status}"),
        Err(error) => panic!("failed to start cargo for the sampler library: {error}"),
    }
}

/// Settings of the user's cargo that hold for every build.
fn is_configuration(name: &str) -> bool {
    ["CARGO_HOME", "CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTR", "CARGO_SOURCE_", "CARGO_TERM_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

fn variable(name: &str) -> String {
    match env::var(name) {
        Ok(value) => value,
        Err(error) => panic!("failed to read {name}, which cargo sets for build scripts: {error}"),
    }
}
