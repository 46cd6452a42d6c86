//! Code without frame descriptions: a caller is found where the instructions prove it, and nowhere else.

mod support;

use support::table::{self, CODE, FRAMES, HEADER, eh_frame, function};
use unwinder::{
    Aarch64, Arch, Cache, End, Frame, Memory, Module, ModuleList, Registers, Section, StackCopy, Tables,
    X86_64, walk,
};

const SP: u64 = 0x7000_0000;
/// Assembly without description, after the described functions.
const GAP: u64 = 0x1000;

/// A module with two described functions (the second is the root) and code bytes at given offsets.
struct Program {
    sections: table::Sections,
    code: Vec<u8>,
}

impl Program {
    fn new(code: &[(u64, &[u8])]) -> Self {
        let sections = eh_frame(&[
            function(0, table::x86_64(), &[0x0e, 16]),
            function(0x100, table::x86_64(), &[0x07, 16]),
            function(0x200, table::x86_64(), &[0x0e, 16]),
        ]);
        let mut bytes = vec![0x90; 0x2000];
        for (offset, patch) in code {
            let offset = *offset as usize;
            bytes[offset..offset + patch.len()].copy_from_slice(patch);
        }
        Self { sections, code: bytes }
    }

    fn module(&self) -> Module<'_> {
        let header = Section::new(HEADER, &self.sections.header);
        let tables = Tables::from_header(header, Section::new(FRAMES, &self.sections.frames)).unwrap();
        let code = Section::new(CODE, &self.code);
        Module { start: CODE, end: CODE + 0x2000, id: 1, code, tables, ..Module::default() }
    }
}

/// `call target`, five bytes before the return address `at`.
fn call(at: u64, target: u64) -> (u64, [u8; 5]) {
    let [a, b, c, d] = (target.wrapping_sub(at) as u32).to_le_bytes();
    (at - 5, [0xe8, a, b, c, d])
}

fn registers(pc: u64, fp: u64) -> Registers {
    let mut general = [0; 16];
    (general[6], general[7]) = (fp, SP);
    Registers::x86_64(pc, general)
}

fn run<A: Arch>(module: Module<'_>, registers: &Registers, stack: &[u64]) -> (Vec<u64>, End) {
    let modules = [module];
    let list = ModuleList::new(&modules).unwrap();
    let cache = support::cache_memory();
    let mut frames = [Frame::default(); 8];
    let mut memory = StackCopy::new(SP, stack);
    let walk = walk::<A, _, _>(registers, &list, &Cache::new(&cache).unwrap(), &mut memory, &mut frames);
    (frames[..walk.depth].iter().map(|frame| frame.pc.wrapping_sub(CODE)).collect(), walk.end)
}

/// Walks from assembly at `pc`, with these words on the stack.
fn x86_64(program: &Program, pc: u64, fp: u64, stack: &[u64]) -> (Vec<u64>, End) {
    run::<X86_64>(program.module(), &registers(CODE + pc, fp), stack)
}

#[test]
fn direct_call() {
    let (at, bytes) = call(0x40, GAP + 0x20);
    let program = Program::new(&[(at, &bytes)]);
    let stack = [CODE + 0x40, 0, CODE + 0x110];
    let path = (vec![GAP + 0x30, 0x3f, 0x10f], End::Root);
    assert_eq!(x86_64(&program, GAP + 0x30, 0, &stack), path);
    assert_eq!(x86_64(&program, GAP + 0x20, 0, &stack).1, End::Root, "at its first instruction");
    let before = x86_64(&program, GAP + 0x1f, 0, &stack);
    assert_eq!(before, (vec![GAP + 0x1f], End::NoCfi), "the target lies behind");
    let pushed = [0, CODE + 0x40, 0, CODE + 0x110];
    assert_eq!(x86_64(&program, GAP + 0x30, 0, &pushed), (vec![GAP + 0x30], End::NoCfi));
    assert_eq!(x86_64(&program, GAP + 0x30, 0, &[]), (vec![GAP + 0x30], End::NoCfi));
    let unreadable = Module { code: Section::default(), ..program.module() };
    let (path, end) = run::<X86_64>(unreadable, &registers(CODE + GAP + 0x30, 0), &stack);
    assert_eq!((path.len(), end), (1, End::NoCfi));
}

