//! The interpreter and the compact rules against gimli, over the code of real objects: every row of three columns, and
//! the values that the rules give for random registers and memory.

use std::vec::Vec;
use std::{env, fs};

use gimli::{BaseAddresses, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, Register, UnwindSection};
use object::{Object, ObjectSection, ObjectSegment};

use crate::arch::Arch;
use crate::cursor::{Cursor, Origin};
use crate::entry::Span;
use crate::interpreter;
use crate::memory::Memory;
use crate::module::{Module, Tables};
use crate::registers::Registers;
use crate::restore;
use crate::row::{CfaRule, RegisterRule, Row};
use crate::rule::Shape;
use crate::section::Section;
use crate::walk::End;
use crate::{Aarch64, Format, IndexEntry, X86_64, compact, index};

#[path = "../tests/support/cross.rs"]
#[allow(dead_code, reason = "nothing is run here")]
mod cross;

type Bytes<'a> = EndianSlice<'a, LittleEndian>;
type GimliRow = gimli::UnwindTableRow<usize>;

/// An object file: its sections, and the addresses its executable segments have in the file.
struct Image {
    header: (u64, Vec<u8>),
    frames: (u64, Vec<u8>),
    code: (u64, Vec<u8>),
}

impl Image {
    fn load(path: &str) -> Option<Self> {
        let data = fs::read(path).ok()?;
        let file = object::File::parse(&*data).ok()?;
        let section = |name| {
            let section = file.section_by_name(name)?;
            Some((section.address(), section.uncompressed_data().ok()?.into_owned()))
        };
        let code = file.segments().find(|segment| match segment.flags() {
            object::SegmentFlags::Elf { p_flags } => p_flags & object::elf::PF_X != 0,
            _ => false,
        })?;
        let code = (code.address(), code.data().ok()?.to_vec());
        Some(Self { header: section(".eh_frame_hdr")?, frames: section(".eh_frame")?, code })
    }

    /// First, second and last address of every function.
    fn edges(&self) -> Vec<u64> {
        let section = Section::new(self.frames.0, &self.frames.1);
        let mut entries = std::vec![IndexEntry::default(); index::count(section, Format::EhFrame).unwrap()];
        let count = index::build(section, Format::EhFrame, 0, &mut entries).unwrap();
        let edges = entries[..count].iter().flat_map(|entry| [entry.start, entry.start + 1, entry.end - 1]);
        edges.filter(|pc| (self.code.0..self.code.0 + self.code.1.len() as u64).contains(pc)).collect()
    }

    /// The module as it would be loaded `shift` bytes further up, of which the oracle does not know.
    fn module(&self, shift: u64) -> Module<'_> {
        let header = Section::new(self.header.0 + shift, &self.header.1);
        let frames = Section::new(self.frames.0 + shift, &self.frames.1);
        let code = Section::new(self.code.0, &self.code.1);
        let tables = Tables::from_header(header, frames).unwrap();
        Module { start: code.address(), end: code.end(), code, tables, ..Module::default() }
    }
}

/// The oracle for one image.
struct Oracle<'a> {
    header: gimli::ParsedEhFrameHdr<Bytes<'a>>,
    frames: EhFrame<Bytes<'a>>,
    bases: BaseAddresses,
}

impl<'a> Oracle<'a> {
    fn new<A: Arch>(image: &'a Image) -> Self {
        let bases = BaseAddresses::default().set_eh_frame_hdr(image.header.0).set_eh_frame(image.frames.0);
        let header = EhFrameHdr::new(&image.header.1, LittleEndian).parse(&bases, 8).unwrap();
        let mut frames = EhFrame::new(&image.frames.1, LittleEndian);
        frames.set_vendor(if A::LINKS { gimli::Vendor::AArch64 } else { gimli::Vendor::Default });
        Self { header, frames, bases }
    }

