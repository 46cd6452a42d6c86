//! Signal context: yes
//!
//! What can be wrong with a module's unwind tables.

use core::{error, fmt};

/// Why unwind tables could not be used. Inside a walk it makes the path end as [`End::NoCfi`](crate::End::NoCfi).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// An entry, or something an entry refers to, does not lie in its section.
    OutOfBounds,
    /// A version of `.eh_frame_hdr` or of a common information entry that is not known.
    Version,
    /// A pointer encoding that tables for code addresses do not use.
    Encoding,
    /// An augmentation whose size is not known.
    Augmentation,
    /// An unknown call frame instruction.
    Instruction,
    /// States remembered deeper than eight, or restored without having been remembered.
    StateDepth,
    /// More instructions or entries than any compiler emits.
    TooLong,
    /// The memory given for an index is too small.
    IndexFull,
}

impl fmt::Display for TableError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, formatter)
    }
}

impl error::Error for TableError {}
