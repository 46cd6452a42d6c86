//! Tests on programs that the machine's compilers make, and on the test binary itself.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use object::{Object, ObjectSymbol};

use super::elf::{Elf, Files};
use super::{ModuleSymbols, Resolved};
use crate::database::SymbolSource;
use crate::load::{ModuleKey, Origin};
use crate::open::OpenOptions;

/// Compiles a source in a directory of its own; `None`, with the reason printed, where there is no compiler.
pub(super) fn compile(
    compiler: &str,
    file: &str,
    source: &str,
    flags: &[&str],
) -> Option<(tempfile::TempDir, PathBuf)> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(file), source).unwrap();
    compile_in(dir, compiler, file.as_ref(), flags)
}

/// As [`compile`], of a file where it lies.
pub(super) fn compile_file(
    compiler: &str,
    source: &Path,
    flags: &[&str],
) -> Option<(tempfile::TempDir, PathBuf)> {
    compile_in(tempfile::tempdir().unwrap(), compiler, source, flags)
}

fn compile_in(
    dir: tempfile::TempDir,
    compiler: &str,
    source: &Path,
    flags: &[&str],
) -> Option<(tempfile::TempDir, PathBuf)> {
    let status =
        Command::new(compiler).current_dir(dir.path()).args(flags).arg(source).args(["-o", "prog"]).output();
    match status {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let program = dir.path().join("prog");
            Some((dir, program))
        }
        Err(error) => {
            skip(&format!("{compiler}: {error}"));
            None
        }
    }
}

#[expect(clippy::print_stderr, reason = "a test that is left out says why")]
pub(super) fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}

pub(super) fn run(program: &str, dir: &Path, args: &[&str]) -> bool {
    match Command::new(program).current_dir(dir).args(args).status() {
        Ok(status) => status.success(),
        Err(error) => {
            skip(&format!("{program}: {error}"));
            false
        }
    }
}

/// Resolves addresses of a module that may have changed at any time.
pub(super) fn resolve_module(key: &ModuleKey, addresses: &[u64], options: &OpenOptions) -> ModuleSymbols {
    super::resolve_module(key, addresses, u64::MAX, options)
}

pub(super) fn key(path: &Path) -> ModuleKey {
    let files = Files::default();
    let elf = Elf::open(path, &files).unwrap();
    ModuleKey {
        path: path.to_string_lossy().into_owned(),
        build_id: elf.build_id().to_vec(),
        origin: Origin::File,
    }
}

/// Address and size of a symbol.
pub(super) fn symbol(path: &Path, name: &str) -> (u64, u64) {
    let files = Files::default();
    let elf = Elf::open(path, &files).unwrap();
    let symbol =
        elf.object.symbols().find(|s| s.name() == Ok(name)).unwrap_or_else(|| panic!("no symbol {name}"));
    (symbol.address(), symbol.size())
}

/// Addresses and sizes of the symbols of a function, however its name is mangled.
pub(super) fn symbols_named(path: &Path, name: &str) -> Vec<(u64, u64)> {
    let files = Files::default();
    let elf = Elf::open(path, &files).unwrap();
    let symbols = elf.symbols().into_iter().filter(|s| s.size > 0);
    let mut found: Vec<(u64, u64)> =
        symbols.filter(|s| s.name.contains(name)).map(|s| (s.address, s.size)).collect();
    found.dedup();
    found
}

/// Every address of a symbol's code.
pub(super) fn resolved(
    program: &Path,
    range: (u64, u64),
    options: &OpenOptions,
) -> (ModuleSymbols, Vec<Resolved>) {
    let addresses: Vec<u64> = (range.0..range.0 + range.1).collect();
    let symbols = resolve_module(&key(program), &addresses, options);
    let all = addresses.iter().map(|a| symbols.resolve(*a).unwrap()).collect();
    (symbols, all)
}

pub(super) fn names(resolved: &Resolved) -> Vec<&str> {
    resolved.frames.iter().map(|f| &*f.function.name).collect()
}