    fn row(&self, pc: u64) -> Option<(GimliRow, bool)> {
        let table = self.header.table().unwrap();
        let fde = table.fde_for_address(&self.frames, &self.bases, pc, EhFrame::cie_from_offset).ok()?;
        let mut context = gimli::UnwindContext::new();
        let row = fde.unwind_info_for_address(&self.frames, &self.bases, &mut context, pc).unwrap();
        Some((row.clone(), fde.is_signal_trampoline()))
    }

    fn evaluate(
        &self,
        expression: &gimli::UnwindExpression<usize>,
        initial: Option<u64>,
        registers: &Registers,
    ) -> Option<u64> {
        let encoding = gimli::Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 4 };
        let mut evaluation = expression.get(&self.frames).unwrap().evaluation(encoding);
        if let Some(value) = initial {
            evaluation.set_initial_value(value);
        }
        let mut state = evaluation.evaluate().ok()?;
        loop {
            state = match state {
                gimli::EvaluationResult::Complete => break,
                gimli::EvaluationResult::RequiresRegister { register, .. } => {
                    evaluation.resume_with_register(gimli::Value::Generic(registers.get(register.0)?)).ok()?
                }
                gimli::EvaluationResult::RequiresMemory { address, .. } => {
                    let value = RandomMemory.read(address).unwrap();
                    evaluation.resume_with_memory(gimli::Value::Generic(value)).ok()?
                }
                _ => return None,
            };
        }
        match evaluation.result().first()?.location {
            gimli::Location::Address { address } => Some(address),
            _ => None,
        }
    }

    /// Stack pointer, frame pointer and return address of the caller by the oracle's row.
    fn values<A: Arch>(&self, row: &GimliRow, registers: &Registers) -> Option<[u64; 3]> {
        let cfa = match row.cfa() {
            gimli::CfaRule::RegisterAndOffset { register, offset } => {
                registers.get(register.0)?.wrapping_add(*offset as u64)
            }
            gimli::CfaRule::Expression(expression) => self.evaluate(expression, None, registers)?,
        };
        let value = |column: u16| match row.register(Register(column)) {
            None if column == A::SP => Some(cfa),
            None | Some(gimli::RegisterRule::SameValue) => registers.get(column),
            Some(gimli::RegisterRule::Offset(offset)) => RandomMemory.read(cfa.wrapping_add(offset as u64)),
            Some(gimli::RegisterRule::Expression(expression)) => {
                RandomMemory.read(self.evaluate(&expression, Some(cfa), registers)?)
            }
            Some(gimli::RegisterRule::Register(other)) => registers.get(other.0),
            other => panic!("rule {other:?} does not occur"),
        };
        Some([value(A::SP)?, value(A::FP)?, A::strip(value(A::RETURN)?)])
    }
}

/// Memory in which every word is a function of its address.
struct RandomMemory;

impl Memory for RandomMemory {
    fn read(&mut self, address: u64) -> Option<u64> {
        Some((address ^ address >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) & !0xf)
    }
}

/// A seeded sequence of numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 16 ^ self.0 << 32
    }

    fn registers<A: Arch>(&mut self, pc: u64) -> Registers {
        let general: [u64; 32] = std::array::from_fn(|_| self.next() >> 20 << 4);
        if A::LINKS {
            return Registers::aarch64(pc, general);
        }
        Registers::x86_64(pc, std::array::from_fn(|column| general[column]))
    }
}

fn images() -> Vec<Image> {
    let own = env::current_exe().unwrap();
    let paths = [
        "/lib/x86_64-linux-gnu/libc.so.6",
        "/lib64/ld-linux-x86-64.so.2",
        "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
        "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
        own.to_str().unwrap(),
    ];
    let images: Vec<Image> = paths.into_iter().filter_map(Image::load).collect();
    assert!(images.len() >= 2, "the C library and the test itself are always there");
    images
}

