//! The forms that debug information comes in, as the machine's compilers and tools write them.

use std::path::Path;
use std::process::Command;

use super::compiled_tests::{
    INLINED, compile, file_name, key, names, resolve_module, resolved, run, skip, symbol,
};
use super::elf::{Elf, Files};
use super::{ModuleSymbols, Resolved};
use crate::database::SymbolSource;
use crate::open::OpenOptions;

/// Whether every level of the inlined chain is there, with where it is defined and called from.
fn is_full_chain(resolved: &Resolved) -> bool {
    let lines: Vec<_> = resolved.frames.iter().map(|f| (f.function.line, f.call_line)).collect();
    names(resolved) == ["carrier", "middle", "innermost"]
        && lines == [(Some(9), None), (Some(4), Some(10)), (Some(3), Some(5))]
        && resolved.frames.iter().all(|f| file_name(&f.function.file) == Some("a.c"))
        && (file_name(&resolved.file), resolved.line) == (Some("a.c"), Some(3))
}

/// Insists on full chains in `carrier`, whose place another file of the same build tells.
#[track_caller]
fn expect_chains(program: &Path, carrier: (u64, u64), options: &OpenOptions) -> ModuleSymbols {
    let (symbols, all) = resolved(program, carrier, options);
    let mut shown: Vec<_> = all.iter().collect();
    shown.dedup_by(|a, b| a == b);
    assert!(all.iter().any(is_full_chain), "{:?} {:?} {shown:?}", symbols.info, symbols.warnings);
    assert_eq!(symbols.info.source, SymbolSource::Debug);
    assert!(symbols.warnings.is_empty(), "{:?}", symbols.warnings);
    symbols
}

/// Runs a script in a directory; false, with the reason printed, if a tool is missing.
#[track_caller]
fn script(dir: &Path, needs: &[&str], text: &str) -> bool {
    let have = |tool: &&&str| {
        Command::new("sh")
            .args(["-c", "command -v \"$0\" >/dev/null", tool])
            .status()
            .is_ok_and(|s| s.success())
    };
    if let Some(missing) = needs.iter().find(|tool| !have(tool)) {
        assert!(std::env::var_os("CI").is_none(), "{missing} is missing");
        skip(missing);
        return false;
    }
    let output = Command::new("bash").current_dir(dir).args(["-ec", text]).output().unwrap();
    assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
    true
}

#[test]
fn every_version_of_dwarf_is_read() {
    for flags in [["-gdwarf-2"], ["-gdwarf-3"], ["-gdwarf-4"], ["-gdwarf-5"]] {
        let Some((_dir, program)) = compile("gcc", "a.c", INLINED, &["-O2", flags[0]]) else { return };
        expect_chains(&program, symbol(&program, "carrier"), &OpenOptions::default());
    }
    // Without `.debug_aranges` the heads of units tell where they lie.
    let Some((dir, program)) = compile("gcc", "a.c", INLINED, &["-O2", "-g"]) else { return };
    script(dir.path(), &["objcopy"], "objcopy -R .debug_aranges prog");
    expect_chains(&program, symbol(&program, "carrier"), &OpenOptions::default());
}

#[test]
fn compressed_sections_are_read() {
    for kind in ["zlib", "zlib-gnu", "zstd"] {
        let Some((dir, program)) = compile("gcc", "a.c", INLINED, &["-O2", "-g"]) else { return };
        let command = format!("objcopy --compress-debug-sections={kind} prog 2>/dev/null || echo old > old");
        if !script(dir.path(), &["objcopy"], &command) || dir.path().join("old").exists() {
            skip("objcopy does not know this kind of compression");
            continue;
        }
        expect_chains(&program, symbol(&program, "carrier"), &OpenOptions::default());
    }
}

#[test]
fn packages_of_split_units_are_read() {
    // binutils makes packages of version 4 only, and LLVM's tool of today never ends with units of version 5 by gcc.
    for (compiler, version, tool, command) in [
        ("gcc", "-gdwarf-4", "dwp", "dwp -e prog -o prog.dwp"),
        ("clang", "-gdwarf-4", "llvm-dwp", "timeout 60 llvm-dwp *.dwo -o prog.dwp"),
        ("clang", "-gdwarf-5", "llvm-dwp", "timeout 60 llvm-dwp *.dwo -o prog.dwp"),
    ] {
        let flags = ["-O2", "-g", "-gsplit-dwarf", version, "-fno-lto"];
        let Some((dir, program)) = compile(compiler, "a.c", INLINED, &flags) else { continue };
        let carrier = symbol(&program, "carrier");
        if !script(dir.path(), &[tool], &format!("{command}; rm *.dwo")) {
            continue;
        }
        expect_chains(&program, carrier, &OpenOptions::default());
        // Beside the debug file of a stripped program, and in a directory that is searched.
        script(
            dir.path(),
            &["objcopy", "strip"],
            "objcopy --only-keep-debug prog prog.debug; strip prog; \
            objcopy --add-gnu-debuglink=prog.debug prog; mkdir bin roots; mv prog bin; mv prog.dwp roots; \
            mv prog.debug bin",
        );
        let options = OpenOptions { debug_paths: vec![dir.path().join("roots")], ..OpenOptions::default() };
        expect_chains(&dir.path().join("bin/prog"), carrier, &options);
    }
}

