//! Sweeps of a program over processor counts, and the score of what they measured.
//!
//! A [`plan::Plan`] says what to run; [`sweep::Sweep`] carries it out through [`backends`] and keeps a
//! [`journal`]; [`results::Results`] reads it back; [`scoring`] compares the scales; [`causes`] says why, [`bounds`] what bounds the speed-up, [`gate`] compares two sweeps; [`outlook`] says what is to be expected at counts not run; [`report`] writes
//! down what came out. [`waits`] says what the ranks of one run wait for, [`replay`] asks what other noise, networks and computing would make of a run. [`demo`] is a program with known losses to try it on.
#![deny(unsafe_code)]

mod answer;
pub mod backends;
pub mod bounds;
pub mod causes;
mod complete;
pub mod demo;
pub mod doctor;
mod error;
pub mod exit;
pub mod gate;
pub mod grid;
pub mod interleave;
pub mod journal;
mod machine_load;
pub mod noise;
pub mod otf2;
pub mod outlook;
pub mod page;
pub mod plan;
pub mod replay;
pub mod report;
pub mod results;
pub mod scoring;
pub mod sweep;
pub mod template;
mod transfer;
pub mod waits;

pub use error::{Error, Result};