/// Where nothing is described, a call leads to the function's first address and no other.
#[test]
fn module_without_tables() {
    let (at, bytes) = call(0x40, GAP + 0x20);
    let program = Program::new(&[(at, &bytes)]);
    let module = Module { tables: Tables::NONE, ..program.module() };
    let walk = |pc| run::<X86_64>(module, &registers(CODE + pc, 0), &[CODE + 0x40]);
    assert_eq!(walk(GAP + 0x20), (vec![GAP + 0x20, 0x3f], End::NoCfi));
    assert_eq!(walk(GAP + 0x21), (vec![GAP + 0x21], End::NoCfi));
}

/// An old return address in stack memory that the assembly has reserved: its call went somewhere else.
#[test]
fn stale_return_address() {
    let (at, bytes) = call(0x40, 0x200);
    let program = Program::new(&[(at, &bytes)]);
    assert_eq!(x86_64(&program, GAP + 0x30, 0, &[CODE + 0x40, 0, CODE + 0x110]).1, End::NoCfi);
}

#[test]
fn through_a_linkage_table() {
    let (at, bytes) = call(0x40, 0x1800);
    for stub in [&[0xff, 0x25, 0, 0, 0, 0][..], &[0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25]] {
        let (next_at, next) = call(0x110, 0);
        let program = Program::new(&[(at, &bytes), (0x1800, stub), (next_at, &next)]);
        assert_eq!(x86_64(&program, GAP + 0x30, 0, &[CODE + 0x40, 0, CODE + 0x110]).1, End::Root);
        // The entry may lead anywhere, so the next frame has to fit: it does not.
        let stale = x86_64(&program, GAP + 0x30, 0, &[CODE + 0x40, 0, CODE + 0x240]);
        assert_eq!(stale, (vec![GAP + 0x30], End::NoCfi));
    }
}

/// An indirect call names no target, so the next call has to fit: a call of the function that made the indirect one.
#[test]
fn indirect_calls() {
    let forms: [&[u8]; 9] = [
        &[0xff, 0xd0],
        &[0x41, 0xff, 0xd3],
        &[0xff, 0x10],
        &[0xff, 0x14, 0x24],
        &[0xff, 0x50, 0x08],
        &[0xff, 0x54, 0x24, 0x08],
        &[0xff, 0x15, 0, 1, 0, 0],
        &[0xff, 0x90, 0, 1, 0, 0],
        &[0x41, 0xff, 0x94, 0x24, 0, 1, 0, 0],
    ];
    let stack = [CODE + 0x40, 0, CODE + 0x240, 0, CODE + 0x110];
    let path = (vec![GAP + 0x30, 0x3f, 0x23f, 0x10f], End::Root);
    for form in forms {
        let at = 0x40 - form.len() as u64;
        let (good_at, good) = call(0x240, 0);
        let program = Program::new(&[(at, form), (good_at, &good)]);
        assert_eq!(x86_64(&program, GAP + 0x30, 0, &stack), path, "{form:x?}");
        let (_, bad) = call(0x240, 0x100);
        let program = Program::new(&[(at, form), (good_at, &bad)]);
        assert_eq!(x86_64(&program, GAP + 0x30, 0, &stack), (vec![GAP + 0x30], End::NoCfi), "{form:x?}");
        let program = Program::new(&[(at, form)]);
        assert_eq!(x86_64(&program, GAP + 0x30, 0, &stack).0, vec![GAP + 0x30], "no call at all");
    }
    for jump in [&[0xff, 0xe0][..], &[0xff, 0x25, 0, 1, 0, 0], &[0xff, 0x54, 0x08], &[0xff, 0x14]] {
        let program = Program::new(&[(0x40 - jump.len() as u64, jump)]);
        assert_eq!(x86_64(&program, GAP + 0x30, 0, &stack).0, vec![GAP + 0x30], "{jump:x?}");
    }
}