#[test]
fn parts_that_debug_files_share_are_read() {
    for flags in ["", "--dwarf-5"] {
        let Some((dir, program)) = compile("gcc", "a.c", INLINED, &["-O2", "-g"]) else { return };
        let carrier = symbol(&program, "carrier");
        let text = format!(
            "gcc -O2 -g a.c -o prog; gcc -O2 -g -Dplain=other a.c -o other; mkdir shared; \
             dwz {flags} -l none -L none -m shared/common.debug -M ../shared/common.debug prog other; \
             mkdir bin; mv prog other bin"
        );
        if !script(dir.path(), &["dwz"], &text) {
            return;
        }
        let program = dir.path().join("bin/prog");
        let files = Files::default();
        assert!(Elf::open(&program, &files).unwrap().shared_link().is_some(), "nothing is shared");
        expect_chains(&program, carrier, &OpenOptions::default());
        // Under another name in a directory that is searched; then nowhere.
        script(dir.path(), &[], "mkdir roots; mv shared/common.debug roots/x");
        let options = OpenOptions { debug_paths: vec![dir.path().join("roots")], ..OpenOptions::default() };
        expect_chains(&program, carrier, &options);
        let (symbols, all) = resolved(&program, carrier, &OpenOptions::default());
        assert!(all.iter().all(|r| names(r)[0] == "carrier"));
        assert!(symbols.warnings.lines()[0].contains("dwz"), "{:?}", symbols.warnings);
    }
}

#[test]
fn a_linked_debug_file_without_build_id_needs_the_right_checksum() {
    let flags = ["-O2", "-g", "-Wl,--build-id=none"];
    let Some((dir, program)) = compile("gcc", "a.c", INLINED, &flags) else { return };
    let carrier = symbol(&program, "carrier");
    let text =
        "objcopy --only-keep-debug prog prog.debug; strip prog; objcopy --add-gnu-debuglink=prog.debug prog";
    if !script(dir.path(), &["objcopy", "strip"], text) {
        return;
    }
    expect_chains(&program, carrier, &OpenOptions::default());
    // One byte more, which changes nothing but the checksum.
    script(dir.path(), &[], "printf x >> prog.debug");
    let (symbols, all) = resolved(&program, carrier, &OpenOptions::default());
    assert_eq!(symbols.info.debug_file, None);
    assert!(!all.iter().any(is_full_chain));
}

#[test]
fn a_file_without_build_id_serves_until_it_changes() {
    let flags = ["-O2", "-g", "-Wl,--build-id=none"];
    let Some((_dir, program)) = compile("gcc", "a.c", INLINED, &flags) else { return };
    let (start, _) = symbol(&program, "carrier");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
    let name = |since_ns| {
        let options = OpenOptions::default();
        let symbols = super::resolve_module(&key(&program), &[start], since_ns, &options);
        (names(&symbols.resolve(start).unwrap())[0].to_owned(), symbols.warnings.lines())
    };
    assert_eq!(name(now), ("carrier".into(), vec![]));
    // Replaced after the measurement began.
    std::fs::copy(&program, program.with_extension("new")).unwrap();
    std::fs::rename(program.with_extension("new"), &program).unwrap();
    let (shown, warnings) = name(now);
    assert_eq!(shown, format!("prog+0x{start:x}"));
    assert!(warnings[0].contains("no build id and was changed"), "{warnings:?}");
}

