//! Merging the call paths of all threads of all processes into one symbolised tree.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use falloff_format::Pseudo;
use rustc_hash::FxHashMap;

use super::build::TreeBuilder;
use super::scope::{Scope, ScopeKind};
use super::tree::{ROOT, Tree};
use crate::database::{
    Location, Metric, Places, Sorted, Sorter, Value, mark_exec, summed, with_time_in_sections,
};
use crate::load::{Code, Cost, Process};
use crate::sections::{self, Collector, SectionValue, Sections};
use crate::symbols::{ModuleSymbols, Resolved};

/// Pseudo frame above the paths of threads that the process did not begin with.
pub(crate) const THREAD_ROOT: &str = "<thread root>";
/// Pseudo frame above the paths of OpenMP workers that run no code of the program.
const OPENMP_IDLE: &str = "[openmp idle]";
/// Beginning of the name of a pseudo frame above what ran in a section.
const SECTION: &str = "section ";
/// Pseudo frame for code of which not even the module is known.
const UNKNOWN_CODE: &str = "[unknown]";

/// Collects processes. What comes out does not depend on their order.
pub(crate) struct Merger<'a> {
    symbols: &'a [ModuleSymbols],
    builder: TreeBuilder,
    thread_root: u32,
    /// Scopes of an address called from a line.
    steps: FxHashMap<(u32, u64, Option<u32>), Steps>,
    locations: Vec<Location>,
    metrics: Vec<Metric>,
    values: Sorter,
    sections: Collector,
    /// Whether paths go under the sections that they ran in.
    by_section: bool,
}

/// What an address adds to a call path.
#[derive(Clone)]
struct Steps {
    /// Scope ids of the function, of what was inlined there, and of their loops around the address, outermost first.
    scopes: Vec<u32>,
    /// Scope id of the statement.
    statement: Option<u32>,
    /// Line of the statement, for calls from it.
    line: Option<u32>,
}

/// A node's place in the merged tree.
#[derive(Clone, Copy)]
struct Place {
    /// Context of its innermost function or loop.
    inner: u32,
    /// Context that its own cost belongs to.
    cost: u32,
    line: Option<u32>,
}

/// Where in a process something was called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called {
    /// Index of the node, if the file has it.
    pub node: Option<u32>,
    /// Index of the section, if paths go under sections.
    pub section: Option<u32>,
}

/// Tree, metrics, locations and values in canonical order.
pub(crate) struct Merged {
    pub tree: Tree,
    pub locations: Vec<Location>,
    pub values: Sorted,
    pub sections: Sections,
    pub section_values: Vec<SectionValue>,
    /// By context that was given out, its place in the tree.
    pub contexts: Vec<u32>,
    /// By location that was given out, its place.
    pub location_places: Vec<u32>,
}

