//! What makes and gives up communicators and windows, and MPI itself.

use core::ffi::c_int;

use falloff_format::events::{
    Item, Operation, SCOPE_COMMUNICATOR, SCOPE_WINDOW, TopologyRecord, UNKNOWN_RANK, put,
};
use falloff_format::records::Kind;
use zerocopy::IntoBytes;

use super::communicators::{self, Communicator, Parts};
use super::frame::Arguments;
use super::library::{self, Abi};
use super::log::{Log, next_post};
use super::shapes::{Neighbours, Shape};
use crate::records::{self, Patience};
use crate::sections::undisturbed;

/// Dimensions of a grid that are looked at.
const DIMENSIONS_MAX: usize = 64;
/// Neighbours in a graph that are looked at, on either side.
const NEIGHBOURS_MAX: usize = 512;
/// Bytes that they take in their record.
const PACKED_MAX: usize = 5 * (3 * DIMENSIONS_MAX + 2 * NEIGHBOURS_MAX);

/// All of a communicator do something together.
fn together(communicator: &Communicator, operation: Operation) -> Item {
    Item::Collective {
        post: next_post(),
        operation,
        communicator: communicator.id,
        sequence: communicator.next_sequence(),
        root: None,
        sent: 0,
        received: 0,
    }
}

/// What the call begins.
pub fn begins(arguments: Arguments, shape: Shape) -> Option<Item> {
    let abi = arguments.abi;
    let communicator = match shape {
        Shape::Make { apart: true, .. } => None,
        Shape::Make { parent, .. } | Shape::MakeWindow(parent, _) => {
            communicators::of(abi, arguments.handle(parent))
        }
        Shape::Unmake | Shape::UnmakeWindow => {
            let handle = arguments.handle_at(0);
            let known = communicators::known(handle);
            communicators::forget(handle);
            known
        }
        Shape::Finalise => {
            return communicators::of(abi, abi.world).map(|all| together(all, Operation::Finalise));
        }
        _ => None,
    };
    communicator.map(|communicator| together(communicator, Operation::Make))
}

/// Notes what a call has made.
pub fn made(log: &mut Log, arguments: Arguments, shape: Shape, result: c_int) {
    let (abi, is_made) = (arguments.abi, |handle: u64| result == 0 && handle != 0);
    match shape {
        Shape::Make { parent: parent_place, new, neighbours, apart, .. } => {
            let handle = arguments.handle_at(new);
            if !is_made(handle) {
                return;
            }
            let parent = communicators::of(abi, arguments.handle(parent_place));
            let made = match (neighbours, parent) {
                // A copy may not be asked before it is complete.
                (Neighbours::Inherited, Some(parent)) => {
                    communicators::copy(handle, parent, SCOPE_COMMUNICATOR)
                }
                _ => communicators::look_into(abi, handle),
            };
            let Some(made) = made else { return };
            match (neighbours, parent) {
                (Neighbours::Inherited, Some(known)) => {
                    note_neighbours(abi, made, known.neighbours, arguments.handle(parent_place));
                }
                _ => note_neighbours(abi, made, neighbours, handle),
            }
            if apart {
                let item = together(made, Operation::Make);
                log.write(&item);
                log.begun = [Some(item), None];
            }
        }
        Shape::MakeWindow(parent, new) => {
            let handle = arguments.handle_at(new);
            if let Some(parent) = communicators::of(abi, arguments.handle(parent)).filter(|_| is_made(handle))
            {
                communicators::copy(handle, parent, SCOPE_WINDOW);
            }
        }
        _ => {}
    }
}

/// MPI has begun: the library is looked into, and the first communicator is that of all.
pub fn initialised(log: &mut Log, result: c_int) {
    if result != 0 || library::abi().is_some() {
        return;
    }
    // SAFETY: once, and other threads make no calls before this one has returned.
    unsafe { library::look_up() };
    let world = library::abi().and_then(|abi| communicators::of(abi, abi.world));
    let Some(world) = world else {
        super::log::stopped(b"the MPI library is of an unknown kind");
        return;
    };
    super::tables::fill();
    let item = together(world, Operation::Initialise);
    log.write(&item);
    log.write(&Item::Complete { post: super::messages::post_of(&item), message: None, void: false });
}

