//! Signal context: yes. The measurement file: one shared mapping from which chunks are claimed.
//!
//! No descriptor is kept. A page is made to exist before it is written, so that a full disk or quota costs the
//! rest of the profile and never a `SIGBUS` in the program.

use core::ffi::CStr;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use falloff_format::chunk::{CHUNK_HEADER_LEN, CHUNK_VERSION, ChunkHeader, Kind};
use falloff_format::header::{self, HEADER_LEN, Header};
use falloff_format::node::NODE_KEY_LEN;
use falloff_format::read::CLAIM_UNIT;

use crate::options::Options;
use crate::{cpu, plan, raw};

/// Mapped length that is tried first. Only touched pages take room on disk.
const CAPACITY: u64 = 256 << 20;
/// Most that is mapped, whatever an event log may take: ids of nodes reach as far.
const CAPACITY_MAX: u64 = 16 << 30;
/// Least length worth having.
const CAPACITY_MIN: u64 = 64 << 10;
/// Part of a limited address space that the mapping may take.
const SPACE_SHARE: u64 = 64;
/// Length where all blocks are allocated at the start.
const CAPACITY_ALLOCATED: u64 = 8 << 20;
const PAGE: u64 = 4096;
/// Length of a thread's first chunk of a kind, bytes.
const FIRST_CHUNK: u64 = CLAIM_UNIT;

/// Start of the mapping; null while this process has no file.
#[unsafe(link_section = ".data")]
static BASE: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
/// Pages below this offset exist without asking (blocks allocated at the start).
static ALLOCATED: AtomicU64 = AtomicU64::new(0);

/// Whether this process has a file.
pub fn is_open() -> bool {
    !BASE.load(Ordering::Acquire).is_null()
}

/// Address of a file offset.
fn at(offset: u64) -> *mut u8 {
    BASE.load(Ordering::Acquire).wrapping_add(offset as usize)
}

/// The header, if there is a file.
pub fn header() -> Option<*mut Header> {
    let base = BASE.load(Ordering::Acquire);
    (!base.is_null()).then_some(base.cast())
}

/// A word of the header that several threads change.
fn next() -> Option<&'static AtomicU64> {
    // SAFETY: `next` is an aligned u64 in a page that was populated when the file was opened and stays mapped.
    header().map(|h| unsafe { AtomicU64::from_ptr(&raw mut (*h).next) })
}

/// Counts something that found no room.
pub fn count_refused() {
    if let Some(h) = header() {
        // SAFETY: as in `next`.
        unsafe { AtomicU64::from_ptr(&raw mut (*h).refused) }.fetch_add(1, Ordering::Relaxed);
    }
}

/// Creates and maps the file at `path`. On failure there is no file and measuring is off.
pub fn create(path: &CStr, options: &Options, flags: u32) -> Result<(), raw::Errno> {
    // Where address space is limited, the program needs it more than we do.
    let space = (raw::limit(libc::RLIMIT_AS) / SPACE_SHARE).max(CAPACITY_MIN);
    let allowed = raw::limit(libc::RLIMIT_FSIZE).min(space);
    let mut capacity =
        if options.allocate { CAPACITY_ALLOCATED } else { CAPACITY.saturating_add(options.events_limit) }
            .min(CAPACITY_MAX)
            .min(allowed / PAGE * PAGE);
    if capacity < CAPACITY_MIN {
        return Err(libc::EFBIG);
    }
    let fd = raw::open(path, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW, 0o600)?;
    let mapped = loop {
        match raw::ftruncate(fd, capacity).and_then(|()| raw::map_shared(fd, capacity)) {
            Ok(base) => break Ok(base),
            Err(e) if capacity / 2 < CAPACITY_MIN => break Err(e),
            Err(_) => capacity /= 2,
        }
    };
    let ready = mapped.and_then(|base| {
        let allocated = make_first_page(fd, base, &mut capacity, options.allocate).inspect_err(|_| {
            // SAFETY: mapped above and known to nobody.
            unsafe { raw::unmap(base, capacity as usize) };
        })?;
        Ok((base, allocated))
    });
    raw::close(fd);
    let (base, allocated) = ready.inspect_err(|_| raw::unlink(path))?;
    // SAFETY: the first page exists and nobody else knows the mapping yet.
    unsafe { base.cast::<Header>().write(new_header(options, capacity, flags)) };
    ALLOCATED.store(allocated, Ordering::Relaxed);
    BASE.store(base, Ordering::Release);
    Ok(())
}

