//! Logs of any length are read in little memory.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use falloff_generator::Stencil;

use crate::support::{Workshop, bash, falloff, outcome};

/// The most memory, in MiB, that a replay of a run has at a time.
fn peak_of_replay(run: &Path) -> f64 {
    let mut replay = falloff(["replay".as_ref(), run.as_os_str(), "--noise".as_ref(), "1000".as_ref()]);
    let mut replay = replay.stdout(Stdio::null()).spawn().unwrap();
    let mut peak = 0.0;
    loop {
        // What the kernel tells is the most so far.
        let status = fs::read_to_string(format!("/proc/{}/status", replay.id())).unwrap_or_default();
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"));
        peak = most.and_then(|most| most.trim().parse::<f64>().ok()).unwrap_or(peak);
        if let Some(status) = replay.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return peak / 1024.0;
        }
        sleep(Duration::from_millis(2));
    }
}

#[test]
fn memory_of_a_replay_does_not_grow_with_the_log() {
    let shop = Workshop::alone();
    let peaks = [3_000, 30_000].map(|steps| {
        let run = shop.path(&format!("run{steps}"));
        Stencil { side: 4, steps }.write(&run.join("measurements")).unwrap();
        let open = peak_of_replay(&run);
        let seal = "for file in measurements/*; do gzip -1 < $file > sealed && mv sealed $file; done";
        outcome(&mut bash(&run, seal)).expect_code(0);
        [open, peak_of_replay(&run)]
    });
    // The longer log has 65 MB, which are 58 MB more.
    for (short, long) in peaks[0].iter().zip(peaks[1]) {
        assert!(long < short + 12.0, "MiB of short logs and of long ones, open and sealed: {peaks:?}");
    }
}

#[test]
fn without_room_for_a_sealed_log_it_is_said_where_room_is_needed() {
    let shop = Workshop::alone();
    Stencil { side: 2, steps: 3_000 }.write(&shop.path("run/measurements")).unwrap();
    let seal = "for file in run/measurements/*; do gzip -1 < $file > sealed && mv sealed $file; done";
    outcome(&mut bash(shop.dir(), seal)).expect_code(0);
    let end =
        outcome(&mut bash(shop.dir(), "TMPDIR=$PWD/nowhere exec \"$FALLOFF\" replay run")).expect_code(3);
    assert!(end.stderr.contains("failed to read the calls of MPI in run: 000000-host-app.falloff"), "{end}");
    assert!(
        end.stderr.contains("nowhere") && end.stderr.contains("hint: ") && end.stderr.contains("TMPDIR"),
        "{end}"
    );
}
