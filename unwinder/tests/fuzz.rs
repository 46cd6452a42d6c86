//! Unwind tables and stacks of any content: thousands of mutations of tables that are in order, and bytes that never were.
//! Nothing panics, nothing outside of what was given is read (slices would panic), every walk ends after a bounded number
//! of reads, and a replay finds what a whole walk finds.

mod support;

use support::table::{self, CODE, Cie, FRAMES, Function, HEADER, debug_frame, eh_frame, function};
use support::{Random, cache_memory};
use unwinder::{
    Aarch64, Arch, Cache, End, Format, Frame, IndexEntry, Memory, Module, ModuleList, Registers, Replay,
    Room, Section, StackCopy, Tables, X86_64, index, walk,
};

const STACK: u64 = 0x7fff_0000_0000;
const WORDS: usize = 96;
const LENGTH: u64 = 0x1000;
const ROOM: usize = 4096;
const CASES: u64 = 6000;

/// Counts reads, to bound the work of a walk.
struct Counted<'a>(StackCopy<'a>, usize);

impl Memory for Counted<'_> {
    fn read(&mut self, address: u64) -> Option<u64> {
        self.1 += 1;
        self.0.read(address)
    }
}

/// Functions with instructions of every kind, for both processors.
fn functions(random: &mut Random, aarch64: bool) -> Vec<Function> {
    let programs: [&[u8]; 12] = [
        &[0x0e, 16],
        &[0x41, 0x0e, 32, 0x86, 2, 0x48, 0x0a, 0x0e, 8, 0x41, 0x0b],
        &[0x0c, 6, 16, 0x86, 2],
        &[0x0f, 3, 0x76, 0x58, 0x06, 0x10, 6, 2, 0x76, 0x00],
        &[0x0f, 11, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22],
        &[0x0f, 4, 0x77, 0xa0, 0x01, 0x06, 0x10, 6, 3, 0x77, 0xf8, 0x00, 0x10, 16, 3, 0x77, 0xa8, 0x01],
        &[0x16, 6, 2, 0x77, 0x08, 0x2e, 16, 0x15, 3, 0x7f],
        &[0x0c, 3, 16, 0x83, 2, 0x02, 0x10, 0x03, 0x10, 0, 0x04, 0x10, 0, 0, 0, 0xc3],
        &[0x44, 0x0e, 48, 0x9d, 6, 0x9e, 5],
        &[0x0c, 29, 48, 0x9d, 6, 0x9e, 5, 0x2d],
        &[0x0e, 16, 0x9e, 2],
        &[0x07, 16, 0x07, 30],
    ];
    (0..LENGTH / 0x100 - 2)
        .map(|number| {
            let cie = if aarch64 { table::aarch64() } else { table::x86_64() };
            let augmentation: &'static [u8] = [&b"zR"[..], b"zRS", b"zPLR"][[0, 0, 0, 1, 2][random.below(5)]];
            let instructions = programs[random.below(programs.len())];
            function(number * 0x100, Cie { augmentation, ..cie }, instructions)
        })
        .collect()
}

/// A few mutations: bits, bytes that mean something, runs, pieces of itself, and its length.
fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..random.below(6) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        let end = (at + random.below(24)).min(bytes.len());
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next() as u8,
            2 => {
                bytes[at] =
                    [0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x0b, 0x0f, 0x10, 0x16, 0x2f, 0x28][random.below(12)]
            }
            3 => bytes[at..end].fill([0, 0xff, 0x80, 0x7f][random.below(4)]),
            4 => bytes[at..end].iter_mut().for_each(|byte| *byte = random.next() as u8),
            5 => {
                let from = random.below(bytes.len());
                let length = (end - at).min(bytes.len() - from);
                let to = at.min(bytes.len() - length);
                bytes.copy_within(from..from + length, to);
            }
            6 => bytes.truncate(end.max(1)),
            _ => bytes.insert(at, random.next() as u8),
        }
    }
}

/// Words that are mostly addresses of code and stack, so that walks go on; some of any value.
fn stack(random: &mut Random) -> Vec<u64> {
    let word = |_| match random.below(10) {
        0 => random.next(),
        1 => 0,
        2..=4 => STACK + 8 * random.below(WORDS + 4) as u64,
        _ => CODE + random.next() % LENGTH,
    };
    (0..WORDS).map(word).collect()
}

fn registers<A: Arch>(random: &mut Random) -> Registers {
    let mut general = [0; 32];
    for value in &mut general {
        *value = if random.below(8) == 0 { random.next() } else { STACK + 8 * random.below(WORDS) as u64 };
    }
    (general[7], general[31]) = (STACK + 8 * random.below(8) as u64, STACK);
    general[30] = CODE + random.next() % LENGTH;
    let pc = CODE + random.next() % LENGTH;
    if A::LINKS {
        return Registers::aarch64(pc, general);
    }
    Registers::x86_64(pc, std::array::from_fn(|column| general[column]))
}

