//! What is known of the MPI library that the program uses, without its header: how it writes handles, and its functions, all
//! of which are local and send no message.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering};

use falloff_format::sections::members_hash;

use super::table::undisturbed;
use crate::sync::{Lock, SetOnce};
use crate::text::{Text, base_name, c_bytes};
use crate::{loader, real};

/// `MPI_Comm_size` and `MPI_Comm_rank`.
type Number = unsafe extern "C" fn(usize, *mut c_int) -> c_int;
type GroupOf = unsafe extern "C" fn(usize, *mut usize) -> c_int;
type Translate = unsafe extern "C" fn(usize, c_int, *const c_int, usize, *mut c_int) -> c_int;
type GroupFree = unsafe extern "C" fn(*mut usize) -> c_int;
type FromFortran = unsafe extern "C" fn(c_int) -> usize;

/// Libraries that write handles and constants alike.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kin {
    /// Open MPI.
    OpenMpi,
    /// MPICH and those that share its binary interface.
    Mpich,
    /// Any with the standard binary interface.
    Standard,
}

/// The library and what is asked of it.
struct Library {
    kin: Kin,
    /// Handles are numbers of 32 bits; what else is in the word is garbage.
    narrow: bool,
    /// `MPI_COMM_WORLD`.
    world: usize,
    size: Number,
    rank: Number,
    group: GroupOf,
    translate: Translate,
    free: GroupFree,
    /// Where Fortran's handles are others.
    from_fortran: Option<FromFortran>,
}

/// Members of a communicator as this process sees them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// How many there are.
    pub size: u32,
    /// Which of them this process is.
    pub rank: u32,
    /// Hash of their ranks among all processes.
    pub members: u64,
}

static LIBRARY: SetOnce<Library> = SetOnce::new();
static LOOKING: Lock<()> = Lock::new(());

const UNASKED: u32 = 0;
/// The library was looked for, or communicators are used without one.
const ASKED: u32 = 1;
const ACTIVE: u32 = 2;
const FINALIZED: u32 = 3;
static STATE: AtomicU32 = AtomicU32::new(UNASKED);

/// Marks a Fortran handle that cannot be asked for yet, or no more.
const FORTRAN: usize = 1 << 62;
/// Ranks that are translated at a time.
const RANKS: usize = 128;
/// `MPI_COMM_WORLD` of MPICH and its kin, and of the standard ABI.
const WORLD_MPICH: usize = 0x4400_0000;
const WORLD_ABI: usize = 0x101;
/// Libraries of MPI that are looked into.
const LIBRARIES_MAX: usize = 8;

/// Whether communicators can be asked.
pub fn is_active() -> bool {
    STATE.load(Ordering::Acquire) == ACTIVE
}

/// `MPI_Init` has returned; whether that is new.
pub fn initialised() -> bool {
    look_up();
    let later = |state| (state < ACTIVE).then_some(ACTIVE);
    STATE.fetch_update(Ordering::AcqRel, Ordering::Acquire, later).is_ok()
}

