//! Call paths as a graph: costs of the lines of functions, and of the calls between functions.

use std::collections::BTreeMap;

use crate::cct::{Scope, ScopeKind};
use crate::export::Profile;
use crate::export::frames::{Detail, Frames};

/// Index of the function that stands for the whole program and calls the outermost ones.
pub(super) const PROGRAM: u32 = 0;

/// A value for each column: metric by metric, group by group.
pub(super) type Costs = Vec<f64>;

/// A call: line in the caller, 0 if not known, and the function called.
pub(super) type Call = (u32, u32);

/// Functions with what lies in them.
pub(super) struct Graph<'a> {
    /// `None` is [`PROGRAM`].
    pub functions: Vec<Option<&'a Scope>>,
    /// For each function, costs of its own lines; line 0 if not known.
    pub own: Vec<BTreeMap<u32, Costs>>,
    /// For each function, inclusive costs of the calls that it makes. A call by which a function enters itself again has
    /// none: all of that lies in the outermost entry already, so that what enters a function sums up to its inclusive cost.
    pub calls: Vec<BTreeMap<Call, Costs>>,
    /// Sums of all.
    pub totals: Costs,
}

impl<'a> Graph<'a> {
    /// The graph of a profile.
    pub fn new(profile: &Profile<'a>) -> Graph<'a> {
        let frames = Frames::new(profile, Detail::Lines);
        let columns: Vec<Vec<f64>> = (0..profile.metrics().len())
            .flat_map(|metric| profile.groups().iter().map(move |group| group.costs(metric)))
            .map(|costs| frames.sums(costs))
            .collect();
        let mut functions = vec![None];
        let number: Vec<u32> = frames
            .functions()
            .iter()
            .map(|scope| {
                // Cost that is in no function is the program's own.
                if scope.kind == ScopeKind::Root {
                    return PROGRAM;
                }
                functions.push(Some(*scope));
                functions.len() as u32 - 1
            })
            .collect();
        let mut graph = Graph {
            own: vec![BTreeMap::new(); functions.len()],
            calls: vec![BTreeMap::new(); functions.len()],
            functions,
            totals: columns.iter().map(|column| column.iter().sum()).collect(),
        };
        let own = |frame: usize| columns.iter().map(move |column| column[frame]);
        let mut inclusive: Vec<Costs> =
            (0..frames.frames().len()).map(|frame| own(frame).collect()).collect();
        for (index, frame) in frames.frames().iter().enumerate().rev() {
            let function = number[frame.function as usize];
            let line = frame.line.unwrap_or(0);
            if own(index).any(|cost| cost != 0.0) {
                add(graph.own[function as usize].entry(line).or_default(), own(index));
            }
            let costs = std::mem::take(&mut inclusive[index]);
            if let Some(caller) = frame.caller {
                add(&mut inclusive[caller as usize], costs.iter().copied());
            }
            if function == PROGRAM {
                continue;
            }
            let caller = frame.caller.map(|caller| frames.frames()[caller as usize]);
            let by = caller.map_or(PROGRAM, |caller| number[caller.function as usize]);
            let call = (caller.and_then(|caller| caller.line).unwrap_or(0), function);
            let again = frames.path(index as u32).skip(1).any(|(_, outer)| outer.function == frame.function);
            let entered = graph.calls[by as usize].entry(call).or_default();
            add(entered, costs.iter().map(|cost| if again { 0.0 } else { *cost }));
        }
        graph
    }
}

fn add(sums: &mut Costs, costs: impl Iterator<Item = f64>) {
    for (column, cost) in costs.enumerate() {
        match sums.get_mut(column) {
            Some(sum) => *sum += cost,
            None => sums.push(cost),
        }
    }
}
