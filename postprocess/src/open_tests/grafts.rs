//! Runs of OpenMP programs whose workers are asked to be put in place.

use std::fs;
use std::path::Path;

use object::{Object, ObjectSymbol};

use super::{code, costs, open_default};
use crate::database::Database;
use crate::error::Error;
use crate::load::find;
use crate::open::{OpenOptions, open};
use crate::synthetic::{Synthetic, SyntheticModule, SyntheticThread};

/// A run whose region is `main` of this test program: it has a symbol.
fn write_run(dir: &Path) {
    let program = std::env::current_exe().unwrap();
    let bytes = fs::read(&program).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let main = file.symbols().find(|s| s.name() == Ok("main")).unwrap().address();
    let build_id = file.build_id().unwrap().unwrap_or_default().to_vec();
    let library = |path: &str| SyntheticModule { path: path.into(), ..SyntheticModule::default() };
    let region = |offset| code(3, main + offset);
    let mut master = SyntheticThread::default();
    master.charge(&[code(4, 1), code(2, 1), region(0)], &[10, 1]);
    master.charge(&[code(4, 2), code(2, 1), region(1)], &[20, 1]);
    let mut worker = SyntheticThread { start_module: 2, ..SyntheticThread::default() };
    worker.charge(&[code(1, 1), code(2, 9), region(2)], &[100, 1]);
    worker.charge(&[code(1, 1), code(2, 9), code(2, 5)], &[7, 1]);
    let run = Synthetic {
        modules: vec![
            library("/nowhere/libc.so.6"),
            library("/nowhere/libgomp.so.1"),
            SyntheticModule { path: program.to_string_lossy().into_owned(), build_id, flags: 0 },
            library("/nowhere/prog"),
        ],
        threads: vec![master, worker],
        ..Synthetic::default()
    };
    run.write(dir);
}

fn grafted() -> OpenOptions {
    OpenOptions { graft_openmp: true, ..OpenOptions::default() }
}

#[test]
fn workers_are_put_in_place_when_asked() {
    let dir = tempfile::tempdir().unwrap();
    write_run(dir.path());
    let plain = open_default(dir.path()).unwrap();
    let expected = [
        ("<thread root>;libc.so.6+0x1;libgomp.so.1+0x9;main", 100),
        ("<thread root>;libc.so.6+0x1;libgomp.so.1+0x9;libgomp.so.1+0x5", 7),
        ("prog+0x1;libgomp.so.1+0x1;main", 10),
        ("prog+0x2;libgomp.so.1+0x1;main", 20),
    ];
    assert_eq!(costs(&plain), expected.map(|(path, cost)| (path.to_owned(), cost)));
    let in_place = open(dir.path(), &grafted()).unwrap();
    let expected = [
        ("<thread root>;[openmp idle];libc.so.6+0x1;libgomp.so.1+0x9;libgomp.so.1+0x5", 7),
        ("prog+0x1;libgomp.so.1+0x1;main", 10 + 33),
        ("prog+0x2;libgomp.so.1+0x1;main", 20 + 67),
    ];
    assert_eq!(costs(&in_place), expected.map(|(path, cost)| (path.to_owned(), cost)));
    let worker = in_place.exclusive_at("cpu", |l| !l.main).unwrap();
    assert_eq!(worker.iter().sum::<f64>(), 107.0);
    assert_eq!(in_place.locations(), plain.locations());
    assert!(matches!(Database::join(&[&plain, &in_place]), Err(Error::MixedPaths)));
}

#[test]
fn the_kept_database_is_as_asked_or_says_that_it_is_not() {
    let dir = tempfile::tempdir().unwrap();
    write_run(dir.path());
    let kept = dir.path().join("database");
    for options in [OpenOptions::default(), grafted(), OpenOptions::default(), grafted()] {
        let database = open(dir.path(), &options).unwrap();
        assert_eq!(database.provenance().graft_openmp, options.graft_openmp);
        assert_eq!(Database::open(&kept).unwrap(), database);
        assert_eq!(open(&kept, &options).unwrap(), database);
    }
    for file in find(dir.path()).unwrap() {
        fs::remove_file(file).unwrap();
    }
    let warned = |place: &Path, options: &OpenOptions| {
        open(place, options)
            .unwrap()
            .warnings()
            .iter()
            .any(|w| w.contains("OpenMP worker stacks are grafted"))
    };
    for place in [dir.path(), &kept] {
        assert!(warned(place, &OpenOptions::default()));
        assert!(!warned(place, &grafted()));
    }
}
