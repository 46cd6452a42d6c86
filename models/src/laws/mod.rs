//! Laws of whole programs: few numbers that say how a speed-up goes on.

mod amdahl;
mod gustafson;
mod isoefficiency;
mod karp_flatt;
mod scalability;
mod speedups;

pub use amdahl::Amdahl;
pub use gustafson::Gustafson;
pub use isoefficiency::isoefficiency;
pub use karp_flatt::karp_flatt;
pub use scalability::Scalability;
