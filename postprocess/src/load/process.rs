//! A measurement, decoded: a process with its threads and call path nodes.

use std::path::PathBuf;

use falloff_format::Pseudo;
use rustc_hash::FxHashMap;

use super::sections::ProcessSections;
use super::warnings::Warnings;
use crate::database::{Location, Metric};

/// Where code comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// A file.
    File,
    /// The kernel's vDSO.
    Vdso,
    /// The process itself, while it ran: addresses are those of its memory.
    Anonymous(Box<Maker>),
}

/// A process that made code, and where files about it may be.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Maker {
    pub pid: u32,
    /// Start of measuring it, ns since 1970.
    pub start_ns: u64,
    pub host: String,
    /// Its working directory at start.
    pub cwd: PathBuf,
    /// Where its measurement file is.
    pub dir: PathBuf,
}

/// What tells load modules apart: where the file was and which build it is, or whose code it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ModuleKey {
    pub path: String,
    pub build_id: Vec<u8>,
    pub origin: Origin,
}

impl ModuleKey {
    /// File name without directory.
    pub fn file_name(&self) -> &str {
        let path = self.path.trim_end_matches(" (deleted)");
        path.rsplit('/').next().unwrap_or(path)
    }
}

/// What a node's frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Code {
    /// Code at an ELF virtual address of `Process::modules[module]`.
    Module { module: u32, address: u64 },
    /// One of the pseudo frames.
    Pseudo(Pseudo),
    /// A frame whose module or meaning the file does not tell.
    Unknown,
    /// Above the paths of OpenMP workers that run no code of the program; grafting puts it there.
    OpenMpIdle,
}

/// A call path node. Parents come before their children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Node {
    /// Index of the caller's node, or `None` for an outermost frame.
    pub parent: Option<u32>,
    pub code: Code,
    /// Whether its path is one of the thread that began the process.
    pub main: bool,
}

/// An exclusive value of a node. The same node, location and metric may occur several times: they add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cost {
    /// Index in `Process::nodes`.
    pub node: u32,
    /// Index in `Process::locations`.
    pub location: u32,
    /// Index in `Process::metrics`.
    pub metric: u32,
    /// Index in the sections of `Process::sections`, if it was sampled in one.
    pub section: Option<u32>,
    pub value: u64,
}

/// A measurement, decoded.
#[derive(Debug, Default)]
pub(crate) struct Process {
    pub locations: Vec<Location>,
    pub metrics: Vec<Metric>,
    pub modules: Vec<ModuleKey>,
    pub nodes: Vec<Node>,
    /// Ids of the nodes in the file, ascending, each with its index in `nodes`; none unless calls are logged.
    pub ids: Vec<(u32, u32)>,
    /// Exclusive values that are not zero.
    pub costs: Vec<Cost>,
    pub sections: ProcessSections,
    /// By number of a section in the file, its index in the sections of `sections`.
    pub section_numbers: FxHashMap<u32, u32>,
    pub warnings: Warnings,
}
