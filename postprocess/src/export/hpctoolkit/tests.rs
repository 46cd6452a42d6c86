//! Whole databases.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{hpctoolkit, hpctoolkit_hatchet};
use crate::database::{Database, Metric, Parts, Provenance, Unit, Value};
use crate::export::{By, Profile};
use crate::synthetic;
use crate::{Scope, ScopeKind, TreeBuilder};

/// A file that was written.
struct File(Vec<u8>);

impl File {
    fn read(dir: &Path, name: &str) -> File {
        File(fs::read(dir.join(name)).unwrap())
    }

    fn number(&self, address: usize, bytes: usize) -> usize {
        self.0[address..address + bytes].iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte))
    }

    /// Where the section begins that the header lists at this place.
    fn section(&self, place: usize) -> usize {
        self.number(16 + 16 * place + 8, 8)
    }

    fn text(&self, address: usize) -> &str {
        let length = self.0[address..].iter().position(|byte| *byte == 0).unwrap();
        std::str::from_utf8(&self.0[address..address + length]).unwrap()
    }

    fn is_complete(&self, id: &str, footer: &str) -> bool {
        self.0.starts_with(format!("HPCTOOLKIT{id}\u{4}\0").as_bytes()) && self.0.ends_with(footer.as_bytes())
    }
}

fn written(database: &Database) -> (tempfile::TempDir, [File; 3]) {
    let metrics: Vec<&str> = database.metrics().iter().map(|m| m.name.as_str()).collect();
    let dir = tempfile::tempdir().unwrap();
    hpctoolkit(&Profile::new(database, &metrics, By::None), dir.path()).unwrap();
    let [meta, profile, cct] = ["meta.db", "profile.db", "cct.db"].map(|name| File::read(dir.path(), name));
    assert!(meta.is_complete("meta", "_meta.db"));
    assert!(profile.is_complete("prof", "_prof.db"));
    assert!(cct.is_complete("ctxt", "__ctx.db"));
    (dir, [meta, profile, cct])
}

/// Names of all functions of `meta.db`.
fn functions(meta: &File) -> BTreeSet<&str> {
    let table = meta.section(7);
    let (array, count) = (meta.number(table, 8), meta.number(table + 8, 4));
    (0..count).map(|place| meta.text(meta.number(array + 40 * place, 8))).collect()
}

/// Depth of the tree, of which each child of a context is met.
fn depth(meta: &File) -> usize {
    let section = meta.section(3);
    let (array, count) = (meta.number(section, 8), meta.number(section + 8, 2));
    let mut stack: Vec<(usize, usize)> = (0..count).map(|entry| (array + 32 * entry, 1)).collect();
    let mut deepest = 0;
    while let Some((context, depth)) = stack.pop() {
        deepest = deepest.max(depth);
        let (size, first) = (meta.number(context, 8), meta.number(context + 8, 8));
        let mut child = first;
        while child < first + size {
            stack.push((child, depth + 1));
            child += 32 + 8 * meta.number(child + 0x17, 1);
        }
    }
    deepest
}

/// A database of one thread whose tree is a chain of these functions, with a cost at the end.
fn chain(names: &[&str]) -> Database {
    let mut tree = TreeBuilder::new();
    let mut here = 0;
    for name in names {
        here = tree.child(here, &synthetic::function(name, 10, Some(11)));
    }
    let (tree, place) = tree.finish();
    let value = Value { context: place[here as usize], location: 0, metric: 0, exclusive: 5 };
    of(tree, vec![value])
}

fn of(tree: crate::Tree, values: Vec<Value>) -> Database {
    Database::from_parts(Parts {
        tree,
        metrics: vec![Metric::new(Unit::Nanoseconds, "cpu")],
        locations: synthetic::database().locations()[..1].to_vec(),
        values,
        modules: Vec::new(),
        warnings: Vec::new(),
        provenance: Provenance::default(),
    })
}

#[test]
fn any_name_can_be_written() {
    let long = "x".repeat(10_000);
    let (_dir, [meta, ..]) = written(&chain(&["größe", "a;b \"c\" <d>\n\0", &long]));
    assert_eq!(functions(&meta), BTreeSet::from(["gr\\u{f6}\\u{df}e", "a;b \"c\" <d>\\u{a}\\u{0}", &long]));
}

