//! The tree as HPCToolkit shapes it.
//!
//! Below the implicit root, node 0, are entry points; below them functions. A call goes from the line of the call site, a
//! scope of the caller, to the function; lines hold cost of their own as well:
//!
//! ```text
//! entry > function > line > function > loop > line > inlined function > line
//! ```

use falloff_format::Pseudo;
use rustc_hash::FxHashMap;

use super::strings::Table;
use crate::cct::{Scope, ScopeKind, THREAD_ROOT, Tree};

/// What becomes of call paths that do not begin in a process's own beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roots {
    /// Threads and paths that could not be followed to their root have entry points of their own, as hpcprof writes them.
    Apart,
    /// They hang below the main entry point, where Hatchet finds them too: it reads no other.
    Together,
}

/// Entry point. The numbers are those of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Entry {
    /// Paths that could not be followed to their root.
    Unknown = 0,
    /// Paths of the threads that processes began with.
    Main = 1,
    /// Paths of other threads.
    Thread = 2,
}

impl Entry {
    /// What the format's description calls it.
    pub fn label(self) -> &'static str {
        match self {
            Entry::Unknown => "unknown entry",
            Entry::Main => "main thread",
            Entry::Thread => "application thread",
        }
    }
}

/// A function, to be written once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Function {
    pub name: String,
    pub module: Option<u32>,
    pub file: Option<u32>,
    pub line: u32,
}

/// What a node stands for. Functions and files are places in the tables of [`Nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum NodeKind {
    /// All of the run.
    Global,
    /// An entry point.
    Entry(Entry),
    /// A function that is called or, if `inlined`, was copied to where it was called.
    Function { function: u32, inlined: bool },
    /// A loop.
    Loop { file: u32, line: u32 },
    /// A line: a statement, a call site, or both.
    Line { file: u32, line: u32 },
}

impl NodeKind {
    /// Whether it is part of the function above it, rather than reached by a call.
    pub fn is_lexical(self) -> bool {
        matches!(self, NodeKind::Loop { .. } | NodeKind::Line { .. })
    }
}

/// A node. Its place is its context id; parents come before their children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    pub parent: u32,
    pub kind: NodeKind,
}

/// Place of the implicit root.
pub(super) const GLOBAL: u32 = 0;
/// Place of the main entry point, which is always there.
pub(super) const MAIN: u32 = 1;

/// The tree with the tables that its nodes refer to.
#[derive(Debug)]
pub(super) struct Nodes {
    nodes: Table<Node>,
    /// For each context of the tree, the node that has its cost.
    of_context: Vec<u32>,
    /// Functions.
    pub functions: Table<Function>,
    /// Paths of source files.
    pub files: Table<String>,
    /// Names of load modules.
    pub modules: Table<String>,
}

impl Nodes {
    /// The contexts that are wanted; those above a wanted one must be wanted.
    pub fn new(tree: &Tree, roots: Roots, wanted: impl Fn(u32) -> bool) -> Nodes {
        let mut nodes = Nodes {
            nodes: Table::default(),
            of_context: vec![MAIN; tree.len()],
            functions: Table::default(),
            files: Table::default(),
            modules: Table::default(),
        };
        nodes.child(GLOBAL, NodeKind::Global);
        nodes.child(GLOBAL, NodeKind::Entry(Entry::Main));
        let mut of_scope = FxHashMap::default();
        for context in (1..tree.len() as u32).filter(|c| wanted(*c)) {
            let parent = tree.contexts()[context as usize].parent;
            let entry = if parent == 0 && roots == Roots::Apart { entry(tree.scope(context)) } else { None };
            let node = match entry {
                Some(entry) => nodes.child(GLOBAL, NodeKind::Entry(entry)),
                None => {
                    let scope = tree.contexts()[context as usize].scope;
                    let kind = *of_scope.entry(scope).or_insert_with(|| nodes.kind_of(tree.scope(context)));
                    let above = nodes.call_site(tree.scope(parent), parent, tree.scope(context));
                    nodes.child(above, kind)
                }
            };
            nodes.of_context[context as usize] = node;
        }
        nodes
    }

    /// All nodes.
    pub fn all(&self) -> &[Node] {
        self.nodes.items()
    }

    /// The node that has the cost of a context.
    pub fn of_context(&self, context: u32) -> u32 {
        self.of_context[context as usize]
    }

    fn child(&mut self, parent: u32, kind: NodeKind) -> u32 {
        self.nodes.place(Node { parent, kind })
    }

    fn kind_of(&mut self, scope: &Scope) -> NodeKind {
        let line = scope.line.unwrap_or(0);
        match (scope.kind, &scope.file) {
            (ScopeKind::Line, Some(file)) => {
                NodeKind::Line { file: self.files.place(file.to_string()), line }
            }
            (ScopeKind::Loop, Some(file)) => {
                NodeKind::Loop { file: self.files.place(file.to_string()), line }
            }
            (ScopeKind::Line, None) => NodeKind::Line { file: self.code_of(scope), line },
            (ScopeKind::Loop, None) => NodeKind::Loop { file: self.code_of(scope), line },
            _ => {
                let module = scope.module.as_deref().map(|module| self.modules.place(module.to_owned()));
                let file = scope.file.as_deref().map(|file| self.files.place(file.to_owned()));
                let function = Function { name: name(scope), module, file, line };
                NodeKind::Function {
                    function: self.functions.place(function),
                    inlined: scope.kind == ScopeKind::Inlined,
                }
            }
        }
    }

