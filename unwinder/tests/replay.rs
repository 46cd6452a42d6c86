//! The path that a replay keeps is always the one that a whole walk finds, and a frame keeps its mark only while nothing
//! outside of it has changed: over stacks of random words, through every kind of rule, with a few words changed between
//! one walk and the next.

mod support;

use std::collections::HashMap;

use support::table::{self, CODE, Cie, FRAMES, HEADER, eh_frame, function};
use support::{Random, cache_memory};
use unwinder::{
    Cache, End, Frame, Memory, Module, ModuleList, NO_MODULE, Registers, Replay, Room, Section, StackCopy,
    Tables, Walk, X86_64, walk,
};

const STACK: u64 = 0x7000_0000;
/// Code that belongs to no module.
const GENERATED: u64 = 0x10_0000;
const LENGTH: u64 = 0x100;
/// Frames of an oracle's walk.
const ROOM: usize = 20_000;

/// Descriptions of one function each, with CFAs that are multiples of 16 so that return addresses stand in odd words of
/// the stack and frame pointers in even ones.
fn descriptions() -> Vec<(Cie, Vec<u8>)> {
    let plain = table::x86_64;
    let signal = Cie { augmentation: b"zRS", ..plain() };
    vec![
        (plain(), vec![0x0e, 16]),
        (plain(), vec![0x0e, 16]),
        (plain(), vec![0x0e, 32]),
        (plain(), vec![0x0e, 48, 0x86, 2]),
        (plain(), vec![0x0e, 64, 0x86, 4]),
        // From the frame pointer.
        (plain(), vec![0x0c, 6, 16, 0x86, 2]),
        (plain(), vec![0x0c, 6, 32, 0x86, 4]),
        // A realigned stack: CFA = [rbp - 16], rbp at [rbp].
        (plain(), vec![0x0f, 3, 0x76, 0x70, 0x06, 0x10, 6, 2, 0x76, 0x00]),
        // Slow: rbp by expression; CFA by expression; rbx saved; CFA from rbx.
        (plain(), vec![0x0e, 32, 0x10, 6, 2, 0x77, 0x00]),
        (plain(), vec![0x0f, 2, 0x77, 0x20]),
        (plain(), vec![0x0e, 32, 0x83, 2]),
        (plain(), vec![0x0c, 3, 16]),
        // The kernel's trampoline, and one in other words.
        (
            signal.clone(),
            vec![
                0x0f, 4, 0x77, 0xa0, 0x01, 0x06, 0x10, 6, 3, 0x77, 0xf8, 0x00, 0x10, 16, 3, 0x77, 0xa8, 0x01,
            ],
        ),
        (
            signal,
            vec![
                0x0f, 4, 0x77, 0xa0, 0x01, 0x06, 0x10, 6, 3, 0x77, 0xf0, 0x00, 0x10, 16, 5, 0x77, 0xa0, 0x01,
                0x23, 8,
            ],
        ),
        // There is no caller.
        (plain(), vec![0x07, 16]),
    ]
}

/// The module, with a function without description between the others, and generated code.
struct Program {
    sections: table::Sections,
    code: Vec<u8>,
    generated: Vec<u64>,
    /// Where functions begin, the usual ones more often.
    starts: Vec<u64>,
}

impl Program {
    fn new() -> Self {
        let descriptions = descriptions();
        let functions: Vec<_> = (0..)
            .zip(&descriptions)
            .map(|(index, (cie, instructions))| function(2 * index * LENGTH, cie.clone(), instructions))
            .collect();
        let mut starts: Vec<u64> = functions.iter().map(|function| CODE + function.offset).collect();
        let usual = [starts[..5].repeat(60), starts[5..8].repeat(6)].concat();
        let gap = CODE + 3 * LENGTH;
        let length = 2 * LENGTH as usize * functions.len();
        // Before each sixteenth byte an indirect call, or a direct one of the same function.
        let mut code = vec![0x90; length];
        for at in (0x10..length).step_by(0x10) {
            if at % 0x40 == 0 {
                let target = at / LENGTH as usize * LENGTH as usize;
                code[at - 5] = 0xe8;
                code[at - 4..at].copy_from_slice(&(target as i32 - at as i32).to_le_bytes());
            } else {
                code[at - 2..at].copy_from_slice(&[0xff, 0xd0]);
            }
        }
        let generated = (0..64).map(|word| if word % 2 == 1 { 0xd0ff << 48 } else { 0 }).collect();
        starts.extend(usual);
        starts.extend([gap, GENERATED, GENERATED + 0x40]);
        Self { sections: eh_frame(&functions), code, generated, starts }
    }

