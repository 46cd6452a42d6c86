//! Differences as people and programs read them.

use super::super::{Difference, Locations, Operand, json, text};
use crate::cct::TreeBuilder;
use crate::database::{Database, Parts, Provenance};
use crate::synthetic::{database, database_with_helper, function};

/// As [`database`] of another build: the kernel takes twice as long, the library half, one function is new.
fn changed() -> Database {
    let before = database();
    let mut builder = TreeBuilder::new();
    let mut places = vec![0];
    for context in 1..before.tree().len() as u32 {
        let parent = before.tree().contexts()[context as usize].parent;
        places.push(builder.child(places[parent as usize], before.tree().scope(context)));
    }
    let new = builder.child(places[1], &function("preprocess", 90, Some(11)));
    let (tree, order) = builder.finish();
    let mut values = before.values().to_vec();
    for value in &mut values {
        let scope = before.tree().scope(value.context);
        value.context = order[places[value.context as usize] as usize];
        value.exclusive = match (&*scope.name, scope.line) {
            (_, Some(22)) => value.exclusive * 2,
            ("libmpi.so.40+0x1f00", _) => value.exclusive / 2,
            _ => value.exclusive,
        };
    }
    values.push(crate::Value {
        context: order[new as usize],
        location: 0,
        metric: 0,
        exclusive: 123_000_000,
    });
    values.sort();
    let mut locations = before.locations().to_vec();
    locations.iter_mut().for_each(|l| l.start_ns = 7);
    Database::from_parts(Parts {
        tree,
        metrics: before.metrics().to_vec(),
        locations,
        values,
        modules: Vec::new(),
        warnings: Vec::new(),
        provenance: Provenance { run_id: "run-2".into(), ..before.provenance().clone() },
    })
}

fn difference<'a>(a: &'a Database, b: &'a Database) -> Difference<'a> {
    let (a, b) = (Operand { name: "after", database: a }, Operand { name: "before", database: b });
    Difference::new(a, b, Locations::PairIfAlike).unwrap()
}

#[test]
fn text_names_what_changed() {
    let (before, after) = (database(), changed());
    let there = difference(&after, &before);
    insta::assert_snapshot!("difference", text(&there, before.metric("cpu").unwrap(), false));
    let same = difference(&before, &before);
    insta::assert_snapshot!("no_difference", text(&same, before.metric("cpu").unwrap(), false));
}

#[test]
fn json_has_all_of_it() {
    let (before, after) = (database(), changed());
    let mut out = Vec::new();
    json(&difference(&after, &before), before.metric("cpu").unwrap(), false, &mut out).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
    insta::assert_snapshot!("difference_json", serde_json::to_string_pretty(&document).unwrap());
}

#[test]
fn changes_add_up_with_and_without_helpers() {
    let (before, after) = (database(), database_with_helper(false));
    let difference = difference(&after, &before);
    let total = |d: &Database| d.exclusive_totals("cpu").unwrap().iter().sum::<f64>();
    let changes = |helpers| difference.changes("cpu", helpers).iter().map(|c| c.change()).sum::<f64>();
    assert_eq!(changes(true), total(&after) - total(&before));
    assert_eq!(changes(false), 0.0);
    let kept = difference.database.clone().without_helpers();
    assert_eq!(total(&kept), 0.0);
}
