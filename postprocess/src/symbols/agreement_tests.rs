//! Lines and inlined calls beside those of binutils and LLVM, on many addresses of large programs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::compiled_tests::{compile, key, resolve_module, skip};
use super::demangle::{Language, is_mangled, short, with_parameters};
use super::elf::{Elf, Files};
use super::resolved::Resolved;
use crate::open::OpenOptions;

/// Addresses that are compared.
const ADDRESSES: usize = 10_000;

/// A program that makes much of the C++ library: regular expressions, maps, streams, sorting.
const LARGE: &str = r#"
#include <algorithm>
#include <deque>
#include <functional>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace shop {
template <class K, class V> struct Store {
  std::map<K, std::vector<V>> shelves;
  std::unordered_map<V, K> index;
  void put(const K &k, const V &v) { shelves[k].push_back(v); index.emplace(v, k); }
  template <class F> void each(F f) { for (auto &s : shelves) std::for_each(s.second.begin(), s.second.end(), f); }
  void order() { for (auto &s : shelves) std::stable_sort(s.second.begin(), s.second.end(), std::greater<V>()); }
};
template <int N> struct Ladder { static double climb(double x) { return Ladder<N - 1>::climb(x * 1.01 + N) / (N + x); } };
template <> struct Ladder<0> { static double climb(double x) { return x; } };
}

static std::string words(const std::string &text) {
  static const std::regex word("([a-z]+)[0-9]*(x|yz)?", std::regex::icase);
  std::ostringstream out;
  for (std::sregex_iterator it(text.begin(), text.end(), word), end; it != end; ++it)
    out << std::setw(8) << (*it)[1].str() << ':' << it->position() << ' ';
  return std::regex_replace(out.str(), std::regex(" +"), " ");
}

int main(int argc, char **argv) {
  shop::Store<std::string, int> store;
  shop::Store<long, double> other;
  std::mt19937_64 random(argc);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 1000; i++) {
    store.put(std::string(argv[0]) + std::to_string(i % 7), int(random()));
    other.put(long(random() % 11), normal(random) + shop::Ladder<40>::climb(i));
  }
  store.order();
  other.order();
  double sum = 0;
  store.each([&](int x) { sum += x; });
  other.each([&](double x) { sum += x; });
  std::deque<std::shared_ptr<std::string>> queue;
  std::set<std::string, std::greater<>> seen;
  for (int i = 0; i < argc; i++) { queue.push_back(std::make_shared<std::string>(words(argv[i]))); seen.insert(*queue.back()); }
  std::list<std::pair<int, std::string>> list;
  for (auto &s : seen) list.emplace_back(int(s.size()), s);
  list.sort();
  std::multimap<double, std::function<double(double)>> steps;
  for (int i = 0; i < argc; i++) steps.emplace(i * sum, [i](double x) { return std::pow(x, i); });
  for (auto &s : steps) sum = s.second(sum);
  std::cout << std::setprecision(3) << sum << list.size() << queue.size() << std::endl;
}
"#;

/// A frame as another tool shows it.
#[derive(Debug)]
struct Theirs {
    /// Name for the linker.
    name: String,
    file: String,
    line: u32,
}

/// What was compared, and what differs.
#[derive(Debug, Default)]
struct Comparison {
    same: usize,
    /// Addresses with no line in one or the other.
    unknown: usize,
    /// The same functions and calls, but not the same lines.
    lines: Vec<String>,
    /// The same lines, but the innermost function of several has the name of the outermost.
    outer_names: usize,
    /// Not the same functions.
    functions: Vec<String>,
}

impl Comparison {
    fn of(ours: &[(u64, Resolved)], theirs: &[Vec<Theirs>]) -> Comparison {
        assert_eq!(ours.len(), theirs.len());
        let mut comparison = Comparison::default();
        for ((address, ours), theirs) in ours.iter().zip(theirs) {
            comparison.add(*address, ours, theirs);
        }
        comparison
    }

