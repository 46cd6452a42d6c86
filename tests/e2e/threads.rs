//! All CPU time of a process is in its profile, whatever the rate and however short its threads live.

use crate::support::{Folded, Workshop, bash, build, outcome, total};

/// Threads, and what each uses in microseconds.
const THREADS: &[(u32, u32)] = &[(1, 1_000_000), (4, 300_000), (3000, 300)];

#[track_caller]
fn check(rate: u32) {
    let shop = Workshop::alone();
    build(&shop, "threads");
    for (count, each_us) in THREADS {
        let dir = format!("run{count}");
        let text = format!("exec \"$FALLOFF\" run -e cpu@{rate} -o {dir} -- ./threads {count} {each_us}");
        let end = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
        let used: u64 =
            end.stdout.trim().strip_prefix("cpu_us ").and_then(|us| us.parse().ok()).expect("no cpu_us");
        let folded = Folded::export(&shop.path(&dir), &[], shop.dir());
        let unsampled = total(folded.unsampled.iter());
        let kept = total(folded.program()) + unsampled;
        let ratio = kept as f64 / used as f64;
        assert!(
            (0.99..=1.01).contains(&ratio),
            "{count} threads at {rate}/s: {kept} us of {used} us, {ratio:.4}; {unsampled} us without a path"
        );
    }
}

#[test]
fn cpu_time_is_whole_at_100_samples_a_second() {
    check(100);
}

#[test]
fn cpu_time_is_whole_at_1000_samples_a_second() {
    check(1000);
}

#[test]
fn cpu_time_is_whole_at_10000_samples_a_second() {
    check(10_000);
}