#[test]
fn frame_pointer() {
    let (at, bytes) = call(0x40, GAP + 0x20);
    let program = Program::new(&[(at, &bytes)]);
    let stack = [1, 2, 0, CODE + 0x40, 0, CODE + 0x110];
    let path = (vec![GAP + 0x30, 0x3f, 0x10f], End::Root);
    assert_eq!(x86_64(&program, GAP + 0x30, SP + 16, &stack), path);
    assert_eq!(x86_64(&program, GAP + 0x30, SP + 20, &stack).1, End::NoCfi, "not aligned");
    assert_eq!(x86_64(&program, GAP + 0x30, SP - 16, &stack).1, End::NoCfi, "below the stack");
    // The frame pointer of an outer function: its call is not one of this code.
    let program = Program::new(&[(0x3e, &[0xff, 0xd0])]);
    assert_eq!(x86_64(&program, GAP + 0x30, SP + 16, &stack).1, End::NoCfi);
}

/// Generated code belongs to no module; only an indirect call can have led there.
#[test]
fn generated_code() {
    let (good_at, good) = call(0x240, 0);
    let program = Program::new(&[(0x3e, &[0xff, 0xd0]), (good_at, &good)]);
    let stack = [CODE + 0x40, 0, CODE + 0x240, 0, CODE + 0x110];
    let pc = 0x10_0000;
    assert_eq!(x86_64(&program, pc, 0, &stack), (vec![pc, 0x3f, 0x23f, 0x10f], End::Root));
    assert_eq!(x86_64(&program, pc, 0, &[7, 0]), (vec![pc], End::NoModule));
    let (at, bytes) = call(0x40, 0x200);
    let program = Program::new(&[(at, &bytes), (good_at, &good)]);
    assert_eq!(x86_64(&program, pc, 0, &stack), (vec![pc], End::NoModule));
}

/// The trampoline of a C library without frame descriptions (musl) is known by its code.
#[test]
fn signal_trampoline_without_description() {
    let trampoline = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
    let program = Program::new(&[(GAP, &trampoline)]);
    let mut stack = [0u64; 64];
    // The handler's frame; the ucontext follows its return address.
    stack[1] = CODE + GAP;
    stack[2 + 20] = SP + 8 * 40;
    stack[2 + 21] = CODE + 0x200;
    stack[41] = CODE + 0x110;
    assert_eq!(x86_64(&program, 0x10, 0, &stack), (vec![0x10, GAP - 1, 0x200, 0x10f], End::Root));
}

