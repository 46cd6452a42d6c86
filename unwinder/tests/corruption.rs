//! Tables, code and stacks that are damaged in any way: no panic, no endless walk, no read outside of what was given
//! (slices would panic), and nothing but the stack asked of the memory.

mod support;

use proptest::prelude::*;
use support::process;
use support::table::{self, CODE, FRAMES, HEADER, eh_frame, function};
use support::{Random, cache_memory};
use unwinder::{
    Aarch64, Arch, Cache, Format, Frame, IndexEntry, Memory, Module, ModuleList, Registers, Section,
    StackCopy, Tables, Walk, X86_64, index, walk,
};

const STACK: u64 = 0x7fff_0000_0000;
const ROOM: usize = 64;

/// Counts reads, to bound the work of a walk.
struct Counted<'a>(StackCopy<'a>, usize);

impl Memory for Counted<'_> {
    fn read(&mut self, address: u64) -> Option<u64> {
        self.1 += 1;
        self.0.read(address)
    }
}

fn check<A: Arch>(module: Module<'_>, registers: &Registers, stack: &[u64], cache: &Cache<'_>) -> Walk {
    let modules = [module];
    let list = ModuleList::new(&modules).unwrap();
    let mut memory = Counted(StackCopy::new(STACK, stack), 0);
    let mut frames = [Frame::default(); ROOM];
    let walk = walk::<A, _, _>(registers, &list, cache, &mut memory, &mut frames);
    assert!(walk.depth <= ROOM);
    // Two walks, at most 34 registers by expressions of at most 256 operations.
    assert!(memory.1 <= 2 * (ROOM + 1) * 34 * 256, "{} reads", memory.1);
    walk
}

fn registers(random: &mut Random, pc: u64, words: usize) -> [Registers; 2] {
    let mut general = [0; 32];
    for value in &mut general {
        *value = STACK + 8 * random.below(words) as u64;
    }
    (general[7], general[31]) = (STACK, STACK);
    let x86_64 = std::array::from_fn(|column| general[column]);
    [Registers::x86_64(pc, x86_64), Registers::aarch64(pc, general)]
}

/// Words that are mostly code addresses and stack addresses, so that walks go on.
fn stack(random: &mut Random, code: (u64, u64), words: usize) -> Vec<u64> {
    let mut word = |_| match random.below(8) {
        0 => random.next(),
        1 => 0,
        2 | 3 => STACK + 8 * random.below(words) as u64,
        _ => code.0 + random.next() % (code.1 - code.0),
    };
    (0..words).map(&mut word).collect()
}

fn damage(random: &mut Random, bytes: &mut [u8]) {
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len());
        match random.below(4) {
            0 => bytes[at] = random.next() as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = 0xff,
            _ => {
                let end = (at + random.below(16)).min(bytes.len());
                let fill = [0x00, 0xff, 0x80, 0x7f][random.below(4)];
                bytes[at..end].fill(fill);
            }
        }
    }
}

/// The C library's own tables, with thousands of damages.
#[test]
fn damaged_tables_of_a_real_module() {
    let objects = process::loaded();
    let object = objects.iter().find(|object| object.path.contains("libc.so")).unwrap();
    // SAFETY: loaded sections of the C library.
    let header = unsafe {
        Section::from_mapped(object.header.start, (object.header.end - object.header.start) as usize)
    };
    let offset = i32::from_le_bytes(header.bytes()[4..8].try_into().unwrap());
    let frames_at = (header.address() + 4).wrapping_add(offset as i64 as u64);
    let end = process::mapping(frames_at).end;
    // SAFETY: to the end of the mapping.
    let frames = unsafe { Section::from_mapped(frames_at, (end - frames_at) as usize) };
    let range = (object.module.start, object.module.end);
    let mut random = Random(11);
    let (mut cases, mut depths) = (0, 0);
    for _ in 0..400 {
        let (mut header_bytes, mut frame_bytes) = (header.bytes().to_vec(), frames.bytes().to_vec());
        for _ in 0..6 {
            damage(&mut random, &mut header_bytes[12..]);
            for _ in 0..20 {
                damage(&mut random, &mut frame_bytes);
            }
            let header = Section::new(header.address(), &header_bytes);
            let tables = Tables::from_header(header, Section::new(frames.address(), &frame_bytes)).unwrap();
            let module = Module { tables, ..object.module };
            let memory = cache_memory();
            let cache = Cache::new(&memory).unwrap();
            for _ in 0..8 {
                let pc = range.0 + random.next() % (range.1 - range.0);
                let stack = stack(&mut random, range, 256);
                let [x86_64, aarch64] = registers(&mut random, pc, 256);
                depths += check::<X86_64>(module, &x86_64, &stack, &cache).depth;
                check::<Aarch64>(module, &aarch64, &stack, &Cache::new(&cache_memory()).unwrap());
                cases += 1;
            }
        }
    }
    assert!(cases > 10_000 && depths > cases * 5 / 4, "{depths} frames in {cases} walks");
}

