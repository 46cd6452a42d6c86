//! Pairing of the contexts below one parent with those below another.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::builds::Builds;
use super::nearest::closest;
use crate::cct::{Scope, ScopeKind};
use crate::database::Level;
use crate::symbols::base_name;

/// A context below the parent.
#[derive(Clone, Copy)]
pub(super) struct Sibling<'a> {
    /// Its id.
    pub context: u32,
    pub scope: &'a Scope,
    /// The function that it is a part of or is called from.
    pub function: Option<&'a Scope>,
}

/// Two contexts that are taken for the same.
pub(super) struct Pair {
    pub left: u32,
    pub right: u32,
    pub level: Level,
}

/// Pairs siblings one to one, the best level first, within a level the closest lines first. Both sides are sorted by scope.
///
/// Scopes of modules that both sides have in one build are what they are: two of them that are not equal are not paired.
pub(super) fn paired(left: &[Sibling], right: &[Sibling], builds: &Builds) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(left.len().min(right.len()));
    let (mut left_rest, mut right_rest) = (Vec::new(), Vec::new());
    let (mut lefts, mut rights) = (left.iter().peekable(), right.iter().peekable());
    while let (Some(a), Some(b)) = (lefts.peek(), rights.peek()) {
        match a.scope.cmp(b.scope) {
            Ordering::Less => left_rest.extend(lefts.next()),
            Ordering::Greater => right_rest.extend(rights.next()),
            Ordering::Equal => {
                pairs.push(Pair { left: a.context, right: b.context, level: equal_level(a.scope, builds) });
                lefts.next();
                rights.next();
            }
        }
    }
    left_rest.extend(lefts);
    right_rest.extend(rights);
    let may_differ = |s: &Sibling| s.scope.kind != ScopeKind::Pseudo;
    left_rest.retain(may_differ);
    right_rest.retain(may_differ);
    for level in [Level::SameFile, Level::SameName] {
        pair_groups(&mut pairs, &mut left_rest, &mut right_rest, builds, level);
    }
    pairs
}

/// Whether two scopes that are not equal are known to be different code: both sides have the modules of both.
fn is_other_code(left: &Scope, right: &Scope, builds: &Builds) -> bool {
    builds.same(left) && builds.same(right)
}

/// How well two equal scopes agree.
fn equal_level(scope: &Scope, builds: &Builds) -> Level {
    if scope.kind == ScopeKind::Pseudo || builds.same(scope) {
        Level::SameBuild
    } else if is_address(&scope.name) {
        // Another function may be at this address in another build.
        Level::SameName
    } else {
        Level::SamePath
    }
}

/// Whether a name says no more than where the code is: `MODULE+0x1f00`.
fn is_address(name: &str) -> bool {
    let digits = name.rsplit_once("+0x").map(|(_, digits)| digits);
    digits.is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// What scopes have in common at a level.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key<'a> {
    /// Name, whether it is the body of an OpenMP region, file.
    Function(&'a str, bool, Option<&'a str>),
    /// Kind, file.
    Place(ScopeKind, &'a str),
}

fn key(scope: &Scope, level: Level) -> Option<Key<'_>> {
    let with_file = level == Level::SameFile;
    let file = scope.file.as_deref();
    match scope.kind {
        ScopeKind::Function | ScopeKind::Inlined if is_address(&scope.name) => None,
        ScopeKind::Function | ScopeKind::Inlined => {
            let (name, region) = base_name(&scope.name);
            Some(Key::Function(name, region, file.filter(|_| with_file)))
        }
        kind => {
            let file = file?;
            Some(Key::Place(kind, if with_file { file } else { file.rsplit('/').next().unwrap_or(file) }))
        }
    }
}

/// Pairs those that have the same key and takes them out of the rest.
fn pair_groups<'a>(
    pairs: &mut Vec<Pair>,
    left: &mut Vec<Sibling<'a>>,
    right: &mut Vec<Sibling<'a>>,
    builds: &Builds,
    level: Level,
) {
    let mut groups: BTreeMap<Key, [Vec<usize>; 2]> = BTreeMap::new();
    for (side, siblings) in [&*left, &*right].into_iter().enumerate() {
        for (at, sibling) in siblings.iter().enumerate() {
            if let Some(key) = key(sibling.scope, level) {
                groups.entry(key).or_default()[side].push(at);
            }
        }
    }
    let (mut left_done, mut right_done) = (vec![false; left.len()], vec![false; right.len()]);
    for [lefts, rights] in groups.into_values() {
        let other = |a: &usize, b: &usize| is_other_code(left[*a].scope, right[*b].scope, builds);
        // Who has nobody to be paired with must not stand between others.
        let (lefts, rights): (Vec<usize>, Vec<usize>) = (
            lefts.iter().copied().filter(|a| rights.iter().any(|b| !other(a, b))).collect(),
            rights.iter().copied().filter(|b| lefts.iter().any(|a| !other(a, b))).collect(),
        );
        let lines = |of: &[Sibling], group: &[usize]| -> Vec<Option<i64>> {
            group.iter().map(|at| of[*at].line_in_function()).collect()
        };
        for (a, b) in closest(&lines(left, &lefts), &lines(right, &rights)) {
            let (a, b) = (lefts[a], rights[b]);
            if other(&a, &b) {
                continue;
            }
            (left_done[a], right_done[b]) = (true, true);
            pairs.push(Pair { left: left[a].context, right: right[b].context, level });
        }
    }
    for (siblings, done) in [(left, left_done), (right, right_done)] {
        let mut done = done.into_iter();
        siblings.retain(|_| done.next() == Some(false));
    }
}

impl Sibling<'_> {
    /// Line of the call, the statement or the loop, counted from the line where its function begins if that is known:
    /// code that was put in above the function changes nothing.
    fn line_in_function(&self) -> Option<i64> {
        let called = matches!(self.scope.kind, ScopeKind::Function | ScopeKind::Inlined);
        let line = if called { self.scope.call_line } else { self.scope.line };
        let function = self.function.filter(|f| called || f.file == self.scope.file);
        Some(i64::from(line?) - i64::from(function.and_then(|f| f.line).unwrap_or(0)))
    }
}
