//! A measurement, decoded: a process with its threads and call path nodes.

use falloff_format::Pseudo;

use super::warnings::Warnings;
use crate::database::{Location, Metric};

/// What tells load modules apart: where the file was and which build it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ModuleKey {
    pub path: String,
    pub build_id: Vec<u8>,
    pub vdso: bool,
}

impl ModuleKey {
    /// File name without directory.
    pub fn file_name(&self) -> &str {
        let path = self.path.trim_end_matches(" (deleted)");
        path.rsplit('/').next().unwrap_or(path)
    }
}

/// What a node's frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Code {
    /// Code at an ELF virtual address of `Process::modules[module]`.
    Module { module: u32, address: u64 },
    /// One of the pseudo frames.
    Pseudo(Pseudo),
    /// A frame whose module or meaning the file does not tell.
    Unknown,
}

/// A call path node. Parents come before their children.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// Index of the caller's node, or `None` for an outermost frame.
    pub parent: Option<u32>,
    pub code: Code,
    /// Index of the location in `Process::locations`.
    pub location: u32,
}

/// A measurement, decoded.
#[derive(Debug, Default)]
pub(crate) struct Process {
    pub locations: Vec<Location>,
    pub metrics: Vec<Metric>,
    pub modules: Vec<ModuleKey>,
    pub nodes: Vec<Node>,
    /// Value of node `n` and metric `m` at `n * metrics.len() + m`.
    pub values: Vec<u64>,
    pub warnings: Warnings,
}
