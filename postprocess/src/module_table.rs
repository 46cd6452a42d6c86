//! The load modules of all processes.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::load::{Code, ModuleKey, Process};

/// Modules, each once, with the addresses that call paths go through.
#[derive(Default)]
pub(crate) struct ModuleTable {
    keys: Vec<ModuleKey>,
    index: FxHashMap<ModuleKey, u32>,
    addresses: Vec<FxHashSet<u64>>,
    /// Start of the first measurement of each, ns since 1970.
    since_ns: Vec<u64>,
}

impl ModuleTable {
    /// Takes what a process has.
    pub fn collect(&mut self, process: &Process) {
        let mut indices = Vec::with_capacity(process.modules.len());
        let start_ns = process.locations.iter().map(|l| l.start_ns).min().unwrap_or(u64::MAX);
        for key in &process.modules {
            let index = *self.index.entry(key.clone()).or_insert_with(|| {
                self.keys.push(key.clone());
                self.addresses.push(FxHashSet::default());
                self.since_ns.push(u64::MAX);
                self.keys.len() as u32 - 1
            });
            let since_ns = &mut self.since_ns[index as usize];
            *since_ns = start_ns.min(*since_ns);
            indices.push(index);
        }
        for node in &process.nodes {
            if let Code::Module { module, address } = node.code {
                self.addresses[indices[module as usize] as usize].insert(address);
            }
        }
    }

    /// All modules, each with its addresses in order and the start of its first measurement, ns since 1970.
    pub fn modules(&self) -> Vec<(&ModuleKey, Vec<u64>, u64)> {
        let sorted = |addresses: &FxHashSet<u64>| {
            let mut addresses: Vec<u64> = addresses.iter().copied().collect();
            addresses.sort_unstable();
            addresses
        };
        let uses = self.addresses.iter().map(sorted).zip(&self.since_ns);
        self.keys.iter().zip(uses).map(|(key, (addresses, since_ns))| (key, addresses, *since_ns)).collect()
    }

    /// Index in the table of each of a process's modules; `None` if it came into its file since that was looked at.
    pub fn indices(&self, process: &Process) -> Vec<Option<u32>> {
        process.modules.iter().map(|m| self.index.get(m).copied()).collect()
    }
}