#[test]
fn aarch64_leaf() {
    let sections = eh_frame(&[
        function(0, table::aarch64(), &[0x0e, 16, 0x9d, 2, 0x9e, 1]),
        function(0x100, table::aarch64(), &[0x07, 30]),
    ]);
    let link = |words: &[(usize, u32)]| {
        let mut code = vec![0; 0x2000];
        for (offset, word) in words {
            code[*offset..offset + 4].copy_from_slice(&word.to_le_bytes());
        }
        let header = Section::new(HEADER, &sections.header);
        let tables = Tables::from_header(header, Section::new(FRAMES, &sections.frames)).unwrap();
        let code = Section::new(CODE, &code);
        let module = Module { start: CODE, end: CODE + 0x2000, id: 1, code, tables, ..Module::default() };
        let mut general = [0; 32];
        (general[30], general[31]) = (CODE + 0x40, SP);
        let registers = Registers::aarch64(CODE + GAP + 0x30, general);
        run::<Aarch64>(module, &registers, &[0, CODE + 0x110])
    };
    let bl = |from: u64, to: u64| 0x9400_0000 | ((to.wrapping_sub(from) >> 2) as u32 & 0x3ff_ffff);
    let path = (vec![GAP + 0x30, 0x3f, 0x10f], End::Root);
    assert_eq!(link(&[(0x3c, bl(0x3c, GAP + 0x20))]), path);
    assert_eq!(link(&[(0x3c, bl(0x3c, GAP + 0x40))]).1, End::NoCfi);
    let stub = (0x1800, 0x9000_0010);
    assert_eq!(link(&[(0x3c, bl(0x3c, 0x1800)), stub, (0x10c, bl(0x10c, 0))]), path, "through a stub");
    assert_eq!(link(&[(0x3c, 0xd63f_0100), (0x10c, bl(0x10c, 0))]), path, "blr");
    assert_eq!(link(&[(0x3c, 0xd73f_0911), (0x10c, bl(0x10c, 0))]), path, "blraa");
    assert_eq!(link(&[(0x3c, 0xd63f_0100)]).1, End::NoCfi, "its own call does not fit");
    assert_eq!(link(&[(0x3c, 0xd61f_0100)]).1, End::NoCfi, "br is no call");
}

/// The kernel's trampoline on aarch64 is known by its code, whatever its description says.
#[test]
fn aarch64_signal_frame() {
    let sections = eh_frame(&[
        function(0, table::aarch64(), &[0x0e, 16, 0x9d, 2, 0x9e, 1]),
        function(0x100, table::aarch64(), &[0x07, 30]),
        function(0x200, table::aarch64(), &[]),
    ]);
    let mut code = vec![0; 0x2000];
    code[GAP as usize..GAP as usize + 8].copy_from_slice(&[0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4]);
    let header = Section::new(HEADER, &sections.header);
    let tables = Tables::from_header(header, Section::new(FRAMES, &sections.frames)).unwrap();
    let module = Module {
        start: CODE,
        end: CODE + 0x2000,
        id: 1,
        code: Section::new(CODE, &code),
        tables,
        ..Module::default()
    };
    let mut general = [0; 32];
    general[31] = SP;
    let mut stack = [0u64; 128];
    stack[1] = CODE + GAP;
    // The rt_sigframe begins at word 2; 312 bytes on come x0 to x30, sp and pc.
    let saved = 2 + 312 / 8;
    stack[saved + 30] = CODE + 0x110;
    stack[saved + 31] = SP + 8 * 100;
    stack[saved + 32] = CODE + 0x210;
    let path = run::<Aarch64>(module, &Registers::aarch64(CODE + 0x10, general), &stack);
    assert_eq!(
        path,
        (vec![0x10, GAP - 1, 0x210, 0x10f], End::Root),
        "the interrupted leaf returns by its link register"
    );
}

/// A stack on which the frames of start-up code lie at an address and above.
struct Started<'a> {
    words: StackCopy<'a>,
    start: u64,
}

impl Memory for Started<'_> {
    fn read(&mut self, address: u64) -> Option<u64> {
        self.words.read(address)
    }

    fn is_start(&self, sp: u64) -> bool {
        sp >= self.start
    }
}

/// Code without description that starts the thread has no caller that could be missed; the same code further in has.
#[test]
fn start_of_a_thread() {
    let program = Program::new(&[]);
    let modules = [program.module()];
    let list = ModuleList::new(&modules).unwrap();
    let walk = |start| {
        let cache = support::cache_memory();
        let mut frames = [Frame::default(); 8];
        let mut memory = Started { words: StackCopy::new(SP, &[0, CODE + GAP + 0x40]), start };
        let given = registers(CODE + 0x10, 0);
        let walk =
            walk::<X86_64, _, _>(&given, &list, &Cache::new(&cache).unwrap(), &mut memory, &mut frames);
        (walk.depth, walk.end)
    };
    assert_eq!(walk(SP + 16), (2, End::Root));
    assert_eq!(walk(SP + 24), (2, End::NoCfi));
}