    fn module(&self) -> Module<'_> {
        let header = Section::new(HEADER, &self.sections.header);
        let tables = Tables::from_header(header, Section::new(FRAMES, &self.sections.frames)).unwrap();
        let code = Section::new(CODE, &self.code);
        Module { start: CODE, end: code.end(), id: 3, code, tables, ..Module::default() }
    }

    fn return_address(&self, random: &mut Random) -> u64 {
        let start = self.starts[random.below(self.starts.len())];
        start + 0x10 * (1 + random.below(3) as u64)
    }
}

/// A thread: its stack and registers.
struct Thread<'p> {
    program: &'p Program,
    words: Vec<u64>,
    general: [u64; 16],
    pc: u64,
}

impl<'p> Thread<'p> {
    fn new(program: &'p Program, random: &mut Random, length: usize) -> Self {
        let mut thread = Self { program, words: vec![0; length], general: [0; 16], pc: 0 };
        for index in 0..length {
            thread.words[index] = thread.word(index, random);
        }
        thread.interrupt(random);
        thread
    }

    /// A place further out than word `index`, mostly not far.
    fn outwards(&self, index: usize, random: &mut Random) -> u64 {
        let reach = if random.below(100) == 0 { self.words.len() } else { 16 };
        STACK + 16 * ((index + 2 + random.below(reach)) / 2) as u64
    }

    fn word(&self, index: usize, random: &mut Random) -> u64 {
        match random.below(1200) {
            0 => 0,
            1 => random.next(),
            2 => STACK + 16 * random.below(self.words.len() / 2) as u64,
            _ if index % 2 == 1 => self.program.return_address(random),
            _ => self.outwards(index, random),
        }
    }

    /// Other registers, as when other code near the top of the stack is running.
    fn interrupt(&mut self, random: &mut Random) {
        let index = 2 * random.below(self.words.len().min(16));
        self.pc = self.program.return_address(random) - if random.below(2) == 0 { 0x10 } else { 3 };
        self.general[7] = STACK + 8 * index as u64;
        self.general[6] = self.outwards(index, random);
        self.general[3] = self.outwards(index, random);
    }

    fn change(&mut self, random: &mut Random) {
        for _ in 0..random.below(4) {
            let index = random.below(self.words.len());
            let index = if random.below(2) == 0 { index } else { index % 32 };
            self.words[index] = self.word(index, random);
        }
        if random.below(3) == 0 {
            self.interrupt(random);
        }
    }

    fn registers(&self) -> Registers {
        Registers::x86_64(self.pc, self.general)
    }

    fn memory(&self) -> impl Memory + '_ {
        Both(StackCopy::new(STACK, &self.words), StackCopy::new(GENERATED, &self.program.generated))
    }
}

/// The stack and the generated code.
struct Both<'a>(StackCopy<'a>, StackCopy<'a>);

impl Memory for Both<'_> {
    fn read(&mut self, address: u64) -> Option<u64> {
        self.0.read(address).or_else(|| self.1.read(address))
    }
}

/// A tree of paths, as the sampler keeps it: a mark names a path and the way it ended.
#[derive(Default)]
struct Tree(HashMap<(u32, Frame), u32>);

impl Tree {
    fn child(&mut self, parent: u32, frame: Frame) -> u32 {
        let next = self.0.len() as u32 + 100;
        *self.0.entry((parent, frame)).or_insert(next)
    }
}