/// Our row in the oracle's terms, apart from rules that nothing has set.
fn agrees<A: Arch>(row: &Row, oracle: &GimliRow) -> bool {
    let expression = |span: Span, theirs: &gimli::UnwindExpression<usize>| {
        span.start as usize == theirs.offset && span.end as usize == theirs.offset + theirs.length
    };
    let cfa = match (row.cfa, oracle.cfa()) {
        (CfaRule::Register(column, ours), gimli::CfaRule::RegisterAndOffset { register, offset }) => {
            column == register.0 && ours == *offset
        }
        (CfaRule::Expression(span), gimli::CfaRule::Expression(theirs)) => expression(span, theirs),
        _ => false,
    };
    let columns = [A::RETURN, A::FP, A::SP];
    let rules = columns.iter().zip(row.rules).all(|(column, ours)| {
        match (ours, oracle.register(Register(*column))) {
            (RegisterRule::Unspecified, None) => true,
            (RegisterRule::Undefined, Some(gimli::RegisterRule::Undefined)) => true,
            (RegisterRule::SameValue, Some(gimli::RegisterRule::SameValue)) => true,
            (RegisterRule::Offset(ours), Some(gimli::RegisterRule::Offset(theirs))) => ours == theirs,
            (RegisterRule::ValueOffset(ours), Some(gimli::RegisterRule::ValOffset(theirs))) => ours == theirs,
            (RegisterRule::Register(ours), Some(gimli::RegisterRule::Register(theirs))) => ours == theirs.0,
            (RegisterRule::Expression(span), Some(gimli::RegisterRule::Expression(theirs)))
            | (RegisterRule::ValueExpression(span), Some(gimli::RegisterRule::ValExpression(theirs))) => {
                expression(span, &theirs)
            }
            _ => false,
        }
    });
    cfa && rules
}

/// Compares rows at `count` random addresses; yields how many were covered by the oracle and how many differ.
fn compare_rows<A: Arch>(image: &Image, shift: u64, count: usize) -> (usize, usize) {
    let (module, oracle) = (image.module(shift), Oracle::new::<A>(image));
    let mut random = Random(image.code.1.len() as u64);
    let (mut covered, mut different) = (0, 0);
    for _ in 0..count {
        let pc = module.start + random.next() % (module.end - module.start);
        let located = module.locate(pc).unwrap();
        let ours = located.fde.map(|fde| interpreter::row_at(&fde, pc, [A::RETURN, A::FP, A::SP]).unwrap());
        let same = match (&ours, oracle.row(pc)) {
            (Some(row), Some((theirs, _))) => {
                covered += 1;
                agrees::<A>(row, &theirs)
            }
            (None, None) => located.gap.contains(&pc),
            _ => false,
        };
        different += usize::from(!same);
    }
    (covered, different)
}

#[test]
fn rows_equal_the_oracles() {
    for image in images() {
        let (covered, different) = compare_rows::<X86_64>(&image, 0, 20_000);
        assert!(covered > 15_000, "{covered} addresses covered");
        assert_eq!(different, 0);
    }
}

/// Negative control: tables that are 16 bytes off must be noticed.
#[test]
fn shifted_tables_differ() {
    for image in images() {
        let (_, different) = compare_rows::<X86_64>(&image, 16, 20_000);
        assert!(different > 500, "{different} differences");
    }
}

