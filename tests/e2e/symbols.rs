//! The cache of resolved symbols and debuginfod servers, through the whole program.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::thread;

use crate::support::{Outcome, Workshop, bash, falloff, falloff_run, outcome};

const PROGRAM: &str = "\
static volatile unsigned long sink;
static inline __attribute__((always_inline)) void inner(void) { for (long i = 0; i < 200000000; i++) sink += i; }
__attribute__((noinline, noclone)) void outer(void) { inner(); sink++; }
int main(void) { outer(); return 0; }
";

/// A measured program and its run directory.
fn measured(shop: &Workshop, build: &str) -> std::path::PathBuf {
    fs::write(shop.path("prog.c"), PROGRAM).expect("failed to write the source");
    outcome(&mut bash(shop.dir(), build)).expect_code(0);
    let run = shop.path("run");
    outcome(&mut falloff_run(shop.dir(), &run, ["./prog"])).expect_code(0);
    run
}

/// The flat view of a database that is made anew.
fn anew(run: &Path, with: impl FnOnce(&mut Command)) -> Outcome {
    let _ = fs::remove_dir_all(run.join("database"));
    let mut command = falloff(["view".as_ref(), run.as_os_str(), "--view".as_ref(), "flat".as_ref()]);
    with(&mut command);
    outcome(&mut command).expect_code(0)
}

#[test]
fn symbols_are_kept_between_runs_and_may_be_forgotten() {
    let shop = Workshop::shared();
    let run = measured(&shop, "gcc -O2 -g prog.c -o prog");
    let cache = shop.path("cache");
    let without = anew(&run, |command| {
        command.env("XDG_CACHE_HOME", &cache);
    });
    assert!(without.stdout.contains("inner"), "{without}");
    assert!(!cache.exists(), "FALLOFF_CACHE=0 keeps nothing");
    let entries = || fs::read_dir(cache.join("falloff/symbols")).map_or(0, Iterator::count);
    for _ in 0..2 {
        let with = anew(&run, |command| {
            command.env("XDG_CACHE_HOME", &cache).env_remove("FALLOFF_CACHE");
        });
        assert_eq!(with.stdout, without.stdout);
    }
    let count = entries();
    assert!(count > 0);
    // A damaged cache costs time only.
    for entry in fs::read_dir(cache.join("falloff/symbols")).expect("the cache is there").flatten() {
        fs::write(entry.path(), "nothing").expect("failed to damage the cache");
    }
    let damaged = anew(&run, |command| {
        command.env("FALLOFF_CACHE", cache.join("falloff/symbols"));
    });
    assert_eq!(damaged.stdout, without.stdout);
    assert_eq!(entries(), count);
    // A cache that cannot be written is none.
    let nowhere = anew(&run, |command| {
        command.env("FALLOFF_CACHE", "/proc/nowhere");
    });
    assert_eq!(nowhere.stdout, without.stdout);
}

#[test]
fn debug_files_come_from_a_server_that_is_named() {
    let shop = Workshop::shared();
    let build = "gcc -O2 -g prog.c -o whole && objcopy --only-keep-debug whole served && strip -o prog whole";
    let run = measured(&shop, build);
    let id = outcome(&mut bash(shop.dir(), "readelf -n prog | sed -n 's/.*Build ID: //p'")).stdout;
    let server =
        serve(format!("/buildid/{}/debuginfo", id.trim()), fs::read(shop.path("served")).expect("built"));
    let cache = shop.path("cache");
    let without = anew(&run, |command| {
        command.env("XDG_CACHE_HOME", &cache);
    });
    assert!(!without.stdout.contains("inner"), "{without}");
    let with = anew(&run, |command| {
        command.env("XDG_CACHE_HOME", &cache).env("DEBUGINFOD_URLS", &server);
    });
    assert!(with.stdout.contains("inner") && with.stdout.contains("outer"), "{with}");
    assert!(cache.join("debuginfod_client").join(id.trim()).join("debuginfo").exists());
}

/// A server on this machine that has one file, until the test ends.
fn serve(path: String, body: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("no port");
    let address = format!("http://{}", listener.local_addr().expect("bound"));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let Ok(reader) = stream.try_clone() else { continue };
            let mut lines = BufReader::new(reader).lines().map_while(Result::ok);
            let request = lines.next().unwrap_or_default();
            while lines.next().is_some_and(|line| !line.is_empty()) {}
            let found = request.split(' ').nth(1) == Some(&path);
            let (status, body) = if found { ("200 OK", &body[..]) } else { ("404 Not Found", &[][..]) };
            let head =
                format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let mut stream = stream;
            // A client that went away is its own affair.
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        }
    });
    address
}