#[test]
fn the_small_symbol_table_of_stripped_files_is_read() {
    let Some((dir, program)) = compile("gcc", "a.c", INLINED, &["-O2", "-g"]) else { return };
    let (carrier, plain) = (symbol(&program, "carrier"), symbol(&program, "plain"));
    let text = "strip --strip-debug -o mini prog; xz mini; strip -s prog; \
        objcopy --add-section .gnu_debugdata=mini.xz prog";
    if !script(dir.path(), &["objcopy", "strip", "xz"], text) {
        return;
    }
    for (range, name) in [(carrier, "carrier"), (plain, "plain")] {
        let (symbols, all) = resolved(&program, range, &OpenOptions::default());
        assert_eq!(symbols.info.source, SymbolSource::Symbols);
        assert!(all.iter().all(|r| names(r) == [name]), "{all:?}");
    }
    // A damaged one is none.
    script(dir.path(), &[], "printf 'no xz' > x; objcopy --update-section .gnu_debugdata=x prog");
    let (symbols, _) = resolved(&program, carrier, &OpenOptions::default());
    assert_eq!(symbols.info.source, SymbolSource::Bounds);
}

#[test]
fn functions_of_other_units_are_named() {
    let Some((dir, program)) = compile("gcc", "a.c", INLINED, &["-O2", "-g"]) else { return };
    let text = "printf 'int helper(int x);\nint main(int n, char **v) { (void)v; return helper(n) + helper(n + 1); }\n' > m.c; \
        printf 'static volatile int s;\nint helper(int x) {\n  for (int i = 0; i < x; i++) s += i;\n  return s;\n}\n' > h.c; \
        gcc -O3 -g -flto m.c h.c -o prog";
    if !script(dir.path(), &["gcc"], text) {
        return;
    }
    let (_, all) = resolved(&program, symbol(&program, "main"), &OpenOptions::default());
    let inlined = all.iter().find(|r| names(r) == ["main", "helper"]).expect("helper is inlined");
    let helper = &inlined.frames[1];
    assert_eq!((file_name(&helper.function.file), helper.function.line), (Some("h.c"), Some(2)));
    assert_eq!(helper.call_line, Some(2));
    assert_eq!(file_name(&inlined.file), Some("h.c"));
}

