//! Walks through the frames of real aarch64 programs, whose registers and stacks are recorded under an emulator. Each
//! function of the program notes its own return address; that is the truth.

mod support;

use object::{Object, ObjectSection};
use support::cross;
use unwinder::{
    Aarch64, Arch, Cache, End, Format, Frame, IndexEntry, Module, ModuleList, Registers, Replay, Room,
    Section, StackCopy, Tables, index, walk,
};

/// What the program prints.
#[derive(Default)]
struct Recording {
    /// Of each sample: registers, and the stack with its lowest address.
    registers: Vec<Registers>,
    stacks: Vec<(u64, Vec<u64>)>,
    /// The code that a signal handler returns to, and where it is.
    trampoline: u64,
    code: Vec<u64>,
    /// Return addresses, the outermost first.
    truth: Vec<u64>,
}

impl Recording {
    fn parse(text: &str) -> Self {
        let (mut recording, mut at) = (Self::default(), 0);
        for line in text.lines() {
            let (name, words) = line.split_once(' ').unwrap();
            let words: Vec<u64> =
                words.split(' ').map(|word| u64::from_str_radix(word, 16).unwrap()).collect();
            match name {
                "registers" => {
                    let general = words[..32].try_into().unwrap();
                    recording.registers.push(Registers::aarch64(words[32], general));
                }
                "at" => at = words[0],
                "stack" => recording.stacks.push((at, words)),
                "trampoline" => recording.trampoline = words[0],
                "code" => recording.code = words,
                "truth" => recording.truth = words,
                other => panic!("{other} is not known"),
            }
        }
        recording
    }
}

/// The sections of a program that is not moved when it is loaded.
struct Program {
    frames: (u64, Vec<u8>),
    code: (u64, Vec<u8>),
    entry: u64,
}

impl Program {
    fn load(data: &[u8]) -> Self {
        let file = object::File::parse(data).unwrap();
        let section = |name| {
            let section = file.section_by_name(name).unwrap();
            (section.address(), section.uncompressed_data().unwrap().into_owned())
        };
        Self { frames: section(".eh_frame"), code: section(".text"), entry: file.entry() }
    }

    fn frames(&self) -> Section<'_> {
        Section::new(self.frames.0, &self.frames.1)
    }

    /// An index of the frame descriptions: a static program has no search table.
    fn index(&self) -> Vec<IndexEntry> {
        let count = index::count(self.frames(), Format::EhFrame).unwrap();
        let mut entries = vec![IndexEntry::default(); count];
        let count = index::build(self.frames(), Format::EhFrame, 0, &mut entries).unwrap();
        entries.truncate(count);
        entries
    }

    fn module<'a>(&'a self, index: &'a [IndexEntry]) -> Module<'a> {
        let code = Section::new(self.code.0, &self.code.1);
        let tables = Tables::from_index(index, self.frames(), Format::EhFrame, 0);
        Module {
            start: code.address(),
            end: code.end(),
            id: 1,
            entry: self.entry,
            code,
            tables,
            ..Module::default()
        }
    }
}

#[test]
fn recorded_stacks() {
    for flags in cross::FLAGS {
        let directory = tempfile::tempdir().unwrap();
        let Some(path) = cross::compile(directory.path(), &[flags, &["-static"]].concat()) else { return };
        let Some(text) = cross::emulate(&path) else { return };
        let recording = Recording::parse(&text);
        let program = Program::load(&std::fs::read(&path).unwrap());
        check(&program, &recording, flags);
    }
}

fn check(program: &Program, recording: &Recording, flags: &[&str]) {
    let index = program.index();
    let trampoline: Vec<u8> = recording.code.iter().flat_map(|word| word.to_le_bytes()).collect();
    let code = Section::new(recording.trampoline, &trampoline);
    let kernels = Module { start: code.address() - 8, end: code.end(), id: 2, code, ..Module::default() };
    let modules = [program.module(&index), kernels];
    let list = ModuleList::new(&modules).unwrap();
    let entries = support::cache_memory();
    let cache = Cache::new(&entries).unwrap();
    // From the innermost function outwards, without the one that called `main`'s caller.
    let truth: Vec<u64> = recording.truth.iter().rev().map(|address| address - 1).collect();
    let mut replay = Box::new(Replay::<64>::new());
    assert_eq!(recording.registers.len(), 2);
    for (registers, (at, words)) in recording.registers.iter().zip(&recording.stacks) {
        let mut path = [Frame::default(); 64];
        let mut memory = StackCopy::new(*at, words);
        let walked = walk::<Aarch64, _, _>(registers, &list, &cache, &mut memory, &mut path);
        let path = &path[..walked.depth];
        let pcs: Vec<u64> = path.iter().map(|frame| frame.pc).collect();
        let context = format!("{flags:?}: {walked:?} {pcs:x?}, in truth {truth:x?}");
        assert_eq!(walked.end, End::Root, "{context}");
        // Of the sample from inside, the handler's frames and the trampoline come first.
        let inner = if registers.pc() == recording.registers[0].pc() { 0 } else { 3 };
        assert_eq!(pcs[inner], recording.registers[0].pc(), "{context}");
        assert!(pcs[inner + 1..].starts_with(&truth), "{context}");
        for _ in 0..2 {
            replay.update::<Aarch64, _, _>(registers, &list, &cache, &mut memory, &mut Room::new());
            assert!(replay.frames().rev().map(|(frame, _)| frame).eq(path.iter().copied()), "{context}");
            (0..replay.depth()).for_each(|index| replay.set_mark(index, 1));
        }
        let update = replay.update::<Aarch64, _, _>(registers, &list, &cache, &mut memory, &mut Room::new());
        assert_eq!(update.kept, walked.depth, "{context}");
    }
    let signed = flags.iter().any(|flag| flag.contains("branch-protection"));
    let any_signed =
        recording.stacks.iter().flat_map(|(_, words)| words).any(|word| {
            Aarch64::strip(*word) != *word && truth.contains(&Aarch64::strip(*word).wrapping_sub(1))
        });
    assert_eq!(any_signed, signed, "return addresses are signed where that was asked for");
}
