//! The document around the tables.

use serde::Serialize;

use super::libs::Lib;
use super::tables::Shared;
use super::threads::Thread;

/// Version of the processed format.
const PROCESSED_VERSION: u32 = 60;
/// Version of the format that Firefox itself writes, from which the processed one of that version is made.
const GECKO_VERSION: u32 = 31;

/// A processed profile.
#[derive(Serialize)]
pub(super) struct Document {
    pub meta: Meta,
    pub libs: Vec<Lib>,
    pub shared: Shared,
    pub threads: Vec<Thread>,
    pub pages: [(); 0],
    pub counters: [(); 0],
    #[serde(rename = "profilerOverhead")]
    pub profiler_overhead: [(); 0],
}

/// What is said of the whole profile.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Meta {
    /// Milliseconds between samples.
    pub interval: f64,
    /// Milliseconds since 1970.
    pub start_time: f64,
    pub product: String,
    pub arguments: String,
    pub imported_from: String,
    categories: [Category; 3],
    process_type: u32,
    stackwalk: u32,
    version: u32,
    preprocessed_profile_version: u32,
    symbolicated: bool,
    keep_profile_thread_order: bool,
    uses_only_one_stack_type: bool,
    source_code_is_not_on_searchfox: bool,
    sample_units: SampleUnits,
    marker_schema: [(); 0],
}

impl Meta {
    pub fn new(product: &str, command: &[String], start_ns: u64, interval_ms: f64) -> Meta {
        Meta {
            interval: interval_ms,
            start_time: start_ns as f64 / 1e6,
            product: product.to_owned(),
            arguments: command.join(" "),
            imported_from: concat!("falloff ", env!("CARGO_PKG_VERSION")).to_owned(),
            categories: [
                Category::new("Other", "grey"),
                Category::new("Program", "blue"),
                Category::new("Libraries", "orange"),
            ],
            process_type: 0,
            stackwalk: 1,
            version: GECKO_VERSION,
            preprocessed_profile_version: PROCESSED_VERSION,
            symbolicated: true,
            keep_profile_thread_order: true,
            uses_only_one_stack_type: true,
            source_code_is_not_on_searchfox: true,
            sample_units: SampleUnits { time: "ms", event_delay: "ms", thread_cpu_delta: "µs" },
            marker_schema: [],
        }
    }
}

/// Categories by their place in [`Meta`].
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Other = 0,
    Program = 1,
    Libraries = 2,
}

#[derive(Serialize)]
struct Category {
    name: &'static str,
    color: &'static str,
    subcategories: [&'static str; 1],
}

impl Category {
    fn new(name: &'static str, color: &'static str) -> Category {
        Category { name, color, subcategories: ["Other"] }
    }
}

#[derive(Serialize)]
struct SampleUnits {
    time: &'static str,
    #[serde(rename = "eventDelay")]
    event_delay: &'static str,
    #[serde(rename = "threadCPUDelta")]
    thread_cpu_delta: &'static str,
}
