//! The README's examples, run as written.
//!
//! Every block fenced as `console` is an example: its lines that begin with `$ ` are commands (a line that ends in
//! a backslash goes on in the next), the others show what they print. The blocks run one after the other in one
//! fresh directory that has `tests` beside it; `falloff` is the one under test, `cargo run --release --` stands for
//! it, and the commands that build, install or test falloff itself are left to the tests of those.

use std::fs;
use std::path::Path;

use crate::support::{Workshop, bash, outcome};

const PREAMBLE: &str = "set -e\n\
    falloff() { \"$FALLOFF\" \"$@\"; }\n\
    cargo() { case \"$1\" in run) while [ \"$1\" != -- ]; do shift; done; shift; falloff \"$@\";; esac; }\n";

/// The commands of the examples, block by block.
fn examples(text: &str) -> Vec<Vec<String>> {
    let mut blocks: Vec<Vec<String>> = Vec::new();
    let mut inside = false;
    let mut goes_on = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
            if inside {
                blocks.push(Vec::new());
            }
        } else if inside {
            let block = blocks.last_mut().expect("a block was begun");
            if goes_on {
                let command = block.last_mut().expect("a command was begun");
                command.push('\n');
                command.push_str(line.trim_start_matches("> "));
            } else if let Some(command) = line.strip_prefix("$ ") {
                block.push(command.to_owned());
            } else {
                continue;
            }
            goes_on = line.ends_with('\\');
        }
    }
    blocks
}

#[test]
fn every_example_works() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let readme = fs::read_to_string(root.join("README.md")).expect("unreadable README.md");
    let blocks = examples(&readme);
    assert!(!blocks.is_empty(), "the README holds no `console` block");
    let shop = Workshop::alone();
    std::os::unix::fs::symlink(root.join("tests"), shop.path("tests")).unwrap();
    for block in blocks {
        for command in block.iter().filter(|command| !command.starts_with("tests/run")) {
            let end = outcome(&mut bash(shop.dir(), &format!("{PREAMBLE}{command}")));
            assert_eq!(end.code(), 0, "an example of the README fails\n{end}");
        }
    }
}

#[test]
fn blocks_are_read_as_described() {
    let text = "```console\n$ one \\\n  two\nshown\n$ three\n```\n```sh\n$ four\n```\n";
    assert_eq!(examples(text), [["one \\\n  two", "three"]]);
}
