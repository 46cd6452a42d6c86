//! The code of one function, and what one has to know of the rest of its module.

use object::Architecture;

use super::graph::Graph;
use super::machine_loops::MachineLoops;
use super::x86_64;

/// Bytes of one function.
pub(crate) struct Code<'a> {
    pub architecture: Architecture,
    /// Address of the first byte.
    pub start: u64,
    pub bytes: &'a [u8],
    /// Bytes of the module at an address, as many as asked for: tables of jump targets lie elsewhere.
    pub memory: &'a dyn Fn(u64, u64) -> Option<&'a [u8]>,
    /// Whether a call of the function at an address never comes back.
    pub never_returns: &'a dyn Fn(u64) -> bool,
}

impl Code<'_> {
    /// Its loops; `None` if this processor's instructions are not known here.
    pub fn loops(&self) -> Option<MachineLoops> {
        let instructions = match self.architecture {
            Architecture::X86_64 => x86_64::instructions(self),
            _ => return None,
        };
        Some(MachineLoops::new(&instructions))
    }

    /// Whether it may come back to its caller: whether a return, a jump out of it or a jump to a place that is not known can be
    /// reached from its beginning.
    pub fn may_return(&self) -> bool {
        match self.architecture {
            Architecture::X86_64 => reaches_an_end(&x86_64::instructions(self)),
            _ => true,
        }
    }

    /// First address behind the function.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.bytes.len() as u64)
    }

    /// Whether an address lies in the function.
    pub fn holds(&self, address: u64) -> bool {
        (self.start..self.end()).contains(&address)
    }
}

fn reaches_an_end(instructions: &[Instruction]) -> bool {
    let graph = Graph::new(instructions);
    let mut reached = vec![false; graph.len()];
    let mut stack = vec![0u32; usize::from(graph.len() > 0)];
    while let Some(block) = stack.pop() {
        if std::mem::replace(&mut reached[block as usize], true) {
            continue;
        }
        let next = graph.successors(block);
        let last = &instructions[graph.blocks[block as usize].1 as usize - 1].flow;
        // Code that goes on behind the end is not all of the function.
        if matches!(last, Flow::Exit | Flow::Leave) || (next.is_empty() && *last != Flow::Stop) {
            return true;
        }
        stack.extend(next);
    }
    graph.len() == 0
}

/// What an instruction does to the flow of control, as far as the function itself is concerned. Targets lie in the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// The next instruction follows, also after calls.
    Next,
    /// Goes on at one of these places, which a jump has one of and a jump through a table several.
    Jump(Vec<u64>),
    /// Goes on there or with the next instruction.
    Branch(u64),
    /// Leaves the function or goes on with the next instruction.
    Exit,
    /// Leaves the function, or goes on nobody knows where.
    Leave,
    /// Ends the program or the thread, or throws.
    Stop,
    /// Fills a gap between pieces of code if nothing before it goes on there.
    Padding,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    pub address: u64,
    pub flow: Flow,
}
