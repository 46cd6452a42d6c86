//! Time per frame of a walk, in stacks of 10, 36 and 206 frames whose functions all differ:
//!
//! - `cold`: no rule is known, each is computed from its frame description;
//! - `warm`: every rule is in the cache;
//! - `replayed`: nothing has changed since the walk before;
//! - `replayed_top`: the innermost quarter is another one than in the walk before.
//!
//! And the whole of a recursion that is 100,000 frames deep. `cargo bench -p falloff-unwinder`
#![allow(missing_docs, reason = "the harness makes its own functions")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use support::table::{self, CODE, FRAMES, HEADER, eh_frame, function};
use support::{Random, cache_memory};
use unwinder::{
    Cache, End, Frame, Module, ModuleList, Registers, Replay, Room, Section, StackCopy, Tables, X86_64, walk,
};

const STACK: u64 = 0x7000_0000;
const LENGTH: u64 = 0x100;
const FUNCTIONS: u64 = 512;
const ROOM: usize = 4096;

/// Functions with frames of several kinds and sizes, as compilers make them; the last has no caller.
fn program() -> table::Sections {
    let functions: Vec<_> = (0..FUNCTIONS)
        .map(|index| {
            let words = 2 + 2 * (index % 7) as u8;
            let instructions = match index {
                _ if index == FUNCTIONS - 1 => vec![0x07, 16],
                _ if index % 16 == 3 => vec![0x0c, 6, 16, 0x86, 2],
                _ if index % 2 == 0 => vec![0x0e, 8 * words, 0x86, 2],
                _ => vec![0x0e, 8 * words],
            };
            function(index * LENGTH, table::x86_64(), &instructions)
        })
        .collect();
    eh_frame(&functions)
}

/// A stack and the registers of its innermost frame.
struct Sample {
    words: Vec<u64>,
    registers: Registers,
}

impl Sample {
    /// `depth` frames, the outermost first: each function pushes what its description says.
    fn new(depth: usize, seed: u64, other_top: usize) -> Self {
        let (mut bottom, mut top) = (Random(seed), Random(seed + 1));
        let mut functions: Vec<u64> = (1..depth)
            .map(|frame| {
                let random = if frame + other_top >= depth { &mut top } else { &mut bottom };
                random.next() % (FUNCTIONS - 1)
            })
            .collect();
        functions.insert(0, FUNCTIONS - 1);
        // Written from the top of the stack down.
        let mut downwards: Vec<u64> = vec![0; 16];
        let length = |downwards: &Vec<u64>| STACK + (1 << 20) - 8 * downwards.len() as u64;
        let mut fp = STACK + (1 << 20);
        for pair in functions.windows(2) {
            let caller = CODE + pair[0] * LENGTH + 1 + pair[0] * 37 % 255;
            let words = 2 + 2 * (pair[1] % 7) as usize;
            downwards.push(caller);
            if pair[1] % 16 == 3 {
                downwards.push(fp);
                fp = length(&downwards);
                downwards.extend([0; 4]);
            } else {
                downwards.push(fp);
                downwards.extend(std::iter::repeat_n(0, words - 2));
                if pair[1] % 2 == 0 {
                    fp = pair[1];
                }
            }
        }
        let innermost = functions.last().copied().unwrap_or(0);
        let mut general = [0; 16];
        (general[6], general[7]) = (fp, length(&downwards));
        downwards.reverse();
        Self { words: downwards, registers: Registers::x86_64(CODE + innermost * LENGTH + 0x40, general) }
    }

    fn memory(&self) -> StackCopy<'_> {
        StackCopy::new(self.registers.get(7).unwrap_or(0), &self.words)
    }
}

fn module(sections: &table::Sections) -> Module<'_> {
    let header = Section::new(HEADER, &sections.header);
    let tables = Tables::from_header(header, Section::new(FRAMES, &sections.frames)).unwrap();
    Module { start: CODE, end: CODE + FUNCTIONS * LENGTH, id: 1, tables, ..Module::default() }
}

/// What all ways to walk share.
struct Walks<'a> {
    list: ModuleList<'a>,
    cache: Cache<'a>,
}