/// The node of the fold.
const FOLD: Frame = Frame { pc: 0, module: NO_MODULE - 1 };

/// What an oracle says that a path of at most `n` frames is, the outermost first, and where its fold is.
fn expected(frames: &[Frame], n: usize) -> (Vec<Frame>, Option<usize>) {
    let mut path: Vec<Frame> = frames.iter().rev().copied().collect();
    if path.len() <= n {
        return (path, None);
    }
    let inner = path.split_off(path.len() - n / 64);
    path.truncate(n / 4 * 3);
    let fold = path.len();
    path.extend(inner);
    (path, Some(fold))
}

#[derive(Debug, Default)]
struct Totals {
    walks: usize,
    frames: usize,
    kept: usize,
    folded: usize,
    roots: usize,
    through_all_registers: usize,
}

/// Threads of one seed that are walked over and over.
fn follow<const N: usize>(program: &Program, seed: u64, length: usize, totals: &mut Totals) {
    let mut random = Random(seed);
    let (memory, module) = (cache_memory(), [program.module()]);
    let (cache, list) = (Cache::new(&memory).unwrap(), ModuleList::new(&module).unwrap());
    let mut thread = Thread::new(program, &mut random, length);
    let (mut replay, mut tree) = (Box::new(Replay::<N>::new()), Tree::default());
    let mut oracle = vec![Frame::default(); ROOM];
    for step in 0..150 {
        thread.change(&mut random);
        let registers = thread.registers();
        let walked = walk::<X86_64, _, _>(&registers, &list, &cache, &mut thread.memory(), &mut oracle);
        let update =
            replay.update::<X86_64, _, _>(&registers, &list, &cache, &mut thread.memory(), &mut Room::new());
        let context = format!("seed {seed}, step {step}: {walked:?}, {update:?}");
        if walked == (Walk { depth: ROOM, end: End::Truncated }) {
            continue;
        }
        let (path, folded) = expected(&oracle[..walked.depth], N);
        assert_eq!(update.end, walked.end, "{context}");
        assert_eq!((update.folded, update.depth), (folded, path.len()), "{context}");
        let found: Vec<Frame> = replay.frames().map(|(frame, _)| frame).collect();
        assert_eq!(found, path, "{context}");
        // The marks that a whole walk through the tree would give.
        let mut node = tree.child(0, Frame { pc: walked.end as u64, module: NO_MODULE });
        for (index, frame) in path.iter().enumerate() {
            if folded == Some(index) {
                node = tree.child(node, FOLD);
            }
            node = tree.child(node, *frame);
            if index < update.kept {
                assert_eq!(replay.mark(index), node, "frame {index}, {context}");
            } else {
                assert_eq!(replay.mark(index), 0, "frame {index}, {context}");
                // Sometimes the tree has no room.
                if random.below(300) > 0 {
                    replay.set_mark(index, node);
                }
            }
        }
        totals.walks += 1;
        totals.frames += update.depth;
        totals.kept += update.kept;
        totals.folded += usize::from(folded.is_some());
        totals.roots += usize::from(walked.end == End::Root);
        let rbx = |frame: &Frame| (CODE + 22 * LENGTH..CODE + 23 * LENGTH).contains(&frame.pc);
        totals.through_all_registers += usize::from(path[..path.len() - 1].iter().any(rbx));
    }
}

#[test]
fn equals_whole_walks() {
    let program = Program::new();
    let mut totals = Totals::default();
    for seed in 0..100 {
        follow::<512>(&program, seed, 1200, &mut totals);
        follow::<64>(&program, seed, 2000, &mut totals);
        follow::<64>(&program, seed, 400, &mut totals);
    }
    assert!(totals.walks > 40_000 && totals.frames > 10 * totals.walks, "{totals:?}");
    assert!(totals.kept > totals.frames / 3, "{totals:?}");
    assert!(totals.folded > 1000 && totals.roots > 1000 && totals.through_all_registers > 500, "{totals:?}");
}