    fn add(&mut self, address: u64, ours: &Resolved, theirs: &[Theirs]) {
        // Theirs begin with the innermost; the line of a frame is that of the call to the one before.
        let inner_lines = ours.frames[1..].iter().map(|f| f.call_line);
        let lines: Vec<u32> = inner_lines.chain([ours.line]).map(|line| line.unwrap_or(0)).rev().collect();
        let their_lines: Vec<u32> = theirs.iter().map(|f| f.line).collect();
        let names: Vec<&str> = ours.frames.iter().rev().map(|f| &*f.function.name).collect();
        let same_names = names.len() == theirs.len()
            && names.iter().zip(theirs).all(|(name, theirs)| is_name(name, &theirs.name));
        let file = ours.file.as_deref().map_or("", last_step);
        let same_file = theirs.first().is_some_and(|f| last_step(&f.file) == file);
        let differs = || format!("{address:#x}: {names:?} {file} {lines:?} and {theirs:?}");
        let same_lines = same_file && lines == their_lines;
        let has_outer_name = names.len() == theirs.len()
            && is_name(names[names.len() - 1], &theirs[0].name)
            && names[1..].iter().zip(&theirs[1..]).all(|(name, theirs)| is_name(name, &theirs.name));
        if same_names && same_lines {
            self.same += 1;
        } else if same_lines && has_outer_name {
            self.outer_names += 1;
        } else if ours.line.is_none() || their_lines.first().is_none_or(|line| *line == 0) {
            self.unknown += 1;
        } else if same_names {
            self.lines.push(differs());
        } else {
            self.functions.push(differs());
        }
    }

    #[expect(clippy::print_stderr, reason = "shown with --nocapture: how far it agrees")]
    fn report(&self, program: &Path, tool: &str) {
        let Comparison { same, unknown, lines, outer_names, functions } = self;
        eprintln!(
            "{} beside {tool}: {same} addresses the same, {unknown} without a line, {outer_names} with the outermost \
             name for the innermost, {} with other lines, {} with other functions",
            program.display(),
            lines.len(),
            functions.len()
        );
        for difference in lines.iter().take(10).chain(functions.iter().take(10)) {
            eprintln!("  {difference}");
        }
    }
}

/// Operators with their codes in symbols.
const OPERATORS: [(&str, &str); 4] =
    [("operator==", "eq"), ("operator!=", "ne"), ("operator+", "pl"), ("operator-", "mi")];

/// Whether a shown name is that of a symbol.
fn is_name(shown: &str, symbol: &str) -> bool {
    let shown = shown.split(" [+").next().unwrap_or(shown);
    let readable = short(symbol, Language::Other);
    // Where a name cannot be taken apart, the debug information has a plain one.
    let base = shown.split(['<', '(']).next().unwrap_or(shown);
    let encoded = OPERATORS.iter().find(|(name, _)| base == *name).map_or(base, |(_, code)| code);
    let plain = || is_mangled(&readable) && symbol.contains(encoded);
    shown == readable || with_parameters(symbol).is_some_and(|full| full == shown) || plain()
}

