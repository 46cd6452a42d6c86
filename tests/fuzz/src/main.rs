//! A fuzzer of the target that `FUZZ_TARGET` names; its arguments are libFuzzer's.
#![no_main]

use std::env;
use std::sync::LazyLock;

use falloff_fuzz_targets::run;
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<String> = LazyLock::new(|| env::var("FUZZ_TARGET").unwrap_or_default());

fuzz_target!(|input: &[u8]| run(&TARGET, input));
