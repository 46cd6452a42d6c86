//! What a context or a row of a view stands for in the program text.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Kind of a [`Scope`]. Modules and files occur as rows of the flat view only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeKind {
    /// The whole run.
    Root,
    /// No code: a partial unwind's root, time outside all samples and the like.
    Pseudo,
    /// A load module.
    Module,
    /// A source file.
    File,
    /// A function as the linker placed it.
    Function,
    /// A function whose body the compiler copied into its caller.
    Inlined,
    /// A loop of a function, from its first line: its statements, its calls and the loops within it are below.
    Loop,
    /// A statement: one line of a source file.
    Line,
}

impl ScopeKind {
    /// All kinds, in their order.
    pub const ALL: [ScopeKind; 8] = [
        ScopeKind::Root,
        ScopeKind::Pseudo,
        ScopeKind::Module,
        ScopeKind::File,
        ScopeKind::Function,
        ScopeKind::Inlined,
        ScopeKind::Loop,
        ScopeKind::Line,
    ];

    /// The word that databases and reports use.
    pub fn word(self) -> &'static str {
        match self {
            ScopeKind::Root => "root",
            ScopeKind::Pseudo => "pseudo",
            ScopeKind::Module => "module",
            ScopeKind::File => "file",
            ScopeKind::Function => "function",
            ScopeKind::Inlined => "inlined",
            ScopeKind::Loop => "loop",
            ScopeKind::Line => "line",
        }
    }

    /// The kind with this [`ScopeKind::word`].
    pub fn from_word(word: &str) -> Option<ScopeKind> {
        ScopeKind::ALL.into_iter().find(|k| k.word() == word)
    }

    /// Whether a call path goes through it: functions, inlined functions and pseudo frames.
    pub fn is_frame(self) -> bool {
        matches!(self, ScopeKind::Pseudo | ScopeKind::Function | ScopeKind::Inlined)
    }
}

/// A function at a call site, a statement, a pseudo frame: one step of a call path.
///
/// Two scopes are the same if everything but the line of a function's *definition* is the same: the definition
/// may move between builds, while the line of a statement or a loop is what it is.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Kind.
    pub kind: ScopeKind,
    /// Demangled name.
    pub name: Arc<str>,
    /// File name of the load module, without directory.
    pub module: Option<Arc<str>>,
    /// Source file.
    pub file: Option<Arc<str>>,
    /// Line of a statement, first line of a loop, or the line where a function is defined.
    pub line: Option<u32>,
    /// Line of the call in the caller.
    pub call_line: Option<u32>,
}

/// What makes a scope: kind, module, file, name, line of a statement, line of the call.
type Key<'a> = (ScopeKind, Option<&'a str>, Option<&'a str>, &'a str, Option<u32>, Option<u32>);

impl Scope {
    /// The root of every tree.
    pub fn root() -> Scope {
        Scope::new(ScopeKind::Root, "<program>")
    }

    /// A pseudo frame.
    pub fn pseudo(name: &str) -> Scope {
        Scope::new(ScopeKind::Pseudo, name)
    }

    /// A scope of which no more than the name is known.
    pub fn new(kind: ScopeKind, name: &str) -> Scope {
        Scope { kind, name: name.into(), module: None, file: None, line: None, call_line: None }
    }

    fn key(&self) -> Key<'_> {
        let line = if matches!(self.kind, ScopeKind::Loop | ScopeKind::Line) { self.line } else { None };
        (self.kind, self.module.as_deref(), self.file.as_deref(), &self.name, line, self.call_line)
    }
}

impl PartialEq for Scope {
    fn eq(&self, other: &Scope) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Scope {}

impl PartialOrd for Scope {
    fn partial_cmp(&self, other: &Scope) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scope {
    fn cmp(&self, other: &Scope) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for Scope {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
