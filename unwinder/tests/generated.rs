//! Generated code: it belongs to no module, and its caller is found by the frame pointer where that is certain.

mod support;

use support::process::{self, Live};
use support::table::{self, CODE, FRAMES, HEADER, eh_frame, function};
use unwinder::{
    Cache, End, Frame, Memory, Module, ModuleList, Registers, Section, StackCopy, Tables, Walk, X86_64, walk,
};

const STACK: u64 = 0x7000_0000;
const GENERATED: u64 = 0x10_0000;
/// Return addresses: after an indirect call of generated code by the first function; after its call by the second; in
/// the last, which has no caller; and after a call in generated code.
const IN_FIRST: u64 = CODE + 0x40;
const IN_SECOND: u64 = CODE + 0x140;
const IN_LAST: u64 = CODE + 0x240;
const IN_GENERATED: u64 = GENERATED + 0x80;

/// Walks in a program of three functions with frames of 16 bytes and generated code.
fn run(registers: &Registers, stack: &[u64]) -> (Vec<u64>, End) {
    let sections = eh_frame(&[
        function(0, table::x86_64(), &[0x0e, 16]),
        function(0x100, table::x86_64(), &[0x0e, 16]),
        function(0x200, table::x86_64(), &[0x07, 16]),
    ]);
    let mut code = vec![0x90; 0x300];
    code[0x3e..0x40].copy_from_slice(&[0xff, 0xd0]);
    code[0x13b..0x140].copy_from_slice(&[0xe8, 0xc0, 0xfe, 0xff, 0xff]);
    let header = Section::new(HEADER, &sections.header);
    let tables = Tables::from_header(header, Section::new(FRAMES, &sections.frames)).unwrap();
    let code = Section::new(CODE, &code);
    let modules = [Module { start: CODE, end: CODE + 0x300, id: 1, code, tables, ..Module::default() }];
    let mut generated = [0x9090_9090_9090_9090; 64];
    // call *%rax before IN_GENERATED
    generated[15] = 0xd0ff_9090_9090_9090;
    let mut memory = Both(StackCopy::new(STACK, stack), StackCopy::new(GENERATED, &generated));
    let (entries, mut frames) = (support::cache_memory(), [Frame::default(); 16]);
    let (list, cache) = (ModuleList::new(&modules).unwrap(), Cache::new(&entries).unwrap());
    let Walk { depth, end } = walk::<X86_64, _, _>(registers, &list, &cache, &mut memory, &mut frames);
    (frames[..depth].iter().map(|frame| frame.pc).collect(), end)
}

struct Both<'a>(StackCopy<'a>, StackCopy<'a>);

impl Memory for Both<'_> {
    fn read(&mut self, address: u64) -> Option<u64> {
        self.0.read(address).or_else(|| self.1.read(address))
    }
}

fn at(pc: u64, fp: u64) -> Registers {
    let mut general = [0; 16];
    (general[6], general[7]) = (fp, STACK);
    Registers::x86_64(pc, general)
}

/// The frames outside of the first function's.
const OUTER: [u64; 4] = [0, IN_SECOND, 0, IN_LAST];

/// From generated code that has set up its frame pointer at word `fp`.
fn framed(below: &[u64], outer_fp: u64, return_address: u64, outer: &[u64]) -> (Vec<u64>, End) {
    let stack = [below, &[outer_fp, return_address], outer].concat();
    run(&at(GENERATED + 0x120, STACK + 8 * below.len() as u64), &stack)
}

#[test]
fn frame_pointer() {
    let here = GENERATED + 0x120;
    let whole = (vec![here, IN_FIRST - 1, IN_SECOND - 1, IN_LAST - 1], End::Root);
    let only_here = (vec![here], End::NoModule);
    assert_eq!(framed(&[1, 2, STACK], 7, IN_FIRST, &OUTER), whole);
    assert_eq!(framed(&[], 7, IN_FIRST, &OUTER), whole);
    assert_eq!(framed(&[1], 7, IN_FIRST + 1, &OUTER), only_here, "follows no call");
    assert_eq!(framed(&[1], 7, IN_SECOND, &OUTER), only_here, "its call went somewhere else");
    assert_eq!(framed(&[1, IN_FIRST], 7, IN_FIRST, &OUTER), only_here, "two that could be it");
    assert_eq!(framed(&[1, IN_SECOND], 7, IN_FIRST, &OUTER), only_here, "the frame of a function in between");
    assert_eq!(framed(&[1, IN_GENERATED], 7, IN_FIRST, &OUTER), only_here, "generated code in between");
    assert_eq!(framed(&[0; 300], 7, IN_FIRST, &OUTER), only_here, "too much to look through");
    assert_eq!(
        framed(&[1], 7, IN_FIRST, &[0, IN_FIRST, 0, IN_LAST]),
        whole_but(IN_FIRST),
        "indirectly called"
    );
    assert_eq!(
        framed(&[1], 7, IN_FIRST, &[0, IN_LAST]),
        only_here,
        "the first function was not called there"
    );
}

