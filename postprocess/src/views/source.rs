//! Source files with the cost of their lines.

use rustc_hash::FxHashMap;

use super::excerpt::Excerpt;
use super::query::QueryError;
use crate::cct::{ScopeKind, Tree};

/// Cost of the lines of one source file, in the metrics of an [`Excerpt`].
#[derive(Clone, Debug)]
pub struct Source<'a> {
    pub(super) excerpt: &'a Excerpt<'a>,
    file: String,
    lines: Vec<LineCost>,
}

/// Cost of a line, by metric.
#[derive(Clone, Debug, PartialEq)]
pub struct LineCost {
    /// Line, from 1.
    pub line: u32,
    /// Of the line's own code.
    pub exclusive: Vec<f64>,
    /// Of all that is called from the line, inlined calls too, recursion counted once.
    pub calls: Vec<f64>,
    /// Of both, each call path once.
    pub inclusive: Vec<f64>,
}

impl<'a> Source<'a> {
    /// The cost of the file of this name, or the one that ends in it: `solver.c` is `/src/solver.c`.
    ///
    /// # Errors
    /// [`QueryError::NoSource`] or [`QueryError::ManySources`].
    pub fn new(excerpt: &'a Excerpt<'a>, name: &str) -> Result<Source<'a>, QueryError> {
        let files = Files::of(excerpt);
        let file = files.named(name)?;
        let mut lines = Lines::new(excerpt);
        for context in 1..excerpt.tree().len() as u32 {
            if let Some(((_, line), own)) = place(excerpt.tree(), context).filter(|((f, _), _)| *f == file) {
                lines.add(line, context, own);
            }
        }
        Ok(Source { excerpt, file: file.to_owned(), lines: lines.finish() })
    }

    /// What it is part of.
    pub fn excerpt(&self) -> &'a Excerpt<'a> {
        self.excerpt
    }

    /// The file, as the database has it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Lines with any cost, in order.
    pub fn lines(&self) -> &[LineCost] {
        &self.lines
    }

    /// Sum of the lines' own cost in a metric.
    pub(super) fn own_total(&self, metric: usize) -> f64 {
        self.lines.iter().map(|line| line.exclusive[metric]).sum()
    }

    /// All that is shown of the run in a metric.
    pub(super) fn total(&self, metric: usize) -> f64 {
        self.excerpt.columns()[metric].iter().sum()
    }

    /// A value of a metric in percent of [`Excerpt::base`].
    pub(super) fn percent(&self, metric: usize, value: f64) -> f64 {
        let base = self.excerpt.base(metric);
        if base == 0.0 { 0.0 } else { 100.0 * value / base }
    }
}

/// File and line of a statement, or of a call.
type Place<'a> = (&'a str, u32);

/// Where a context's cost is seen in a source file: at its own line (true) if it is a statement, at the line of its call
/// (false) if it is a function.
fn place(tree: &Tree, context: u32) -> Option<(Place<'_>, bool)> {
    let scope = tree.scope(context);
    match scope.kind {
        ScopeKind::Line => Some(((scope.file.as_deref()?, scope.line?), true)),
        ScopeKind::Function | ScopeKind::Inlined => {
            let line = scope.call_line?;
            let caller = tree.caller(context)?;
            Some(((tree.scope(caller).file.as_deref()?, line), false))
        }
        _ => None,
    }
}

/// Source files with the cost of the paths that end in them.
struct Files<'a>(Vec<(&'a str, f64)>);

impl<'a> Files<'a> {
    fn of(excerpt: &'a Excerpt) -> Files<'a> {
        let tree = excerpt.tree();
        let mut costs: FxHashMap<&str, f64> = FxHashMap::default();
        for context in 1..tree.len() as u32 {
            if let Some(((file, _), own)) = place(tree, context) {
                let cost = if own { excerpt.columns()[0][context as usize] } else { 0.0 };
                *costs.entry(file).or_default() += cost;
            }
        }
        let mut files: Vec<(&str, f64)> = costs.into_iter().collect();
        files.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(b.0)));
        Files(files)
    }

    fn named(&self, name: &str) -> Result<&'a str, QueryError> {
        let name = name.trim_start_matches("./");
        if let Some((file, _)) = self.0.iter().find(|(file, _)| *file == name) {
            return Ok(file);
        }
        let ends = |file: &str| file.strip_suffix(name).is_some_and(|rest| rest.ends_with('/'));
        let matching: Vec<&str> = self.0.iter().map(|(file, _)| *file).filter(|file| ends(file)).collect();
        let owned = |files: &mut dyn Iterator<Item = &str>| files.map(str::to_owned).collect();
        match matching[..] {
            [file] => Ok(file),
            [] => Err(QueryError::NoSource {
                name: name.into(),
                known: owned(&mut self.0.iter().map(|(file, _)| *file)),
            }),
            _ => Err(QueryError::ManySources { name: name.into(), known: owned(&mut matching.into_iter()) }),
        }
    }
}

/// Lines under construction. Contexts are added in pre-order.
struct Lines<'a> {
    excerpt: &'a Excerpt<'a>,
    inclusive: Vec<Vec<f64>>,
    lines: FxHashMap<u32, Building>,
}

struct Building {
    cost: LineCost,
    /// Ends of the subtrees of the last call, and of the last context of any kind, that were counted.
    covered_calls: u32,
    covered: u32,
}

impl<'a> Lines<'a> {
    fn new(excerpt: &'a Excerpt<'a>) -> Lines<'a> {
        let metrics = excerpt.metrics().len();
        let inclusive = excerpt.columns()[..metrics].iter().map(|c| excerpt.tree().inclusive(c)).collect();
        Lines { excerpt, inclusive, lines: FxHashMap::default() }
    }

    fn add(&mut self, line: u32, context: u32, own: bool) {
        let metrics = self.inclusive.len();
        let nothing = || vec![0.0; metrics];
        let entry = self.lines.entry(line).or_insert_with(|| Building {
            cost: LineCost { line, exclusive: nothing(), calls: nothing(), inclusive: nothing() },
            covered_calls: 0,
            covered: 0,
        });
        let at = context as usize;
        let inclusive = |metric: usize| self.inclusive[metric][at];
        let add = |to: &mut Vec<f64>| to.iter_mut().zip(0..).for_each(|(sum, m)| *sum += inclusive(m));
        if own {
            add(&mut entry.cost.exclusive);
        } else if context >= entry.covered_calls {
            entry.covered_calls = self.excerpt.tree().end(context);
            add(&mut entry.cost.calls);
        }
        if context >= entry.covered {
            entry.covered = self.excerpt.tree().end(context);
            add(&mut entry.cost.inclusive);
        }
    }

    fn finish(self) -> Vec<LineCost> {
        let any = |cost: &LineCost| {
            [&cost.exclusive, &cost.calls, &cost.inclusive].into_iter().flatten().any(|v| *v != 0.0)
        };
        let mut lines: Vec<LineCost> = self.lines.into_values().map(|b| b.cost).filter(any).collect();
        lines.sort_by_key(|cost| cost.line);
        lines
    }
}