#[test]
fn paths_may_be_deep() {
    let (_dir, [meta, ..]) = written(&chain(&["f"; 2000]));
    // Entry, the outermost function, and for each other one a line and the function.
    assert_eq!(depth(&meta), 2 + 2 * 1999);
    assert_eq!(functions(&meta).len(), 1);
}

#[test]
fn nothing_is_a_database_too() {
    let nothing = |locations| {
        Database::from_parts(Parts {
            tree: TreeBuilder::new().finish().0,
            metrics: vec![Metric::new(Unit::Nanoseconds, "cpu")],
            locations,
            values: Vec::new(),
            modules: Vec::new(),
            warnings: Vec::new(),
            provenance: Provenance::default(),
        })
    };
    for locations in [Vec::new(), synthetic::database().locations().to_vec()] {
        let profiles = locations.len() + 1;
        let (_dir, [meta, profile, _]) = written(&nothing(locations));
        assert_eq!(depth(&meta), 1);
        assert_eq!(profile.number(profile.section(0) + 8, 4), profiles);
    }
    let dir = tempfile::tempdir().unwrap();
    hpctoolkit(&Profile::new(&synthetic::database(), &[], By::None), dir.path()).unwrap();
}

#[test]
fn differences_have_signs() {
    let mut tree = TreeBuilder::new();
    let main = tree.child(0, &synthetic::function("main", 10, None));
    let (a, b) = (tree.child(main, &synthetic::statement(11)), tree.child(main, &synthetic::statement(12)));
    let (tree, place) = tree.finish();
    let value =
        |built: u32, exclusive| Value { context: place[built as usize], location: 0, metric: 0, exclusive };
    let (_dir, [_, profile, _]) = written(&of(tree, vec![value(a, -3_000_000_000), value(b, 1_000_000_000)]));
    // The last statistic of the whole, of those of the inclusive value: the sum.
    let summary = profile.number(profile.section(0), 8);
    let values = profile.number(summary + 8, 8);
    let bits: [u8; 8] = profile.0[values + 10 * 4 + 2..][..8].try_into().unwrap();
    assert_eq!(f64::from_le_bytes(bits), -2.0);
}

#[test]
fn sources_that_can_be_read_are_copied() {
    let sources = tempfile::tempdir().unwrap();
    let source = sources.path().join("main.c");
    fs::write(&source, "int main;").unwrap();
    let mut tree = TreeBuilder::new();
    let file = source.to_str().map(Into::into);
    let main = tree.child(0, &Scope { file, ..synthetic::function("main", 1, None) });
    let line = tree.child(main, &Scope { kind: ScopeKind::Line, ..synthetic::statement(7) });
    let (tree, place) = tree.finish();
    let value = Value { context: place[line as usize], location: 0, metric: 0, exclusive: 5 };
    let (dir, [meta, ..]) = written(&of(tree, vec![value]));
    let table = meta.section(6);
    let (array, count) = (meta.number(table, 8), meta.number(table + 8, 4));
    let files: BTreeSet<(usize, &str)> = (0..count)
        .map(|place| array + 16 * place)
        .map(|file| (meta.number(file, 4), meta.text(meta.number(file + 8, 8))))
        .collect();
    let copy = format!("src{}", source.display());
    assert_eq!(files, BTreeSet::from([(0, "/src/solver.c"), (1, copy.as_str())]));
    assert_eq!(fs::read_to_string(dir.path().join(copy)).unwrap(), "int main;");
}

#[test]
fn too_many_metrics_are_refused() {
    let tree = TreeBuilder::new().finish().0;
    let write = |metrics| {
        let contents = super::Contents {
            title: String::new(),
            description: String::new(),
            tree: &tree,
            modules: &[],
            metrics: vec![super::Column { name: "x".into(), description: String::new() }; metrics],
            parts: Vec::new(),
        };
        contents.write(tempfile::tempdir().unwrap().path(), super::Roots::Apart)
    };
    write(1638).unwrap();
    assert_eq!(write(1639).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn threads_hang_where_hatchet_looks() {
    let database = synthetic::database();
    let profile = Profile::new(&database, &["cpu"], By::None);
    let entries = |write: fn(&Profile, &Path) -> std::io::Result<()>| {
        let dir = tempfile::tempdir().unwrap();
        write(&profile, dir.path()).unwrap();
        let meta = File::read(dir.path(), "meta.db");
        meta.number(meta.section(3) + 8, 2)
    };
    assert_eq!((entries(hpctoolkit), entries(hpctoolkit_hatchet)), (3, 1));
}
