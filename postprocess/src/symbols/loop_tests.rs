//! Loops of the kernels in `tests/programs/loops`, as compilers leave them: the sources say which there are.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::compiled_tests::{compile_file, resolved, symbols_named};
use super::resolved::Resolved;
use crate::open::OpenOptions;

/// Names of lines and loops of functions that a source's comments tell.
struct Marks {
    lines: BTreeMap<u32, String>,
    /// Function and its loops, nested ones in parentheses.
    functions: Vec<(String, String)>,
}

impl Marks {
    fn read(source: &Path) -> Marks {
        let text = std::fs::read_to_string(source).unwrap();
        let lines = (1..).zip(text.lines());
        let mark = |(number, line): (u32, &str)| Some((number, line.rsplit_once('@')?.1.to_owned()));
        let functions = text.lines().filter_map(|line| {
            let comment = line.trim_start().strip_prefix("// ").or(line.trim_start().strip_prefix("! "))?;
            let (function, loops) = comment.strip_prefix("loops ")?.split_once(": ")?;
            Some((function.to_owned(), loops.to_owned()))
        });
        Marks { functions: functions.collect(), lines: lines.filter_map(mark).collect() }
    }

    fn name(&self, line: Option<u32>) -> String {
        let line = line.expect("a loop has a line");
        self.lines.get(&line).cloned().unwrap_or_else(|| format!("line-{line}"))
    }
}

/// Loops with those in them, by line and name. The names of inlined functions stand before those of their loops.
#[derive(Default)]
struct Loops(BTreeMap<(Option<u32>, String), Loops>);

impl Loops {
    fn add(&mut self, address: &Resolved, marks: &Marks) {
        let mut here = self;
        let mut functions = String::new();
        for (depth, frame) in address.frames.iter().enumerate() {
            if depth > 0 {
                write!(functions, "{}.", frame.function.name.split(['(', '<']).next().unwrap()).unwrap();
            }
            for l in &frame.loops {
                let name = std::mem::take(&mut functions) + &marks.name(l.line);
                here = here.0.entry((l.line, name)).or_default();
            }
        }
    }

    fn text(&self) -> String {
        let one = |((_, name), below): (&(Option<u32>, String), &Loops)| match below.text() {
            none if none.is_empty() => name.clone(),
            below => format!("{name}({below})"),
        };
        self.0.iter().map(one).collect::<Vec<_>>().join(" ")
    }
}

fn check(compiler: &str, source: &str, flags: &[&str]) {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/loops").join(source);
    let Some((_dir, program)) = compile_file(compiler, &source, flags) else { return };
    let marks = Marks::read(&source);
    let mut wrong = String::new();
    for (function, expected) in &marks.functions {
        let mut loops = Loops::default();
        for range in symbols_named(&program, function) {
            let (_, all) = resolved(&program, range, &OpenOptions::default());
            all.iter().for_each(|address| loops.add(address, &marks));
        }
        if loops.text() != *expected {
            writeln!(wrong, "{function}: {expected}\n   found {}", loops.text()).unwrap();
        }
    }
    assert!(wrong.is_empty() && !marks.functions.is_empty(), "{compiler} {flags:?}\n{wrong}");
}

#[test]
fn loops_of_c_are_as_written() {
    for flags in [["-O1", "-g"], ["-O2", "-g"], ["-O3", "-g"]] {
        check("gcc", "kernels.c", &flags);
    }
}

#[test]
fn loops_of_cpp_are_as_written() {
    for flags in [["-O2", "-g"], ["-O3", "-g"]] {
        check("g++", "kernels.cpp", &flags);
    }
}

#[test]
fn loops_of_fortran_are_as_written() {
    for flags in [["-O2", "-g"], ["-O3", "-g"]] {
        check("gfortran", "kernels.f90", &flags);
    }
}

#[test]
fn loops_of_rust_are_as_written() {
    for flags in [["-Copt-level=2", "-g"], ["-Copt-level=3", "-g"]] {
        check("rustc", "kernels.rs", &flags);
    }
}