impl<'a> Merger<'a> {
    /// `symbols[m]` belongs to module `m` of the table that [`Merger::add`] is given; the values go through `sorter`.
    pub fn new(symbols: &'a [ModuleSymbols], sorter: Sorter, by_section: bool) -> Merger<'a> {
        let mut builder = TreeBuilder::new();
        let thread_root = builder.scope(&Scope::pseudo(THREAD_ROOT));
        Merger {
            symbols,
            builder,
            thread_root,
            steps: FxHashMap::default(),
            locations: Vec::new(),
            metrics: Vec::new(),
            values: sorter,
            sections: Collector::default(),
            by_section,
        }
    }

    /// Adds a process and gives the number of its first location; `modules[m]` is the index in the symbol table of the process's
    /// module `m`, if it is there. Each value is told to `each`.
    ///
    /// # Errors
    /// Those of the sorter.
    pub fn add(
        &mut self,
        process: &Process,
        modules: &[Option<u32>],
        each: &mut dyn FnMut(&Metric, &Value),
    ) -> io::Result<u32> {
        let metrics: Vec<u32> = process.metrics.iter().map(|m| self.metric(m)).collect();
        let first_location = self.locations.len() as u32;
        self.locations.extend(process.locations.iter().cloned());
        let contexts = self.contexts(process, modules);
        let value = |(cost, context): (&Cost, &u32)| Value {
            context: *context,
            location: first_location + cost.location,
            metric: metrics[cost.metric as usize],
            // No clock and no counter gets that far.
            exclusive: i64::try_from(cost.value).unwrap_or(i64::MAX),
        };
        self.sections.add(process, first_location);
        let costs = || process.costs.iter().zip(&contexts);
        for cost in costs().filter(|(c, _)| !process.locations[c.location as usize].helper) {
            if let Some(section) = cost.0.section {
                let Value { context, metric, exclusive, .. } = value(cost);
                self.sections.value(section, context, metric, exclusive);
            }
        }
        for value in summed(costs().map(value).collect()) {
            each(&self.metrics[value.metric as usize], &value);
            self.values.push(value)?;
        }
        Ok(first_location)
    }

    /// Adds a value of a context and location that it has given out. A metric's values add up.
    ///
    /// # Errors
    /// Those of the sorter.
    pub fn push(&mut self, metric: &Metric, context: u32, location: u32, value: u64) -> io::Result<()> {
        let metric = self.metric(metric);
        let exclusive = i64::try_from(value).unwrap_or(i64::MAX);
        self.values.push(Value { context, location, metric, exclusive })
    }

    /// The caller of each context so far; callers have smaller numbers.
    pub fn parents(&self) -> Vec<u32> {
        self.builder.parents()
    }

    /// The contexts of calls in a process; the root for a call of which the file does not tell the path.
    pub fn call_contexts(
        &mut self,
        process: &Process,
        modules: &[Option<u32>],
        calls: &[Called],
    ) -> Vec<u32> {
        let mut contexts = vec![ROOT; calls.len()];
        let scopes = if self.by_section { self.section_contexts(process) } else { Vec::new() };
        let mut of_sections: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
        for (at, call) in calls.iter().enumerate() {
            of_sections.entry(call.section.filter(|_| self.by_section)).or_default().push(at);
        }
        for (section, calls_in) in of_sections {
            let nodes = calls_in.iter().filter_map(|at| calls[*at].node);
            let is_used = with_callers(process, nodes);
            let root = section.map_or(ROOT, |section| scopes[section as usize]);
            let places = self.places(process, modules, root, |node| is_used[node]);
            for at in calls_in {
                contexts[at] = calls[at].node.map_or(ROOT, |node| places[node as usize].cost);
            }
        }
        contexts
    }

    fn metric(&mut self, metric: &Metric) -> u32 {
        let known = self.metrics.iter().position(|m| m == metric);
        known.unwrap_or_else(|| {
            self.metrics.push(metric.clone());
            self.metrics.len() - 1
        }) as u32
    }

    /// The context that each of a process's costs belongs to.
    fn contexts(&mut self, process: &Process, modules: &[Option<u32>]) -> Vec<u32> {
        if !self.by_section {
            let places = self.places(process, modules, ROOT, |_| true);
            return process.costs.iter().map(|cost| places[cost.node as usize].cost).collect();
        }
        let mut contexts = vec![ROOT; process.costs.len()];
        let mut of_sections: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
        for (at, cost) in process.costs.iter().enumerate() {
            of_sections.entry(cost.section).or_default().push(at);
        }
        let scopes = self.section_contexts(process);
        for (section, costs) in of_sections {
            let is_used = with_callers(process, costs.iter().map(|at| process.costs[*at].node));
            let root = section.map_or(ROOT, |section| scopes[section as usize]);
            let places = self.places(process, modules, root, |node| is_used[node]);
            costs.into_iter().for_each(|at| contexts[at] = places[process.costs[at].node as usize].cost);
        }
        contexts
    }

    /// The context of each section of a process.
    fn section_contexts(&mut self, process: &Process) -> Vec<u32> {
        let mut contexts: Vec<u32> = Vec::with_capacity(process.sections.sections.len());
        for section in &process.sections.sections {
            let above = section.parent.map_or(ROOT, |parent| contexts[parent as usize]);
            let scope = Scope::pseudo(&format!("{SECTION}{}", section.label));
            contexts.push(self.builder.child(above, &scope));
        }
        contexts
    }

    /// The places below `root` of the nodes that are used; the others have none.
    fn places(
        &mut self,
        process: &Process,
        modules: &[Option<u32>],
        root: u32,
        is_used: impl Fn(usize) -> bool,
    ) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::with_capacity(process.nodes.len());
        for (index, node) in process.nodes.iter().enumerate() {
            if !is_used(index) {
                places.push(Place { inner: root, cost: root, line: None });
                continue;
            }
            let above = match node.parent {
                Some(parent) => places[parent as usize],
                None => self.outermost(node.code, node.main, root),
            };
            let place = self.place(node.code, above, modules);
            places.push(place);
        }
        places
    }

    /// Where an outermost frame hangs.
    fn outermost(&mut self, code: Code, main: bool, root: u32) -> Place {
        let below_root = main || matches!(code, Code::Pseudo(p) if p != Pseudo::Anonymous);
        let frame = if below_root { root } else { self.builder.child_of_scope(root, self.thread_root) };
        Place { inner: frame, cost: frame, line: None }
    }

