//! The control flow graph of one function.

use super::code::{Flow, Instruction};

/// Blocks of instructions that are executed one after the other, in the order in which they lie, and the edges between them.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// Indices of each block's first instruction and of the one behind its last.
    pub blocks: Vec<(u32, u32)>,
    /// Where the successors of each block begin in `targets`, with one end more.
    starts: Vec<u32>,
    targets: Vec<u32>,
    /// Whether each block ends with a choice to leave the function.
    pub exits: Vec<bool>,
}

impl Graph {
    /// Of instructions in the order of their addresses. A jump into the middle of an instruction is one to its beginning: that
    /// is how prefixes are skipped.
    pub fn new(instructions: &[Instruction]) -> Graph {
        let blocks = blocks(instructions);
        let block_at = |address: u64| {
            let instruction = holder(instructions, address)? as u32;
            let block = blocks.partition_point(|(first, _)| *first <= instruction).checked_sub(1)?;
            (blocks[block].0 == instruction).then_some(block as u32)
        };
        let mut graph = Graph { starts: vec![0], ..Graph::default() };
        for (index, (_, end)) in blocks.iter().enumerate() {
            let last = &instructions[*end as usize - 1];
            let next = blocks.get(index + 1).filter(|(first, _)| first == end).map(|_| index as u32 + 1);
            match &last.flow {
                Flow::Next | Flow::Exit | Flow::Padding => graph.targets.extend(next),
                Flow::Branch(target) => {
                    let there = block_at(*target).filter(|there| Some(*there) != next);
                    graph.targets.extend(next.into_iter().chain(there));
                }
                Flow::Jump(targets) => {
                    let first = graph.targets.len();
                    graph.targets.extend(targets.iter().filter_map(|target| block_at(*target)));
                    graph.targets[first..].sort_unstable();
                }
                Flow::Leave | Flow::Stop => {}
            }
            graph.exits.push(last.flow == Flow::Exit);
            graph.starts.push(graph.targets.len() as u32);
        }
        graph.blocks = blocks;
        graph
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Blocks that may be executed next, the one that follows in memory first.
    pub fn successors(&self, block: u32) -> &[u32] {
        let range = self.starts[block as usize] as usize..self.starts[block as usize + 1] as usize;
        &self.targets[range]
    }

    /// Where the predecessors of each block begin in the second list, with one end more.
    pub fn predecessors(&self) -> (Vec<u32>, Vec<u32>) {
        let mut starts = vec![0u32; self.len() + 1];
        self.targets.iter().for_each(|target| starts[*target as usize + 1] += 1);
        for block in 0..self.len() {
            starts[block + 1] += starts[block];
        }
        let mut free = starts.clone();
        let mut sources = vec![0; self.targets.len()];
        for block in 0..self.len() as u32 {
            for target in self.successors(block) {
                sources[free[*target as usize] as usize] = block;
                free[*target as usize] += 1;
            }
        }
        (starts, sources)
    }
}

/// The instruction that holds an address; the last one reaches as far as one likes.
fn holder(instructions: &[Instruction], address: u64) -> Option<usize> {
    instructions.partition_point(|i| i.address <= address).checked_sub(1)
}

/// A block begins at the start, where a jump leads, and after an instruction that does not only go on. Filling between
/// pieces of code is in no block.
fn blocks(instructions: &[Instruction]) -> Vec<(u32, u32)> {
    let mut begins = vec![false; instructions.len()];
    let mark = |begins: &mut Vec<bool>, target: u64| {
        if let Some(at) = holder(instructions, target) {
            begins[at] = true;
        }
    };
    for instruction in instructions {
        match &instruction.flow {
            Flow::Branch(target) => mark(&mut begins, *target),
            Flow::Jump(targets) => targets.iter().for_each(|target| mark(&mut begins, *target)),
            Flow::Next | Flow::Exit | Flow::Leave | Flow::Stop | Flow::Padding => {}
        }
    }
    let mut blocks = Vec::new();
    let mut open: Option<u32> = None;
    let mut gap = false;
    for (at, instruction) in (0u32..).zip(instructions) {
        if begins[at as usize] {
            blocks.extend(open.take().map(|first| (first, at)));
        } else if gap && instruction.flow == Flow::Padding {
            continue;
        }
        gap = false;
        let first = *open.get_or_insert(at);
        if !matches!(instruction.flow, Flow::Next | Flow::Padding) {
            blocks.push((first, at + 1));
            open = None;
            gap = matches!(instruction.flow, Flow::Leave | Flow::Stop | Flow::Jump(_));
        }
    }
    blocks.extend(open.map(|first| (first, instructions.len() as u32)));
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(flows: &[Flow]) -> Graph {
        let instruction = |(at, flow): (u64, &Flow)| Instruction { address: 10 * at, flow: flow.clone() };
        Graph::new(&(0..).zip(flows).map(instruction).collect::<Vec<_>>())
    }

    #[test]
    fn blocks_end_where_code_branches_and_where_branches_lead() {
        let graph = graph(&[Flow::Next, Flow::Next, Flow::Branch(10), Flow::Jump(vec![0]), Flow::Stop]);
        assert_eq!(graph.blocks, [(0, 1), (1, 3), (3, 4), (4, 5)]);
        let successors: Vec<&[u32]> = (0..4).map(|block| graph.successors(block)).collect();
        assert_eq!(successors, [[1].as_slice(), &[2, 1], &[0], &[]]);
        let (starts, sources) = graph.predecessors();
        assert_eq!(
            (starts.as_slice(), sources.as_slice()),
            ([0, 1, 3, 4, 4].as_slice(), [2, 0, 1, 1].as_slice())
        );
    }

    #[test]
    fn filling_between_pieces_of_code_is_in_no_block() {
        let graph = graph(&[Flow::Padding, Flow::Stop, Flow::Padding, Flow::Padding, Flow::Next, Flow::Stop]);
        assert_eq!(graph.blocks, [(0, 2), (4, 6)]);
    }

    #[test]
    fn filling_that_is_jumped_to_is_code() {
        let graph = graph(&[Flow::Jump(vec![15]), Flow::Padding, Flow::Stop]);
        assert_eq!(graph.blocks, [(0, 1), (1, 3)]);
        assert_eq!(graph.successors(0), [1]);
    }

    #[test]
    fn no_code_has_no_blocks() {
        assert_eq!(graph(&[]).len(), 0);
    }
}
