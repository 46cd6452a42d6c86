//! The functions of MPI whose calls are logged: one line each, with where its arguments are.

use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, AtomicU16, Ordering};

use falloff_format::events::{FunctionRecord, Mode, Operation, TransferKind};
use falloff_format::records::Kind;
use zerocopy::IntoBytes;

use super::shapes::Life::{Blocking, Nonblocking, Persistent};
use super::shapes::{Layout, Life, Neighbours, Shape, Way, Which};
use crate::cpu;
use crate::records::{self, Patience};
use crate::sections::{function, undisturbed};
use crate::text::Text;

const fn send(mode: Mode, life: Life) -> Shape {
    Shape::Send(mode, life)
}

const fn collective(operation: Operation, layout: Layout, life: Life) -> Shape {
    Shape::Collective(operation, layout, life)
}

const fn make(parent: usize, new: usize, neighbours: Neighbours) -> Shape {
    Shape::Make { parent, new, neighbours, apart: false, is_nonblocking: false }
}

const fn make_apart(parent: usize, new: usize) -> Shape {
    Shape::Make { parent, new, neighbours: Neighbours::None, apart: true, is_nonblocking: false }
}

const fn make_later(new: usize) -> Shape {
    Shape::Make { parent: 0, new, neighbours: Neighbours::Inherited, apart: false, is_nonblocking: true }
}

/// Names of one function: with and without `P` in front, with and without `_c` behind.
const NAMES: usize = 4;
/// The name that tools call which replace the other.
const PROFILING: usize = 1;
/// The name with counts of 64 bits.
const LARGE: usize = 2;

macro_rules! functions {
    ($($name:ident $($which:ident)? => $shape:expr;)*) => {
        #[expect(non_camel_case_types, reason = "the names of the functions")]
        #[derive(Clone, Copy)]
        enum Function { $($name),* }

        const COUNT: usize = [$(Function::$name),*].len();

        /// Without `MPI_`.
        static STEMS: [&str; COUNT] = [$(stringify!($name)),*];
        static SHAPES: [Shape; COUNT] = [$($shape),*];
        static EXPORTED: [bool; COUNT] = [$(functions!(@is_exported $($which)?)),*];
        static ENTRIES: [[Entry; NAMES]; COUNT] =
            [$([$name::plain, $name::profiling, $name::large, $name::large_profiling]),*];

        $(functions!(@entries $name $($which)?);)*
    };
    (@is_exported recent) => { false };
    (@is_exported $(hooked)?) => { true };
    (@entries $name:ident) => {
        #[expect(non_snake_case, reason = "the name of the function")]
        mod $name {
            use super::{Function, LARGE, NAMES, PROFILING, cpu};
            cpu::logged_call!(
                #[unsafe(export_name = concat!("MPI_", stringify!($name)))]
                plain, NAMES * Function::$name as usize
            );
            cpu::logged_call!(
                #[unsafe(export_name = concat!("PMPI_", stringify!($name)))]
                profiling, NAMES * Function::$name as usize + PROFILING
            );
            cpu::logged_call!(large, NAMES * Function::$name as usize + LARGE);
            cpu::logged_call!(large_profiling, NAMES * Function::$name as usize + LARGE + PROFILING);
        }
    };
    (@entries $name:ident $which:ident) => {
        #[expect(non_snake_case, reason = "the name of the function")]
        mod $name {
            use super::{Function, LARGE, NAMES, PROFILING, cpu};
            cpu::logged_call!(plain, NAMES * Function::$name as usize);
            cpu::logged_call!(profiling, NAMES * Function::$name as usize + PROFILING);
            cpu::logged_call!(large, NAMES * Function::$name as usize + LARGE);
            cpu::logged_call!(large_profiling, NAMES * Function::$name as usize + LARGE + PROFILING);
        }
    };
}

