//! Sections by the Rust crate, on two threads.

use falloff_sections::Section;

fn work(rounds: u64) -> u64 {
    let _inner = Section::enter(c"INNER");
    (0..rounds).fold(0, |sum, i| sum ^ i.wrapping_mul(0x9e37_79b9))
}

fn main() {
    let _all = Section::enter(c"ALL");
    // One after the other: what a thread enters first is in what the first thread is in.
    let other = std::thread::spawn(|| work(1_000_000)).join().unwrap_or(1);
    println!("{}", work(1_000_000) ^ other);
}