/// Walks and replays with these tables, over a stack that changes between.
fn follow<A: Arch>(
    tables: Tables<'_>,
    code: &[u8],
    random: &mut Random,
    cache: &[std::sync::atomic::AtomicU64],
) -> usize {
    let code = Section::new(CODE, code);
    let modules = [Module { start: CODE, end: CODE + LENGTH, id: 1, code, tables, ..Module::default() }];
    let list = ModuleList::new(&modules).unwrap();
    let cache = Cache::new(cache).unwrap();
    let (mut replay, mut frames) = (Box::new(Replay::<64>::new()), vec![Frame::default(); ROOM]);
    let (mut words, mut given, mut steps) = (stack(random), registers::<A>(random), 0);
    for _ in 0..4 {
        let mut memory = Counted(StackCopy::new(STACK, &words), 0);
        let walked = walk::<A, _, _>(&given, &list, &cache, &mut memory, &mut frames);
        assert!(walked.depth < ROOM, "{walked:?}");
        // By compact rules and with all registers, each by an expression with reads only; code around a leaf.
        assert!(memory.1 <= 2 * (walked.depth + 1) * 34 * 256 + 2 * 600, "{} reads, {walked:?}", memory.1);
        let update = replay.update::<A, _, _>(&given, &list, &cache, &mut memory, &mut Room::new());
        assert_eq!(update.end, walked.end);
        assert!(update.kept <= update.depth);
        if update.folded.is_none() {
            let outermost_first = frames[..walked.depth].iter().rev().copied();
            assert!(replay.frames().map(|(frame, _)| frame).eq(outermost_first), "{walked:?}, {update:?}");
        }
        (0..update.depth).for_each(|index| replay.set_mark(index, 1));
        steps += walked.depth;
        words[random.below(WORDS)] = random.next() % LENGTH + CODE;
        if random.below(2) == 0 {
            given = registers::<A>(random);
        }
        if walked.end == End::Unsupported {
            words = stack(random);
        }
    }
    steps
}

/// One case: tables of one kind, mutated, for one processor.
fn case<A: Arch>(seed: u64, cache: &[std::sync::atomic::AtomicU64]) -> usize {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    cache.iter().for_each(|entry| entry.store(0, std::sync::atomic::Ordering::Relaxed));
    let functions = functions(&mut random, A::LINKS);
    let mut code: Vec<u8> = (0..LENGTH).map(|_| [0xe8, 0xff, 0xd0, 0x90, 0][random.below(5)]).collect();
    mutate(&mut random, &mut code);
    if random.below(2) == 0 {
        let mut sections = eh_frame(&functions);
        mutate(&mut random, &mut sections.frames);
        if random.below(2) == 0 {
            mutate(&mut random, &mut sections.header);
        }
        if random.below(16) == 0 {
            sections.header = (0..random.below(64)).map(|_| random.next() as u8).collect();
        }
        let header = Section::new(HEADER, &sections.header);
        let frames = Section::new(FRAMES, &sections.frames);
        return match Tables::from_header(header, frames) {
            Ok(tables) => follow::<A>(tables, &code, &mut random, cache),
            Err(_) => 0,
        };
    }
    let (wide, format) = (random.below(2) == 0, [Format::DebugFrame, Format::EhFrame][random.below(2)]);
    let mut bytes = match format {
        Format::DebugFrame => {
            let plain = functions.into_iter().map(|function| Function {
                cie: Cie { version: [1, 3, 4][random.below(3)], augmentation: b"", ..function.cie },
                ..function
            });
            debug_frame(&plain.collect::<Vec<_>>(), wide, 0)
        }
        Format::EhFrame => eh_frame(&functions).frames,
    };
    mutate(&mut random, &mut bytes);
    if random.below(16) == 0 {
        bytes = (0..random.below(400)).map(|_| random.next() as u8).collect();
    }
    let address = if format == Format::EhFrame { FRAMES } else { 0 };
    let section = Section::new(address, &bytes);
    let Ok(count) = index::count(section, format) else { return 0 };
    let mut entries = vec![IndexEntry::default(); count];
    let Ok(count) = index::build(section, format, 0, &mut entries) else { return 0 };
    let tables = Tables::from_index(&entries[..count], section, format, 0);
    follow::<A>(tables, &code, &mut random, cache)
}

fn fuzz<A: Arch>() {
    let cache = cache_memory();
    let (mut steps, mut walked) = (0, 0);
    for seed in 0..CASES {
        let found = std::panic::catch_unwind(|| case::<A>(seed, &cache));
        let found = found.unwrap_or_else(|_| panic!("seed {seed} fails"));
        steps += found;
        walked += u64::from(found > 0);
    }
    assert!(
        walked > CASES / 2 && steps as u64 > 2 * CASES,
        "{walked} cases with usable tables, {steps} frames"
    );
}

#[test]
fn x86_64() {
    fuzz::<X86_64>();
}

#[test]
fn aarch64() {
    fuzz::<Aarch64>();
}
