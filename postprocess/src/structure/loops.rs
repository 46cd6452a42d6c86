//! The nest of loops of a control flow graph.
//!
//! P. Havlak, Nesting of reducible and irreducible loops, ACM TOPLAS 19 (1997): depth-first search gives every block a number and
//! the range of numbers below it. An edge to a block above is a back edge, and its target the header of a loop, whose
//! body is found backwards from the sources of the back edges, inner loops first, each as one block once it is known. Where
//! a header dominates its loop these are the natural loops, with all that share a header taken as one. A loop that is
//! entered in several places has that entry as its header which the search meets first; its other entries belong to
//! the loops around it.

use super::graph::Graph;

const NONE: u32 = u32::MAX;
/// Further entries of loops that are followed outwards, for each edge of the graph: more occur in no code that a compiler made, and
/// without a limit the time would be quadratic.
const ENTRIES_PER_EDGE: usize = 4;

/// A loop of a [`Graph`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    /// Its first block.
    pub header: u32,
    /// The loop around it; always an earlier one.
    pub parent: Option<u32>,
    /// First and last place in an order of loops in which those within it follow it.
    span: (u32, u32),
}

/// All loops, outer ones before those in them, and the innermost loop of each block.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Nest {
    pub loops: Vec<Loop>,
    pub of_block: Vec<Option<u32>>,
}

impl Nest {
    /// The loops of a graph whose block 0 is entered first. Blocks that cannot be reached from it, such as the handlers
    /// of exceptions, are entered as well, after all others.
    pub fn new(graph: &Graph) -> Nest {
        let (starts, sources) = graph.predecessors();
        let search = Search::new(graph, &starts);
        let mut finder = Finder::new(&search, &starts, &sources);
        for header in (0..graph.len() as u32).rev() {
            finder.collect(header);
        }
        finder.nest()
    }
}

/// Depth-first search. From here on blocks are called by their numbers in it.
struct Search {
    /// Block of each number.
    blocks: Vec<u32>,
    /// Number of each block.
    numbers: Vec<u32>,
    /// Largest number below each number.
    last: Vec<u32>,
}

impl Search {
    fn new(graph: &Graph, predecessor_starts: &[u32]) -> Search {
        let count = graph.len();
        let mut search =
            Search { blocks: Vec::with_capacity(count), numbers: vec![NONE; count], last: vec![0; count] };
        let entered_by_nobody =
            |block: &u32| predecessor_starts[*block as usize] == predecessor_starts[*block as usize + 1];
        let all = 0..count as u32;
        for root in all.clone().take(1).chain(all.clone().filter(entered_by_nobody)).chain(all) {
            if search.numbers[root as usize] == NONE {
                search.visit(graph, root);
            }
        }
        search
    }

    fn visit(&mut self, graph: &Graph, root: u32) {
        // Block and the number of its successors that were followed.
        let mut stack = vec![(root, 0)];
        self.number(root);
        while let Some((block, followed)) = stack.last_mut() {
            let next = graph.successors(*block).get(*followed).copied();
            *followed += 1;
            match next {
                Some(next) if self.numbers[next as usize] == NONE => {
                    self.number(next);
                    stack.push((next, 0));
                }
                Some(_) => {}
                None => {
                    self.last[self.numbers[*block as usize] as usize] = self.blocks.len() as u32 - 1;
                    stack.pop();
                }
            }
        }
    }

    fn number(&mut self, block: u32) {
        self.numbers[block as usize] = self.blocks.len() as u32;
        self.blocks.push(block);
    }

    /// Whether `below` was reached through `above`, both by number.
    fn is_below(&self, above: u32, below: u32) -> bool {
        above <= below && below <= self.last[above as usize]
    }
}

