//! What no input may do.

use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::{Mutex, Once};

use falloff_postprocess::entrances;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// CPU time for one input, in milliseconds.
const MILLISECONDS: i64 = 5000;
/// Memory that the process may ever have had, in KiB.
const KIBIBYTES: i64 = 1 << 20;

/// Panics of falloff's own code since the last look, whoever caught them.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Runs `work` and insists on what must hold.
pub(crate) fn watched(work: impl FnOnce()) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        entrances::begin();
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !is_of_a_library(info) {
                PANICS.lock().unwrap_or_else(|e| e.into_inner()).push(info.to_string());
            }
            before(info);
        }));
    });
    let begun = cpu_milliseconds();
    work();
    let panics = std::mem::take(&mut *PANICS.lock().unwrap_or_else(|e| e.into_inner()));
    assert!(panics.is_empty(), "falloff panicked, and caught it: {panics:?}");
    let taken = cpu_milliseconds() - begun;
    assert!(taken < MILLISECONDS, "the input took {taken} ms of CPU time");
    let memory = getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.max_rss());
    assert!(memory < KIBIBYTES, "the process has had {memory} KiB of memory");
}

/// Whether another crate panicked: falloff reads damaged files with libraries that do, and counts on it.
fn is_of_a_library(info: &PanicHookInfo) -> bool {
    info.location().is_some_and(|place| place.file().contains("/registry/src/"))
}

fn cpu_milliseconds() -> i64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF);
    usage.map_or(0, |usage| (usage.user_time() + usage.system_time()).num_milliseconds())
}
