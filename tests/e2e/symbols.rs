//! The cache of resolved symbols, through the whole program.

use std::fs;

use crate::inlined::{anew, measured};
use crate::support::Workshop;

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
