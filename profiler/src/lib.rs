//! Starts a program under the sampler and gets out of its way.
//!
//! A [`Request`] says what to measure, in terms of [`event`]s; [`probe`] asks the machine what of it can be had.
//! [`run`] does the work of `falloff run`: it finds the program and sees whether it can be measured (`program`),
//! makes or joins the run's directory (`run_dir`), writes the embedded preload out (`preload`), starts the
//! program with it (`launch`), passes signals on and waits, notes the ending in the measurement, and hands the
//! program's own ending back ([`Ending`]). A program that no preload reaches is sampled from outside (`outside`).

mod code_files;
mod elf;
mod ending;
mod error;
pub mod event;
mod event_log;
mod launch;
mod measurements;
mod outside;
mod preload;
pub mod probe;
mod program;
mod rank;
mod request;
mod run;
mod run_dir;
mod run_file;
mod run_id;
mod seal;
mod startup;

pub use ending::Ending;
pub use error::Error;
pub use event::{EventSpec, Sampling};
pub use event_log::{EventLog, Logged, Size};
pub use launch::children_cpu_ns;
pub use measurements::settle;
pub use preload::Preload;
pub use program::find_program;
pub use rank::{is_one_of_many, is_spokesman, rank_of_many};
pub use request::{CpuClock, Prepared, Request, WaitClock};
pub use run::{RunOptions, run};
pub use run_dir::{MEASUREMENTS, RUN_FILE};
pub use run_id::{RUN_ID_VARIABLE, fresh as fresh_run_id};
