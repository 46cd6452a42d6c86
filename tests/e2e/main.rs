//! End-to-end tests: the falloff binary on real programs, one module for each subject.

mod algebra;
mod bounds;
mod cases;
mod check;
mod debuginfod;
mod errors;
mod events;
mod export_messages;
mod gauss;
mod inlined;
mod install;
mod launchers;
mod loops;
mod merge;
mod model;
mod mpi;
mod mpi_waits;
mod noise;
mod notes;
mod openmp;
mod outside;
mod page;
mod planted;
mod readme;
mod refusals;
mod replay;
mod run;
mod scaling;
mod score;
mod score_tables;
mod sealed;
mod sections;
mod shares;
mod slurm;
mod stress;
mod sweep;
mod sweep_kinds;
mod symbol_notes;
mod symbols;
mod threads;
mod view;
mod waits;
mod workspace;

#[path = "../support/mod.rs"]
mod support;
