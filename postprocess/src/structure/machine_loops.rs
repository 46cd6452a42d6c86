//! The loops of one function by address.

use super::code::Instruction;
use super::graph::Graph;
use super::loops::Nest;

/// Loops of the machine code of one function, outer ones before those in them.
#[derive(Debug, Default)]
pub(crate) struct MachineLoops {
    /// Address of every instruction, in order.
    addresses: Vec<u64>,
    /// Indices of the instructions of each block.
    blocks: Vec<(u32, u32)>,
    nest: Nest,
    /// Blocks by their innermost loop, and where those of each loop begin.
    members: Vec<u32>,
    starts: Vec<u32>,
    /// Blocks of each loop that end in a test of whether it goes on.
    tests: Vec<Vec<u32>>,
}

/// Loops around each other that one jump may leave and still count as a test of each. No source has so many.
const MOST_LEFT: usize = 64;

impl MachineLoops {
    pub(super) fn new(instructions: &[Instruction]) -> MachineLoops {
        let graph = Graph::new(instructions);
        let nest = Nest::new(&graph);
        let mut members: Vec<u32> =
            (0..graph.len() as u32).filter(|block| nest.of_block[*block as usize].is_some()).collect();
        members.sort_by_key(|block| nest.of_block[*block as usize]);
        let starts = (0..=nest.loops.len() as u32)
            .map(|l| members.partition_point(|b| nest.of_block[*b as usize] < Some(l)) as u32)
            .collect();
        let tests = tests(&graph, &nest);
        let addresses = instructions.iter().map(|i| i.address).collect();
        MachineLoops { addresses, blocks: graph.blocks, nest, members, starts, tests }
    }

    /// Number of loops.
    pub fn len(&self) -> usize {
        self.nest.loops.len()
    }

    /// The innermost loop at an address, if there is one.
    pub fn innermost(&self, address: u64) -> Option<u32> {
        let instruction = self.addresses.partition_point(|a| *a <= address).checked_sub(1)? as u32;
        let block = self.blocks.partition_point(|(first, _)| *first <= instruction).checked_sub(1)?;
        if instruction >= self.blocks[block].1 { None } else { self.nest.of_block[block] }
    }

    /// The loop around a loop; always an earlier one.
    pub fn parent(&self, l: u32) -> Option<u32> {
        self.nest.loops[l as usize].parent
    }

    /// Instructions of the block in which a loop begins.
    pub fn header(&self, l: u32) -> &[u64] {
        self.block(self.nest.loops[l as usize].header)
    }

    /// The instruction that lies before the header of a loop.
    pub fn before(&self, l: u32) -> Option<u64> {
        let (first, _) = self.blocks[self.nest.loops[l as usize].header as usize];
        self.addresses.get(first.checked_sub(1)? as usize).copied()
    }

    /// The branches that decide whether a loop goes on: those that lead back to its beginning and those that leave it.
    pub fn tests(&self, l: u32) -> impl Iterator<Item = u64> + '_ {
        self.tests[l as usize].iter().filter_map(|block| self.block(*block).last().copied())
    }

    /// Instructions of a loop that are in no loop within it.
    pub fn own(&self, l: u32) -> impl Iterator<Item = u64> + '_ {
        let range = self.starts[l as usize] as usize..self.starts[l as usize + 1] as usize;
        self.members[range].iter().flat_map(|block| self.block(*block)).copied()
    }

    fn block(&self, block: u32) -> &[u64] {
        let (first, end) = self.blocks[block as usize];
        &self.addresses[first as usize..end as usize]
    }
}

/// For each loop the blocks that end in a choice of which one leads to its header or out of it, each once.
fn tests(graph: &Graph, nest: &Nest) -> Vec<Vec<u32>> {
    let mut tests: Vec<Vec<u32>> = vec![Vec::new(); nest.loops.len()];
    let around = |block: u32| {
        let parent = |l: &u32| nest.loops[*l as usize].parent;
        std::iter::successors(nest.of_block[block as usize], parent).take(MOST_LEFT)
    };
    let mut add = |l: u32, block: u32| {
        if tests[l as usize].last() != Some(&block) {
            tests[l as usize].push(block);
        }
    };
    for block in 0..graph.len() as u32 {
        let successors = graph.successors(block);
        if graph.exits[block as usize] {
            around(block).for_each(|l| add(l, block));
        }
        if successors.len() < 2 {
            continue;
        }
        for next in successors {
            for l in around(block) {
                let leads_back = nest.loops[l as usize].header == *next;
                if leads_back || !nest.holds(l, *next) {
                    add(l, block);
                }
                if nest.holds(l, *next) {
                    break;
                }
            }
        }
    }
    tests
}

#[cfg(test)]
mod tests_of_code {
    use object::Architecture;
    use proptest::prelude::*;

    use super::*;
    use crate::structure::Code;

    fn loops(bytes: &[u8]) -> MachineLoops {
        let code = Code {
            architecture: Architecture::X86_64,
            start: 0x1000,
            bytes,
            memory: &|_, _| None,
            never_returns: &|target| target == 0x1000,
        };
        code.loops().unwrap()
    }

    /// `(first address of the header, parent)` of every loop.
    fn nest(loops: &MachineLoops) -> Vec<(u64, Option<u32>)> {
        (0..loops.len() as u32).map(|l| (loops.header(l)[0], loops.parent(l))).collect()
    }