/// Makes the first page exist; gives how many bytes exist for good. Kernels before 5.14 cannot populate a
/// mapping page by page: there the whole, shorter, file gets its blocks now.
fn make_first_page(fd: i32, base: *mut u8, capacity: &mut u64, allocate: bool) -> Result<u64, raw::Errno> {
    if !allocate {
        match raw::populate(base, PAGE as usize) {
            Ok(()) => return Ok(PAGE),
            Err(libc::EINVAL) => {}
            Err(e) => return Err(e),
        }
    }
    *capacity = (*capacity).min(CAPACITY_ALLOCATED);
    raw::ftruncate(fd, *capacity)?;
    raw::fallocate(fd, *capacity)?;
    Ok(*capacity)
}

fn new_header(options: &Options, capacity: u64, flags: u32) -> Header {
    let mut run_id = [0; 64];
    for (to, from) in run_id.iter_mut().zip(options.run_id.as_bytes()) {
        *to = *from;
    }
    let (rank, ranks) = rank(options);
    Header {
        magic: header::MAGIC,
        major: header::MAJOR,
        minor: header::MINOR,
        byte_order: header::BYTE_ORDER,
        header_len: HEADER_LEN as u32,
        page_size: PAGE as u32,
        machine: cpu::MACHINE,
        node_key_len: NODE_KEY_LEN as u32,
        metric_count: plan::get().metric_count() as u32,
        state: header::STATE_RUNNING,
        capacity,
        next: PAGE,
        run_id,
        pid: raw::getpid(),
        ppid: raw::getppid(),
        rank,
        ranks,
        start_realtime_ns: raw::clock_ns(libc::CLOCK_REALTIME),
        start_monotonic_ns: raw::clock_ns(libc::CLOCK_MONOTONIC),
        end_monotonic_ns: 0,
        refused: 0,
        untimed_threads: 0,
        flags,
        ending: 0,
        ending_value: 0,
        launcher_rank: launcher_rank(options.rank, rank),
        reserved: [0; 68],
    }
}

/// Forgets the file, in the child of a fork: the parent goes on with it.
///
/// # Safety
/// No other thread exists.
pub unsafe fn forget() {
    if let Some(h) = header() {
        // SAFETY: mapped; nothing in this process keeps a pointer into it that is used again.
        unsafe { raw::unmap(h.cast(), (*h).capacity as usize) };
    }
    BASE.store(core::ptr::null_mut(), Ordering::Release);
}

/// Says that the process ends in order and when.
pub fn mark_ended() {
    if let Some(h) = header() {
        // SAFETY: the header's page exists and stays mapped.
        unsafe {
            (&raw mut (*h).end_monotonic_ns).write_volatile(raw::clock_ns(libc::CLOCK_MONOTONIC));
            (&raw mut (*h).state).write_volatile(header::STATE_ENDED);
        }
    }
}

/// Rank and number of ranks as MPI has them, plus one each; 0 while it has said nothing.
static MPI_RANK: AtomicU64 = AtomicU64::new(0);

/// Says which rank this process is, for this file and those of its forked children; `told` is what the launcher said.
pub fn set_rank(rank: i32, ranks: i32, told: i32) {
    MPI_RANK.store((rank as u64 + 1) << 32 | (ranks as u64 + 1) & 0xffff_ffff, Ordering::Relaxed);
    if let Some(h) = header() {
        // SAFETY: the header's page exists and stays mapped.
        unsafe {
            (&raw mut (*h).rank).write_volatile(rank);
            (&raw mut (*h).ranks).write_volatile(ranks);
            (&raw mut (*h).launcher_rank).write_volatile(launcher_rank(told, rank));
        }
    }
}

/// What the header keeps of the rank that the launcher said.
fn launcher_rank(told: i32, rank: i32) -> u32 {
    if told == rank { 0 } else { (told + 1) as u32 }
}

/// As MPI has told, or else the launcher's variables.
fn rank(options: &Options) -> (i32, i32) {
    match MPI_RANK.load(Ordering::Relaxed) {
        0 => (options.rank, options.ranks),
        told => ((told >> 32) as i32 - 1, told as i32 - 1),
    }
}

/// Counts a thread that runs without a timer.
pub fn count_untimed() {
    if let Some(h) = header() {
        // SAFETY: an aligned u32 of the header's page, which stays mapped.
        unsafe { core::sync::atomic::AtomicU32::from_ptr(&raw mut (*h).untimed_threads) }
            .fetch_add(1, Ordering::Relaxed);
    }
}