pub(super) fn file_name(path: &Option<Arc<str>>) -> Option<&str> {
    path.as_deref().and_then(|p| p.rsplit('/').next())
}

pub(super) const INLINED: &str = "\
static volatile unsigned long sink;
#define BURN(n) do { for (unsigned long i = 0; i < n; i++) sink += i; } while (0)
static inline __attribute__((always_inline)) void innermost(void) { BURN(150); }
static inline __attribute__((always_inline)) void middle(void) {
  innermost();
  BURN(75);
}
__attribute__((noinline, noclone))
void carrier(void) {
  middle();
  sink++;
}
__attribute__((noinline, noclone)) void plain(void) { BURN(150); }
int main(void) { carrier(); plain(); return 0; }
";

#[test]
fn inlined_functions_have_their_call_sites() {
    let Some((_dir, program)) = compile("gcc", "a.c", INLINED, &["-O2", "-g"]) else { return };
    let (symbols, all) = resolved(&program, symbol(&program, "carrier"), &OpenOptions::default());
    assert_eq!(symbols.info.source, SymbolSource::Debug);
    assert!(symbols.warnings.lines().is_empty(), "{:?}", symbols.warnings);
    let deepest = all.iter().find(|r| names(r) == ["carrier", "middle", "innermost"]).expect("inlined chain");
    let lines: Vec<_> = deepest.frames.iter().map(|f| (f.function.line, f.call_line)).collect();
    assert_eq!(lines, [(Some(9), None), (Some(4), Some(10)), (Some(3), Some(5))]);
    assert_eq!((file_name(&deepest.file), deepest.line), (Some("a.c"), Some(3)));
    assert!(all.iter().any(|r| names(r) == ["carrier"] && r.line == Some(11)));
    assert!(all.iter().all(|r| names(r)[0] == "carrier"));
    let (start, size) = symbol(&program, "carrier");
    assert!((start..start + size).all(|address| symbols.function_start(address) == Some(start)));
    assert!(all.iter().all(|r| file_name(&r.frames[0].function.file) == Some("a.c")));
}

#[test]
fn source_paths_can_be_moved() {
    let Some((dir, program)) = compile("gcc", "a.c", INLINED, &["-O2", "-g"]) else { return };
    let old = dir.path().canonicalize().unwrap().to_string_lossy().into_owned();
    let options = OpenOptions { path_maps: vec![(old, "/moved".into())], ..OpenOptions::default() };
    let (_, all) = resolved(&program, symbol(&program, "plain"), &options);
    assert_eq!(all[0].frames[0].function.file.as_deref(), Some("/moved/a.c"));
    assert_eq!(all[0].file.as_deref(), Some("/moved/a.c"));
}

#[test]
fn symbols_serve_without_debug_information() {
    let Some((_dir, program)) = compile("gcc", "a.c", INLINED, &["-O2"]) else { return };
    let (symbols, all) = resolved(&program, symbol(&program, "carrier"), &OpenOptions::default());
    assert_eq!(symbols.info.source, SymbolSource::Symbols);
    assert!(all.iter().all(|r| names(r) == ["carrier"] && r.line.is_none()));
}

#[test]
fn a_stripped_function_is_one_name_that_begins_where_it_begins() {
    let Some((dir, program)) = compile("gcc", "a.c", INLINED, &["-O2", "-g"]) else { return };
    let (carrier, plain) = (symbol(&program, "carrier"), symbol(&program, "plain"));
    if !run("strip", dir.path(), &["prog"]) {
        return;
    }
    for range in [carrier, plain] {
        let (symbols, all) = resolved(&program, range, &OpenOptions::default());
        assert_eq!(symbols.info.source, SymbolSource::Bounds);
        let expected = format!("prog+0x{:x}", range.0);
        assert!(all.iter().all(|r| names(r) == [expected.as_str()]), "{expected}: {all:?}");
    }
}

