//! The loops around an address, in the frames that they belong to.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::bounds::{Bounds, Place};
use super::dwarf::RawFrame;
use super::elf::Elf;
use super::loop_place::{Lines, LoopPlace, places};
use crate::structure::{Code, MachineLoops, SourceNest, never_returns};

/// Loops of the functions of one module, each function looked at once.
pub(super) struct Loops<'a> {
    elf: &'a Elf<'a>,
    /// By the address where a function's code begins.
    functions: FxHashMap<u64, FunctionLoops>,
    calls: Calls,
}

/// Whether calls come back.
#[derive(Default)]
struct Calls {
    /// By address of the function.
    known: RefCell<FxHashMap<u64, bool>>,
}

/// Larger functions are taken to return, in bytes.
const LARGEST_CALLED: u64 = 1 << 14;
/// Larger functions, of which there are none but in damaged files, have no loops, in bytes: instructions need ten times the
/// room of their code.
const LARGEST: u64 = 1 << 23;

/// Loops of one function.
#[derive(Default)]
struct FunctionLoops {
    machine: MachineLoops,
    nest: SourceNest,
    /// By the numbers that the nest has for them.
    places: Vec<Rc<LoopPlace>>,
}

impl<'a> Loops<'a> {
    /// Of the file that holds the code.
    pub fn new(elf: &'a Elf<'a>) -> Loops<'a> {
        Loops { elf, functions: FxHashMap::default(), calls: Calls::default() }
    }

    /// The loops around an address, outermost first, each with the number of frames above and around it. `frames` are
    /// those of the address, outermost first; `look_up` gives those of any address.
    ///
    /// A loop is in the frames that its own place and the address have in common, but never further in than the loops
    /// within it.
    pub fn around(
        &mut self,
        address: u64,
        frames: &[RawFrame],
        bounds: &Bounds,
        look_up: &dyn Fn(u64) -> Vec<RawFrame>,
    ) -> Vec<(usize, Rc<LoopPlace>)> {
        let Some(extent) = bounds.extent(address) else { return Vec::new() };
        let Loops { elf, functions, calls } = self;
        let function = functions.entry(extent.0).or_insert_with(|| {
            FunctionLoops::new(elf, extent, &|target| calls.never_return(target, elf, bounds), look_up)
        });
        let Some(innermost) = function.machine.innermost(address) else { return Vec::new() };
        let mut depth = usize::MAX;
        let mut found: Vec<(usize, Rc<LoopPlace>)> = function
            .nest
            .around(innermost)
            .map(|place| {
                let place = &function.places[place as usize];
                depth = depth.min(place.frames_in_common(frames)).max(1);
                (depth, place.clone())
            })
            .collect();
        found.reverse();
        found
    }
}

impl Calls {
    /// Whether the function at an address never returns, as its name tells, or its code, where the functions that it calls
    /// are taken by their names.
    fn never_return(&self, target: u64, elf: &Elf, bounds: &Bounds) -> bool {
        if let Some(known) = self.known.borrow().get(&target) {
            return *known;
        }
        let extent =
            bounds.extent(target).filter(|(start, end)| *start == target && end - start <= LARGEST_CALLED);
        let by_name = |target: u64| is_named_so(target, bounds);
        let by_code = || extent.and_then(|extent| ask(elf, extent, &by_name, |code| !code.may_return()));
        let never = by_name(target) || by_code().unwrap_or(false);
        self.known.borrow_mut().insert(target, never);
        never
    }
}

fn is_named_so(target: u64, bounds: &Bounds) -> bool {
    match bounds.find(target) {
        Place::Symbol { name, start, .. } => start == target && never_returns(name),
        Place::Plt(name) => never_returns(name.trim_end_matches("@plt")),
        Place::Unnamed { .. } => false,
    }
}

impl FunctionLoops {
    fn new(
        elf: &Elf,
        extent: (u64, u64),
        never_returns: &dyn Fn(u64) -> bool,
        look_up: &dyn Fn(u64) -> Vec<RawFrame>,
    ) -> FunctionLoops {
        let machine = ask(elf, extent, never_returns, |code| code.loops()).flatten().unwrap_or_default();
        let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
        let mut distinct = Vec::new();
        let all = places(&machine, &mut Lines::new(look_up));
        let numbered: Vec<u32> = all
            .into_iter()
            .map(|place| {
                *numbers.entry(place.key()).or_insert_with(|| {
                    distinct.push(Rc::new(place));
                    distinct.len() as u32 - 1
                })
            })
            .collect();
        let nest = SourceNest::new((0..).zip(&numbered).map(|(l, place)| (machine.parent(l), *place)));
        FunctionLoops { machine, nest, places: distinct }
    }
}

/// Asks something about a function's code; `None` if the file does not have it or it is too large.
fn ask<T>(
    elf: &Elf,
    (start, end): (u64, u64),
    never_returns: &dyn Fn(u64) -> bool,
    question: impl FnOnce(&Code) -> T,
) -> Option<T> {
    let size = end.checked_sub(start).filter(|size| *size <= LARGEST)?;
    let bytes = elf.memory(start, size)?;
    let memory = |address, size| elf.memory(address, size);
    Some(question(&Code { architecture: elf.architecture(), start, bytes, memory: &memory, never_returns }))
}