    #[test]
    fn a_loop_in_a_loop() {
        // 1000: xor eax,eax   1002: xor ecx,ecx   1004: inc ecx   1006: cmp ecx,10   1009: jne 1004
        // 100b: inc eax   100d: cmp eax,10   1010: jne 1002   1012: ret
        let code = [
            0x31, 0xc0, 0x31, 0xc9, 0xff, 0xc1, 0x83, 0xf9, 0x0a, 0x75, 0xf9, 0xff, 0xc0, 0x83, 0xf8, 0x0a,
            0x75, 0xf0, 0xc3,
        ];
        let found = loops(&code);
        assert_eq!(nest(&found), [(0x1002, None), (0x1004, Some(0))]);
        let innermost: Vec<Option<u32>> =
            [0x1000, 0x1002, 0x1003, 0x1004, 0x100a, 0x100b, 0x1011, 0x1012, 0xfff]
                .map(|a| found.innermost(a))
                .into();
        assert_eq!(innermost, [None, Some(0), Some(0), Some(1), Some(1), Some(0), Some(0), None, None]);
        assert_eq!(found.tests(0).collect::<Vec<_>>(), [0x1010]);
        assert_eq!(found.tests(1).collect::<Vec<_>>(), [0x1009]);
        assert_eq!(found.own(0).collect::<Vec<_>>(), [0x1002, 0x100b, 0x100d, 0x1010]);
    }

    #[test]
    fn calls_come_back_unless_they_never_do() {
        // 1000: call 1000 (never returns)   1005: nop   1006: jmp 1005 (2 bytes)
        let code = [0xe8, 0xfb, 0xff, 0xff, 0xff, 0x90, 0xeb, 0xfd];
        assert_eq!(nest(&loops(&code)), [(0x1005, None)]);
        // 1000: call 1010   1005: jmp 1000
        let code = [0xe8, 0x0b, 0x00, 0x00, 0x00, 0xeb, 0xf9];
        assert_eq!(nest(&loops(&code)), [(0x1000, None)]);
        // 1000: call 1000 (never returns)   1005: jmp 1000: nothing leads there.
        let code = [0xe8, 0xfb, 0xff, 0xff, 0xff, 0xeb, 0xf9];
        assert_eq!(nest(&loops(&code)), []);
    }

    #[test]
    fn a_function_returns_if_a_way_leads_out_of_it() {
        let may_return = |bytes: &[u8]| {
            let code = Code {
                architecture: Architecture::X86_64,
                start: 0x1000,
                bytes,
                memory: &|_, _| None,
                never_returns: &|target| target == 0x1000,
            };
            code.may_return()
        };
        // call 1000 (never returns); ret, which nothing leads to
        assert!(!may_return(&[0xe8, 0xfb, 0xff, 0xff, 0xff, 0xc3]));
        // jne 1006; call 1001; ret
        assert!(may_return(&[0x75, 0x05, 0xe8, 0xf9, 0xff, 0xff, 0xff, 0xc3]));
        // jne out of the function; ud2
        assert!(may_return(&[0x75, 0x7f, 0x0f, 0x0b]));
        // ud2; a loop without an end; a jump elsewhere; no end at all; nothing
        assert!(!may_return(&[0x0f, 0x0b]));
        assert!(!may_return(&[0xeb, 0xfe]));
        assert!(may_return(&[0xeb, 0x7f]));
        assert!(may_return(&[0x31, 0xc0]));
        assert!(may_return(&[]));
    }

    #[test]
    fn a_jump_out_of_the_function_is_no_loop() {
        // jmp before the function; jne behind it; ret
        assert_eq!(nest(&loops(&[0xeb, 0xf0, 0x75, 0x7f, 0xc3])), []);
    }

    #[test]
    fn a_jump_behind_a_prefix_is_one_to_the_instruction() {
        // 1000: lock inc dword [rax]   1003: jne 1001
        assert_eq!(nest(&loops(&[0xf0, 0xff, 0x00, 0x75, 0xfc])), [(0x1000, None)]);
    }

    #[test]
    fn other_processors_have_no_loops() {
        let code = Code {
            architecture: Architecture::Aarch64,
            start: 0,
            bytes: &[0xff, 0xff, 0xff, 0x17],
            memory: &|_, _| None,
            never_returns: &|_| false,
        };
        assert!(code.loops().is_none());
    }

    proptest! {
        #[test]
        fn random_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..4000)) {
            check(&loops(&bytes));
        }

        #[test]
        fn random_jumps_are_survived(jumps in proptest::collection::vec((0u8..4, any::<i8>()), 1..2000)) {
            let opcodes = [0x75, 0xeb, 0x74, 0x7f];
            let bytes: Vec<u8> = jumps.iter().flat_map(|(k, to)| [opcodes[*k as usize], *to as u8]).collect();
            check(&loops(&bytes));
        }
    }

    fn check(loops: &MachineLoops) {
        for l in 0..loops.len() as u32 {
            assert!(loops.parent(l).is_none_or(|parent| parent < l));
            assert_eq!(loops.innermost(loops.header(l)[0]), Some(l));
            assert!(loops.own(l).all(|address| loops.innermost(address) == Some(l)));
            assert!(loops.tests(l).all(|address| loops.innermost(address).is_some()));
        }
    }

    #[test]
    fn a_megabyte_is_no_matter() {
        // Half a million branches back, each to the one before: a deep nest of loops.
        let deep: Vec<u8> = [0x75, 0xfc].repeat(1 << 19);
        check_size(&deep);
        // The same with jumps forward between them, into the loops' middles.
        let tangled: Vec<u8> = [0x75, 0x04, 0x75, 0xf0, 0x74, 0x0a, 0x75, 0x80].repeat(1 << 17);
        check_size(&tangled);
    }

    fn check_size(bytes: &[u8]) {
        let start = std::time::Instant::now();
        let found = loops(bytes);
        assert!(found.len() > 1000);
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