/// Compares the values that the rules give at every function's edges and at random addresses; counts the kinds of rules:
/// root, signal, slow, compact.
fn compare_values<A: Arch>(images: &[Image]) -> [usize; 4] {
    let mut kinds = [0usize; 4];
    for image in images {
        let (module, oracle) = (image.module(0), Oracle::new::<A>(image));
        let mut random = Random(3);
        let anywhere: Vec<u64> =
            (0..20_000).map(|_| module.start + random.next() % (module.end - module.start)).collect();
        for pc in anywhere.into_iter().chain(image.edges()) {
            let registers = random.registers::<A>(pc);
            let shape = compact::rule_at::<A>(&module, pc).shape();
            let Some((row, signal)) = oracle.row(pc) else {
                assert!(matches!(shape, Shape::NoCfi | Shape::Root | Shape::Signal), "{shape:?} at {pc:#x}");
                continue;
            };
            let [sp, fp] = [A::SP, A::FP].map(|column| registers.get(column).unwrap());
            let cursor = Cursor { pc, sp, fp, origin: Origin::Given };
            let ours = match shape {
                Shape::Root => {
                    kinds[0] += 1;
                    assert_eq!(row.register(Register(A::RETURN)), Some(gimli::RegisterRule::Undefined));
                    continue;
                }
                Shape::Signal => {
                    kinds[1] += 1;
                    assert!(signal);
                    let mut caller = Registers::unknown(0);
                    A::interrupted(sp, &mut RandomMemory, &mut caller).unwrap();
                    [caller.get(A::SP), caller.get(A::FP), Some(caller.pc())].map(Option::unwrap)
                }
                Shape::Slow => {
                    kinds[2] += 1;
                    let fde = module.locate(pc).unwrap().fde.unwrap();
                    let mut caller = Registers::unknown(0);
                    let found = restore::caller::<A, _>(&fde, pc, &registers, &mut RandomMemory, &mut caller);
                    assert_eq!(found, Ok(true));
                    [caller.get(A::SP), caller.get(A::FP), Some(caller.pc())].map(Option::unwrap)
                }
                // A routine of the C library keeps its return address elsewhere, but not yet at its first instructions,
                // whatever its description says.
                Shape::Unsupported => {
                    let column = module.locate(pc).unwrap().fde.unwrap().cie.return_column;
                    assert_ne!(column, A::RETURN, "{pc:#x}");
                    continue;
                }
                Shape::Link { cfa } => {
                    kinds[3] += 1;
                    [sp.wrapping_add(cfa), fp, A::strip(registers.get(A::RETURN).unwrap())]
                }
                _ => {
                    kinds[3] += 1;
                    let caller: Result<Cursor, End> =
                        cursor.follow::<A, _>(cursor.way::<A>(shape), &mut RandomMemory);
                    let caller = caller.unwrap();
                    [caller.sp, caller.fp, caller.pc]
                }
            };
            assert_eq!(Some(ours), oracle.values::<A>(&row, &registers), "{shape:?} at {pc:#x}");
        }
    }
    kinds
}

#[test]
fn values_equal_the_oracles() {
    let kinds = compare_values::<X86_64>(&images());
    let [root, signal, slow, compact] = kinds;
    assert!(root > 0 && signal > 0 && slow > 100 && compact > 50_000, "{kinds:?}");
}

/// Programs for aarch64, compiled in several ways, and the C library that they use.
#[test]
fn aarch64_equals_the_oracle() {
    let mut images = Vec::new();
    for flags in cross::FLAGS {
        let directory = tempfile::tempdir().unwrap();
        let Some(program) = cross::compile(directory.path(), flags) else { return };
        images.push(Image::load(program.to_str().unwrap()).unwrap());
    }
    let libraries = ["libc.so.6", "libm.so.6", "ld-linux-aarch64.so.1"];
    images.extend(
        libraries.map(|name| Image::load(&std::format!("/usr/aarch64-linux-gnu/lib/{name}")).unwrap()),
    );
    for image in &images {
        let (covered, different) = compare_rows::<Aarch64>(image, 0, 20_000);
        assert!(covered > 3000, "{covered} addresses covered");
        assert_eq!(different, 0);
        assert!(compare_rows::<Aarch64>(image, 16, 20_000).1 > 500);
    }
    let kinds = compare_values::<Aarch64>(&images);
    assert!(kinds[0] > 0 && kinds[3] > 50_000, "{kinds:?}");
}