// `hooked`: its names are exported by the hooks of the sections, which go on to these. `recent`: not every library has it. What
// a library may lack, as all names that end in `_c`, is not exported, for programs may look whether it is there: `tables` puts
// it where it is called.
functions! {
    Init hooked => Shape::Initialise;
    Init_thread hooked => Shape::Initialise;
    Finalize hooked => Shape::Finalise;
    Abort => Shape::Plain;

    Send => send(Mode::Standard, Blocking);
    Bsend => send(Mode::Buffered, Blocking);
    Ssend => send(Mode::Synchronous, Blocking);
    Rsend => send(Mode::Ready, Blocking);
    Isend => send(Mode::Standard, Nonblocking);
    Ibsend => send(Mode::Buffered, Nonblocking);
    Issend => send(Mode::Synchronous, Nonblocking);
    Irsend => send(Mode::Ready, Nonblocking);
    Send_init => send(Mode::Standard, Persistent);
    Bsend_init => send(Mode::Buffered, Persistent);
    Ssend_init => send(Mode::Synchronous, Persistent);
    Rsend_init => send(Mode::Ready, Persistent);
    Recv => Shape::Receive(Blocking);
    Irecv => Shape::Receive(Nonblocking);
    Recv_init => Shape::Receive(Persistent);
    Mrecv => Shape::MatchedReceive(Blocking);
    Imrecv => Shape::MatchedReceive(Nonblocking);
    Sendrecv => Shape::Exchange(Blocking);
    Isendrecv recent => Shape::Exchange(Nonblocking);
    Sendrecv_replace => Shape::ExchangeInPlace(Blocking);
    Isendrecv_replace recent => Shape::ExchangeInPlace(Nonblocking);
    Psend_init recent => Shape::PartitionedSend;
    Precv_init recent => Shape::PartitionedReceive;
    Pready recent => Shape::Plain;
    Pready_range recent => Shape::Plain;
    Pready_list recent => Shape::Plain;
    Start => Shape::Start(Which::One);
    Startall => Shape::Start(Which::All);
    Request_free => Shape::Free;
    Cancel => Shape::Cancel;
    Probe => Shape::Plain;
    Mprobe => Shape::MatchedProbe;
    Iprobe => Shape::ProbeIf;
    Improbe => Shape::MatchedProbeIf;
    Wait => Shape::Wait(Which::One);
    Waitall => Shape::Wait(Which::All);
    Waitany => Shape::Wait(Which::Any);
    Waitsome => Shape::Wait(Which::Some);
    Test => Shape::Test(Which::One);
    Testall => Shape::Test(Which::All);
    Testany => Shape::Test(Which::Any);
    Testsome => Shape::Test(Which::Some);

    Barrier => collective(Operation::Barrier, Layout::None, Blocking);
    Ibarrier => collective(Operation::Barrier, Layout::None, Nonblocking);
    Barrier_init recent => collective(Operation::Barrier, Layout::None, Persistent);
    Bcast => collective(Operation::Broadcast, Layout::Broadcast, Blocking);
    Ibcast => collective(Operation::Broadcast, Layout::Broadcast, Nonblocking);
    Bcast_init recent => collective(Operation::Broadcast, Layout::Broadcast, Persistent);
    Scatter => collective(Operation::Scatter, Layout::Scatter, Blocking);
    Iscatter => collective(Operation::Scatter, Layout::Scatter, Nonblocking);
    Scatter_init recent => collective(Operation::Scatter, Layout::Scatter, Persistent);
    Scatterv => collective(Operation::Scatter, Layout::Scatterv, Blocking);
    Iscatterv => collective(Operation::Scatter, Layout::Scatterv, Nonblocking);
    Scatterv_init recent => collective(Operation::Scatter, Layout::Scatterv, Persistent);
    Gather => collective(Operation::Gather, Layout::Gather, Blocking);
    Igather => collective(Operation::Gather, Layout::Gather, Nonblocking);
    Gather_init recent => collective(Operation::Gather, Layout::Gather, Persistent);
    Gatherv => collective(Operation::Gather, Layout::Gatherv, Blocking);
    Igatherv => collective(Operation::Gather, Layout::Gatherv, Nonblocking);
    Gatherv_init recent => collective(Operation::Gather, Layout::Gatherv, Persistent);
    Reduce => collective(Operation::Reduce, Layout::Reduce, Blocking);
    Ireduce => collective(Operation::Reduce, Layout::Reduce, Nonblocking);
    Reduce_init recent => collective(Operation::Reduce, Layout::Reduce, Persistent);
    Allreduce => collective(Operation::AllReduce, Layout::AllReduce, Blocking);
    Iallreduce => collective(Operation::AllReduce, Layout::AllReduce, Nonblocking);
    Allreduce_init recent => collective(Operation::AllReduce, Layout::AllReduce, Persistent);
    Scan => collective(Operation::Scan, Layout::AllReduce, Blocking);
    Iscan => collective(Operation::Scan, Layout::AllReduce, Nonblocking);
    Scan_init recent => collective(Operation::Scan, Layout::AllReduce, Persistent);
    Exscan => collective(Operation::ExclusiveScan, Layout::AllReduce, Blocking);
    Iexscan => collective(Operation::ExclusiveScan, Layout::AllReduce, Nonblocking);
    Exscan_init recent => collective(Operation::ExclusiveScan, Layout::AllReduce, Persistent);
    Reduce_scatter => collective(Operation::ReduceScatter, Layout::ReduceScatter, Blocking);
    Ireduce_scatter => collective(Operation::ReduceScatter, Layout::ReduceScatter, Nonblocking);
    Reduce_scatter_init recent => collective(Operation::ReduceScatter, Layout::ReduceScatter, Persistent);
    Reduce_scatter_block => collective(Operation::ReduceScatter, Layout::ReduceScatterBlock, Blocking);
    Ireduce_scatter_block => collective(Operation::ReduceScatter, Layout::ReduceScatterBlock, Nonblocking);
    Reduce_scatter_block_init recent => collective(Operation::ReduceScatter, Layout::ReduceScatterBlock, Persistent);
    Allgather => collective(Operation::AllGather, Layout::AllGather, Blocking);
    Iallgather => collective(Operation::AllGather, Layout::AllGather, Nonblocking);
    Allgather_init recent => collective(Operation::AllGather, Layout::AllGather, Persistent);
    Allgatherv => collective(Operation::AllGather, Layout::AllGatherv, Blocking);
    Iallgatherv => collective(Operation::AllGather, Layout::AllGatherv, Nonblocking);
    Allgatherv_init recent => collective(Operation::AllGather, Layout::AllGatherv, Persistent);
    Alltoall => collective(Operation::AllToAll, Layout::AllToAll, Blocking);
    Ialltoall => collective(Operation::AllToAll, Layout::AllToAll, Nonblocking);
    Alltoall_init recent => collective(Operation::AllToAll, Layout::AllToAll, Persistent);
    Alltoallv => collective(Operation::AllToAll, Layout::AllToAllv, Blocking);
    Ialltoallv => collective(Operation::AllToAll, Layout::AllToAllv, Nonblocking);
    Alltoallv_init recent => collective(Operation::AllToAll, Layout::AllToAllv, Persistent);
    Alltoallw => collective(Operation::AllToAll, Layout::AllToAllw, Blocking);
    Ialltoallw => collective(Operation::AllToAll, Layout::AllToAllw, Nonblocking);
    Alltoallw_init recent => collective(Operation::AllToAll, Layout::AllToAllw, Persistent);
    Neighbor_allgather => collective(Operation::Neighbours, Layout::AllGather, Blocking);
    Ineighbor_allgather => collective(Operation::Neighbours, Layout::AllGather, Nonblocking);
    Neighbor_allgather_init recent => collective(Operation::Neighbours, Layout::AllGather, Persistent);
    Neighbor_allgatherv => collective(Operation::Neighbours, Layout::AllGatherv, Blocking);
    Ineighbor_allgatherv => collective(Operation::Neighbours, Layout::AllGatherv, Nonblocking);
    Neighbor_allgatherv_init recent => collective(Operation::Neighbours, Layout::AllGatherv, Persistent);
    Neighbor_alltoall => collective(Operation::Neighbours, Layout::AllToAll, Blocking);
    Ineighbor_alltoall => collective(Operation::Neighbours, Layout::AllToAll, Nonblocking);
    Neighbor_alltoall_init recent => collective(Operation::Neighbours, Layout::AllToAll, Persistent);
    Neighbor_alltoallv => collective(Operation::Neighbours, Layout::AllToAllv, Blocking);
    Ineighbor_alltoallv => collective(Operation::Neighbours, Layout::AllToAllv, Nonblocking);
    Neighbor_alltoallv_init recent => collective(Operation::Neighbours, Layout::AllToAllv, Persistent);
    Neighbor_alltoallw => collective(Operation::Neighbours, Layout::AllToAllw, Blocking);
    Ineighbor_alltoallw => collective(Operation::Neighbours, Layout::AllToAllw, Nonblocking);
    Neighbor_alltoallw_init recent => collective(Operation::Neighbours, Layout::AllToAllw, Persistent);

    Comm_dup => make(0, 1, Neighbours::Inherited);
    Comm_dup_with_info => make(0, 2, Neighbours::Inherited);
    Comm_idup => make_later(1);
    Comm_idup_with_info recent => make_later(2);
    Comm_split => make(0, 3, Neighbours::None);
    Comm_split_type => make(0, 4, Neighbours::None);
    Comm_create => make(0, 2, Neighbours::None);
    Comm_create_group => make_apart(0, 3);
    Intercomm_create => make_apart(0, 5);
    Intercomm_merge => make(0, 2, Neighbours::None);
    Cart_create => make(0, 5, Neighbours::Grid);
    Cart_sub => make(0, 2, Neighbours::Grid);
    Graph_create => make(0, 5, Neighbours::Graph);
    Dist_graph_create => make(0, 8, Neighbours::PartOfGraph);
    Dist_graph_create_adjacent => make(0, 9, Neighbours::PartOfGraph);
    Comm_free hooked => Shape::Unmake;
    Comm_disconnect hooked => Shape::Unmake;

    Win_create => Shape::MakeWindow(4, 5);
    Win_allocate => Shape::MakeWindow(3, 5);
    Win_allocate_shared => Shape::MakeWindow(3, 5);
    Win_create_dynamic => Shape::MakeWindow(1, 2);
    Win_free => Shape::UnmakeWindow;
    Put => Shape::Transfer(TransferKind::Put, 3, Some(5), 6, 7);
    Rput => Shape::Transfer(TransferKind::Put, 3, Some(5), 6, 7);
    Get => Shape::Transfer(TransferKind::Get, 3, Some(5), 6, 7);
    Rget => Shape::Transfer(TransferKind::Get, 3, Some(5), 6, 7);
    Accumulate => Shape::Transfer(TransferKind::Accumulate, 3, Some(5), 6, 8);
    Raccumulate => Shape::Transfer(TransferKind::Accumulate, 3, Some(5), 6, 8);
    Get_accumulate => Shape::Transfer(TransferKind::Accumulate, 6, Some(8), 9, 11);
    Rget_accumulate => Shape::Transfer(TransferKind::Accumulate, 6, Some(8), 9, 11);
    Fetch_and_op => Shape::Transfer(TransferKind::Accumulate, 3, None, 2, 6);
    Compare_and_swap => Shape::Transfer(TransferKind::Accumulate, 4, None, 3, 6);
    Win_fence => Shape::Synchronise(Way::Fence);
    Win_post => Shape::Synchronise(Way::Post);
    Win_start => Shape::Synchronise(Way::Start);
    Win_complete => Shape::Synchronise(Way::Complete);
    Win_wait => Shape::Synchronise(Way::Wait);
    Win_test => Shape::Synchronise(Way::Test);
    Win_lock => Shape::Synchronise(Way::Lock);
    Win_unlock => Shape::Synchronise(Way::Unlock);
    Win_lock_all => Shape::Synchronise(Way::LockAll);
    Win_unlock_all => Shape::Synchronise(Way::UnlockAll);
    Win_flush => Shape::Synchronise(Way::Flush);
    Win_flush_local => Shape::Synchronise(Way::Flush);
    Win_flush_all => Shape::Synchronise(Way::FlushAll);
    Win_flush_local_all => Shape::Synchronise(Way::FlushAll);
}