fn last_step(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Addresses spread evenly over all functions of a program.
fn spread(program: &Path) -> Vec<u64> {
    let files = Files::default();
    let elf = Elf::open(program, &files).unwrap();
    let mut functions: Vec<(u64, u64)> =
        elf.symbols().iter().filter(|s| s.size > 0 && !s.label).map(|s| (s.address, s.size)).collect();
    functions.sort_unstable();
    functions.dedup_by_key(|f| f.0);
    let total: u64 = functions.iter().map(|f| f.1).sum();
    let stride = (total / ADDRESSES as u64).max(1);
    let mut addresses = Vec::new();
    let mut next = 0;
    for (start, size) in functions {
        while next < size {
            addresses.push(start + next);
            next += stride;
        }
        next -= size;
    }
    addresses.dedup();
    addresses
}

fn ours(program: &Path, addresses: &[u64]) -> Vec<(u64, Resolved)> {
    let symbols = resolve_module(&key(program), addresses, &OpenOptions::default());
    assert!(symbols.warnings.is_empty(), "{:?}", symbols.warnings);
    addresses.iter().map(|a| (*a, symbols.resolve(*a).unwrap())).collect()
}

/// Gives the addresses to a tool, a line each; `None` if there is no such tool.
fn ask(tool: &mut Command, addresses: &[u64]) -> Option<String> {
    let started = tool.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = started else {
        assert!(std::env::var_os("CI").is_none(), "{tool:?} is missing");
        skip(&format!("{tool:?} is missing"));
        return None;
    };
    let text: String = addresses.iter().map(|a| format!("{a:#x}\n")).collect();
    let mut input = child.stdin.take()?;
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What binutils says: for each address itself, then a function and a place for each frame.
fn binutils(program: &Path, addresses: &[u64]) -> Option<Vec<Vec<Theirs>>> {
    let text = ask(Command::new("addr2line").args(["-a", "-i", "-f", "-e"]).arg(program), addresses)?;
    let mut all: Vec<Vec<Theirs>> = Vec::new();
    let mut lines = text.lines();
    while let Some(name) = lines.next() {
        if name.starts_with("0x") {
            all.push(Vec::new());
            continue;
        }
        let place = lines.next().unwrap().split(" (discriminator").next().unwrap();
        let (file, line) = place.rsplit_once(':').unwrap();
        let frame = Theirs { name: name.into(), file: file.into(), line: line.parse().unwrap_or(0) };
        all.last_mut().unwrap().push(frame);
    }
    Some(all)
}

/// What LLVM says, as JSON.
fn llvm(program: &Path, addresses: &[u64]) -> Option<Vec<Vec<Theirs>>> {
    let mut tool = Command::new("llvm-symbolizer");
    tool.args(["--output-style=JSON", "--functions=linkage", "--no-demangle", "--inlines", "--obj"])
        .arg(program);
    let text = ask(&mut tool, addresses)?;
    let values = serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>();
    let frame = |value: &serde_json::Value| Theirs {
        name: value["FunctionName"].as_str().unwrap_or_default().into(),
        file: value["FileName"].as_str().unwrap_or_default().into(),
        line: value["Line"].as_u64().unwrap_or(0) as u32,
    };
    let frames = |value: serde_json::Value| value["Symbol"].as_array().unwrap().iter().map(frame).collect();
    Some(values.map(|value| frames(value.unwrap())).collect())
}

fn compare(
    program: &Path,
    addresses: &[u64],
    tool: &str,
    theirs: Option<Vec<Vec<Theirs>>>,
) -> Option<Comparison> {
    let comparison = Comparison::of(&ours(program, addresses), &theirs?);
    comparison.report(program, tool);
    Some(comparison)
}

/// LLVM agrees everywhere. binutils gives some inlined functions the name that the symbol table has for the place, which
/// is the outermost one's or that of its cold part, a few addresses no line, and fewer a name that cannot be compared since
/// ours is the plain one of the debug information.
#[test]
fn lines_and_inlined_calls_of_a_large_program_agree() {
    let Some((_dir, program)) = compile("g++", "large.cpp", LARGE, &["-O2", "-g"]) else { return };
    let addresses = spread(&program);
    assert!(addresses.len() > ADDRESSES * 9 / 10, "{}", addresses.len());
    if let Some(llvm) = compare(&program, &addresses, "llvm-symbolizer", llvm(&program, &addresses)) {
        assert_eq!(llvm.same, addresses.len());
    }
    if let Some(binutils) = compare(&program, &addresses, "addr2line", binutils(&program, &addresses)) {
        let Comparison { same, unknown, lines, outer_names, functions } = binutils;
        assert_eq!(same + unknown + outer_names + functions.len(), addresses.len(), "{lines:?}");
        assert!(functions.len() * 1000 < addresses.len(), "{functions:?}");
        assert!((unknown + outer_names) * 200 < addresses.len(), "{unknown} {outer_names}");
    }
}

#[test]
#[ignore = "of any program: AGREEMENT_PROGRAM, else the tests themselves; takes minutes"]
fn lines_and_inlined_calls_of_any_program_agree() {
    let program = std::env::var_os("AGREEMENT_PROGRAM").map(PathBuf::from);
    let program = program.unwrap_or_else(|| std::env::current_exe().unwrap());
    let addresses = spread(&program);
    compare(&program, &addresses, "llvm-symbolizer", llvm(&program, &addresses));
}