/// Counts the words that are read.
struct Counted<'a>(StackCopy<'a>, usize);

impl Memory for Counted<'_> {
    fn read(&mut self, address: u64) -> Option<u64> {
        self.1 += 1;
        self.0.read(address)
    }
}

/// A function with a frame of 16 bytes, one with a realigned stack and CFA = [rbp - 16], one without a caller, and the
/// kernel's trampoline.
const PLAIN: u64 = CODE + 0x10;
const REALIGNED: u64 = CODE + 0x110;
const OUTERMOST: u64 = CODE + 0x210;
const TRAMPOLINE: u64 = CODE + 0x310;

fn small_module() -> table::Sections {
    let signal = Cie { augmentation: b"zRS", ..table::x86_64() };
    let trampoline =
        [0x0f, 4, 0x77, 0xa0, 0x01, 0x06, 0x10, 6, 3, 0x77, 0xf8, 0x00, 0x10, 16, 3, 0x77, 0xa8, 0x01];
    eh_frame(&[
        function(0, table::x86_64(), &[0x0e, 16]),
        function(0x100, table::x86_64(), &[0x0f, 3, 0x76, 0x70, 0x06, 0x10, 6, 2, 0x76, 0x00]),
        function(0x200, table::x86_64(), &[0x07, 16]),
        function(0x300, signal, &trampoline),
    ])
}

fn module_of(sections: &table::Sections) -> Module<'_> {
    let header = Section::new(HEADER, &sections.header);
    let tables = Tables::from_header(header, Section::new(FRAMES, &sections.frames)).unwrap();
    Module { start: CODE, end: CODE + 0x400, id: 5, tables, ..Module::default() }
}

fn at(pc: u64, sp: u64, fp: u64) -> Registers {
    let mut general = [0; 16];
    (general[6], general[7]) = (fp, sp);
    Registers::x86_64(pc, general)
}

fn mark_all<const N: usize>(replay: &mut Replay<N>) {
    for index in 0..replay.depth() {
        replay.set_mark(index, 1000 + index as u32);
    }
}

/// `depth` frames of the plain function inside of one without a caller.
fn recursion(depth: usize) -> Vec<u64> {
    let mut words: Vec<u64> = (0..2 * depth).map(|index| if index % 2 == 1 { PLAIN } else { 0 }).collect();
    words[2 * depth - 1] = OUTERMOST;
    words
}

#[test]
fn deep_recursion() {
    let (sections, memory) = (small_module(), cache_memory());
    let (modules, cache) = ([module_of(&sections)], Cache::new(&memory).unwrap());
    let list = ModuleList::new(&modules).unwrap();
    let mut replay = Box::new(Replay::<4096>::new());
    let mut update = |words: &[u64], start: usize| {
        let mut memory = Counted(StackCopy::new(STACK, words), 0);
        let registers = at(PLAIN, STACK + 16 * start as u64, 0);
        let update = replay.update::<X86_64, _, _>(&registers, &list, &cache, &mut memory, &mut Room::new());
        let outermost = replay.frame(0).unwrap();
        let plain = replay.frames().filter(|(frame, _)| frame.pc == PLAIN - 1).count();
        mark_all(&mut replay);
        ((update.kept, update.depth, update.folded, update.end), outermost.pc, plain, memory.1)
    };
    let words = recursion(99_999);
    let folded = (3072 + 64, Some(3072), End::Root);
    for (start, kept) in [(0, 0), (0, 3072), (50, 3072), (20_000, 3072), (3, 3072)] {
        let ((found, depth, fold, end), outermost, plain, reads) = update(&words, start);
        assert_eq!(((depth, fold, end), found, outermost), (folded, kept, OUTERMOST - 1));
        assert_eq!(plain, 3072 + 64 - 2, "all but the interrupted and the outermost");
        assert!(reads <= 100_000, "{reads}");
    }
    // Another beginning: every frame is further in by one, so nothing is as it was but the first walk's work is bounded.
    let ((found, depth, fold, end), _, _, reads) = update(&recursion(99_998), 0);
    assert_eq!(((depth, fold, end), found), (folded, 0));
    assert!(reads <= 2 * 100_000 + 100, "{reads}");
    // It returns: no fold any more.
    let (found, outermost, _, reads) = update(&recursion(99_998), 99_998 - 4000);
    assert_eq!((found, outermost), ((3072, 4001, None, End::Root), OUTERMOST - 1));
    assert!(reads <= 4100, "{reads}");
    // Too deep even to be followed to its root.
    let (found, outermost, ..) = update(&recursion(1_200_000), 0);
    assert_eq!((found, outermost), ((0, 3072 + 64, Some(3072), End::Truncated), PLAIN - 1));
    let (found, ..) = update(&recursion(20), 0);
    assert_eq!(found, (0, 21, None, End::Root));
}