/// Where each name really goes; null before it is first called.
pub static REAL: [AtomicPtr<c_void>; NAMES * COUNT] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; NAMES * COUNT];
/// Number of each name in the file's records plus one, 0 before its first call.
static NUMBERS: [AtomicU16; NAMES * COUNT] = [const { AtomicU16::new(0) }; NAMES * COUNT];
static LAST: AtomicU16 = AtomicU16::new(0);

/// What a name leads to where calls are to be logged.
pub type Entry = unsafe extern "C" fn();

/// The index of a name, if its calls are logged.
pub fn index(name: &[u8]) -> Option<usize> {
    let (name, profiling) = name.strip_prefix(b"P").map_or((name, 0), |rest| (rest, PROFILING));
    let stem = name.strip_prefix(b"MPI_")?;
    let (stem, large) = stem.strip_suffix(b"_c").map_or((stem, 0), |rest| (rest, LARGE));
    let place = STEMS.iter().position(|known| known.as_bytes() == stem)?;
    Some(NAMES * place + profiling + large)
}

/// Whether a name is exported, so that all who call it come here.
pub fn is_exported(index: usize) -> bool {
    index & LARGE == 0 && EXPORTED.get(index / NAMES).copied().unwrap_or(false)
}

/// The entry of a name, which goes on to the library's function.
pub fn entry(index: usize) -> Option<Entry> {
    ENTRIES.get(index / NAMES)?.get(index % NAMES).copied()
}