#[test]
fn split_debug_files_are_found_by_link_and_build_id_and_never_taken_wrong() {
    let Some((dir, program)) = compile("gcc", "a.c", INLINED, &["-O2", "-g"]) else { return };
    let carrier = symbol(&program, "carrier");
    let id = super::debug_files::hex(&key(&program).build_id);
    let at = dir.path();
    let debug = at.join("roots/.build-id").join(&id[..2]).join(format!("{}.debug", &id[2..]));
    std::fs::create_dir_all(debug.parent().unwrap()).unwrap();
    std::fs::create_dir_all(at.join(".debug")).unwrap();
    if !run("objcopy", at, &["--only-keep-debug", "prog", debug.to_str().unwrap()])
        || !run("strip", at, &["-o", "bare", "prog"])
        || !run("objcopy", at, &["--only-keep-debug", "prog", "prog.debug"])
        || !run("objcopy", at, &["--add-gnu-debuglink=prog.debug", "bare", "linked"])
    {
        return;
    }
    std::fs::rename(at.join("prog.debug"), at.join(".debug/prog.debug")).unwrap();
    let full = |r: &Resolved| names(r) == ["carrier", "middle", "innermost"];
    let options = OpenOptions { debug_paths: vec![at.join("roots")], ..OpenOptions::default() };
    let (symbols, all) = resolved(&at.join("bare"), carrier, &options);
    assert!(all.iter().any(full));
    assert_eq!(symbols.info.debug_file.as_deref(), debug.to_str());
    let (_, all) = resolved(&at.join("linked"), carrier, &OpenOptions::default());
    assert!(all.iter().any(full));
    // Another program's debug file under the right name.
    let other = INLINED.replace("150", "151");
    let Some((other_dir, _)) = compile("gcc", "a.c", &other, &["-O2", "-g"]) else { return };
    std::fs::copy(other_dir.path().join("prog"), &debug).unwrap();
    let (symbols, all) = resolved(&at.join("bare"), carrier, &options);
    assert_eq!(symbols.info.debug_file, None);
    assert!(!all.iter().any(full));
}

#[test]
fn split_units_are_read_where_they_are() {
    let flags = ["-O2", "-g", "-gsplit-dwarf", "-fno-lto"];
    let Some((dir, program)) = compile("gcc", "a.c", INLINED, &flags) else { return };
    let carrier = symbol(&program, "carrier");
    let full = |r: &Resolved| names(r) == ["carrier", "middle", "innermost"];
    let (_, all) = resolved(&program, carrier, &OpenOptions::default());
    assert!(all.iter().any(full), "{all:?}");
    for entry in std::fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "dwo") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let (symbols, all) = resolved(&program, carrier, &OpenOptions::default());
    assert!(all.iter().all(|r| names(r) == ["carrier"] && r.line.is_some()), "{all:?}");
    let warnings = symbols.warnings.lines();
    assert!(
        warnings.len() == 1 && warnings[0].contains("1 split debug files (.dwo) are missing"),
        "{warnings:?}"
    );
}

#[test]
fn another_build_and_a_missing_file_give_no_names() {
    let Some((dir, program)) = compile("gcc", "a.c", INLINED, &["-O2", "-g"]) else { return };
    let (start, _) = symbol(&program, "carrier");
    let mut other = key(&program);
    other.build_id[0] ^= 1;
    let symbols = resolve_module(&other, &[start], &OpenOptions::default());
    assert_eq!(names(&symbols.resolve(start).unwrap()), [format!("prog+0x{start:x}")]);
    assert!(symbols.warnings.lines()[0].contains("another build"), "{:?}", symbols.warnings);
    // The right build elsewhere, under a path that is searched.
    let right = key(&program);
    std::fs::create_dir(dir.path().join("saved")).unwrap();
    std::fs::rename(&program, dir.path().join("saved/of-another-name")).unwrap();
    let symbols = resolve_module(&right, &[start], &OpenOptions::default());
    assert!(symbols.warnings.lines()[0].contains("no names"), "{:?}", symbols.warnings);
    let options = OpenOptions { debug_paths: vec![dir.path().join("saved")], ..OpenOptions::default() };
    let symbols = resolve_module(&right, &[start], &options);
    assert_eq!(names(&symbols.resolve(start).unwrap())[0], "carrier");
}

