//! Databases of every version of the tables, made by the falloff of that version: two ranks of `app.c` beside them.

use std::path::PathBuf;

use super::Database;

fn golden(version: &str) -> Database {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/data/databases").join(version);
    Database::open(&dir).unwrap()
}

/// All that reports take from a database.
fn content(database: &Database) -> String {
    let mut text = format!("{:#?}\n{:?}\n", database.health(), database.modules());
    for location in database.locations() {
        text += &format!("{location:?}\n");
    }
    let totals: Vec<Vec<f64>> =
        database.metrics().iter().map(|m| database.exclusive_totals(&m.name).unwrap()).collect();
    text += &format!("{:?}\n", database.metrics());
    for context in 0..database.tree().len() as u32 {
        let (scope, parent) = (database.tree().scope(context), database.tree().parent(context));
        let values: Vec<f64> = totals.iter().map(|t| t[context as usize]).collect();
        text += &format!("{context} below {parent:?}: {scope:?} {values:?}\n");
    }
    text
}

#[test]
fn version_1_is_read_as_it_was() {
    let database = golden("v1");
    insta::assert_snapshot!("golden_v1", content(&database));
    let dir = tempfile::tempdir().unwrap();
    database.write(&dir.path().join("now")).unwrap();
    assert_eq!(Database::open(&dir.path().join("now")).unwrap(), database);
}

#[test]
fn version_2_says_the_same_and_has_statistics() {
    let (first, second) = (golden("v1"), golden("v2"));
    assert_eq!(content(&first), content(&second));
    assert_eq!(first.values(), second.values());
    // Version 1 had none: they are made.
    assert_eq!(first.summaries().unwrap(), second.summaries().unwrap());
    let lines: Vec<String> = second.summaries().unwrap().iter().map(|s| format!("{s:?}\n")).collect();
    insta::assert_snapshot!("golden_v2", lines.concat());
}