/// `MPI_Finalize` begins; whether that is new.
pub fn finalizing() -> bool {
    STATE.compare_exchange(ACTIVE, FINALIZED, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

/// The library, looked up if need be, and its `MPI_COMM_WORLD`.
pub fn library() -> Option<(Kin, usize)> {
    look_up();
    LIBRARY.get().map(|l| (l.kin, l.world))
}

/// `MPI_COMM_WORLD`, if the library is known.
pub fn world() -> Option<usize> {
    LIBRARY.get().map(|l| l.world)
}

/// A caller's communicator as the number that stands for it; never 0.
pub fn handle(told: usize) -> u64 {
    if STATE.load(Ordering::Acquire) == UNASKED {
        look_up();
        let _ = STATE.compare_exchange(UNASKED, ASKED, Ordering::AcqRel, Ordering::Acquire);
    }
    let narrow = LIBRARY.get().is_some_and(|l| l.narrow) && told & FORTRAN == 0;
    (if narrow { told & 0xffff_ffff } else { told }).max(1) as u64
}

/// The communicator at a pointer to it.
///
/// # Safety
/// A pointer to a handle of the program's MPI.
pub unsafe fn handle_at(pointer: *const c_void) -> Option<u64> {
    let library = LIBRARY.get().filter(|_| !pointer.is_null())?;
    // SAFETY: by contract.
    let told = unsafe {
        if library.narrow { pointer.cast::<u32>().read() as usize } else { pointer.cast::<usize>().read() }
    };
    Some(handle(told))
}

/// A Fortran communicator as a C one.
pub fn of_fortran(number: c_int) -> usize {
    let library = LIBRARY.get().filter(|_| is_active());
    match library.map(|l| l.from_fortran) {
        // SAFETY: MPI is initialised, and the prototype is this.
        Some(Some(convert)) => unsafe { convert(number) },
        Some(None) => number as u32 as usize,
        None => number as u32 as usize | FORTRAN,
    }
}

/// Number of a process in a communicator and of its members.
pub fn rank_and_size(told: usize) -> Option<(u32, u32)> {
    let library = LIBRARY.get().filter(|_| is_active())?;
    let (mut rank, mut size) = (0, 0);
    // SAFETY: MPI is initialised, and the prototypes are these.
    let failed = unsafe { (library.rank)(told, &raw mut rank) | (library.size)(told, &raw mut size) };
    (failed == 0).then_some((u32::try_from(rank).ok()?, u32::try_from(size).ok()?))
}

/// Who is in a communicator.
pub fn group(handle: u64) -> Option<Group> {
    let library = LIBRARY.get().filter(|_| is_active())?;
    let (rank, size) = rank_and_size(handle as usize)?;
    let (mut own, mut all) = (0, 0);
    // SAFETY: MPI is initialised; groups are made, asked and freed as the standard says.
    unsafe {
        if (library.group)(handle as usize, &raw mut own) != 0 {
            return None;
        }
        let known = (library.group)(library.world, &raw mut all) == 0;
        let members = known.then(|| library.members(own, all, size)).flatten();
        (library.free)(&raw mut own);
        if known {
            (library.free)(&raw mut all);
        }
        Some(Group { size, rank, members: members? })
    }
}

impl Library {
    /// Hash of the ranks of a group's members in another.
    ///
    /// # Safety
    /// Groups of this library.
    unsafe fn members(&self, own: usize, all: usize, size: u32) -> Option<u64> {
        let mut hash = u64::from(size);
        for first in (0..size).step_by(RANKS) {
            let count = RANKS.min((size - first) as usize);
            let mut ranks = [0; RANKS];
            ranks.iter_mut().zip(first..).for_each(|(to, rank)| *to = rank as c_int);
            let mut translated = [0; RANKS];
            // SAFETY: by contract; both arrays have room for `count` ranks.
            let failed = unsafe {
                (self.translate)(own, count as c_int, ranks.as_ptr(), all, translated.as_mut_ptr())
            };
            if failed != 0 {
                return None;
            }
            hash = translated.iter().take(count).fold(hash, |hash, rank| members_hash(hash, *rank as u32));
        }
        Some(hash)
    }

    fn find() -> Option<Library> {
        let size = function(c"PMPI_Comm_size")?;
        // A program that is not position-independent has a copy of the variable, which counts.
        let open_mpi = real::first(c"ompi_mpi_comm_world").or_else(|| function(c"ompi_mpi_comm_world"));
        let standard = loader::find(size as u64, &mut MaybeUninit::uninit()).is_some_and(|(_, name)| {
            // SAFETY: the loader's name of an object that is loaded.
            contains(unsafe { c_bytes(name) }, b"mpi_abi")
        });
        let (kin, world) = match open_mpi {
            Some(world) => (Kin::OpenMpi, world as usize),
            None if standard => (Kin::Standard, WORLD_ABI),
            None => (Kin::Mpich, WORLD_MPICH),
        };
        let narrow = kin == Kin::Mpich;
        let from_fortran = if narrow { None } else { function(c"PMPI_Comm_f2c") };
        // SAFETY: each type is the C prototype of the function of that name, with handles as machine words.
        unsafe {
            Some(Library {
                kin,
                narrow,
                world,
                size: core::mem::transmute::<*mut c_void, Number>(size),
                rank: core::mem::transmute::<*mut c_void, Number>(function(c"PMPI_Comm_rank")?),
                group: core::mem::transmute::<*mut c_void, GroupOf>(function(c"PMPI_Comm_group")?),
                translate: core::mem::transmute::<*mut c_void, Translate>(function(
                    c"PMPI_Group_translate_ranks",
                )?),
                free: core::mem::transmute::<*mut c_void, GroupFree>(function(c"PMPI_Group_free")?),
                from_fortran: from_fortran.map(|f| core::mem::transmute::<*mut c_void, FromFortran>(f)),
            })
        }
    }
}

fn look_up() {
    undisturbed(|| {
        let _one_at_a_time = LOOKING.lock();
        if LIBRARY.get().is_none()
            && let Some(library) = Library::find()
        {
            // SAFETY: under the lock, and not set yet.
            unsafe { LIBRARY.set(library) };
        }
    });
}

/// A function or variable of the MPI library, which may have been loaded by `dlopen` and be in nobody's scope.
pub fn function(name: &CStr) -> Option<*mut c_void> {
    real::next(name).or_else(|| {
        let mut found = Libraries { names: [Text::new(); LIBRARIES_MAX], count: 0 };
        // SAFETY: the callback gets its own data and what the loader says.
        unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut found).cast()) };
        found.names.iter().take(found.count).find_map(|library| real::in_library(library.as_c_str(), name))
    })
}

/// Names of loaded objects that may be MPI libraries.
struct Libraries {
    names: [Text<512>; LIBRARIES_MAX],
    count: usize,
}

unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: what `function` passed, and what the loader passes.
    let (found, name) =
        unsafe { (&mut *data.cast::<Libraries>(), c_bytes((*info).dlpi_name as *const c_char)) };
    if contains(base_name(name), b"libmpi")
        && let Some(slot) = found.names.get_mut(found.count)
    {
        slot.push(name);
        found.count += 1;
    }
    0
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|w| w == part)
}

/// The child of a fork may be made while another thread looks.
///
/// # Safety
/// No other thread exists.
pub unsafe fn after_fork() {
    // SAFETY: by contract.
    unsafe { LOOKING.reset() };
}