/// What a name's call does; whether its counts have 64 bits.
pub fn shape(index: usize) -> (Shape, bool) {
    (SHAPES.get(index / NAMES).copied().unwrap_or(Shape::Plain), index & LARGE != 0)
}

/// The library's function of a name, looked up at its first call.
pub fn real(index: usize) -> Option<*mut c_void> {
    let slot = REAL.get(index)?;
    let known = slot.load(Ordering::Acquire);
    if !known.is_null() {
        return Some(known);
    }
    let mut name = Text::<64>::new();
    if index & PROFILING != 0 {
        name.push(b"P");
    }
    push_name(&mut name, index);
    let found = function(name.as_c_str())?;
    slot.store(found, Ordering::Release);
    Some(found)
}

fn push_name(name: &mut Text<64>, index: usize) {
    name.push(b"MPI_");
    name.push(STEMS.get(index / NAMES).map_or(b"", |stem| stem.as_bytes()));
    if index & LARGE != 0 {
        name.push(b"_c");
    }
}

/// The number by which items name a function, which has its record from then on. `MPI_X` and `PMPI_X` are one.
pub fn number(index: usize) -> u16 {
    let Some(slot) = NUMBERS.get(index & !PROFILING) else { return 0 };
    let known = slot.load(Ordering::Acquire);
    if known != 0 {
        return known - 1;
    }
    let fresh = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    if let Err(other) = slot.compare_exchange(0, fresh, Ordering::AcqRel, Ordering::Acquire) {
        return other - 1;
    }
    let mut name = Text::<64>::new();
    push_name(&mut name, index);
    let fixed = FunctionRecord { number: u32::from(fresh - 1), reserved: 0 };
    undisturbed(|| records::append(Patience::Wait, Kind::Function, fixed.as_bytes(), &[name.as_bytes()]));
    fresh - 1
}
