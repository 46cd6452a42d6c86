//! Which loop of the source a machine loop stands for, and which inlined function it belongs to.

use std::fmt::Write;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::dwarf::{Definition, RawFrame};
use super::loop_lines;
use crate::structure::MachineLoops;

/// Instructions of each kind that are asked about a loop, at most.
const PROBES: usize = 48;

/// A loop in the source.
#[derive(Debug)]
pub(super) struct LoopPlace {
    /// Where its code begins.
    pub address: u64,
    /// Frames of some code of the loop; empty if nothing is known.
    chain: Rc<[RawFrame]>,
    /// How many of them, from the outermost, the loop is in.
    depth: usize,
    pub file: Option<String>,
    pub line: Option<u32>,
}

/// Frames of some of a loop's code.
pub(super) struct LoopCode {
    /// Of its tests and its header.
    pub decisive: Vec<Rc<[RawFrame]>>,
    /// Of all that is in no loop within it.
    pub own: Vec<Rc<[RawFrame]>>,
}

impl LoopCode {
    /// Instructions that compilers add, to count or to point, are often of no line and seem to be of the one before them. So what
    /// a header begins with does not count where it has the line of the code before the loop.
    fn of(machine: &MachineLoops, l: u32, lines: &mut Lines) -> LoopCode {
        let header = machine.header(l);
        let tests = lines.probe(machine.tests(l));
        let others = lines.probe(machine.own(l).filter(|address| header.binary_search(address).is_err()));
        let header = lines.probe(header.iter().copied());
        let before = lines.probe(machine.before(l).into_iter());
        let from_before =
            |frames: &Rc<[RawFrame]>| before.first().is_some_and(|before| is_same(before, frames));
        let begun = header.iter().position(|frames| !from_before(frames)).unwrap_or(header.len());
        let or_header = |code: Vec<_>| if code.is_empty() { header.clone() } else { code };
        let decisive = or_header([&tests, &header[begun..]].concat());
        let own = or_header([&header[begun..], &others].concat());
        LoopCode { decisive, own }
    }
}

/// Debug information of one function's instructions, each looked up once.
pub(super) struct Lines<'a> {
    look_up: &'a dyn Fn(u64) -> Vec<RawFrame>,
    known: FxHashMap<u64, Rc<[RawFrame]>>,
}

impl<'a> Lines<'a> {
    pub fn new(look_up: &'a dyn Fn(u64) -> Vec<RawFrame>) -> Lines<'a> {
        Lines { look_up, known: FxHashMap::default() }
    }

    /// Frames of some of the addresses, evenly spread; without those of which nothing is known.
    fn probe(&mut self, addresses: impl Iterator<Item = u64>) -> Vec<Rc<[RawFrame]>> {
        let addresses: Vec<u64> = addresses.collect();
        let step = addresses.len().div_ceil(PROBES).max(1);
        let frames = addresses.iter().step_by(step).map(|address| {
            self.known.entry(*address).or_insert_with(|| (self.look_up)(*address).into()).clone()
        });
        frames.filter(|frames| !frames.is_empty()).collect()
    }
}

/// The place of every machine loop of a function.
///
/// A loop belongs to the innermost inlined function that all of its header and its tests come from, and three quarters of its
/// other code, and all loops within it. [`loop_lines`] has its line.
pub(super) fn places(machine: &MachineLoops, lines: &mut Lines) -> Vec<LoopPlace> {
    let mut places: Vec<LoopPlace> = Vec::with_capacity(machine.len());
    let mut codes = Vec::with_capacity(machine.len());
    for l in 0..machine.len() as u32 {
        let code = LoopCode::of(machine, l, lines);
        let chain = code.decisive.first().cloned().unwrap_or_default();
        let mut depth = code.decisive.iter().map(|frames| common(&chain, frames)).min().unwrap_or(0);
        let shared = |depth: usize| code.own.iter().filter(|frames| common(&chain, frames) >= depth).count();
        while depth > 1 && 4 * shared(depth) < 3 * code.own.len() {
            depth -= 1;
        }
        let address = machine.header(l).first().copied().unwrap_or_default();
        places.push(LoopPlace { address, chain, depth, file: None, line: None });
        codes.push(code);
    }
    for l in (0..machine.len()).rev() {
        if let Some(parent) = machine.parent(l as u32) {
            let shared = places[l].frames_in_common(&places[parent as usize].chain);
            // A loop of which nothing is known says nothing about those around it.
            if shared > 0 {
                let parent = &mut places[parent as usize];
                parent.depth = parent.depth.min(shared);
            }
        }
    }
    loop_lines::find(machine, &mut places, &codes);
    places
}

impl LoopPlace {
    /// How many of an address's frames, from the outermost, are around the loop as well.
    pub fn frames_in_common(&self, frames: &[RawFrame]) -> usize {
        common(&self.chain[..self.depth], frames)
    }

    /// The function that the loop belongs to, among the frames of some code of it.
    pub fn function<'f>(&self, frames: &'f [RawFrame]) -> Option<&'f RawFrame> {
        frames.get(self.depth.checked_sub(1)?).filter(|_| self.frames_in_common(frames) == self.depth)
    }

    /// Where the function that the loop belongs to is defined.
    pub fn definition(&self) -> Option<&Definition> {
        Some(&self.chain.get(self.depth.checked_sub(1)?)?.definition)
    }

    /// The same for all loops of one function that was inlined at one place.
    pub fn function_key(&self) -> String {
        let mut key = String::new();
        for (depth, frame) in self.chain[..self.depth].iter().enumerate() {
            let called = (depth + 1 < self.depth).then_some((&frame.file, frame.line));
            // Writing to a string cannot fail.
            let _ = write!(key, "{:?} {:?} {called:?} ", frame.name, frame.definition);
        }
        key
    }

    /// The same for all copies of one loop of the source.
    pub fn key(&self) -> String {
        match self.line {
            Some(line) => format!("{}{:?} {line}", self.function_key(), self.file),
            None => format!("{:x}", self.address),
        }
    }
}

/// Whether two addresses are of the same statement.
fn is_same(a: &[RawFrame], b: &[RawFrame]) -> bool {
    let place = |frames: &[RawFrame]| frames.last().map(|frame| (frame.file.clone(), frame.line));
    a.len() == b.len() && common(a, b) == a.len() && place(a) == place(b)
}

/// How many frames two addresses have in common, outermost first: the same functions, inlined at the same places.
fn common(a: &[RawFrame], b: &[RawFrame]) -> usize {
    let called = |depth: usize| {
        let above = depth.checked_sub(1);
        above.is_none_or(|above| (&a[above].file, a[above].line) == (&b[above].file, b[above].line))
    };
    let same = |depth: &usize| {
        let (x, y) = (&a[*depth], &b[*depth]);
        called(*depth) && (&x.name, &x.definition) == (&y.name, &y.definition)
    };
    (0..a.len().min(b.len())).take_while(same).count()
}