    /// The file that stands for code without a source file, which keeps such loops apart. HPCToolkit writes what is no file in
    /// brackets.
    fn code_of(&mut self, scope: &Scope) -> u32 {
        self.files.place(format!("[{}]", scope.name))
    }

    /// Where the function is called from: the line in the caller if both that and its file are known, else the caller.
    fn call_site(&mut self, caller: &Scope, parent: u32, callee: &Scope) -> u32 {
        let above = self.of_context[parent as usize];
        let called = matches!(callee.kind, ScopeKind::Function | ScopeKind::Inlined);
        match (called, &caller.file, callee.call_line) {
            (true, Some(file), Some(line)) if caller.kind != ScopeKind::Line => {
                let file = self.files.place(file.to_string());
                self.child(above, NodeKind::Line { file, line })
            }
            _ => above,
        }
    }
}

/// The name of a function. Where none is known, it is given as HPCToolkit does: Hatchet cuts names at the first dot, of which
/// file names of libraries have several.
fn name(scope: &Scope) -> String {
    let module = scope.module.as_deref().unwrap_or_default();
    match scope.name.strip_prefix(module).and_then(|rest| rest.strip_prefix('+')) {
        Some(address) if !module.is_empty() => format!("<unknown procedure> {address} [{module}]"),
        _ => scope.name.to_string(),
    }
}

/// The entry point that a context right below the root stands for.
fn entry(scope: &Scope) -> Option<Entry> {
    match (scope.kind, &*scope.name) {
        (ScopeKind::Pseudo, THREAD_ROOT) => Some(Entry::Thread),
        (ScopeKind::Pseudo, name) if name == Pseudo::Partial.name() => Some(Entry::Unknown),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TreeBuilder;
    use crate::synthetic;

    /// Nodes as indented lines.
    fn text(tree: &Tree, roots: Roots, wanted: impl Fn(u32) -> bool) -> String {
        let nodes = Nodes::new(tree, roots, wanted);
        let mut depths = Vec::new();
        let mut lines = vec![String::new(); nodes.all().len()];
        let mut children = vec![Vec::new(); nodes.all().len()];
        for (id, node) in nodes.all().iter().enumerate() {
            depths.push(if id == 0 { 0 } else { depths[node.parent as usize] + 1 });
            let file = |file: u32| nodes.files.items()[file as usize].clone();
            let what = match node.kind {
                NodeKind::Global => "all".to_owned(),
                NodeKind::Entry(entry) => entry.label().to_owned(),
                NodeKind::Function { function, inlined } => {
                    let function = &nodes.functions.items()[function as usize];
                    format!("{}{}", function.name, if inlined { " inlined" } else { "" })
                }
                NodeKind::Loop { file: f, line } => format!("loop {}:{line}", file(f)),
                NodeKind::Line { file: f, line } => format!("line {}:{line}", file(f)),
            };
            lines[id] = format!("{}{what}\n", "  ".repeat(depths[id]));
            if id > 0 {
                children[node.parent as usize].push(id);
            }
        }
        let mut text = String::new();
        let mut stack = vec![0];
        while let Some(id) = stack.pop() {
            text.push_str(&lines[id]);
            stack.extend(children[id].iter().rev());
        }
        text
    }

    #[test]
    fn calls_come_from_lines_and_threads_from_entry_points() {
        let database = synthetic::database();
        insta::assert_snapshot!("roots_apart", text(database.tree(), Roots::Apart, |_| true));
        insta::assert_snapshot!("roots_together", text(database.tree(), Roots::Together, |_| true));
        let mains = |c: u32| {
            database.tree().path(c).first().is_some_and(|c| &*database.tree().scope(*c).name == "main")
        };
        assert!(!text(database.tree(), Roots::Apart, mains).contains("application thread"));
    }

    #[test]
    fn loops_hold_lines_and_calls() {
        let mut builder = TreeBuilder::new();
        let main = builder.child(0, &synthetic::function("main", 10, None));
        let loop_at = |line, file: Option<&str>| Scope {
            kind: ScopeKind::Loop,
            call_line: None,
            file: file.map(Into::into),
            ..synthetic::function("loop", line, None)
        };
        let outer = builder.child(main, &loop_at(12, Some("/src/solver.c")));
        let inner = builder.child(outer, &loop_at(13, Some("/src/solver.c")));
        builder.child(inner, &synthetic::statement(14));
        builder.child(inner, &synthetic::function("work", 30, Some(14)));
        builder.child(main, &loop_at(0, None));
        let (tree, _) = builder.finish();
        insta::assert_snapshot!("loops", text(&tree, Roots::Apart, |_| true));
    }
}