#[test]
fn clones_and_parts_are_shown_as_their_function() {
    let source = "\
#include <stdlib.h>
#include <stdio.h>
static volatile long sink;
static __attribute__((noinline)) long work(long n, int kind, const char *why) {
  if (__builtin_expect(n < 0, 0)) { fprintf(stderr, \"%s %d\\n\", why, kind); abort(); }
  for (long i = 0; i < n; i++) sink += i * kind;
  return sink;
}
int main(int n, char **v) { (void)v; return (int)(work(n, 3, \"a\") + work(n + 2, 3, \"a\")); }
";
    let Some((_dir, program)) = compile("gcc", "a.c", source, &["-O3", "-g"]) else { return };
    let files = Files::default();
    let elf = Elf::open(&program, &files).unwrap();
    let parts: Vec<_> = elf.symbols().into_iter().filter(|s| s.name.starts_with("work.")).collect();
    assert!(parts.iter().any(|s| s.name.contains("constprop")), "{parts:?}");
    for part in parts {
        let (_, all) = resolved(&program, (part.address, part.size), &OpenOptions::default());
        assert!(all.iter().all(|r| names(r)[0] == "work"), "{}: {all:?}", part.name);
    }
}

#[test]
fn prelinked_files_meet_their_debug_files() {
    let Some((dir, program)) = compile("gcc", "a.c", INLINED, &["-O2", "-g", "-fPIC", "-shared"]) else {
        return;
    };
    let (start, size) = symbol(&program, "carrier");
    let text =
        "objcopy --only-keep-debug prog prog.debug; strip prog; objcopy --add-gnu-debuglink=prog.debug prog";
    if !script(dir.path(), &["objcopy", "strip"], text) {
        return;
    }
    let moved = 0x3e00_0000;
    let mut bytes = std::fs::read(&program).unwrap();
    prelink(&mut bytes, moved);
    std::fs::write(&program, bytes).unwrap();
    expect_chains(&program, (start + moved, size), &OpenOptions::default());
}

/// Moves a stripped 64-bit library to another address, as prelinking did: segments, sections, dynamic symbols.
fn prelink(bytes: &mut [u8], by: u64) {
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let half =
        |bytes: &[u8], at: usize| usize::from(u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()));
    let add = |bytes: &mut [u8], at: usize| {
        let moved = word(bytes, at) + by;
        bytes[at..at + 8].copy_from_slice(&moved.to_le_bytes());
    };
    let (segments, sections) = (word(bytes, 32) as usize, word(bytes, 40) as usize);
    for index in 0..half(bytes, 56) {
        for field in [16, 24] {
            add(bytes, segments + index * 56 + field);
        }
    }
    for index in 0..half(bytes, 60) {
        let section = sections + index * 64;
        if word(bytes, section + 8) & u64::from(object::elf::SHF_ALLOC) != 0 {
            add(bytes, section + 16);
        }
        let kind = u32::from_le_bytes(bytes[section + 4..section + 8].try_into().unwrap());
        if kind == object::elf::SHT_DYNSYM {
            let (start, size) = (word(bytes, section + 24) as usize, word(bytes, section + 32) as usize);
            for symbol in
                (start..start + size).step_by(24).filter(|at| half(bytes, at + 6) != 0).collect::<Vec<_>>()
            {
                add(bytes, symbol + 8);
            }
        }
    }
}

#[test]
fn code_without_names_says_what_it_follows() {
    let source = "\
static volatile unsigned long sink;
__attribute__((noinline, noclone)) static void hidden(unsigned long n) { for (; n; n--) sink += n; }
void offered(unsigned long n) { hidden(n); sink++; }
";
    // In the order of the source.
    let flags = ["-O1", "-g", "-fPIC", "-shared", "-fno-toplevel-reorder"];
    let text = source.replace("static void hidden", "void hidden_").replace("hidden(n)", "hidden_(n)");
    let text = text
        + "__attribute__((noinline, noclone)) static void last(unsigned long n) { for (; n; n--) sink *= n; }\n\
        void (*volatile keep)(unsigned long) = last;\n";
    let Some((dir, program)) = compile("gcc", "a.c", &text, &flags) else { return };
    let (last, offered) = (symbol(&program, "last"), symbol(&program, "offered"));
    if !run("strip", dir.path(), &["prog"]) {
        return;
    }
    let (_, all) = resolved(&program, last, &OpenOptions::default());
    let expected = format!("prog+0x{:x} [after offered]", last.0);
    assert!(all.iter().all(|r| names(r) == [expected.as_str()]), "{all:?}");
    let (_, all) = resolved(&program, offered, &OpenOptions::default());
    assert!(all.iter().all(|r| names(r) == ["offered"]));
}

#[test]
fn identical_functions_are_marked() {
    let source = "\
int __attribute__((noinline)) first(int x) { return x * 3 + 1; }
int __attribute__((noinline)) second(int x) { return x * 3 + 1; }
int (*volatile a)(int) = first;
int (*volatile b)(int) = second;
int main(int n, char **) { return a(n) + b(n); }
";
    let flags = ["-O2", "-g", "-ffunction-sections", "-fno-ipa-icf", "-fuse-ld=lld", "-Wl,--icf=all"];
    let dir = tempfile::tempdir().unwrap();
    if !script(dir.path(), &["g++", "ld.lld"], "true") {
        return;
    }
    let Some((_dir, program)) = compile("g++", "a.cpp", source, &flags) else { return };
    let (start, second) = (symbol(&program, "_Z5firsti"), symbol(&program, "_Z6secondi"));
    assert_eq!(start.0, second.0, "the linker did not fold them");
    let (_, all) = resolved(&program, start, &OpenOptions::default());
    let shown = names(&all[0])[0];
    assert!(["first [+1 identical]", "second [+1 identical]"].contains(&shown), "{shown}");
}

#[test]
fn static_programs_have_names_for_calls_that_are_resolved_at_start() {
    let source = "#include <string.h>\nchar a[9999], b[9999];\n\
        int main(int n, char **v) { memcpy(a, b, n * 77); return strlen(v[0]) + a[5]; }\n";
    let Some((_dir, program)) = compile("gcc", "a.c", source, &["-O1", "-static", "-fno-builtin"]) else {
        return;
    };
    let files = Files::default();
    let elf = Elf::open(&program, &files).unwrap();
    use object::{Object, ObjectSection};
    let Some(plt) = [".plt", ".iplt"].iter().find_map(|name| elf.object.section_by_name(name)) else {
        return skip("no linkage table");
    };
    let addresses: Vec<u64> = (plt.address()..plt.address() + plt.size()).collect();
    let symbols = resolve_module(&key(&program), &addresses, &OpenOptions::default());
    let all: Vec<String> =
        addresses.iter().map(|a| names(&symbols.resolve(*a).unwrap())[0].to_owned()).collect();
    assert!(all.contains(&"memcpy@plt".to_owned()), "{all:?}");
}

#[test]
fn what_is_kept_is_what_would_be_found() {
    let Some((dir, program)) = compile("gcc", "a.c", INLINED, &["-O2", "-g"]) else { return };
    let (carrier, plain) = (symbol(&program, "carrier"), symbol(&program, "plain"));
    let kept = dir.path().join("kept");
    let with = OpenOptions { symbol_cache: Some(kept.clone()), ..OpenOptions::default() };
    let entries = || std::fs::read_dir(&kept).map_or(0, Iterator::count);
    // The second range is added to the first; then both are there.
    for (range, count) in [(carrier, 1), (plain, 1), (carrier, 1), (plain, 1)] {
        let (symbols, all) = resolved(&program, range, &with);
        let (fresh, expected) = resolved(&program, range, &OpenOptions::default());
        assert_eq!(all, expected);
        assert_eq!((symbols.info, symbols.warnings), (fresh.info, fresh.warnings));
        assert_eq!(entries(), count);
    }
    // Other source paths, and a debug file that was not there before, are other entries.
    let old = dir.path().canonicalize().unwrap().to_string_lossy().into_owned();
    let moved = OpenOptions { path_maps: vec![(old, "/moved".into())], ..with.clone() };
    let (_, all) = resolved(&program, plain, &moved);
    assert_eq!(all[0].file.as_deref(), Some("/moved/a.c"));
    assert_eq!(entries(), 2);
    script(dir.path(), &["objcopy"], "cp prog whole; strip prog");
    let (_, all) = resolved(&program, plain, &with);
    assert_eq!(names(&all[0]), [format!("prog+0x{:x}", plain.0)]);
    script(
        dir.path(),
        &["objcopy"],
        "mkdir .debug; objcopy --only-keep-debug whole .debug/prog.debug; \
        cd .debug; objcopy --add-gnu-debuglink=prog.debug ../prog",
    );
    let (_, all) = resolved(&program, plain, &with);
    assert_eq!((names(&all[0]), all[0].line), (vec!["plain"], Some(13)));
    // Another build in the same place has nothing of it.
    let gone = key(&program);
    script(dir.path(), &["gcc"], "sed -i s/150/151/ a.c; gcc -O2 -g a.c -o prog");
    let symbols = resolve_module(&gone, &[plain.0], &with);
    assert!(symbols.warnings.lines()[0].contains("another build"), "{:?}", symbols.warnings);
    assert_eq!(names(&symbols.resolve(plain.0).unwrap()), [format!("prog+0x{:x}", plain.0)]);
}

#[test]
fn incomplete_results_are_not_kept() {
    let flags = ["-O2", "-g", "-gsplit-dwarf", "-fno-lto"];
    let Some((dir, program)) = compile("gcc", "a.c", INLINED, &flags) else { return };
    let carrier = symbol(&program, "carrier");
    let options = OpenOptions { symbol_cache: Some(dir.path().join("kept")), ..OpenOptions::default() };
    script(dir.path(), &[], "mkdir away; mv *.dwo away");
    let (symbols, _) = resolved(&program, carrier, &options);
    assert_eq!(symbols.warnings.lines().len(), 1);
    script(dir.path(), &[], "mv away/* .");
    expect_chains(&program, carrier, &options);
}

#[test]
fn rust_names_of_both_kinds_are_paths() {
    let source = "\
mod till { pub struct Till<T>(pub T); impl<T: Copy + std::ops::Add<Output = T>> Till<T> { #[inline(never)] pub fn twice(&self) -> T { self.0 + self.0 } } }
fn main() { println!(\"{}\", till::Till(std::env::args().count()).twice()); }
";
    for (kind, shown) in [("v0", "<a::till::Till<usize>>::twice"), ("legacy", "a::till::Till<T>::twice")] {
        let flags = [
            "-Copt-level=2",
            "-Cdebuginfo=2",
            &format!("-Csymbol-mangling-version={kind}"),
            "-Zunstable-options",
        ];
        let flags = if kind == "v0" { &flags[..3] } else { &flags[..] };
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.rs"), source).unwrap();
        let mut rustc = Command::new("rustc");
        rustc.current_dir(dir.path()).env("RUSTC_BOOTSTRAP", "1").args(flags).args(["a.rs", "-o", "prog"]);
        let Ok(output) = rustc.output() else { return skip("rustc") };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let program = dir.path().join("prog");
        let files = Files::default();
        let elf = Elf::open(&program, &files).unwrap();
        let twice = elf.symbols().into_iter().find(|s| s.name.contains("twice")).expect("twice is there");
        let (_, all) = resolved(&program, (twice.address, twice.size), &OpenOptions::default());
        assert!(all.iter().all(|r| names(r)[0] == shown), "{:?}", all[0]);
    }
}
