//! The activity of every context of a tree.

use falloff_postprocess::{ScopeKind, Tree};

use super::activity::Activity;
use super::frames::Frames;

/// Activities of the contexts of a tree, and the operations that they belong to.
#[derive(Clone, Debug, PartialEq)]
pub struct Classified {
    activities: Vec<Activity>,
    operations: Vec<Option<u32>>,
}

impl Classified {
    /// Looks at every context: the outermost frame of its path that is an operation decides, else the module that its
    /// innermost frame lies in, else it is the program's own work.
    pub fn new(tree: &Tree, frames: &Frames) -> Classified {
        let mut classified = Classified {
            activities: vec![Activity::Compute; tree.len()],
            operations: vec![None; tree.len()],
        };
        // Equal scopes are looked up once.
        let of_scope: Vec<(Option<Activity>, Option<Activity>)> = tree
            .scopes()
            .iter()
            .map(|scope| {
                let operation = scope.kind.is_frame().then(|| frames.of_function(&scope.name)).flatten();
                (operation, scope.module.as_deref().and_then(|module| frames.of_module(module)))
            })
            .collect();
        for context in 1..tree.len() {
            let node = tree.contexts()[context];
            let parent = node.parent as usize;
            let (operation, module) = of_scope[node.scope as usize];
            let frame = matches!(
                tree.kind(context as u32),
                ScopeKind::Function | ScopeKind::Inlined | ScopeKind::Pseudo
            );
            (classified.activities[context], classified.operations[context]) =
                match (classified.operations[parent], operation) {
                    (Some(above), _) => (classified.activities[parent], Some(above)),
                    (None, Some(activity)) => (activity, Some(context as u32)),
                    // Lines and loops are of their function.
                    (None, None) if !frame => (classified.activities[parent], None),
                    (None, None) => (module.unwrap_or(Activity::Compute), None),
                };
        }
        classified
    }

    /// What a context's own cost is spent on.
    pub fn activity(&self, context: u32) -> Activity {
        self.activities[context as usize]
    }

    /// The context of the operation that it belongs to.
    pub fn operation(&self, context: u32) -> Option<u32> {
        self.operations[context as usize]
    }

    /// Contexts of operations, in order.
    pub fn operations(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..)
            .zip(&self.operations)
            .filter(|(context, operation)| **operation == Some(*context))
            .map(|(c, _)| c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use falloff_postprocess::{Scope, TreeBuilder};

    #[test]
    fn the_outermost_operation_decides() {
        let function = |name: &str, module: &str| Scope {
            module: Some(module.into()),
            ..Scope::new(ScopeKind::Function, name)
        };
        let mut builder = TreeBuilder::new();
        let main = builder.child(0, &function("main", "app"));
        let reduce = builder.child(main, &function("PMPI_Allreduce", "libmpi.so.40"));
        let poll = builder.child(reduce, &function("poll", "libc.so.6"));
        let region = builder.child(main, &function("GOMP_parallel", "libgomp.so.1"));
        let body = builder.child(region, &function("solve._omp_fn.0", "app"));
        let line = builder.child(body, &Scope { line: Some(7), ..Scope::new(ScopeKind::Line, "a.c:7") });
        let print = builder.child(body, &function("fwrite", "libc.so.6"));
        let (tree, place) = builder.finish();
        let classified = Classified::new(&tree, &Frames::known());
        let of = |context: u32| classified.activity(place[context as usize]);
        assert_eq!(
            [of(main), of(reduce), of(poll)],
            [Activity::Compute, Activity::AllToAll, Activity::AllToAll]
        );
        assert_eq!(
            [of(region), of(body), of(line)],
            [Activity::Runtime, Activity::Compute, Activity::Compute]
        );
        assert_eq!(of(print), Activity::Io);
        assert_eq!(classified.operation(place[poll as usize]), Some(place[reduce as usize]));
        assert_eq!(classified.operations().count(), 2);
    }
}
