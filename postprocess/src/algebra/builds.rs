//! Whether two databases have their code from the same builds of its modules.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::cct::Scope;
use crate::database::ModuleInfo;

/// Build ids by the file names of modules.
#[derive(Default)]
struct Ids<'a>(FxHashMap<&'a str, BTreeSet<&'a str>>);

impl<'a> Ids<'a> {
    fn add(&mut self, modules: &'a [ModuleInfo]) {
        for module in modules {
            let name = module.path.rsplit('/').next().unwrap_or(&module.path);
            self.0.entry(name).or_default().insert(&module.build_id);
        }
    }
}

/// The builds of the databases joined so far, and of the next one.
#[derive(Default)]
pub(super) struct Builds<'a> {
    joined: Ids<'a>,
    next: Ids<'a>,
}

impl<'a> Builds<'a> {
    /// The next database has these modules; the one before it is joined.
    pub fn next(&mut self, modules: &'a [ModuleInfo]) {
        for (name, ids) in std::mem::take(&mut self.next).0 {
            self.joined.0.entry(name).or_default().extend(ids);
        }
        self.next.add(modules);
    }

    /// Whether the module of a scope is known to be one and the same build in all of them.
    pub fn same(&self, scope: &Scope) -> bool {
        let Some(module) = scope.module.as_deref() else { return false };
        match (self.joined.0.get(module), self.next.0.get(module)) {
            (Some(joined), Some(next)) => joined.len() == 1 && joined == next && !joined.contains(""),
            _ => false,
        }
    }
}