    fn place(&mut self, code: Code, above: Place, modules: &[Option<u32>]) -> Place {
        let (module, address) = match code {
            Code::Module { module, address } => match modules[module as usize] {
                Some(module) => (module, address),
                None => return self.pseudo(UNKNOWN_CODE, above),
            },
            Code::Pseudo(pseudo) => return self.pseudo(pseudo.name(), above),
            Code::Unknown => return self.pseudo(UNKNOWN_CODE, above),
            Code::OpenMpIdle => return self.pseudo(OPENMP_IDLE, above),
        };
        let key = (module, address, above.line);
        if !self.steps.contains_key(&key) {
            let symbols = &self.symbols[module as usize];
            let Some(resolved) = symbols.resolve(address) else {
                return self.pseudo(Pseudo::Anonymous.name(), above);
            };
            let steps = self.make_steps(&symbols.module, resolved, above.line);
            self.steps.insert(key, steps);
        }
        let steps = &self.steps[&key];
        let mut inner = above.inner;
        for scope in &steps.scopes {
            inner = self.builder.child_of_scope(inner, *scope);
        }
        let cost = steps.statement.map_or(inner, |scope| self.builder.child_of_scope(inner, scope));
        Place { inner, cost, line: steps.line }
    }

    fn pseudo(&mut self, name: &str, above: Place) -> Place {
        let frame = self.builder.child(above.inner, &Scope::pseudo(name));
        Place { inner: frame, cost: frame, line: None }
    }

    fn make_steps(&mut self, module: &Arc<str>, resolved: Resolved, call_line: Option<u32>) -> Steps {
        let Resolved { frames, file, line, .. } = resolved;
        let module = Some(module.clone());
        let mut scopes = Vec::with_capacity(frames.len());
        for (depth, frame) in frames.iter().enumerate() {
            scopes.push(self.builder.scope(&Scope {
                kind: if depth == 0 { ScopeKind::Function } else { ScopeKind::Inlined },
                name: frame.function.name.clone(),
                module: module.clone(),
                file: frame.function.file.clone(),
                line: frame.function.line,
                call_line: if depth == 0 { call_line } else { frame.call_line },
            }));
            scopes.extend(frame.loops.iter().map(|l| {
                self.builder.scope(&Scope {
                    kind: ScopeKind::Loop,
                    name: l.name.clone(),
                    module: module.clone(),
                    file: l.file.clone(),
                    line: l.line,
                    call_line: None,
                })
            }));
        }
        let statement = line.map(|line| {
            let short = file.as_deref().map_or("?", |f| f.rsplit('/').next().unwrap_or(f));
            self.builder.scope(&Scope {
                kind: ScopeKind::Line,
                name: format!("{short}:{line}").into(),
                module: module.clone(),
                file: file.clone(),
                line: Some(line),
                call_line: None,
            })
        });
        Steps { scopes, statement, line }
    }

    /// Everything in canonical order.
    ///
    /// # Errors
    /// Those of the sorter.
    pub fn finish(mut self) -> io::Result<Merged> {
        mark_exec(&mut self.locations);
        let (tree, contexts) = self.builder.finish();
        let (locations, location_places) = in_order(self.locations);
        let (metrics, metric_places) = in_order(self.metrics);
        let of_sections =
            sections::Places { contexts: &contexts, locations: &location_places, metrics: &metric_places };
        let (sections, section_values) = self.sections.finish(&of_sections);
        let section_values = with_time_in_sections(metrics.clone(), section_values);
        let places =
            Places { contexts: contexts.clone(), locations: location_places.clone(), metric_places, metrics };
        let values = self.values.finish(places)?;
        Ok(Merged { tree, locations, values, sections, section_values, contexts, location_places })
    }
}

/// By node of a process, whether it is one of these or calls one.
fn with_callers(process: &Process, nodes: impl Iterator<Item = u32>) -> Vec<bool> {
    let mut is_used = vec![false; process.nodes.len()];
    for node in nodes {
        let mut node = Some(node);
        while let Some(n) = node.filter(|n| !std::mem::replace(&mut is_used[*n as usize], true)) {
            node = process.nodes[n as usize].parent;
        }
    }
    is_used
}

/// Items sorted, and the place of each.
fn in_order<T: Ord>(items: Vec<T>) -> (Vec<T>, Vec<u32>) {
    let mut items: Vec<(T, usize)> = items.into_iter().zip(0..).collect();
    items.sort();
    let mut map = vec![0; items.len()];
    for (place, (_, before)) in items.iter().enumerate() {
        map[*before] = place as u32;
    }
    (items.into_iter().map(|(item, _)| item).collect(), map)
}