struct Finder<'a> {
    search: &'a Search,
    starts: &'a [u32],
    sources: &'a [u32],
    /// Loops that are known count as one block, their header's: what each number has become part of.
    part_of: Vec<u32>,
    /// Header of the innermost loop around each number, itself not counted.
    around: Vec<u32>,
    /// Whether a back edge leads to each number.
    is_header: Vec<bool>,
    /// Sources of edges into a loop that lead past its header, kept with the header.
    entries: Vec<Vec<u32>>,
    /// How many more of those are kept.
    room: usize,
    /// The header that each number was last collected for.
    collected: Vec<u32>,
}

impl<'a> Finder<'a> {
    fn new(search: &'a Search, starts: &'a [u32], sources: &'a [u32]) -> Finder<'a> {
        let count = search.blocks.len();
        Finder {
            search,
            starts,
            sources,
            part_of: (0..count as u32).collect(),
            around: vec![NONE; count],
            is_header: vec![false; count],
            entries: vec![Vec::new(); count],
            room: 1000 + ENTRIES_PER_EDGE * sources.len(),
            collected: vec![NONE; count],
        }
    }

    /// Finds the loop of a header; all headers of larger numbers must have been looked at.
    fn collect(&mut self, header: u32) {
        let mut body = Vec::new();
        self.collected[header as usize] = header;
        for source in self.predecessors(header) {
            if self.search.is_below(header, source) {
                self.is_header[header as usize] = true;
                self.take(header, source, &mut body);
            }
        }
        let mut next = 0;
        while let Some(part) = body.get(next).copied() {
            next += 1;
            for source in self.predecessors(part) {
                // Back edges of a loop that is known lead within it.
                if !self.search.is_below(part, source) {
                    self.take(header, source, &mut body);
                }
            }
            for source in std::mem::take(&mut self.entries[part as usize]) {
                self.take(header, source, &mut body);
            }
        }
        for part in body {
            self.around[part as usize] = header;
            self.part_of[part as usize] = header;
        }
    }

    /// Takes what jumps into the loop as part of it, or as another entry.
    fn take(&mut self, header: u32, source: u32, body: &mut Vec<u32>) {
        let part = self.find(source);
        if self.collected[part as usize] == header {
            return;
        }
        self.collected[part as usize] = header;
        if self.search.is_below(header, part) {
            body.push(part);
        } else if self.room > 0 {
            self.room -= 1;
            self.entries[header as usize].push(part);
        }
    }

    /// The outermost known loop that a number is part of; shortens the way there.
    fn find(&mut self, number: u32) -> u32 {
        let mut top = number;
        while self.part_of[top as usize] != top {
            top = self.part_of[top as usize];
        }
        let mut here = number;
        while here != top {
            here = std::mem::replace(&mut self.part_of[here as usize], top);
        }
        top
    }

    fn predecessors(&self, number: u32) -> impl Iterator<Item = u32> + use<'a> {
        let search = self.search;
        let block = search.blocks[number as usize] as usize;
        let range = self.starts[block] as usize..self.starts[block + 1] as usize;
        self.sources[range].iter().map(|source| search.numbers[*source as usize])
    }

    fn nest(self) -> Nest {
        let count = self.search.blocks.len();
        let mut nest = Nest { loops: Vec::new(), of_block: vec![None; count] };
        // Loop of each header, by number; a header has a smaller number than what is in its loop.
        let mut loops = vec![None; count];
        for (number, is_header) in self.is_header.iter().enumerate() {
            let block = self.search.blocks[number];
            let around = Some(self.around[number]).filter(|a| *a != NONE);
            let parent = around.and_then(|header| loops[header as usize]);
            if *is_header {
                loops[number] = Some(nest.loops.len() as u32);
                nest.loops.push(Loop { header: block, parent, span: (0, 0) });
            }
            nest.of_block[block as usize] = loops[number].or(parent);
        }
        nest.order();
        nest
    }
}

