//! Every call frame instruction and every kind of rule, from hand-built tables. A walk over memory in which each word
//! tells its own address shows where the rules have looked.

mod support;

use support::table::{self, CODE, Cie, FRAMES, Function, HEADER, eh_frame, function};
use unwinder::{
    Aarch64, Arch, Cache, End, Format, Frame, IndexEntry, Memory, Module, ModuleList, Registers, Section,
    StackCopy, Tables, Walk, X86_64, index, walk,
};

/// Added to an address to make the word that stands there; code of the observing function begins here.
const TELL: u64 = 0x4_0000_0000;
const SP: u64 = 0x7000_0000;
const FP: u64 = 0x7010_0000;
const RBX: u64 = 0x7000_2000;

/// The observing function: CFA = rbp + [`REACH`].
const OBSERVER: [u8; 5] = [0x0c, 6, 0x80, 0x80, 4];
/// Far enough out that the observer's caller is always further out than what is observed.
const REACH: u64 = 0x1_0000;

struct Telling;

impl Memory for Telling {
    fn read(&mut self, address: u64) -> Option<u64> {
        Some(TELL.wrapping_add(address))
    }
}

fn x86_64(pc: u64) -> Registers {
    let mut general = [0; 16];
    (general[3], general[6], general[7], general[10]) = (RBX, FP, SP, RBX);
    Registers::x86_64(pc, general)
}

fn module<'a>(tables: Tables<'a>, code: &'a [u8]) -> Module<'a> {
    Module {
        start: CODE,
        end: CODE + 0x1_0000,
        id: 7,
        code: Section::new(CODE, code),
        tables,
        ..Module::default()
    }
}

fn tables(sections: &table::Sections) -> Tables<'_> {
    Tables::from_header(Section::new(HEADER, &sections.header), Section::new(FRAMES, &sections.frames))
        .unwrap()
}

