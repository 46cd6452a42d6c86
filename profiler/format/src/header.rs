//! The first 256 bytes: what kind of file this is, which process wrote it and how far it came.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// First eight bytes of every measurement file.
pub const MAGIC: [u8; 8] = *b"FALLOFF\n";
/// Version that this crate writes. Readers refuse another major and accept any minor.
pub const MAJOR: u16 = 1;
/// Raised when a field or chunk type is added that old readers may skip.
pub const MINOR: u16 = 2;
/// As stored by the writer; a reader that sees another value runs on the other byte order.
pub const BYTE_ORDER: u32 = 0x0a0b_0c0d;
/// Length of [`Header`]; the first chunk begins here.
pub const HEADER_LEN: usize = 256;
/// How a sealed measurement begins, as all that gzip has made.
pub const SEALED_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// File name extension of a measurement file, without the dot.
pub const EXTENSION: &str = "falloff";
/// [`Header::rank`] of a process that no launcher numbered.
pub const NO_RANK: i32 = -1;

/// The process ran or was killed: nothing was said about its end.
pub const STATE_RUNNING: u32 = 1;
/// The process went through `exit` or `_exit`; totals are final.
pub const STATE_ENDED: u32 = 2;

/// Head of a measurement file. Times are nanoseconds; see each field for the clock.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`MAJOR`] of the writer.
    pub major: u16,
    /// [`MINOR`] of the writer.
    pub minor: u16,
    /// [`BYTE_ORDER`] in the writer's order.
    pub byte_order: u32,
    /// Offset of the first chunk.
    pub header_len: u32,
    /// Page size of the writer's machine, bytes.
    pub page_size: u32,
    /// ELF machine number (62 x86-64, 183 aarch64).
    pub machine: u32,
    /// Bytes of a node without its values, 16.
    pub node_key_len: u32,
    /// Metrics that nodes may carry; their names are METRIC records.
    pub metric_count: u32,
    /// [`STATE_RUNNING`] or [`STATE_ENDED`].
    pub state: u32,
    /// Length the file was given at the start, bytes; mostly a hole.
    pub capacity: u64,
    /// First byte that no chunk has claimed.
    pub next: u64,
    /// Run that the process belongs to: text, zero padded.
    pub run_id: [u8; 64],
    /// Process id and parent's id.
    pub pid: u32,
    /// Parent process id at start.
    pub ppid: u32,
    /// Rank that MPI gave, or else the launcher, or [`NO_RANK`].
    pub rank: i32,
    /// Ranks in the job, or 0 if not known.
    pub ranks: i32,
    /// Start of measuring, `CLOCK_REALTIME`.
    pub start_realtime_ns: u64,
    /// Start of measuring, `CLOCK_MONOTONIC`.
    pub start_monotonic_ns: u64,
    /// End of measuring, `CLOCK_MONOTONIC`; 0 while running or when killed.
    pub end_monotonic_ns: u64,
    /// Chunks or records that found no room (full disk, limits): what they would have held is missing.
    pub refused: u64,
    /// Threads that got no timer, hence no samples.
    pub untimed_threads: u32,
    /// Flags: [`FLAG_FORKED`].
    pub flags: u32,
    /// How the process ended, written by the launcher: [`ENDED_BY_EXIT`], [`ENDED_BY_SIGNAL`], or 0 if not known.
    pub ending: u32,
    /// Exit code or signal number.
    pub ending_value: u32,
    /// Rank that the launcher gave plus one, where MPI gave another; else 0.
    pub launcher_rank: u32,
    /// Zero; for later minors.
    pub reserved: [u8; 68],
}

impl Header {
    /// The rank that the launcher gave, or [`NO_RANK`].
    pub fn told_rank(&self) -> i32 {
        match self.launcher_rank {
            0 => self.rank,
            given => given as i32 - 1,
        }
    }
}

/// [`Header::ending`]: it exited with a code.
pub const ENDED_BY_EXIT: u32 = 1;
/// [`Header::ending`]: a signal killed it.
pub const ENDED_BY_SIGNAL: u32 = 2;

/// The process began by `fork` without `exec`; its CCT holds nothing of its parent's.
pub const FLAG_FORKED: u32 = 1;

const _: () = assert!(size_of::<Header>() == HEADER_LEN);