/// Asks for the neighbours of a communicator, by the handle of it or of one that it is a copy of, and writes their record.
fn note_neighbours(abi: &Abi, of: &'static Communicator, neighbours: Neighbours, handle: u64) {
    let mut row = Row { bytes: [0; PACKED_MAX], at: 0 };
    let (mut sources, mut destinations) = ([0; NEIGHBOURS_MAX], [0; NEIGHBOURS_MAX]);
    let Some((dimensions, from, to)) =
        ask(abi, of, neighbours, handle as usize, &mut row, (&mut sources, &mut destinations))
    else {
        return;
    };
    for rank in sources.iter().take(from).chain(destinations.iter().take(to)) {
        row.number(if *rank == abi.nobody { UNKNOWN_RANK } else { of.peer(*rank) });
    }
    let parts = |ranks: &[c_int], count: usize| Parts::of(ranks.get(..count).unwrap_or(&[]), abi.nobody);
    communicators::set_neighbours(of, neighbours, parts(&sources, from), parts(&destinations, to));
    let (sources, destinations) = (from as u32, to as u32);
    let record = TopologyRecord { communicator: of.id, dimensions, sources, destinations };
    let text = row.bytes.get(..row.at).unwrap_or(&[]);
    undisturbed(|| records::append(Patience::Wait, Kind::Topology, record.as_bytes(), &[text]));
}

/// Dimensions, sources and destinations.
fn ask(
    abi: &Abi,
    of: &Communicator,
    neighbours: Neighbours,
    handle: usize,
    row: &mut Row,
    (sources, destinations): (&mut [c_int], &mut [c_int]),
) -> Option<(u32, usize, usize)> {
    let size = |count: c_int| usize::try_from(count).ok().filter(|count| *count <= NEIGHBOURS_MAX);
    let ask = &abi.ask;
    match neighbours {
        Neighbours::None | Neighbours::Inherited => None,
        Neighbours::Grid => {
            let mut count: c_int = 0;
            // SAFETY: the prototype, and a communicator with a grid.
            unsafe { (ask.dimensions?)(handle, &raw mut count) };
            let dimensions = usize::try_from(count).ok().filter(|count| *count <= DIMENSIONS_MAX)?;
            let mut grid = [[0; DIMENSIONS_MAX]; 3];
            let [extents, periods, own] = &mut grid;
            // SAFETY: the prototype; there is room for so many dimensions.
            unsafe {
                (ask.grid?)(handle, count, extents.as_mut_ptr(), periods.as_mut_ptr(), own.as_mut_ptr())
            };
            for at in 0..dimensions {
                grid.iter().for_each(|numbers| row.number(numbers.get(at).map_or(0, |n| *n as u32)));
                let (mut before, mut after) = (0, 0);
                // SAFETY: the prototype; a direction of the grid.
                unsafe { (ask.shift?)(handle, at as c_int, 1, &raw mut before, &raw mut after) };
                for list in [&mut *sources, &mut *destinations] {
                    list.iter_mut().skip(2 * at).zip([before, after]).for_each(|(to, rank)| *to = rank);
                }
            }
            Some((dimensions as u32, 2 * dimensions, 2 * dimensions))
        }
        Neighbours::Graph => {
            let (mut count, rank) = (0, of.rank as c_int);
            // SAFETY: the prototypes, a communicator with a graph, and room for so many neighbours.
            unsafe {
                (ask.graph_count?)(handle, rank, &raw mut count);
                size(count)?;
                (ask.graph?)(handle, rank, count, sources.as_mut_ptr());
            }
            destinations.copy_from_slice(sources);
            Some((0, size(count)?, size(count)?))
        }
        Neighbours::PartOfGraph => {
            let (mut from, mut to, mut weighted) = (0, 0, 0);
            let mut weights = [[0; NEIGHBOURS_MAX]; 2];
            let [gets, gives] = &mut weights;
            // SAFETY: the prototypes, a communicator with a part of a graph, and room for so many neighbours.
            unsafe {
                (ask.part_count?)(handle, &raw mut from, &raw mut to, &raw mut weighted);
                size(from).and(size(to))?;
                (ask.part?)(
                    handle,
                    from,
                    sources.as_mut_ptr(),
                    gets.as_mut_ptr(),
                    to,
                    destinations.as_mut_ptr(),
                    gives.as_mut_ptr(),
                );
            }
            Some((0, size(from)?, size(to)?))
        }
    }
}

/// Numbers of a record.
struct Row {
    bytes: [u8; PACKED_MAX],
    at: usize,
}

impl Row {
    fn number(&mut self, number: u32) {
        // There is room for all that can be asked.
        let _ = put(&mut self.bytes, &mut self.at, number.into());
    }
}
