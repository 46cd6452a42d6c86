//! Values of nodes: what each of them has of itself and of those below it.
//!
//! A metric has four values at a node, by how far cost flows up to it.

use super::nodes::{GLOBAL, MAIN, NodeKind, Nodes};

/// How far cost flows up the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Cost that is sampled exactly here.
    Point = 0,
    /// With that of lines and loops of the same function: what viewers show as exclusive.
    Function = 1,
    /// As `Function`, but of a loop only that which is in no loop within it.
    LexAware = 2,
    /// With that of all below: inclusive.
    Execution = 3,
}

impl Scope {
    /// All of them.
    pub const ALL: [Scope; 4] = [Scope::Point, Scope::Function, Scope::LexAware, Scope::Execution];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Point => "point",
            Scope::Function => "function",
            Scope::LexAware => "lex_aware",
            Scope::Execution => "execution",
        }
    }

    /// The format's type of scope and the bit of a node that says whether cost flows on to its parent; 255 if no bit
    /// does.
    pub fn propagation(self) -> (u8, u8) {
        match self {
            Scope::Point => (1, 255),
            Scope::Function => (3, 0),
            Scope::LexAware => (0, 255),
            Scope::Execution => (2, 255),
        }
    }
}

/// One of the values that a metric has at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(u16);

/// Slots of a metric.
const SCOPES: u16 = Scope::ALL.len() as u16;

impl Slot {
    /// The slot of a scope of the metric with this index, of so many. The first metric's last slot is the last of all.
    ///
    /// Hatchet, looking up the slots that it reads in the list of a node, runs over the end of the list if the last of them
    /// is missing. It always reads the first metric's inclusive value, and every node has that one, see [`Spread`].
    pub fn new(metric: usize, scope: Scope, metrics: usize) -> Slot {
        Slot((metrics - 1 - metric) as u16 * SCOPES + scope as u16)
    }

    /// The slot with this number.
    pub fn of_id(id: u16) -> Slot {
        Slot(id)
    }

    /// Its number in files: slots of each node are in this order.
    pub fn id(self) -> u16 {
        self.0
    }
}

/// A value of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    pub node: u32,
    pub slot: Slot,
    pub value: f64,
}

/// Spreads the cost of one part over the nodes.
pub(super) struct Spread<'a> {
    nodes: &'a Nodes,
    metrics: usize,
    /// Values of each node by [`Scope`], all 0 between two metrics.
    sums: Vec<[f64; 4]>,
    marked: Vec<bool>,
}