impl Walks<'_> {
    fn whole(&self, sample: &Sample, frames: &mut [Frame]) -> usize {
        let mut memory = sample.memory();
        let walk = walk::<X86_64, _, _>(&sample.registers, &self.list, &self.cache, &mut memory, frames);
        assert_eq!(walk.end, End::Root);
        walk.depth
    }

    fn replayed(&self, sample: &Sample, replay: &mut Replay<ROOM>) -> usize {
        let mut memory = sample.memory();
        let update = replay.update::<X86_64, _, _>(
            &sample.registers,
            &self.list,
            &self.cache,
            &mut memory,
            &mut Room::new(),
        );
        assert_eq!(update.end, End::Root);
        for index in update.kept..update.depth {
            replay.set_mark(index, 1);
        }
        update.depth
    }
}

/// Time per frame of `count` runs of `run`, which yields its number of frames.
fn per_frame(count: u64, mut before: impl FnMut(), mut run: impl FnMut(u64) -> usize) -> Duration {
    let mut total = Duration::ZERO;
    for index in 0..count {
        before();
        let start = Instant::now();
        let frames = black_box(run(index));
        total += start.elapsed() / frames as u32;
    }
    total
}

/// The same where one run is too short for the clock.
fn per_frame_in_all(count: u64, mut run: impl FnMut(u64) -> usize) -> Duration {
    let start = Instant::now();
    let frames: usize = (0..count).map(|index| black_box(run(index))).sum();
    start.elapsed().mul_f64(count as f64 / frames as f64)
}

fn frames(criterion: &mut Criterion) {
    let (sections, entries) = (program(), cache_memory());
    let modules = [module(&sections)];
    let walks = Walks { list: ModuleList::new(&modules).unwrap(), cache: Cache::new(&entries).unwrap() };
    let mut memory = vec![Frame::default(); ROOM];
    let mut replay = Box::new(Replay::<ROOM>::new());
    let mut group = criterion.benchmark_group("frame");
    for depth in [10, 36, 206] {
        let [sample, other] = [0, depth / 4].map(|other_top| Sample::new(depth, 5, other_top));
        let forget = || entries.iter().for_each(|entry: &AtomicU64| entry.store(0, Ordering::Relaxed));
        assert_eq!(walks.whole(&sample, &mut memory), depth);
        group.bench_function(BenchmarkId::new("cold", depth), |bencher| {
            bencher.iter_custom(|count| per_frame(count, forget, |_| walks.whole(&sample, &mut memory)));
        });
        group.bench_function(BenchmarkId::new("warm", depth), |bencher| {
            bencher.iter_custom(|count| per_frame_in_all(count, |_| walks.whole(&sample, &mut memory)));
        });
        group.bench_function(BenchmarkId::new("replayed", depth), |bencher| {
            bencher.iter_custom(|count| per_frame_in_all(count, |_| walks.replayed(&sample, &mut replay)));
        });
        group.bench_function(BenchmarkId::new("replayed_top", depth), |bencher| {
            let both = [&sample, &other];
            bencher.iter_custom(|count| {
                per_frame_in_all(count, |index| walks.replayed(both[index as usize % 2], &mut replay))
            });
        });
    }
    group.finish();
}

fn recursion(criterion: &mut Criterion) {
    let (sections, entries) = (program(), cache_memory());
    let modules = [module(&sections)];
    let walks = Walks { list: ModuleList::new(&modules).unwrap(), cache: Cache::new(&entries).unwrap() };
    // Function 1 has a frame of four words.
    let mut words: Vec<u64> =
        (0..400_000).map(|index| if index % 4 == 3 { CODE + LENGTH + 0x40 } else { 0 }).collect();
    words[399_999] = CODE + (FUNCTIONS - 1) * LENGTH + 0x40;
    let mut general = [0; 16];
    general[7] = STACK;
    let sample = Sample { words, registers: Registers::x86_64(CODE + LENGTH + 0x40, general) };
    let mut replay = Box::new(Replay::<ROOM>::new());
    criterion.bench_function("recursion/100000", |bencher| {
        bencher.iter(|| walks.replayed(&sample, &mut replay));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = frames, recursion
}
criterion_main!(benches);