/// The frame inside of the fold comes to be called by the one outside of it: nothing is left out there any more.
#[test]
fn fold_closes() {
    let (sections, memory) = (small_module(), cache_memory());
    let (modules, cache) = ([module_of(&sections)], Cache::new(&memory).unwrap());
    let list = ModuleList::new(&modules).unwrap();
    let mut replay = Box::new(Replay::<64>::new());
    // Words 0 to 7: CFA and frame pointer of the innermost function.
    let mut words = [vec![0; 8], recursion(200)].concat();
    let fp = STACK + 8 * 2;
    let registers = at(REALIGNED, STACK, fp);
    let mut update = |words: &[u64]| {
        let update = replay.update::<X86_64, _, _>(
            &registers,
            &list,
            &cache,
            &mut StackCopy::new(STACK, words),
            &mut Room::new(),
        );
        mark_all(&mut replay);
        (update.kept, update.depth, update.folded, update.end)
    };
    (words[0], words[7]) = (STACK + 8 * 8, PLAIN);
    assert_eq!(update(&words), (0, 49, Some(48), End::Root));
    assert_eq!(update(&words), (48, 49, Some(48), End::Root));
    // The plain function's frame with index 47, which is the 154th from inside.
    words[0] = STACK + 8 * (8 + 2 * 153);
    assert_eq!(words[(words[0] - STACK) as usize / 8 - 1], PLAIN);
    assert_eq!(update(&words), (48, 49, None, End::Root), "its mark was that of a frame inside of the fold");
    assert_eq!(update(&words), (49, 49, None, End::Root));
}

#[test]
fn marks() {
    let (sections, memory) = (small_module(), cache_memory());
    let (modules, cache) = ([module_of(&sections)], Cache::new(&memory).unwrap());
    let list = ModuleList::new(&modules).unwrap();
    let words = recursion(9);
    let mut replay = Box::new(Replay::<64>::new());
    let update = |replay: &mut Replay<64>| {
        let mut memory = StackCopy::new(STACK, &words);
        replay.update::<X86_64, _, _>(&at(PLAIN, STACK, 0), &list, &cache, &mut memory, &mut Room::new())
    };
    assert_eq!(update(&mut replay).depth, 10);
    replay.set_mark(2, 5);
    replay.set_mark(0, 5);
    replay.set_mark(1, 6);
    replay.set_mark(10, 7);
    let marks: Vec<u32> = replay.frames().map(|(_, mark)| mark).collect();
    assert_eq!(marks, [5, 6, 0, 0, 0, 0, 0, 0, 0, 0], "only from the outermost inwards");
    assert_eq!(update(&mut replay).kept, 2);
    mark_all(&mut replay);
    assert_eq!(update(&mut replay).kept, 10);
    replay.clear();
    assert_eq!((replay.depth(), replay.frame(0), replay.mark(0)), (0, None, 0));
    assert_eq!(update(&mut replay).kept, 0);
}