impl<'a> Spread<'a> {
    pub fn new(nodes: &'a Nodes, metrics: usize) -> Spread<'a> {
        let size = nodes.all().len();
        Spread { nodes, metrics, sums: vec![[0.0; 4]; size], marked: vec![false; size] }
    }

    /// The cells of a part, sorted by node and slot, from its exclusive values (context, metric, value).
    ///
    /// Values of 0 are left out, but every node with cost at or below it has the first metric's inclusive value, and so
    /// has the main entry point.
    pub fn cells(&mut self, values: &[(u32, u16, f64)]) -> Vec<Cell> {
        if self.metrics == 0 {
            return Vec::new();
        }
        let touched = self.touched(values);
        let mut by_metric: Vec<Vec<(u32, f64)>> = vec![Vec::new(); self.metrics];
        for (context, metric, value) in values {
            by_metric[usize::from(*metric)].push((self.nodes.of_context(*context), *value));
        }
        let mut cells = Vec::new();
        for (metric, values) in by_metric.iter().enumerate() {
            self.add_up(values, &touched);
            for node in &touched {
                let sums = std::mem::take(&mut self.sums[*node as usize]);
                for scope in Scope::ALL {
                    let value = sums[scope as usize];
                    if value != 0.0 || (metric == 0 && scope == Scope::Execution) {
                        let slot = Slot::new(metric, scope, self.metrics);
                        cells.push(Cell { node: *node, slot, value });
                    }
                }
            }
        }
        cells.sort_unstable_by_key(|cell| (cell.node, cell.slot));
        cells
    }

    /// Nodes with values and all above them, the last first.
    fn touched(&mut self, values: &[(u32, u16, f64)]) -> Vec<u32> {
        let mut touched = Vec::new();
        for mut node in values.iter().map(|(context, ..)| self.nodes.of_context(*context)).chain([MAIN]) {
            while !std::mem::replace(&mut self.marked[node as usize], true) {
                touched.push(node);
                node = self.nodes.all()[node as usize].parent;
            }
        }
        touched.iter().for_each(|node| self.marked[*node as usize] = false);
        touched.sort_unstable_by(|a, b| b.cmp(a));
        touched
    }

    /// Fills `sums` for one metric; `touched` has children before their parents.
    fn add_up(&mut self, values: &[(u32, f64)], touched: &[u32]) {
        for (node, value) in values {
            self.sums[*node as usize].iter_mut().for_each(|sum| *sum += value);
        }
        for node in touched.iter().filter(|node| **node != GLOBAL) {
            let about = self.nodes.all()[*node as usize];
            let is_loop = |kind: NodeKind| matches!(kind, NodeKind::Loop { .. });
            let [_, function, _, execution] = self.sums[*node as usize];
            let parent_is_loop = is_loop(self.nodes.all()[about.parent as usize].kind);
            let parent = &mut self.sums[about.parent as usize];
            parent[Scope::Execution as usize] += execution;
            if about.kind.is_lexical() {
                parent[Scope::Function as usize] += function;
                if !(parent_is_loop && is_loop(about.kind)) {
                    parent[Scope::LexAware as usize] += function;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::hpctoolkit::nodes::Roots;
    use crate::synthetic::{function, statement};
    use crate::{ScopeKind, TreeBuilder};

    #[test]
    fn cost_flows_up_by_scope() {
        let mut builder = TreeBuilder::new();
        let loop_at = |line| crate::Scope { kind: ScopeKind::Loop, ..statement(line) };
        let main = builder.child(0, &function("main", 10, None));
        let outer = builder.child(main, &loop_at(12));
        let outer_line = builder.child(outer, &statement(12));
        let inner = builder.child(outer, &loop_at(13));
        let inner_line = builder.child(inner, &statement(14));
        let work = builder.child(inner, &function("work", 30, Some(14)));
        let work_line = builder.child(work, &statement(31));
        let (tree, place) = builder.finish();
        let nodes = Nodes::new(&tree, Roots::Apart, |_| true);
        let at = |built: u32| place[built as usize];
        let values = [(at(outer_line), 0, 1.0), (at(inner_line), 0, 2.0), (at(work_line), 0, 4.0)];
        let mut spread = Spread::new(&nodes, 2);
        let cells = spread.cells(&values);
        assert!(cells.is_sorted_by_key(|c| (c.node, c.slot)));
        let of = |built: u32| {
            let node = nodes.of_context(at(built));
            let value = |scope| {
                let slot = Slot::new(0, scope, 2);
                cells.iter().find(|c| (c.node, c.slot) == (node, slot)).map_or(0.0, |c| c.value)
            };
            Scope::ALL.map(value)
        };
        assert_eq!(of(inner_line), [2.0, 2.0, 2.0, 6.0]);
        assert_eq!(of(inner), [0.0, 2.0, 2.0, 6.0]);
        assert_eq!(of(outer), [0.0, 3.0, 1.0, 7.0]);
        assert_eq!(of(main), [0.0, 3.0, 3.0, 7.0]);
        assert_eq!(of(work), [0.0, 4.0, 4.0, 4.0]);
        assert_eq!(cells[0], Cell { node: GLOBAL, slot: Slot::new(0, Scope::Execution, 2), value: 7.0 });
        // What was left from the part before would show.
        assert_eq!(spread.cells(&values), cells);
    }

    #[test]
    fn every_node_has_the_last_slot() {
        let database = crate::synthetic::database();
        let nodes = Nodes::new(database.tree(), Roots::Apart, |_| true);
        // Costs in the second metric only, of opposite signs.
        let last = database.tree().len() as u32 - 1;
        let values = [(last, 1, 3.0), (last - 3, 1, -3.0)];
        let cells = Spread::new(&nodes, 2).cells(&values);
        for group in cells.chunk_by(|a, b| a.node == b.node) {
            assert_eq!(group.last().map(|c| (c.slot.id(), c.value)), Some((7, 0.0)));
        }
        let main = cells.iter().find(|c| c.node == MAIN);
        assert!(main.is_some());
    }
}
