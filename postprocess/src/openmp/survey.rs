//! Which paths are of workers, which functions they run, and who else calls these.

use rustc_hash::{FxHashMap, FxHashSet};

use super::paths::Paths;
use super::role::Role;
use crate::load::Code;

/// A function by its module in the process and where it begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Function {
    pub module: u32,
    pub start: u64,
}

/// Whose a path is, up to one of its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Not to be told yet: a thread that has begun.
    Beginning,
    /// A worker that is in the run-time library.
    Runtime,
    /// A worker that runs code of the program, from this node on.
    Worker(u32),
    /// A thread whose beginning was lost: it may be a worker or none.
    Unknown,
    /// The program: no worker, or one whose place is known.
    Program,
}

/// What is known about the code of a process.
pub(super) struct Program<'a> {
    pub roles: &'a [Role],
    /// Where the function begins that holds an address of a module.
    pub function_start: &'a dyn Fn(u32, u64) -> Option<u64>,
}

/// A place from which the run-time library calls a function for the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// The calling node.
    pub caller: u32,
    /// Cost of the function there.
    pub weight: u64,
}

/// A look at all paths as they are.
pub(super) struct Survey<'a> {
    paths: &'a Paths,
    owners: Vec<Owner>,
    /// The function, at nodes that the run-time library calls or that begin a worker's code.
    called: FxHashMap<u32, Function>,
}

impl<'a> Survey<'a> {
    /// Looks at all paths.
    pub fn of(paths: &'a Paths, program: &Program<'_>) -> Survey<'a> {
        let mut survey = Survey { paths, owners: Vec::new(), called: FxHashMap::default() };
        let role = |code| match code {
            Code::Module { module, .. } => program.roles.get(module as usize).copied(),
            _ => None,
        };
        for (at, node) in (0u32..).zip(paths.nodes()) {
            let above = node.parent.map_or(Owner::Beginning, |parent| survey.owner(parent));
            let owner = match (above, role(node.code)) {
                (Owner::Beginning, _) if node.main => Owner::Program,
                (Owner::Beginning, Some(Role::System)) => Owner::Beginning,
                (Owner::Beginning | Owner::Runtime, Some(Role::Runtime)) => Owner::Runtime,
                (Owner::Beginning, Some(Role::Program)) => Owner::Program,
                (Owner::Beginning, None) => Owner::Unknown,
                (Owner::Runtime, Some(Role::System)) => Owner::Runtime,
                (Owner::Runtime, _) => Owner::Worker(at),
                (known, _) => known,
            };
            survey.owners.push(owner);
            let caller = node.parent.and_then(|parent| role(paths.nodes()[parent as usize].code));
            if role(node.code) == Some(Role::Program)
                && (caller == Some(Role::Runtime) || owner == Owner::Worker(at))
                && let Code::Module { module, address } = node.code
                && let Some(start) = (program.function_start)(module, address)
            {
                survey.called.insert(at, Function { module, start });
            }
        }
        survey
    }

    /// Whose the path of a node is.
    pub fn owner(&self, node: u32) -> Owner {
        self.owners[node as usize]
    }

    /// The function that a worker runs at a node, if it is known.
    pub fn worker_function(&self, node: u32) -> Option<Function> {
        match self.owner(node) {
            Owner::Worker(root) => self.called.get(&root).copied(),
            _ => None,
        }
    }

    /// Functions whose workers can be put in place now, with the places in an order that the paths alone decide.
    /// `weights[n]` is the inclusive cost of node `n`. A region that is inside another one waits for it, since its
    /// workers may belong to the other's.
    pub fn ready(&self, weights: &[u64]) -> FxHashMap<Function, Vec<Site>> {
        let (mut places, inner) = (self.places(weights), self.inner());
        places.retain(|_, callers| !callers.is_empty());
        let waits = |f: &Function| places.keys().any(|outer| inner.contains(&(*outer, *f)));
        let free: FxHashSet<Function> = places.keys().filter(|f| !waits(f)).copied().collect();
        // Regions that are inside each other wait for nobody.
        places.retain(|f, _| free.is_empty() || free.contains(f));
        let sorted = |callers: FxHashMap<u32, u64>| {
            let mut sites: Vec<Site> =
                callers.into_iter().map(|(caller, weight)| Site { caller, weight }).collect();
            sites.sort_by(|a, b| self.paths.compare(a.caller, b.caller));
            sites
        };
        places.into_iter().map(|(function, callers)| (function, sorted(callers))).collect()
    }

    /// Functions that workers run, each with the callers of its outermost calls in the program and their weights.
    fn places(&self, weights: &[u64]) -> FxHashMap<Function, FxHashMap<u32, u64>> {
        let running = self.paths.costs().iter().filter_map(|cost| self.worker_function(cost.node));
        let mut places: FxHashMap<Function, FxHashMap<u32, u64>> =
            running.map(|function| (function, FxHashMap::default())).collect();
        // The nearest call at or above every node.
        let mut nearest: Vec<Option<u32>> = Vec::with_capacity(self.owners.len());
        for (at, node) in (0u32..).zip(self.paths.nodes()) {
            let above = node.parent.and_then(|parent| nearest[parent as usize]);
            let function = self.called.get(&at).copied();
            nearest.push(if function.is_some() { Some(at) } else { above });
            if let (Some(function), Some(caller)) = (function, node.parent)
                && self.owner(at) == Owner::Program
                && let Some(callers) = places.get_mut(&function)
                && !self.calls(above, &nearest).any(|f| f == function)
            {
                let weight = callers.entry(caller).or_default();
                *weight = weight.saturating_add(weights[at as usize]);
            }
        }
        places
    }

    /// Functions that workers run, each with others that are called below it.
    fn inner(&self) -> FxHashSet<(Function, Function)> {
        let pairs =
            self.called.iter().filter_map(|(at, function)| Some((self.worker_function(*at)?, *function)));
        pairs.filter(|(outer, function)| outer != function).collect()
    }

    /// Functions called on the path to a call, that one first.
    fn calls(&self, innermost: Option<u32>, nearest: &[Option<u32>]) -> impl Iterator<Item = Function> {
        let parent = |at: u32| self.paths.nodes()[at as usize].parent;
        let above = move |at: &u32| parent(*at).and_then(|parent| nearest[parent as usize]);
        std::iter::successors(innermost, above).filter_map(|at| self.called.get(&at).copied())
    }
}