fn whole_but(second: u64) -> (Vec<u64>, End) {
    (vec![GENERATED + 0x120, IN_FIRST - 1, second - 1, IN_LAST - 1], End::Root)
}

/// Generated code that has called a function.
#[test]
fn as_a_caller() {
    let stack = [&[0, GENERATED + 0x60, 5, 5, 7, IN_FIRST][..], &OUTER].concat();
    let path = [CODE + 0x10, GENERATED + 0x5f, IN_FIRST - 1, IN_SECOND - 1, IN_LAST - 1];
    assert_eq!(run(&at(CODE + 0x10, STACK + 32), &stack), (path.to_vec(), End::Root));
    let below = run(&at(CODE + 0x10, STACK + 8), &stack);
    assert_eq!(below, (path[..2].to_vec(), End::NoModule), "the frame pointer is not its own");
}

/// Generated code called by other generated code, each borne out by the next.
#[test]
fn one_after_the_other() {
    let here = GENERATED + 0x120;
    let outer = [&[5, STACK, 7, IN_FIRST][..], &OUTER].concat();
    let path = [here, IN_GENERATED - 1, IN_FIRST - 1, IN_SECOND - 1, IN_LAST - 1];
    assert_eq!(framed(&[1], STACK + 40, IN_GENERATED, &outer), (path.to_vec(), End::Root));
    let broken = framed(&[1], STACK + 48, IN_GENERATED, &outer);
    assert_eq!(broken, (path[..1].to_vec(), End::NoModule), "the outer frame pointer leads nowhere");
}

/// Code made by this test, which calls back: with a frame pointer, and without.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn real_code() {
    // push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret
    let with_frame = [0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3];
    // sub $8, %rsp; call *%rdi; add $8, %rsp; ret
    let without = [0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3];
    let names = |code: &[u8]| {
        let (path, end) = calling_back(code);
        let symbols = process::Symbols::load(&process::loaded());
        let names: Vec<String> = path.iter().map(|pc| symbols.name(*pc).unwrap_or("?").to_owned()).collect();
        (names, end)
    };
    let (path, end) = names(&with_frame);
    assert_eq!(end, End::Root, "{path:?}");
    assert!(path[0].contains("walk_here") && path[2].contains("call_generated"), "{path:?}");
    assert_eq!(path[1], "?");
    let (path, end) = names(&without);
    assert_eq!((path.len(), end), (2, End::NoModule), "{path:?}");
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
static FOUND: std::sync::Mutex<(Vec<u64>, End)> = std::sync::Mutex::new((Vec::new(), End::Truncated));

/// Puts `code` into executable memory and calls it; yields the path from the function that it calls.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn calling_back(code: &[u8]) -> (Vec<u64>, End) {
    // SAFETY: fresh memory, written before it is made executable and run; the code follows the C calling convention.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let page = libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        assert_ne!(page, libc::MAP_FAILED);
        page.cast::<u8>().copy_from_nonoverlapping(code.as_ptr(), code.len());
        assert_eq!(libc::mprotect(page, 4096, libc::PROT_READ | libc::PROT_EXEC), 0);
        call_generated(std::mem::transmute::<*mut libc::c_void, Generated>(page));
        assert_eq!(libc::munmap(page, 4096), 0);
    }
    FOUND.lock().unwrap().clone()
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
type Generated = extern "C" fn(extern "C" fn());

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[inline(never)]
fn call_generated(generated: Generated) {
    std::hint::black_box(generated)(walk_here);
    std::hint::black_box(());
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
extern "C" fn walk_here() {
    let (mut pc, mut sp, mut fp) = (0u64, 0u64, 0u64);
    // SAFETY: reads registers.
    unsafe {
        std::arch::asm!("lea {}, [rip]", "mov {}, rsp", "mov {}, rbp", out(reg) pc, out(reg) sp, out(reg) fp);
    }
    let mut general = [0; 16];
    (general[6], general[7]) = (fp, sp);
    let modules = process::modules(&process::loaded());
    let (entries, mut frames) = (support::cache_memory(), [Frame::default(); 256]);
    let (list, cache) = (ModuleList::new(&modules).unwrap(), Cache::new(&entries).unwrap());
    let mut memory = Live(process::mapping(sp));
    let registers = Registers::x86_64(pc, general);
    let Walk { depth, end } = walk::<X86_64, _, _>(&registers, &list, &cache, &mut memory, &mut frames);
    let path = frames[..depth].iter().map(|frame| frame.pc).collect();
    *FOUND.lock().unwrap() = (path, end);
}
