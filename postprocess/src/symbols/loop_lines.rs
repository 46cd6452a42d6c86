//! Lines of loops.
//!
//! The line of a loop is the smallest of its header's and its tests', in the function that it belongs to. The first line of
//! that function does not count if there is another: compilers give it to what they compute from arguments. Where
//! transformations have lost lines, two things that are true of sources help:
//!
//! - A statement is in one innermost loop. A loop that has no line but one, which another loop that begins further up has
//!   among its own, is a copy of that loop, unless it lies in it.
//! - A loop begins where those within it do, or above. If one seems to begin below, its line is the smallest of all its
//!   own code, or it is part of the one within it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::dwarf::RawFrame;
use super::loop_place::{LoopCode, LoopPlace};
use crate::structure::MachineLoops;

/// Loops around a loop that are looked at.
const DEEPEST: usize = 64;

/// Lines of one loop in its function.
#[derive(Default)]
struct LoopLines {
    line: Option<u32>,
    own: BTreeSet<u32>,
    /// Function and file, by number.
    place: usize,
}

/// Finds the line of every loop.
pub(super) fn find(machine: &MachineLoops, places: &mut [LoopPlace], codes: &[LoopCode]) {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut all: Vec<LoopLines> = places
        .iter_mut()
        .zip(codes)
        .map(|(place, code)| {
            let mut lines = lines(place, code);
            let next = numbers.len();
            lines.place = *numbers.entry(format!("{}{:?}", place.function_key(), place.file)).or_insert(next);
            lines
        })
        .collect();
    for (l, line) in copies(machine, &all) {
        all[l].line = Some(line);
    }
    for l in (0..all.len()).rev() {
        let Some(parent) = machine.parent(l as u32).map(|p| p as usize) else { continue };
        let inner = all[l].line.filter(|_| all[l].place == all[parent].place);
        let outer = &mut all[parent];
        if let (Some(inner), Some(line)) = (inner, outer.line)
            && line > inner
        {
            outer.line = outer.own.first().copied().filter(|first| *first < inner).or(Some(inner));
        }
    }
    for (place, lines) in places.iter_mut().zip(&all) {
        place.line = lines.line;
    }
}

/// Lines of a loop's code in the file of its first test, and that file.
fn lines(place: &mut LoopPlace, code: &LoopCode) -> LoopLines {
    let Some(file) = code.decisive.iter().find_map(|f| place.function(f)?.file.clone()) else {
        return LoopLines::default();
    };
    let lines_of = |code: &[Rc<[RawFrame]>]| -> BTreeSet<u32> {
        let frames = code.iter().filter_map(|frames| place.function(frames));
        frames
            .filter(|frame| frame.file.as_deref() == Some(file.as_str()))
            .filter_map(|frame| frame.line)
            .collect()
    };
    let (decisive, mut own) = (lines_of(&code.decisive), lines_of(&code.own));
    let head = place.definition().filter(|d| d.file.as_deref().map(name) == Some(name(&file)));
    let head = head.and_then(|definition| definition.line).unwrap_or(0);
    let line = decisive.range(head.saturating_add(1)..).next().or(decisive.first()).copied();
    own.retain(|line| *line > head);
    place.file = Some(file);
    LoopLines { line, own, place: 0 }
}

/// Loops that are copies of others as their only line tells, and the lines of those.
fn copies(machine: &MachineLoops, all: &[LoopLines]) -> Vec<(usize, u32)> {
    // By place and line of a statement, lines of loops that have it among their own.
    let mut loops_of: BTreeMap<(usize, u32), BTreeSet<u32>> = BTreeMap::new();
    for lines in all {
        for own in &lines.own {
            loops_of.entry((lines.place, *own)).or_default().extend(lines.line);
        }
    }
    let copy_of = |(l, lines): (usize, &LoopLines)| {
        let line = lines.line.filter(|line| lines.own.iter().eq([line]))?;
        let above = *loops_of.get(&(lines.place, line))?.range(..line).next_back()?;
        let mut around =
            std::iter::successors(machine.parent(l as u32), |p| machine.parent(*p)).take(DEEPEST);
        let within =
            around.any(|p| all[p as usize].line == Some(above) && all[p as usize].place == lines.place);
        (!within).then_some((l, above))
    };
    all.iter().enumerate().filter_map(copy_of).collect()
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
