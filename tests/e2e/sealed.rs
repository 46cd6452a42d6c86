//! Sealed measurements: what a run leaves is small, complete, and read like any other.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::measured::{is_sealed, measurement_files};
use crate::support::{Folded, Workshop, bash, build, falloff_run, outcome, total};

/// The measurement files of a run that are sealed, and those that are not.
fn measurements(run: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    measurement_files(run).into_iter().partition(|path| is_sealed(&fs::read(path).expect("unreadable file")))
}

/// CPU time by path.
fn paths(run: &Path) -> Vec<(Vec<String>, u64)> {
    let folded = Folded::by_thread(run, "cpu");
    let all = folded.samples.into_iter().chain(folded.unsampled);
    all.map(|sample| (sample.frames, sample.value)).collect()
}

#[test]
fn every_ending_is_sealed_and_says_the_same_as_the_file_inside() {
    let shop = Workshop::shared();
    let program = build(&shop, "deaths").into_os_string();
    for how in ["return", "_exit", "sigkill"] {
        let run = shop.path(how);
        outcome(&mut falloff_run(shop.dir(), &run, [program.as_os_str(), how.as_ref()]));
        let (sealed, raw) = measurements(&run);
        assert_eq!((sealed.len(), raw.len()), (1, 0), "{how}: {raw:?}");
        let unsealed = shop.path(&format!("{how}-unsealed"));
        fs::create_dir_all(unsealed.join("measurements")).expect("no directory");
        let raw = unsealed.join("measurements").join(sealed[0].file_name().expect("a file has a name"));
        outcome(&mut bash(shop.dir(), &format!("zcat <{:?} >{raw:?}", sealed[0]))).expect_code(0);
        let [small, large] = [&sealed[0], &raw].map(|path| fs::metadata(path).expect("no file").len());
        assert!(2 * small < large, "{how}: {large} bytes became {small}");
        assert_eq!(paths(&run), paths(&unsealed), "{how}");
    }
}

#[test]
fn all_images_of_the_program_are_sealed_but_not_its_children() {
    let shop = Workshop::shared();
    build(&shop, "deaths");
    // The shell's image, its child's, and the two that come after it under its number.
    let script = "./deaths _exit; exec ./deaths exec";
    let run = shop.path("run");
    outcome(&mut falloff_run(shop.dir(), &run, ["bash", "-c", script])).expect_code(0);
    let (sealed, raw) = measurements(&run);
    let number = |path: &PathBuf| {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        name.rsplit('-').nth(2).expect("a name has a number").to_owned()
    };
    assert!(sealed.len() >= 2, "{sealed:?} {raw:?}");
    assert!(sealed.iter().all(|path| number(path) == number(&sealed[0])), "{sealed:?}");
    assert!(!raw.is_empty() && raw.iter().all(|path| number(path) != number(&sealed[0])), "{raw:?}");
    let folded = Folded::export(&run, &[], shop.dir());
    let work = total(folded.program().filter(|sample| sample.ends_in("last_work")));
    assert!(work > 1_500_000, "{work} us of two seconds\n{folded:?}");
}

#[test]
fn where_it_cannot_be_sealed_the_measurement_stays() {
    let shop = Workshop::shared();
    build(&shop, "deaths");
    let run = shop.path("run");
    // Something of the temporary file's name stands in root's way too, whom no permission stops.
    let script = r#"
        { until file=$(ls run/measurements/*-deaths.falloff); do sleep 0.05; done; mkdir "${file%.falloff}.sealing"; } 2>/dev/null &
        exec ./deaths _exit"#;
    outcome(&mut falloff_run(shop.dir(), &run, ["bash", "-c", script])).expect_code(23);
    let (_, raw) = measurements(&run);
    assert!(raw.iter().any(|path| path.to_string_lossy().ends_with("-deaths.falloff")), "{raw:?}");
    let folded = Folded::export(&run, &[], shop.dir());
    assert!(total(folded.program().filter(|sample| sample.ends_in("last_work"))) > 900_000, "{folded:?}");
}
