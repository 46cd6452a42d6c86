//! The call paths of one process, each once whichever thread went along it.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use crate::load::{Code, Cost, Node, Process};

/// A cost that stays, or goes to the same path below another node.
pub(super) struct Move {
    pub cost: Cost,
    /// The node above the part of the path that is taken along, and the node that this part comes under.
    pub to: Option<(Option<u32>, u32)>,
}

/// Call paths and what they cost.
pub(super) struct Paths {
    nodes: Vec<Node>,
    index: FxHashMap<Node, u32>,
    /// Sorted, each node, location and metric once.
    costs: Vec<Cost>,
}

impl Paths {
    /// Of a process.
    pub fn of(process: &Process) -> Paths {
        let mut paths = Paths { nodes: Vec::new(), index: FxHashMap::default(), costs: Vec::new() };
        let mut places: Vec<u32> = Vec::with_capacity(process.nodes.len());
        for node in &process.nodes {
            let parent = node.parent.map(|parent| places[parent as usize]);
            // Threads go different ways below a common root only if they began alike.
            let main = parent.map_or(node.main, |parent| paths.nodes[parent as usize].main);
            places.push(paths.place(Node { parent, code: node.code, main }));
        }
        let costs = process.costs.iter().map(|c| Cost { node: places[c.node as usize], ..*c });
        paths.set_costs(costs.collect());
        paths
    }

    /// Nodes, callers first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn costs(&self) -> &[Cost] {
        &self.costs
    }

    /// The costs as the moves say, in place of those that are there.
    pub fn carry_out(&mut self, moves: Vec<Move>) {
        let mut copies = FxHashMap::default();
        let moved = moves.into_iter().map(|Move { cost, to }| match to {
            Some((top, target)) => Cost { node: self.copy(&mut copies, cost.node, top, target), ..cost },
            None => cost,
        });
        let costs = moved.collect();
        self.set_costs(costs);
    }

    /// The path from below `top` down to `node`, again below `target`. A node has always the same `top`.
    fn copy(
        &mut self,
        copies: &mut FxHashMap<(u32, u32), u32>,
        node: u32,
        top: Option<u32>,
        target: u32,
    ) -> u32 {
        let mut chain = Vec::new();
        let mut here = Some(node);
        let mut place = loop {
            match here {
                Some(at) if here != top => {
                    if let Some(known) = copies.get(&(at, target)) {
                        break *known;
                    }
                    chain.push(at);
                    here = self.nodes[at as usize].parent;
                }
                _ => break target,
            }
        };
        while let Some(at) = chain.pop() {
            let main = self.nodes[place as usize].main;
            place = self.place(Node { parent: Some(place), code: self.nodes[at as usize].code, main });
            copies.insert((at, target), place);
        }
        place
    }

    fn set_costs(&mut self, mut costs: Vec<Cost>) {
        costs.sort_unstable();
        costs.dedup_by(|next, kept| {
            let same = (next.node, next.location, next.metric) == (kept.node, kept.location, kept.metric);
            if same {
                kept.value = kept.value.saturating_add(next.value);
            }
            same
        });
        self.costs = costs;
    }

    /// An outermost node of threads that the process did not begin with.
    pub fn thread_root(&mut self, code: Code) -> u32 {
        self.place(Node { parent: None, code, main: false })
    }

    fn place(&mut self, node: Node) -> u32 {
        *self.index.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        })
    }

    /// An order of nodes by what their paths are.
    pub fn compare(&self, a: u32, b: u32) -> Ordering {
        let (mut a, mut b) = (Some(a), Some(b));
        while a != b {
            let node = |n: Option<u32>| n.map(|n| self.nodes[n as usize]);
            let key = |n: Option<Node>| n.map(|n| (n.main, n.code));
            let (here, there) = (node(a), node(b));
            match key(here).cmp(&key(there)) {
                Ordering::Equal => (a, b) = (here.and_then(|n| n.parent), there.and_then(|n| n.parent)),
                unequal => return unequal,
            }
        }
        Ordering::Equal
    }

    /// The paths with cost, for the rest of the process.
    pub fn finish(self, process: Process) -> Process {
        let mut used = vec![false; self.nodes.len()];
        self.costs.iter().for_each(|c| used[c.node as usize] = true);
        for at in (0..self.nodes.len()).rev() {
            if let (true, Some(parent)) = (used[at], self.nodes[at].parent) {
                used[parent as usize] = true;
            }
        }
        let mut places = vec![0; self.nodes.len()];
        let mut nodes = Vec::new();
        for (at, node) in self.nodes.iter().enumerate().filter(|(at, _)| used[*at]) {
            places[at] = nodes.len() as u32;
            nodes.push(Node { parent: node.parent.map(|parent| places[parent as usize]), ..*node });
        }
        let costs = self.costs.into_iter().map(|c| Cost { node: places[c.node as usize], ..c });
        Process { nodes, costs: costs.collect(), ..process }
    }
}