/// A chunk that its owner fills from the front.
#[derive(Clone, Copy)]
pub struct Chunk {
    /// Offset of its head in the file; 0 for "none yet".
    offset: u64,
    /// Bytes with the head.
    length: u64,
    /// Bytes in use after the head.
    used: u64,
    /// Bytes from `offset` that exist.
    populated: u64,
    /// Bytes of all chunks before it in its row.
    before: u64,
}

impl Chunk {
    /// No chunk: everything finds it full.
    pub const NONE: Chunk = Chunk { offset: 0, length: 0, used: 0, populated: 0, before: 0 };

    /// The rest of the first page, for the first records.
    pub fn first(kind: Kind, owner: u32) -> Chunk {
        let chunk = Chunk {
            offset: HEADER_LEN as u64,
            length: PAGE - HEADER_LEN as u64,
            used: 0,
            populated: PAGE - HEADER_LEN as u64,
            before: 0,
        };
        chunk.write_head(kind, owner, 0);
        chunk
    }

    /// Length for the chunk after this one: an eighth of all so far, so that little of the last is left over.
    pub fn next_length(&self, most: u64) -> u64 {
        ((self.before + self.length) / 8).clamp(FIRST_CHUNK, most).next_multiple_of(CLAIM_UNIT)
    }

    /// Claims the chunk after this one: `length` bytes, a multiple of the claim unit, for nodes with these metrics or
    /// records without.
    pub fn claim_next(&self, kind: Kind, owner: u32, metrics: u64, length: u64) -> Option<Chunk> {
        // SAFETY: the header's page exists; capacity never changes.
        let capacity = header().map(|h| unsafe { (*h).capacity })?;
        let next = next()?;
        let offset = next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| {
                n.checked_add(length).filter(|end| *end <= capacity)
            })
            .ok()?;
        let before = self.before + self.length;
        let mut chunk = Chunk { offset, length, used: 0, populated: 0, before };
        if !chunk.populate_to(CHUNK_HEADER_LEN as u64) {
            // Give the claim back if it is still the last; else a reader skips the zero pages.
            let _ = next.compare_exchange(offset + length, offset, Ordering::Relaxed, Ordering::Relaxed);
            return None;
        }
        chunk.write_head(kind, owner, metrics);
        Some(chunk)
    }

    fn write_head(&self, kind: Kind, owner: u32, metrics: u64) {
        let head = at(self.offset).cast::<ChunkHeader>();
        let value =
            ChunkHeader { kind: kind as u16, version: CHUNK_VERSION, owner, length: 0, used: 0, metrics };
        // SAFETY: the head's page exists and belongs to this thread; the length goes in last and makes it valid.
        unsafe {
            head.write(value);
            AtomicU64::from_ptr(&raw mut (*head).length).store(self.length, Ordering::Release);
        }
    }

    /// Makes the first `end` bytes of the chunk exist.
    fn populate_to(&mut self, end: u64) -> bool {
        while self.populated < end {
            // A page may be shared with other chunks; whoever comes first makes it.
            let page = (self.offset + self.populated) / PAGE * PAGE;
            if page + PAGE > ALLOCATED.load(Ordering::Relaxed)
                && raw::populate(at(page), PAGE as usize).is_err()
            {
                return false;
            }
            self.populated = page + PAGE - self.offset;
        }
        true
    }

    /// Room for `length` bytes at the end, as file offset and address. They count once [`commit`](Self::commit)
    /// was called.
    pub fn reserve(&mut self, length: u64) -> Option<(u64, *mut u8)> {
        let end = CHUNK_HEADER_LEN as u64 + self.used + length;
        if end > self.length || !self.populate_to(end) {
            return None;
        }
        let offset = self.offset + CHUNK_HEADER_LEN as u64 + self.used;
        Some((offset, at(offset)))
    }

    /// Makes the last reserved bytes part of the file.
    pub fn commit(&mut self, length: u64) {
        self.used += length;
        let head = at(self.offset).cast::<ChunkHeader>();
        // SAFETY: the head's page exists; `used` is an aligned u64 that readers of any moment may see.
        unsafe { AtomicU64::from_ptr(&raw mut (*head).used) }.store(self.used, Ordering::Release);
    }
}

/// Address of an object in the file, by its offset.
///
/// # Safety
/// The offset came from [`Chunk::reserve`] for an object of this type in this process's file.
pub unsafe fn object<T>(offset: u64) -> *mut T {
    at(offset).cast()
}
