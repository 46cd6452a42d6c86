//! Writing the whole database.

use std::fs;
use std::io;
use std::path::Path;

use super::cct_db::CctDb;
use super::cells::Spread;
use super::contents::{Contents, Part};
use super::nodes::{Nodes, Roots};
use super::profile_db::{ProfileDb, Value};
use super::statistics::{self, Statistic};
use super::{meta, metrics, sources, taxonomy};
use crate::cct::Tree;
use crate::database::ModuleInfo;

/// What the files are, for people who find them.
const FORMATS: &str = include_str!("FORMATS.md");

impl Contents<'_> {
    /// Writes the database into a directory that is there and empty.
    ///
    /// # Errors
    /// Those of writing; `InvalidInput` if there are more metrics or a larger tree than viewers read.
    pub fn write(&self, dir: &Path, roots: Roots) -> io::Result<()> {
        metrics::check(self.metrics.len())?;
        let wanted = with_cost(self.tree, &self.parts);
        let nodes = Nodes::new(self.tree, roots, |context| wanted[context as usize]);
        let files = nodes
            .files
            .items()
            .iter()
            .map(|path| sources::copy(path, dir))
            .collect::<io::Result<Vec<_>>>()?;
        let modules: Vec<String> =
            nodes.modules.items().iter().map(|name| module_path(name, self.modules)).collect();
        fs::write(dir.join("FORMATS.md"), FORMATS)?;
        fs::create_dir(dir.join("metrics"))?;
        fs::write(dir.join("metrics/default.yaml"), taxonomy::text(&self.metrics))?;
        self.write_values(dir, &nodes)?;
        meta::write(dir, self, &nodes, &modules, &files)
    }

    fn write_values(&self, dir: &Path, nodes: &Nodes) -> io::Result<()> {
        let mut profiles = ProfileDb::create(dir)?;
        let mut spread = Spread::new(nodes, self.metrics.len());
        for part in &self.parts {
            let cells = spread.cells(&part.values);
            profiles.add(&part.ids, cells.iter().map(|cell| (cell.node, cell.slot.id(), cell.value)))?;
        }
        let mut contexts = CctDb::create(dir)?;
        let mut by_context = profiles.by_context()?;
        let mut summary: Vec<Value> = Vec::new();
        let mut values = Vec::new();
        for context in 0..nodes.all().len() as u32 {
            by_context.next(context, &mut values)?;
            contexts.add(&values)?;
            for of_slot in values.chunk_by(|a, b| a.slot == b.slot) {
                let found = statistics::of_values(of_slot.iter().map(|v| v.value), self.parts.len());
                let numbered = Statistic::ALL.into_iter().zip(found);
                summary.extend(numbered.map(|(s, value)| (context, s.id(of_slot[0].slot), value)));
            }
        }
        contexts.finish()?;
        profiles.finish(summary.into_iter())
    }
}

/// Which contexts have a value in any part, or others below them that have.
fn with_cost(tree: &Tree, parts: &[Part]) -> Vec<bool> {
    let mut wanted = vec![false; tree.len()];
    parts.iter().flat_map(|part| &part.values).for_each(|(context, ..)| wanted[*context as usize] = true);
    for (index, context) in tree.contexts().iter().enumerate().rev() {
        wanted[context.parent as usize] |= wanted[index];
    }
    wanted
}

/// The path of the module of this name; the name if it is not known or several have it.
fn module_path(name: &str, modules: &[ModuleInfo]) -> String {
    let mut paths =
        modules.iter().map(|m| m.path.as_str()).filter(|path| path.rsplit('/').next() == Some(name));
    let first = paths.next().unwrap_or(name);
    if paths.all(|path| path == first) { first.to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SymbolSource;

    #[test]
    fn modules_have_the_path_that_is_sure() {
        let module = |path: &str| ModuleInfo {
            path: path.into(),
            build_id: String::new(),
            source: SymbolSource::Nothing,
            debug_file: None,
        };
        let modules =
            [module("/a/libx.so"), module("/b/liby.so"), module("/c/liby.so"), module("/a/libx.so")];
        assert_eq!(module_path("libx.so", &modules), "/a/libx.so");
        assert_eq!(module_path("liby.so", &modules), "liby.so");
        assert_eq!(module_path("[jit]", &modules), "[jit]");
    }
}