#[test]
fn functions_of_one_name_are_told_apart_by_file() {
    let source = "\
static __attribute__((noinline, noclone)) int helper(int x) { __asm__ volatile(\"\"); return x + 1; }
int main(int n, char **v) { (void)v; return helper(n); }
";
    let Some((_dir, program)) = compile("gcc", "one.c", source, &["-O2", "-g"]) else { return };
    let (_, all) = resolved(&program, symbol(&program, "helper"), &OpenOptions::default());
    assert_eq!(file_name(&all[0].frames[0].function.file), Some("one.c"));
    assert_eq!(all[0].frames[0].function.line, Some(1));
}

#[test]
fn cpp_names_are_whole_and_overloads_told_apart() {
    let source = "\
namespace shop {
struct Till {
  int total = 0;
  __attribute__((noinline)) void add(int x) { total += x; __asm__ volatile(\"\" ::: \"memory\"); }
  __attribute__((noinline)) void add(double x) { total += (int)x; __asm__ volatile(\"\" ::: \"memory\"); }
  template <class T> __attribute__((noinline, noclone, noipa)) T twice(T x) { total++; __asm__ volatile(\"\" ::: \"memory\"); return x + x; }
};
namespace {
__attribute__((noinline)) void local(int n) { for (volatile int i = 0; i < n; i++) {} }
}
}
int main() { shop::Till t; t.add(1); t.add(2.0); t.twice(3); shop::local(4); return t.total; }
";
    let Some((_dir, program)) = compile("g++", "a.cpp", source, &["-O2", "-g"]) else { return };
    let name = |symbol_name: &str| {
        let (start, _) = symbol(&program, symbol_name);
        let symbols = resolve_module(&key(&program), &[start], &OpenOptions::default());
        symbols.resolve(start).unwrap().frames[0].function.name.to_string()
    };
    assert_eq!(name("_ZN4shop4Till3addEi"), "shop::Till::add(int)");
    assert_eq!(name("_ZN4shop4Till3addEd"), "shop::Till::add(double)");
    assert_eq!(name("_ZN4shop4Till5twiceIiEET_S2_"), "shop::Till::twice<int>");
    assert_eq!(name("main"), "main");
    let files = Files::default();
    let elf = Elf::open(&program, &files).unwrap();
    let local =
        elf.object.symbols().filter_map(|s| s.name().ok()).find(|n| n.contains("5local")).unwrap().to_owned();
    assert_eq!(name(&local), "shop::(anonymous namespace)::local");
}

#[test]
fn fortran_names_are_those_of_the_source() {
    let source = "\
module solver_mod
contains
  subroutine relax(x)
    integer, intent(inout) :: x
    x = x + 1
  end subroutine
end module
subroutine outside(x)
  integer, intent(inout) :: x
  x = x * 3
end subroutine
program heat_demo
  use solver_mod
  integer :: k
  k = 1
  call relax(k)
  call outside(k)
  call inner_part()
  print *, k
contains
  subroutine inner_part()
    k = k + 2
    if (k > 100) print *, 'large'
  end subroutine
end program
";
    let flags = ["-O1", "-g", "-fno-inline"];
    let Some((_dir, program)) = compile("gfortran", "a.f90", source, &flags) else { return };
    for (symbol_name, shown) in [
        ("__solver_mod_MOD_relax", "solver_mod::relax"),
        ("outside_", "outside"),
        ("MAIN__", "heat_demo"),
        ("inner_part.0", "inner_part"),
    ] {
        let (start, _) = symbol(&program, symbol_name);
        let symbols = resolve_module(&key(&program), &[start], &OpenOptions::default());
        assert_eq!(names(&symbols.resolve(start).unwrap()), [shown]);
    }
}

#[test]
fn linkage_table_entries_have_the_name_that_they_jump_to() {
    let source =
        "#include <stdlib.h>\nint main(int n, char **v) { return n > 5 ? atoi(v[5]) : abs(n) + rand(); }\n";
    let Some((_dir, program)) = compile("gcc", "a.c", source, &["-O1", "-z", "lazy"]) else { return };
    let files = Files::default();
    let elf = Elf::open(&program, &files).unwrap();
    if elf.object.architecture() != object::Architecture::X86_64 {
        return skip("entries of other machines have no names");
    }
    use object::ObjectSection;
    let plt = [".plt.sec", ".plt"].iter().find_map(|n| elf.object.section_by_name(n)).unwrap();
    let addresses: Vec<u64> = (plt.address()..plt.address() + plt.size()).collect();
    let symbols = resolve_module(&key(&program), &addresses, &OpenOptions::default());
    let all: Vec<String> =
        addresses.iter().map(|a| names(&symbols.resolve(*a).unwrap())[0].to_owned()).collect();
    assert!(all.contains(&"rand@plt".to_owned()), "{all:?}");
}

#[test]
fn damaged_files_are_survived() {
    let Some((dir, program)) = compile("gcc", "a.c", INLINED, &["-O2", "-g"]) else { return };
    let (start, size) = symbol(&program, "carrier");
    let key = key(&program);
    let addresses: Vec<u64> = (start..start + size).collect();
    let good = std::fs::read(&program).unwrap();
    let damaged = dir.path().join("damaged");
    let mut random = 1u64;
    for round in 0..150 {
        let mut bytes = good.clone();
        for _ in 0..=round % 40 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (random >> 33) as usize % bytes.len();
            bytes[at] = (random >> 17) as u8;
        }
        if round % 10 == 0 {
            bytes.truncate((random >> 20) as usize % bytes.len());
        }
        std::fs::write(&damaged, bytes).unwrap();
        let key = ModuleKey { path: damaged.to_string_lossy().into_owned(), ..key.clone() };
        let symbols = resolve_module(&key, &addresses, &OpenOptions::default());
        assert!(addresses.iter().all(|a| !symbols.resolve(*a).unwrap().frames.is_empty()));
    }
}

#[test]
#[inline(never)]
fn the_test_binary_knows_itself() {
    let program = std::env::current_exe().unwrap();
    let files = Files::default();
    let elf = Elf::open(&program, &files).unwrap();
    let mangled =
        elf.object.symbols().filter_map(|s| s.name().ok().map(|n| (n.to_owned(), s.address(), s.size())));
    let (_, start, size) = mangled
        .into_iter()
        .find(|(n, ..)| n.contains("the_test_binary_knows_itself") && !n.contains("closure"))
        .unwrap();
    let (_, all) = resolved(&program, (start, size), &OpenOptions::default());
    let outer = &all[0].frames[0].function;
    assert!(outer.name.ends_with("compiled_tests::the_test_binary_knows_itself"), "{}", outer.name);
    assert_eq!(file_name(&outer.file), Some("compiled_tests.rs"));
    assert!(
        all.iter().any(|r| r.frames.len() > 1 && r.frames[1].call_line.is_some()) || cfg!(debug_assertions)
    );
}

#[test]
fn our_own_vdso_is_resolved_if_it_is_the_same_build() {
    let Some(bytes) = super::vdso::image() else { return skip("there is no vDSO") };
    let files = Files::default();
    let elf = Elf::parse(Path::new("[vdso]"), files.keep_bytes(bytes), &files).unwrap();
    let function = elf.symbols().into_iter().find(|s| s.size > 0).unwrap();
    let key = ModuleKey { path: "[vdso]".into(), build_id: elf.build_id().to_vec(), origin: Origin::Vdso };
    let symbols = resolve_module(&key, &[function.address], &OpenOptions::default());
    let name = symbols.resolve(function.address).unwrap().frames[0].function.name.to_string();
    assert!(
        name.contains("vdso") || name.contains("clock") || name.contains("time") || name.contains("cpu"),
        "{name}"
    );
    let other = ModuleKey { build_id: vec![1; 20], ..key };
    let symbols = resolve_module(&other, &[function.address], &OpenOptions::default());
    assert!(symbols.warnings.lines()[0].contains("another kernel"));
}
