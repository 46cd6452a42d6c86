//! How the MPI library writes its constants, handles and statuses, and what it is asked. All questions are local.

use core::ffi::{c_int, c_void};

use crate::real;
use crate::sections::{Kin, function, library};
use crate::sync::SetOnce;

/// What differs between libraries.
pub struct Abi {
    /// Handles have 32 bits.
    narrow: bool,
    /// `MPI_COMM_WORLD`.
    pub world: u64,
    /// `MPI_COMM_NULL`.
    null: u64,
    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
    pub ignored_status: u64,
    /// `MPI_IN_PLACE`.
    pub in_place: u64,
    /// `MPI_ANY_SOURCE`.
    pub any_source: i32,
    /// `MPI_ANY_TAG`.
    pub any_tag: i32,
    /// `MPI_PROC_NULL`.
    pub nobody: i32,
    /// `MPI_ROOT`.
    pub root: i32,
    /// `MPI_LOCK_EXCLUSIVE`.
    pub exclusive: i32,
    /// Length of a status, bytes.
    pub status_len: usize,
    /// Where in it the sender is; the tag is next to it.
    source_at: usize,
    /// How many bytes came is to be asked for, by the handle of `MPI_BYTE`.
    byte: Option<usize>,
    /// The library's functions.
    pub ask: Questions,
}

/// What a status says.
#[derive(Clone, Copy)]
pub struct Status {
    /// Rank of the sender in the communicator.
    pub source: i32,
    /// Tag.
    pub tag: i32,
    /// Bytes that came.
    pub bytes: u64,
}

type OfHandle = unsafe extern "C" fn(usize, *mut c_int) -> c_int;
type ToHandle = unsafe extern "C" fn(usize, *mut usize) -> c_int;