/// A path that ends further out and then goes as deep as before, through the same calls.
#[test]
fn returns_and_calls_again() {
    let (sections, memory) = (small_module(), cache_memory());
    let (modules, cache) = ([module_of(&sections)], Cache::new(&memory).unwrap());
    let list = ModuleList::new(&modules).unwrap();
    let mut replay = Box::new(Replay::<64>::new());
    let mut update = |words: &[u64], start: usize| {
        let mut memory = StackCopy::new(STACK, words);
        // At another instruction each time.
        let registers = at(PLAIN + 1 + start as u64, STACK + 16 * start as u64, 0);
        let update = replay.update::<X86_64, _, _>(&registers, &list, &cache, &mut memory, &mut Room::new());
        let marks: Vec<u32> = replay.frames().take(update.kept).map(|(_, mark)| mark).collect();
        assert_eq!(marks, (1000..1000 + update.kept as u32).collect::<Vec<u32>>());
        mark_all(&mut replay);
        (update.kept, update.depth)
    };
    let words = recursion(40);
    assert_eq!(update(&words, 0), (0, 41));
    assert_eq!([update(&words, 30), update(&words, 0)], [(10, 11), (40, 41)]);
    assert_eq!([update(&words, 25), update(&words, 35), update(&words, 1)], [(15, 16), (5, 6), (39, 40)]);
    // The function that was met at 30 has returned and called another: what was inside of it is gone.
    let mut others = words.clone();
    others[2 * 29 + 1] = PLAIN + 2;
    assert_eq!([update(&words, 30), update(&others, 0)], [(10, 11), (10, 41)]);
    assert_eq!([update(&others, 30), update(&words, 0)], [(10, 11), (10, 41)]);
}

/// A signal handler on a stack of its own, above or below the thread's: what it has interrupted is kept.
#[test]
fn handler_on_another_stack() {
    let (sections, memory) = (small_module(), cache_memory());
    let (modules, cache) = ([module_of(&sections)], Cache::new(&memory).unwrap());
    let list = ModuleList::new(&modules).unwrap();
    for [main, handlers] in [[0, 200], [200, 0]] {
        let mut words = vec![0; 300];
        words[main..main + 40].copy_from_slice(&recursion(20));
        let address = |index: usize| STACK + 8 * index as u64;
        // The handler's frame, then the ucontext.
        words[handlers + 1] = TRAMPOLINE;
        words[handlers + 2 + 20] = address(main);
        words[handlers + 2 + 21] = PLAIN;
        let mut replay = Box::new(Replay::<64>::new());
        let mut update = |start: usize| {
            let mut memory = StackCopy::new(STACK, &words);
            let registers = at(PLAIN, address(start), 0);
            let update =
                replay.update::<X86_64, _, _>(&registers, &list, &cache, &mut memory, &mut Room::new());
            mark_all(&mut replay);
            (update.kept, update.depth, update.end)
        };
        assert_eq!(update(handlers), (0, 23, End::Root));
        assert!((21..=23).contains(&update(handlers).0));
        assert_eq!(update(main), (20, 21, End::Root), "interrupted again at the same place");
        // Below the thread's it looks like a part of that: the trampoline's frame is remembered too.
        let remembered = if handlers < main { 22 } else { 21 };
        assert_eq!(update(handlers), (remembered, 23, End::Root));
    }
}

/// Signal frames that lead round in a circle end after a few rounds.
#[test]
fn circle_of_signal_frames() {
    let (sections, memory) = (small_module(), cache_memory());
    let (modules, cache) = ([module_of(&sections)], Cache::new(&memory).unwrap());
    let list = ModuleList::new(&modules).unwrap();
    let mut words = vec![0; 64];
    (words[1], words[22], words[23]) = (TRAMPOLINE, STACK, PLAIN);
    let mut replay = Box::new(Replay::<64>::new());
    for _ in 0..2 {
        let mut memory = StackCopy::new(STACK, &words);
        let update =
            replay.update::<X86_64, _, _>(&at(PLAIN, STACK, 0), &list, &cache, &mut memory, &mut Room::new());
        assert_eq!((update.depth, update.end), (34, End::NotAdvancing));
    }
}