impl Nest {
    /// Whether a block is in a loop or in one within it.
    pub fn holds(&self, l: u32, block: u32) -> bool {
        let (first, last) = self.loops[l as usize].span;
        self.of_block[block as usize].is_some_and(|inner| {
            let place = self.loops[inner as usize].span.0;
            first <= place && place <= last
        })
    }

    /// Finds the spans: sizes from the inside, then places from the outside.
    fn order(&mut self) {
        let mut sizes = vec![1u32; self.loops.len()];
        for l in (0..self.loops.len()).rev() {
            if let Some(parent) = self.loops[l].parent {
                sizes[parent as usize] += sizes[l];
            }
        }
        // Next free place in each loop, and at the top.
        let mut free = vec![0; self.loops.len()];
        let mut top = 0;
        for l in 0..self.loops.len() {
            let place = match self.loops[l].parent {
                Some(parent) => &mut free[parent as usize],
                None => &mut top,
            };
            let first = *place;
            *place += sizes[l];
            free[l] = first + 1;
            self.loops[l].span = (first, first + sizes[l] - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::code::{Flow, Instruction};

    /// Header and parent of each loop.
    type Found = Vec<(u32, Option<u32>)>;

    /// Loops of blocks of one instruction each, by their successors, and the loop of each block.
    fn nest(edges: &[&[u64]]) -> (Found, Vec<Option<u32>>) {
        let flow =
            |targets: &[u64]| if targets.is_empty() { Flow::Stop } else { Flow::Jump(targets.to_vec()) };
        let instructions: Vec<Instruction> =
            (0..).zip(edges).map(|(address, targets)| Instruction { address, flow: flow(targets) }).collect();
        let graph = Graph::new(&instructions);
        assert_eq!(graph.len(), edges.len());
        let nest = Nest::new(&graph);
        (nest.loops.iter().map(|l| (l.header, l.parent)).collect(), nest.of_block)
    }

    #[test]
    fn loops_nest() {
        // 0 > 1 > 2 > 3 with 2 again from 3, 1 again from 4, and itself from 5.
        let (loops, of_block) = nest(&[&[1], &[2], &[3], &[2, 4], &[1, 5], &[5, 6], &[]]);
        assert_eq!(loops, [(1, None), (2, Some(0)), (5, None)]);
        assert_eq!(of_block, [None, Some(0), Some(1), Some(1), Some(0), Some(2), None]);
    }

    #[test]
    fn loops_that_share_a_header_are_one() {
        let (loops, of_block) = nest(&[&[1], &[2, 3], &[1], &[1, 4], &[]]);
        assert_eq!(loops, [(1, None)]);
        assert_eq!(of_block, [None, Some(0), Some(0), Some(0), None]);
    }

    #[test]
    fn a_loop_with_two_entries_begins_where_it_is_met_first() {
        // 1 and 2 lead to each other, and 0 to both.
        let (loops, of_block) = nest(&[&[1, 2], &[2, 3], &[1], &[]]);
        assert_eq!(loops, [(1, None)]);
        assert_eq!(of_block, [None, Some(0), Some(0), None]);
        // The same within a loop: block 2 enters it at 4, and is of the outer one.
        let (loops, of_block) = nest(&[&[1], &[2, 3], &[4], &[4], &[3, 5], &[1, 6], &[]]);
        assert_eq!(loops, [(1, None), (4, Some(0))]);
        assert_eq!(of_block, [None, Some(0), Some(0), Some(1), Some(1), Some(0), None]);
    }

    #[test]
    fn what_nothing_leads_to_enters_last() {
        // Block 3, a handler, goes on in the middle of the loop of 1 and 2.
        let (loops, of_block) = nest(&[&[1], &[2], &[1, 4], &[2], &[]]);
        assert_eq!(loops, [(1, None)]);
        assert_eq!(of_block, [None, Some(0), Some(0), None, None]);
        // A loop that nothing leads to is one all the same.
        assert_eq!(nest(&[&[], &[2], &[1]]).0, [(1, None)]);
    }
}