macro_rules! questions {
    ($($(#[$doc:meta])* $field:ident: $ty:ty = $name:literal),* $(,)?) => {
        /// Functions that are asked; one that the library lacks is `None`.
        pub struct Questions { $($(#[$doc])* pub $field: Option<$ty>,)* }

        impl Questions {
            fn look_up() -> Questions {
                // SAFETY: each type is the C prototype of the function of that name, with handles as machine words.
                unsafe {
                    Questions { $($field: function($name).map(|p| core::mem::transmute::<*mut c_void, $ty>(p)),)* }
                }
            }
        }
    };
}

questions! {
    /// Bytes of a type's values.
    type_size: unsafe extern "C" fn(usize, *mut i64) -> c_int = c"PMPI_Type_size_x",
    /// Rank in a communicator.
    rank: OfHandle = c"PMPI_Comm_rank",
    /// Whether it is between two groups.
    is_between: OfHandle = c"PMPI_Comm_test_inter",
    /// Its group.
    group: ToHandle = c"PMPI_Comm_group",
    /// Its other group.
    remote_group: ToHandle = c"PMPI_Comm_remote_group",
    /// Members of a group.
    group_size: OfHandle = c"PMPI_Group_size",
    /// Their ranks in another.
    translate: unsafe extern "C" fn(usize, c_int, *const c_int, usize, *mut c_int) -> c_int =
        c"PMPI_Group_translate_ranks",
    /// Gives a group back.
    group_free: unsafe extern "C" fn(*mut usize) -> c_int = c"PMPI_Group_free",
    /// Dimensions of a grid.
    dimensions: OfHandle = c"PMPI_Cartdim_get",
    /// Extents, periods, coordinates of a grid.
    grid: unsafe extern "C" fn(usize, c_int, *mut c_int, *mut c_int, *mut c_int) -> c_int = c"PMPI_Cart_get",
    /// Neighbours in a direction of a grid.
    shift: unsafe extern "C" fn(usize, c_int, c_int, *mut c_int, *mut c_int) -> c_int = c"PMPI_Cart_shift",
    /// Number of neighbours in a graph.
    graph_count: unsafe extern "C" fn(usize, c_int, *mut c_int) -> c_int = c"PMPI_Graph_neighbors_count",
    /// Neighbours in a graph.
    graph: unsafe extern "C" fn(usize, c_int, c_int, *mut c_int) -> c_int = c"PMPI_Graph_neighbors",
    /// Number of sources and destinations in a graph known in parts, and whether they have weights.
    part_count: unsafe extern "C" fn(usize, *mut c_int, *mut c_int, *mut c_int) -> c_int =
        c"PMPI_Dist_graph_neighbors_count",
    /// Sources and destinations with their weights.
    part: unsafe extern "C" fn(usize, c_int, *mut c_int, *mut c_int, c_int, *mut c_int, *mut c_int) -> c_int =
        c"PMPI_Dist_graph_neighbors",
    /// Elements that a status tells of.
    elements: unsafe extern "C" fn(*const c_void, usize, *mut i64) -> c_int = c"PMPI_Get_elements_x",
    /// Whether a status is that of something cancelled.
    is_cancelled: unsafe extern "C" fn(*const c_void, *mut c_int) -> c_int = c"PMPI_Test_cancelled",
}

static ABI: SetOnce<Abi> = SetOnce::new();

/// The library, once MPI is initialised.
pub fn abi() -> Option<&'static Abi> {
    ABI.get()
}

/// Looks the library up.
///
/// # Safety
/// Called once, by the thread that has initialised MPI.
pub unsafe fn look_up() {
    let Some((kin, world)) = library() else { return };
    // SAFETY: by contract.
    unsafe { ABI.set(Abi::of(kin, world)) };
}

impl Abi {
    fn of(kin: Kin, world: usize) -> Abi {
        let ask = Questions::look_up();
        let world = world as u64;
        match kin {
            Kin::OpenMpi => Abi {
                narrow: false,
                world,
                null: real::first(c"ompi_mpi_comm_null")
                    .or_else(|| function(c"ompi_mpi_comm_null"))
                    .map_or(0, |p| p as u64),
                ignored_status: 0,
                in_place: 1,
                any_source: -1,
                any_tag: -1,
                nobody: -2,
                root: -4,
                exclusive: 1,
                status_len: 24,
                source_at: 0,
                byte: None,
                ask,
            },
            Kin::Mpich => Abi {
                narrow: true,
                world,
                null: 0x0400_0000,
                ignored_status: 1,
                in_place: u64::MAX,
                any_source: -2,
                any_tag: -1,
                nobody: -1,
                root: -3,
                exclusive: 234,
                status_len: 20,
                source_at: 8,
                byte: None,
                ask,
            },
            Kin::Standard => Abi {
                narrow: false,
                world,
                null: 0x100,
                ignored_status: 0,
                in_place: 1,
                any_source: -1,
                any_tag: -2,
                nobody: -3,
                root: -4,
                exclusive: 301,
                status_len: 32,
                source_at: 0,
                byte: Some(0x247),
                ask,
            },
        }
    }

    /// Whether this is MPICH, or a library that is binary compatible with it.
    pub fn is_mpich(&self) -> bool {
        self.narrow
    }

    /// A handle as a number, 0 for null.
    pub fn handle(&self, word: u64) -> u64 {
        let handle = if self.narrow { word & 0xffff_ffff } else { word };
        if handle == self.null { 0 } else { handle }
    }

    /// A handle of an array, or the one at a pointer.
    pub fn handle_in(&self, array: u64, at: usize) -> u64 {
        if array == 0 {
            return 0;
        }
        // SAFETY: the caller's array, which has this element.
        let word = unsafe {
            if self.narrow {
                (array as *const u32).add(at).read_unaligned().into()
            } else {
                (array as *const u64).add(at).read_unaligned()
            }
        };
        self.handle(word)
    }

    /// Bytes of so many values of a type, a handle. A type that need not be valid where nothing is passed is not looked at.
    pub fn bytes(&self, count: u64, kind: u64) -> u64 {
        let mut size = 0;
        match self.ask.type_size {
            // SAFETY: the prototype; a type that the caller is about to pass to the library himself.
            Some(ask) if count > 0 && unsafe { ask(kind as usize, &raw mut size) } == 0 => {
                count.saturating_mul(size.max(0) as u64)
            }
            _ => 0,
        }
    }

    /// What a status at a pointer, or of an array, says.
    pub fn status(&self, array: u64, at: usize) -> Status {
        let status = (array as usize + at * self.status_len) as *const u8;
        // SAFETY: a status that the library has filled in; its fields are aligned to 4 bytes at least, if it is.
        let word = |at: usize| unsafe { status.add(at).cast::<u32>().read_unaligned() };
        let (source, tag) = (word(self.source_at) as i32, word(self.source_at + 4) as i32);
        let bytes = match (self.byte, self.ask.elements) {
            (Some(byte), Some(ask)) => {
                let mut count = 0;
                // SAFETY: the prototype, a status and the handle of bytes.
                let failed = unsafe { ask(status.cast(), byte, &raw mut count) };
                if failed == 0 { count.max(0) as u64 } else { 0 }
            }
            // The lower half, and the upper with a bit for "cancelled".
            _ if self.narrow => u64::from(word(0)) | u64::from(word(4) >> 1) << 32,
            _ => u64::from(word(16)) | u64::from(word(20)) << 32,
        };
        Status { source, tag, bytes }
    }

    /// Whether a status is that of an operation that was cancelled.
    pub fn is_cancelled(&self, array: u64, at: usize) -> bool {
        let status = (array as usize + at * self.status_len) as *const c_void;
        let mut flag = 0;
        // SAFETY: the prototype, and a status that the library has filled in.
        self.ask.is_cancelled.is_some_and(|ask| unsafe { ask(status, &raw mut flag) } == 0 && flag != 0)
    }
}
