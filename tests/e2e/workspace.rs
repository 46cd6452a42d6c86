//! The shape of the source tree: which part may depend on which, and what the preload exports and imports.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Workshop, bash, data, outcome};

/// Every crate of falloff and the crates of falloff that it may depend on.
const DIRECTION: &[(&str, &[&str])] = &[
    ("falloff-format", &[]),
    ("falloff-unwinder", &[]),
    ("falloff-preload", &["falloff-format", "falloff-unwinder"]),
    ("falloff-profiler", &["falloff-format", "falloff-unwinder"]),
    ("falloff-postprocess", &["falloff-format", "falloff-messages"]),
    ("falloff-models", &[]),
    ("falloff-messages", &["falloff-format"]),
    ("falloff-generator", &["falloff-format"]),
    ("falloff-fuzz-targets", &["falloff-format", "falloff-postprocess"]),
    ("falloff-workflow", &["falloff-profiler", "falloff-postprocess", "falloff-models", "falloff-messages"]),
];

fn packages(manifest: &Path) -> Vec<Value> {
    let dir = manifest.parent().expect("a manifest lies in a folder");
    let text = "cargo metadata --format-version 1 --no-deps --offline";
    let metadata = outcome(&mut bash(dir, text)).expect_code(0).json();
    metadata["packages"].as_array().expect("packages is no list").clone()
}

#[test]
fn dependencies_point_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let mut found = packages(&root.join("Cargo.toml"));
    found.extend(packages(&root.join("profiler/preload/Cargo.toml")));
    let names: BTreeSet<_> = found.iter().map(|package| package["name"].as_str().unwrap()).collect();
    assert_eq!(names, DIRECTION.iter().map(|(name, _)| *name).collect(), "the crates have changed");
    for (name, allowed) in DIRECTION {
        let package = found.iter().find(|package| package["name"] == *name).unwrap();
        // What only tests need may be anything.
        let needed = package["dependencies"].as_array().unwrap().iter().filter(|d| d["kind"] != "dev");
        for dependency in needed.map(|dependency| dependency["name"].as_str().unwrap()) {
            let own = dependency.starts_with("falloff");
            assert!(!own || allowed.contains(&dependency), "{name} must not depend on {dependency}");
        }
    }
}

/// Two copies of the DWARF reader would be two answers to one question.
#[test]
fn one_version_of_each_debug_data_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = fs::read_to_string(root.join("Cargo.lock")).expect("unreadable Cargo.lock");
    for name in ["gimli", "object", "addr2line", "framehop"] {
        let versions = text.lines().filter(|line| *line == format!("name = \"{name}\"")).count();
        assert_eq!(versions, 1, "{name}");
    }
}

/// Names in one of nm's lists of the preload, without versions.
fn symbols(shop: &Workshop, which: &str) -> BTreeSet<String> {
    let listed = outcome(&mut bash(shop.dir(), &format!("nm -D {which} preload.so"))).expect_code(0);
    let names = listed.stdout.lines().filter_map(|line| line.split_whitespace().last());
    names.map(|name| name.split('@').next().unwrap_or(name).to_owned()).collect()
}

fn list(name: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(data().join(name)).expect("unreadable list");
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn the_preload_exports_and_imports_only_what_is_listed() {
    let shop = Workshop::shared();
    let text = "exec \"$FALLOFF\" run -o run -- bash -c 'cp \"${LD_PRELOAD%%:*}\" preload.so'";
    outcome(&mut bash(shop.dir(), text)).expect_code(0);
    assert_eq!(
        symbols(&shop, "--defined-only"),
        list("preload-exports.txt"),
        "the exported symbols have changed"
    );
    let imports = symbols(&shop, "--undefined-only");
    let unlisted: Vec<_> = imports.difference(&list("preload-imports.txt")).cloned().collect();
    assert!(unlisted.is_empty(), "the preload imports what it must not: {unlisted:?}");
}
