//! Pages for the browser as files; what browsers make of them is tested in `tests/python/test_page.py`.

use std::fs;

use falloff_generator::{Shape, Sweep};

use crate::support::{Workshop, bash, build_with, outcome, tools};

const CONTEXTS: u32 = 20_000;

/// Text of the page that falloff writes with these arguments.
fn page(shop: &Workshop, args: &str) -> String {
    let text = format!("exec \"$FALLOFF\" {args} --html page.html");
    let end = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    assert!(end.stdout.is_empty() && end.stderr.contains("falloff: wrote page.html"), "{end}");
    fs::read_to_string(shop.path("page.html")).unwrap()
}

/// Bytes of the data in a page.
fn data(page: &str) -> usize {
    let (_, rest) = page.split_once("id=\"data\">").expect("no data");
    rest.find('<').expect("no end of the data")
}

#[test]
fn a_context_takes_at_most_fifteen_bytes_a_metric() {
    let shop = Workshop::shared();
    Shape { locations: 1, contexts: CONTEXTS, density: 1.0 }.write(&shop.path("run")).unwrap();
    let text = page(&shop, "view run --metric cpu");
    let bytes = data(&text) as f64 / f64::from(CONTEXTS);
    assert!(bytes < 15.0, "{bytes} bytes a context");
    let both = data(&page(&shop, "view run"));
    let more = (both - data(&text)) as f64 / f64::from(CONTEXTS);
    assert!(more < 15.0, "{more} bytes a context for a further metric");
}

#[test]
fn a_page_names_no_place_to_load_from() {
    let shop = Workshop::shared();
    Sweep { scales: vec![1, 2], repetitions: 2, contexts: 200, density: 0.5 }
        .write(&shop.path("sweep"))
        .unwrap();
    let text = page(&shop, "score sweep");
    assert!(text.contains("content=\"default-src 'none'; script-src 'sha256-"), "no policy");
    for word in [" src=", "<link", "@import", "url(", "fetch(", "XMLHttpRequest", "innerHTML"] {
        assert!(!text.contains(word), "the page has `{word}`");
    }
    let places: Vec<_> = text.match_indices("http").map(|(at, _)| &text[at..at + 30]).collect();
    assert!(
        places.iter().all(|p| p.starts_with("http-equiv") || p.starts_with("http://www.w3.org/2000/svg")),
        "{places:?}"
    );
}

#[test]
fn a_page_that_cannot_be_written_is_said() {
    let shop = Workshop::shared();
    Shape { locations: 1, contexts: 10, density: 1.0 }.write(&shop.path("run")).unwrap();
    let refused =
        |args: &str| outcome(&mut bash(shop.dir(), &format!("exec \"$FALLOFF\" {args}"))).expect_code(2);
    let end = refused("view run --html nowhere/page.html");
    assert!(end.stderr.contains("nowhere/page.html"), "{end}");
    let end = refused("view run --embed-sources");
    assert!(end.stderr.contains("--html"), "{end}");
}

#[test]
fn a_difference_has_a_page() {
    let shop = Workshop::shared();
    for (name, density) in [("new", 0.6), ("old", 0.3)] {
        Shape { locations: 2, contexts: 100, density }.write(&shop.path(name)).unwrap();
    }
    let made = page(&shop, "diff new old -o difference");
    let kept = page(&shop, "view difference");
    assert!(data(&made) > 500 && data(&kept) > 500);
}

#[test]
fn a_timeline_is_bounded_and_needs_a_log_and_calls() {
    if !tools::have(&["mpicc.mpich", "mpirun.mpich"]) {
        return;
    }
    let shop = Workshop::shared();
    build_with(&shop, "mpicc.mpich -O2", "events/ring.c", "ring");
    let text = "mpirun.mpich -n 2 \"$FALLOFF\" run --events mpi -o ring-run -- ./ring 70000";
    outcome(&mut bash(shop.dir(), text)).expect_code(0);
    let view = |args: &str, code: i32| {
        let text = format!("exec \"$FALLOFF\" view {args}");
        outcome(&mut bash(shop.dir(), &text)).expect_code(code)
    };
    // Two calls in each step, and those around the steps.
    let end = view("ring-run --html many.html --window ..", 2);
    let refused = "the window has 280004 calls, and 250000 at most can be shown";
    assert!(end.stderr.contains(refused) && end.stderr.contains("1/2 as long"), "{end}");
    assert!(!shop.path("many.html").exists());
    let end = view("ring-run --html none.html --window 1000..", 2);
    assert!(
        end.stderr.contains("no call of MPI is under way") && end.stderr.contains("--window .."),
        "{end}"
    );
    let end = view("ring-run --html rank.html --window .. --location rank=7", 2);
    assert!(end.stderr.contains("no location"), "{end}");
    let end = view("ring-run --window ..", 2);
    assert!(end.stderr.contains("--html"), "{end}");
    let end = view("ring-run --html one.html --window .. --location rank=1", 0);
    assert!(end.stderr.contains("wrote one.html"), "{end}");
    let bytes = data(&fs::read_to_string(shop.path("one.html")).unwrap()) as f64 / 140_000.0;
    assert!(bytes < 30.0, "{bytes} bytes a call");
    let end = view("ring-run --html plain.html", 0);
    assert!(end.stderr.contains("`--window A..B` puts a timeline"), "{end}");

    outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" run -o unlogged -- true")).expect_code(0);
    let end = view("unlogged --html page.html --window ..", 3);
    assert!(end.stderr.contains("holds no calls of MPI") && end.stderr.contains("--events mpi"), "{end}");
}