fn walk_in<A: Arch>(
    modules: &[Module<'_>],
    registers: &Registers,
    memory: &mut impl Memory,
    room: usize,
) -> (Vec<Frame>, End) {
    let list = ModuleList::new(modules).unwrap();
    let cache = support::cache_memory();
    let cache = Cache::new(&cache).unwrap();
    let mut frames = vec![Frame::default(); room];
    let cold = walk::<A, _, _>(registers, &list, &cache, memory, &mut frames);
    let mut warm_frames = vec![Frame::default(); room];
    let warm = walk::<A, _, _>(registers, &list, &cache, memory, &mut warm_frames);
    assert_eq!((cold, &frames), (warm, &warm_frames), "the cache changes nothing");
    let Walk { depth, end } = cold;
    frames.truncate(depth);
    (frames, end)
}

/// What one step out of a function with these instructions leads to, at `offset` in its code: where the return address
/// was read, and the caller's frame pointer (seen through a second function, whose CFA is fp + [`REACH`]).
fn step(cie: Cie, instructions: &[u8], offset: u64) -> (Vec<u64>, End) {
    let sections = eh_frame(&[function(0, cie, instructions)]);
    step_with::<X86_64>(tables(&sections), x86_64(CODE + offset), table::x86_64(), &OBSERVER)
}

fn step_with<A: Arch>(
    tables: Tables<'_>,
    registers: Registers,
    cie: Cie,
    observer: &[u8],
) -> (Vec<u64>, End) {
    let cie = Cie { version: 3, augmentation: b"", ..cie };
    let bytes =
        table::debug_frame(&[Function { length: TELL << 4, ..function(TELL, cie, observer) }], false, 0);
    let section = Section::new(0, &bytes);
    let mut entries = [IndexEntry::default()];
    assert_eq!(index::build(section, Format::DebugFrame, 0, &mut entries), Ok(1));
    let tables_of_observer = Tables::from_index(&entries, section, Format::DebugFrame, 0);
    let (start, end) = (entries[0].start, entries[0].end);
    let observer = Module { start, end, id: 8, tables: tables_of_observer, ..Module::default() };
    let (frames, end) = walk_in::<A>(&[module(tables, &[]), observer], &registers, &mut Telling, 3);
    // Where the observer's own caller would be does not matter.
    let end = if frames.len() == 3 { End::Truncated } else { end };
    let mut seen: Vec<u64> =
        frames.iter().skip(1).map(|frame| frame.pc.wrapping_add(1).wrapping_sub(TELL)).collect();
    if let Some(address) = seen.get_mut(1) {
        *address = address.wrapping_sub(REACH - 8);
    }
    (seen, end)
}

/// The step that leads to this CFA and frame pointer.
fn to(cfa: u64, fp: u64) -> (Vec<u64>, End) {
    (vec![cfa - 8, fp], End::Truncated)
}

#[test]
fn cfa_instructions() {
    let cie = table::x86_64;
    assert_eq!(step(cie(), &[], 0), to(SP + 8, FP));
    assert_eq!(step(cie(), &[0x0e, 32], 0), to(SP + 32, FP), "def_cfa_offset");
    assert_eq!(step(cie(), &[0x13, 0x7c], 0), to(SP + 32, FP), "def_cfa_offset_sf: -4 * -8");
    assert_eq!(step(cie(), &[0x0c, 6, 16], 0), to(FP + 16, FP), "def_cfa");
    assert_eq!(step(cie(), &[0x12, 6, 0x7e], 0), to(FP + 16, FP), "def_cfa_sf");
    assert_eq!(step(cie(), &[0x0d, 6], 0), to(FP + 8, FP), "def_cfa_register");
    assert_eq!(step(cie(), &[0x0c, 10, 0], 0), to(RBX, FP), "another register: slow");
    assert_eq!(step(cie(), &[0x0f, 2, 0x77, 0x18], 0), to(SP + 24, FP), "def_cfa_expression: slow");
    assert_eq!(step(cie(), &[0x0e, 0x80, 0x80, 0x20], 0), to(SP + (1 << 19), FP), "too large: slow");
}

#[test]
fn locations() {
    let advances: [&[u8]; 4] = [&[0x50], &[0x02, 0x10], &[0x03, 0x10, 0], &[0x04, 0x10, 0, 0, 0]];
    for advance in advances {
        let program = [advance, &[0x0e, 64]].concat();
        assert_eq!(step(table::x86_64(), &program, 0x0f), to(SP + 8, FP));
        assert_eq!(step(table::x86_64(), &program, 0x10), to(SP + 64, FP));
    }
    let factor = Cie { code_factor: 4, ..table::x86_64() };
    assert_eq!(step(factor.clone(), &[0x44, 0x0e, 64], 0x0f), to(SP + 8, FP));
    assert_eq!(step(factor, &[0x44, 0x0e, 64], 0x10), to(SP + 64, FP));
}

#[test]
fn register_instructions() {
    let cie = table::x86_64;
    let saved = |offset: i64| to(SP + 48, TELL + (SP + 48).wrapping_add(offset as u64));
    let after = |program: &[u8]| step(cie(), &[&[0x0e, 48], program].concat(), 0);
    assert_eq!(after(&[0x86, 2]), saved(-16), "offset");
    assert_eq!(after(&[0x05, 6, 2]), saved(-16), "offset_extended");
    assert_eq!(after(&[0x11, 6, 2]), saved(-16), "offset_extended_sf");
    assert_eq!(after(&[0x11, 6, 0x7f]), saved(8), "offset_extended_sf above the CFA");
    assert_eq!(after(&[0x2f, 6, 2]), saved(16), "GNU_negative_offset_extended");
    assert_eq!(after(&[0x86, 0]), saved(0), "offset 0: slow");
    assert_eq!(after(&[0x14, 6, 2]), to(SP + 48, SP + 32), "val_offset");
    assert_eq!(after(&[0x15, 6, 0x7e]), to(SP + 48, SP + 64), "val_offset_sf");
    assert_eq!(after(&[0x86, 2, 0x08, 6]), to(SP + 48, FP), "same_value");
    assert_eq!(after(&[0x86, 2, 0xc6]), to(SP + 48, FP), "restore");
    assert_eq!(after(&[0x86, 2, 0x06, 6]), to(SP + 48, FP), "restore_extended");
    assert_eq!(after(&[0x09, 6, 3]), to(SP + 48, RBX), "register");
    assert_eq!(after(&[0x10, 6, 2, 0x77, 0x08]), to(SP + 48, TELL + SP + 8), "expression");
    assert_eq!(
        after(&[0x10, 6, 2, 0x23, 0x08]),
        to(SP + 48, TELL + SP + 56),
        "expression begins with the CFA"
    );
    assert_eq!(after(&[0x16, 6, 2, 0x77, 0x08]), to(SP + 48, SP + 8), "val_expression");
    assert_eq!(after(&[0x2e, 16, 0x00]), to(SP + 48, FP), "GNU_args_size, nop");
    let restored = Cie { instructions: vec![0x0c, 7, 8, 0x90, 1, 0x86, 3], ..cie() };
    assert_eq!(
        step(restored, &[0x0e, 48, 0x08, 6, 0xc6], 0),
        saved(-24),
        "restore goes back to the rule of the CIE"
    );
    assert_eq!(after(&[0x10, 16, 2, 0x77, 0x00]).0[0], SP, "the return address by expression");
    assert_eq!(after(&[0x07, 16]), (vec![], End::Root), "undefined return address");
    assert_eq!(after(&[0x07, 6]).1, End::Unsupported, "the observer needs a frame pointer that is lost");
}

#[test]
fn remembered_states() {
    let program = [0x0a, 0x0e, 48, 0x86, 2, 0x41, 0x0b, 0x41, 0x0e, 16];
    assert_eq!(step(table::x86_64(), &program, 0), to(SP + 48, TELL + SP + 32));
    assert_eq!(step(table::x86_64(), &program, 1), to(SP + 8, FP));
    assert_eq!(step(table::x86_64(), &program, 2), to(SP + 16, FP));
    assert_eq!(step(table::x86_64(), &[0x0a; 8], 0), to(SP + 8, FP));
    assert_eq!(step(table::x86_64(), &[0x0a; 9], 0), (vec![], End::NoCfi));
    assert_eq!(step(table::x86_64(), &[0x0b], 0), (vec![], End::NoCfi));
}

#[test]
fn false_programs() {
    for program in [&[0x3f_u8][..], &[0x0f, 0x7f], &[0x2d], &[0x05, 0xff, 0xff, 0xff]] {
        assert_eq!(step(table::x86_64(), program, 0).1, End::NoCfi, "{program:x?}");
    }
    assert_eq!(step(table::x86_64(), &[0x0e, 0], 0), (vec![], End::NotAdvancing));
    assert_eq!(step(table::x86_64(), &[0x0e, 12], 0), (vec![], End::NotAdvancing), "not aligned");
    assert_eq!(step(Cie { version: 2, ..table::x86_64() }, &[], 0).1, End::NoCfi);
    assert_eq!(step(Cie { augmentation: b"zX", ..table::x86_64() }, &[], 0).1, End::NoCfi);
    assert_eq!(step(Cie { return_column: 5, ..table::x86_64() }, &[], 0).1, End::Unsupported);
}

#[test]
fn entries() {
    for version in [1, 3, 4] {
        assert_eq!(step(Cie { version, ..table::x86_64() }, &[0x0e, 32], 0), to(SP + 32, FP));
    }
    for augmentation in [&b"zPLR"[..], b"zRB", b"zLR"] {
        let augmentation: &'static [u8] = augmentation;
        assert_eq!(step(Cie { augmentation, ..table::x86_64() }, &[0x0e, 32], 0), to(SP + 32, FP));
    }
}

#[test]
fn linkage_table() {
    let stub = [0x0f, 11, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22];
    for offset in 0..32 {
        let cfa = SP + if offset % 16 >= 11 { 16 } else { 8 };
        assert_eq!(step(table::x86_64(), &stub, offset), to(cfa, FP), "{offset}");
    }
}

#[test]
fn realigned_stack() {
    // CFA = [rbp - 40], rbp at [rbp]; one with an offset of two bytes; one that differs and is slow.
    let near = [0x0f, 3, 0x76, 0x58, 0x06, 0x10, 6, 2, 0x76, 0x00];
    assert_eq!(step(table::x86_64(), &near, 0), to(TELL + FP - 40, TELL + FP));
    let far = [0x0f, 4, 0x76, 0xf8, 0x7e, 0x06, 0x10, 6, 2, 0x76, 0x00];
    assert_eq!(step(table::x86_64(), &far, 0), to(TELL + FP - 136, TELL + FP));
    let other = [0x0f, 3, 0x76, 0x58, 0x06, 0x10, 6, 2, 0x76, 0x08];
    assert_eq!(step(table::x86_64(), &other, 0), to(TELL + FP - 40, TELL + FP + 8));
}

/// The third frame needs rbx, which the first has saved: the walk begins again with all registers.
#[test]
fn restart_with_all_registers() {
    let sections = eh_frame(&[
        function(0, table::x86_64(), &[0x0e, 32, 0x83, 2]),
        function(0x100, table::x86_64(), &[0x0e, 16]),
        function(0x200, table::x86_64(), &[0x0c, 3, 16]),
        function(0x300, table::x86_64(), &[0x07, 16]),
    ]);
    let modules = [module(tables(&sections), &[])];
    let mut stack = [0u64; 32];
    stack[2] = SP + 8 * 20;
    stack[3] = CODE + 0x110;
    stack[5] = CODE + 0x210;
    stack[21] = CODE + 0x310;
    let (frames, end) = walk_in::<X86_64>(&modules, &x86_64(CODE + 0x10), &mut StackCopy::new(SP, &stack), 8);
    let pcs: Vec<u64> = frames.iter().map(|frame| frame.pc - CODE).collect();
    assert_eq!((pcs, end), (vec![0x10, 0x10f, 0x20f, 0x30f], End::Root));
    // Lost on the way: no caller is made up.
    let lost = eh_frame(&[
        function(0, table::x86_64(), &[0x0e, 32, 0x07, 3]),
        function(0x100, table::x86_64(), &[0x0c, 3, 16]),
    ]);
    let modules = [module(tables(&lost), &[])];
    let (frames, end) = walk_in::<X86_64>(&modules, &x86_64(CODE + 0x10), &mut StackCopy::new(SP, &stack), 8);
    assert_eq!((frames.len(), end), (2, End::Unsupported));
}

#[test]
fn signal_frame() {
    let usual = [
        0x0f, 4, 0x77, 0xa0, 0x01, 0x06, 0x10, 6, 3, 0x77, 0xf8, 0x00, 0x10, 3, 3, 0x77, 0x80, 0x01, 0x10, 7,
        3, 0x77, 0xa0, 0x01, 0x10, 16, 3, 0x77, 0xa8, 0x01,
    ];
    // The same meaning in other words, which only the evaluator understands.
    let mut odd = usual.to_vec();
    odd.splice(24.., [0x10, 16, 5, 0x77, 0xa0, 0x01, 0x23, 8]);
    for program in [&usual[..], &odd] {
        let signal = Cie { augmentation: b"zRS", ..table::x86_64() };
        let sections = eh_frame(&[
            function(0, table::x86_64(), &[0x0e, 16]),
            function(0x100, signal, program),
            function(0x200, table::x86_64(), &[0x0c, 3, 16]),
            function(0x300, table::x86_64(), &[0x07, 16]),
        ]);
        let modules = [module(tables(&sections), &[])];
        let mut stack = [0u64; 64];
        stack[1] = CODE + 0x110;
        // The ucontext begins at word 2; the interrupted stack lies below it.
        stack[2 + 16] = SP + 8 * 50;
        stack[2 + 20] = SP + 8 * 40;
        stack[2 + 21] = CODE + 0x200;
        stack[51] = CODE + 0x310;
        let (frames, end) =
            walk_in::<X86_64>(&modules, &x86_64(CODE + 0x10), &mut StackCopy::new(SP, &stack), 8);
        let pcs: Vec<u64> = frames.iter().map(|frame| frame.pc - CODE).collect();
        assert_eq!((pcs, end), (vec![0x10, 0x10f, 0x200, 0x30f], End::Root), "the interrupted pc is itself");
    }
}

#[test]
fn aarch64_rules() {
    let step = |instructions: &[u8], offset: u64| {
        let sections = eh_frame(&[function(0, table::aarch64(), instructions)]);
        let mut general = [0; 32];
        (general[19], general[29], general[30], general[31]) = (RBX, FP, TELL + SP + 0x500, SP);
        let registers = Registers::aarch64(CODE + offset, general);
        // The observer: CFA = x29 + REACH, x29 and x30 in a pair at the bottom.
        let observer = [0x0c, 29, 0x80, 0x80, 4, 0x9d, 2, 0x9e, 1];
        step_with::<Aarch64>(tables(&sections), registers, table::aarch64(), &observer)
    };
    assert_eq!(step(&[], 0), (vec![SP + 0x500, FP], End::Truncated), "return address in the link register");
    assert_eq!(step(&[0x0e, 32], 0), (vec![SP + 0x500, FP], End::Truncated), "with a frame");
    let pair = [0x44, 0x0e, 48, 0x9d, 6, 0x9e, 5];
    assert_eq!(step(&pair, 0x0c), (vec![SP + 0x500, FP], End::Truncated), "before the prologue's store");
    assert_eq!(step(&pair, 0x10), (vec![SP + 8, TELL + SP], End::Truncated), "saved pair");
    let framed = [0x0c, 29, 48, 0x9d, 6, 0x9e, 5];
    assert_eq!(step(&framed, 0), (vec![FP + 8, TELL + FP], End::Truncated), "from the frame pointer");
    let link_only = [0x0e, 16, 0x9e, 2];
    assert_eq!(step(&link_only, 0), (vec![SP, FP], End::Truncated), "link register alone");
    let apart = [0x0e, 64, 0x9d, 6, 0x9e, 1];
    assert_eq!(step(&apart, 0), (vec![SP + 56, TELL + SP + 16], End::Truncated), "not side by side: slow");
    assert_eq!(step(&[0x2d, 0x0e, 16, 0x9e, 2], 0), (vec![SP, FP], End::Truncated), "negate_ra_state");
    assert_eq!(
        step(&[0x0c, 19, 32, 0x9e, 2], 0),
        (vec![RBX + 16, FP], End::Truncated),
        "another register: slow"
    );
    assert_eq!(step(&[0x07, 30], 0), (vec![], End::Root));
    assert_eq!(Aarch64::strip(0x1234_8000_0040_0000), 0x8000_0040_0000);
}

#[test]
fn aarch64_caller_has_no_link_register() {
    let sections = eh_frame(&[
        function(0, table::aarch64(), &[0x0e, 32, 0x9d, 4, 0x9e, 3]),
        function(0x100, table::aarch64(), &[0x0e, 32]),
    ]);
    let modules = [module(tables(&sections), &[])];
    let mut general = [0; 32];
    (general[30], general[31]) = (CODE + 0x50, SP);
    let mut stack = [0u64; 16];
    stack[1] = CODE + 0x110;
    let registers = Registers::aarch64(CODE + 0x10, general);
    let (frames, end) = walk_in::<Aarch64>(&modules, &registers, &mut StackCopy::new(SP, &stack), 8);
    assert_eq!((frames.len(), end), (2, End::Unsupported));
}

#[test]
fn debug_frame_index() {
    let cie = Cie { version: 4, augmentation: b"", ..table::x86_64() };
    let functions = [
        function(0x200, cie.clone(), &[0x0e, 64]),
        function(0, cie.clone(), &[0x0e, 32]),
        function(0x100, Cie { version: 3, ..cie }, &[0x41, 0x0e, 48]),
    ];
    for (wide, bias) in [(false, 0), (true, 0), (false, 0x8000)] {
        let bytes = table::debug_frame(&functions, wide, bias);
        let section = Section::new(0, &bytes);
        let count = index::count(section, Format::DebugFrame).unwrap();
        let mut entries = vec![IndexEntry::default(); count];
        assert_eq!(index::build(section, Format::DebugFrame, bias, &mut entries), Ok(3));
        assert!(entries.is_sorted_by_key(|entry| entry.start));
        let tables = Tables::from_index(&entries, section, Format::DebugFrame, bias);
        let run = |offset| step_with::<X86_64>(tables, x86_64(CODE + offset), table::x86_64(), &OBSERVER);
        assert_eq!(run(0), to(SP + 32, FP));
        assert_eq!(run(0x101), to(SP + 48, FP));
        assert_eq!(run(0x2ff), to(SP + 64, FP));
        assert_eq!(run(0x300), (vec![], End::NoCfi));
        let full = index::build(section, Format::DebugFrame, bias, &mut entries[..2]);
        assert_eq!(full, Err(unwinder::TableError::IndexFull));
    }
}

#[test]
fn index_equals_header() {
    let functions = [
        function(0, table::x86_64(), &[0x0e, 32]),
        function(0x100, table::x86_64(), &[0x0e, 48]),
        function(0x800, table::x86_64(), &[0x0e, 64]),
    ];
    let sections = eh_frame(&functions);
    let section = Section::new(FRAMES, &sections.frames);
    let mut entries = [IndexEntry::default(); 3];
    assert_eq!(index::build(section, Format::EhFrame, 0, &mut entries), Ok(3));
    let by_index = Tables::from_index(&entries, section, Format::EhFrame, 0);
    for offset in 0..0xa00 {
        let run = |tables| step_with::<X86_64>(tables, x86_64(CODE + offset), table::x86_64(), &OBSERVER);
        assert_eq!(run(by_index), run(tables(&sections)), "{offset:#x}");
    }
}

#[test]
fn ends() {
    let sections =
        eh_frame(&[function(0, table::x86_64(), &[0x0e, 16]), function(0x100, table::x86_64(), &[0x07, 16])]);
    let mut program = module(tables(&sections), &[]);
    program.entry = CODE + 0x400;
    let mut stack = [0u64; 16];
    let mut run = |program: Module<'_>, caller: u64, room: usize| {
        stack[1] = caller;
        let (frames, end) =
            walk_in::<X86_64>(&[program], &x86_64(CODE), &mut StackCopy::new(SP, &stack), room);
        (frames.len(), end)
    };
    assert_eq!(run(program, 0, 8), (1, End::Root), "a return address of 0");
    assert_eq!(run(program, CODE + 0x110, 8), (2, End::Root), "no caller");
    assert_eq!(run(program, CODE + 0x110, 1), (1, End::Truncated));
    assert_eq!(run(program, CODE + 0x110, 0), (0, End::Truncated));
    assert_eq!(run(program, CODE + 0x420, 8), (2, End::Root), "the entry point");
    assert_eq!(run(program, CODE + 0x480, 8), (2, End::NoCfi), "far from the entry point");
    let loader = Module { is_loader: true, ..program };
    assert_eq!(run(loader, CODE + 0x480, 8), (2, End::Root), "the loader's stub is longer");
    assert_eq!(run(loader, CODE + 0x580, 8), (2, End::NoCfi));
    assert_eq!(run(program, 0x10, 8), (2, End::NoModule));
    let outside = x86_64(CODE);
    let (frames, end) = walk_in::<X86_64>(&[program], &outside, &mut StackCopy::new(SP - 64, &[0]), 8);
    assert_eq!((frames.len(), end), (1, End::BadRead));
    assert_eq!(frames[0], Frame { pc: CODE, module: 7 });
}

/// A module that may be going away is followed by what is cached of it, and by nothing else.
#[test]
fn closed_modules_are_not_looked_into() {
    let sections = eh_frame(&[function(0, table::x86_64(), &[])]);
    let open = module(tables(&sections), &[]);
    let closed = Module { closed: true, ..open };
    let memory = support::cache_memory();
    let cache = Cache::new(&memory).unwrap();
    let stack = [CODE + 0x20, 0];
    let walked = |module: Module<'_>| {
        let modules = [module];
        let list = ModuleList::new(&modules).unwrap();
        let mut frames = [Frame::default(); 4];
        let mut stack = StackCopy::new(SP, &stack);
        walk::<X86_64, _, _>(&x86_64(CODE + 0x10), &list, &cache, &mut stack, &mut frames)
    };
    assert_eq!(walked(closed), Walk { depth: 1, end: End::NoCfi });
    let followed = walked(open);
    assert_eq!(followed.depth, 2);
    assert_eq!(walked(closed), followed, "by the cached rules, and the refusal was not cached");
}