#[test]
fn damaged_headers() {
    let sections = eh_frame(&[function(0, table::x86_64(), &[0x0e, 16])]);
    let mut random = Random(5);
    for _ in 0..20_000 {
        let mut header = sections.header.clone();
        damage(&mut random, &mut header);
        header.truncate(random.below(header.len() + 1));
        let frames = Section::new(FRAMES, &sections.frames);
        let Ok(tables) = Tables::from_header(Section::new(HEADER, &header), frames) else { continue };
        let module = Module { start: CODE, end: CODE + 0x1000, tables, ..Module::default() };
        let [x86_64, _] = registers(&mut random, CODE + 0x10, 8);
        check::<X86_64>(module, &x86_64, &[CODE + 1; 8], &Cache::new(&cache_memory()).unwrap());
    }
}

/// Intact tables, stacks of random words.
#[test]
fn random_stacks() {
    let objects = process::loaded();
    let memory = cache_memory();
    let cache = Cache::new(&memory).unwrap();
    let mut random = Random(17);
    let (mut cases, mut depths) = (0, 0);
    for object in &objects {
        let range = (object.module.start, object.module.end);
        for _ in 0..4000 {
            let pc = range.0 + random.next() % (range.1 - range.0);
            let stack = stack(&mut random, range, 512);
            let [x86_64, _] = registers(&mut random, pc, 512);
            depths += check::<X86_64>(object.module, &x86_64, &stack, &cache).depth;
            cases += 1;
        }
    }
    assert!(depths > cases * 5 / 4, "{depths} frames in {cases} walks");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes as instructions of a function, on both processors.
    #[test]
    fn any_instructions(
        instructions in prop::collection::vec(any::<u8>(), 0..96),
        initial in prop::collection::vec(any::<u8>(), 0..24),
        seed in any::<u64>(),
    ) {
        let mut random = Random(seed);
        for cie in [table::x86_64(), table::aarch64()] {
            let with_initial = table::Cie { instructions: initial.clone(), ..cie.clone() };
            let sections = eh_frame(&[
                function(0, cie, &instructions),
                function(0x100, with_initial, &instructions),
            ]);
            let header = Section::new(HEADER, &sections.header);
            let tables = Tables::from_header(header, Section::new(FRAMES, &sections.frames)).unwrap();
            let module = Module { start: CODE, end: CODE + 0x200, tables, ..Module::default() };
            let pc = CODE + random.below(0x200) as u64;
            let stack = stack(&mut random, (CODE, CODE + 0x200), 128);
            let [x86_64, aarch64] = registers(&mut random, pc, 128);
            check::<X86_64>(module, &x86_64, &stack, &Cache::new(&cache_memory()).unwrap());
            check::<Aarch64>(module, &aarch64, &stack, &Cache::new(&cache_memory()).unwrap());
        }
    }

    /// Any bytes as a section: indexing it ends, and whatever it finds can be walked.
    #[test]
    fn any_section(bytes in prop::collection::vec(any::<u8>(), 0..256), bias in any::<u64>(), seed in any::<u64>()) {
        let mut random = Random(seed);
        for format in [Format::EhFrame, Format::DebugFrame] {
            let section = Section::new(FRAMES, &bytes);
            let Ok(count) = index::count(section, format) else { continue };
            let mut entries = vec![IndexEntry::default(); count];
            let Ok(count) = index::build(section, format, bias, &mut entries) else { continue };
            let tables = Tables::from_index(&entries[..count], section, format, bias);
            let module = Module { start: 0, end: u64::MAX, tables, ..Module::default() };
            for entry in &entries[..count] {
                let [x86_64, _] = registers(&mut random, entry.start, 8);
                check::<X86_64>(module, &x86_64, &[1; 8], &Cache::new(&cache_memory()).unwrap());
            }
        }
    }
}
