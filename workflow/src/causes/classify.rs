//! The activity of every context of a tree.

use falloff_postprocess::{ScopeKind, Tree};
use rustc_hash::FxHashMap;

use super::activity::Activity;
use super::frames::Frames;

/// Activities of the contexts of a tree, and the operations that they belong to.
#[derive(Clone, Debug, PartialEq)]
pub struct Classified {
    activities: Vec<Activity>,
    operations: Vec<Option<u32>>,
    frames: Vec<u32>,
    tasks: Vec<u32>,
    idle: Vec<bool>,
}

/// What is known of a scope, whatever its call path.
#[derive(Clone, Copy)]
struct Known {
    operation: Option<Activity>,
    module: Option<Activity>,
    idle: bool,
}

impl Classified {
    /// Looks at every context: the outermost frame of its path that is an operation decides, else the module that its
    /// innermost frame lies in, else it is the program's own work.
    pub fn new(tree: &Tree, frames: &Frames) -> Classified {
        let mut classified = Classified {
            activities: vec![Activity::Compute; tree.len()],
            operations: vec![None; tree.len()],
            frames: vec![0; tree.len()],
            tasks: vec![0; tree.len()],
            idle: vec![false; tree.len()],
        };
        // Equal scopes are looked up once.
        let of_scope: Vec<Known> = tree
            .scopes()
            .iter()
            .map(|scope| Known {
                operation: scope.kind.is_frame().then(|| frames.of_function(&scope.name)).flatten(),
                module: scope.module.as_deref().and_then(|module| frames.of_module(module)),
                idle: scope.kind.is_frame() && frames.is_idle(&scope.name),
            })
            .collect();
        for context in 1..tree.len() {
            let node = tree.contexts()[context];
            let parent = node.parent as usize;
            let Known { operation, module, idle } = of_scope[node.scope as usize];
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
            classified.frames[context] = if frame { context as u32 } else { classified.frames[parent] };
            classified.idle[context] = if frame { idle } else { classified.idle[parent] };
        }
        classified.name_tasks(tree);
        classified
    }

    /// Frames that are reached by the same functions from the run-time library that started them on are one task: a thread
    /// that the library made does the same work as the one that made it, below another root.
    fn name_tasks(&mut self, tree: &Tree) {
        let mut known: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for context in 1..tree.len() {
            let node = tree.contexts()[context];
            let above = self.frames[node.parent as usize] as usize;
            self.tasks[context] = if self.frames[context] as usize != context {
                self.tasks[node.parent as usize]
            } else if self.activities[context] == Activity::Compute && self.is_start_of_task(above) {
                *known.entry((0, node.scope)).or_insert(context as u32)
            } else {
                *known.entry((self.tasks[above], node.scope)).or_insert(context as u32)
            };
        }
    }

    fn is_start_of_task(&self, above: usize) -> bool {
        above != 0 && self.activities[above] != Activity::Compute && self.operations[above].is_none()
    }

    /// What a context's own cost is spent on.
    pub fn activity(&self, context: u32) -> Activity {
        self.activities[context as usize]
    }

    /// The context of the operation that it belongs to.
    pub fn operation(&self, context: u32) -> Option<u32> {
        self.operations[context as usize]
    }

    /// The innermost frame of a context, itself if it is one; the root is its own.
    pub fn frame(&self, context: u32) -> u32 {
        self.frames[context as usize]
    }

    /// The first frame that does the same as a context's frame does, whichever thread: where OpenMP's threads take part in a
    /// parallel region, the paths of all of them are one task.
    pub fn task(&self, context: u32) -> u32 {
        self.tasks[context as usize]
    }

    /// Whether its innermost frame does nothing but wait, in spinning or in sleep.
    pub fn is_idle(&self, context: u32) -> bool {
        self.idle[context as usize]
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
            [Activity::ThreadBarrier, Activity::Compute, Activity::Compute]
        );
        assert_eq!(of(print), Activity::Io);
        assert_eq!(classified.operation(place[poll as usize]), Some(place[reduce as usize]));
        assert_eq!(classified.operations().count(), 2);
    }

    #[test]
    fn threads_of_a_region_do_one_task() {
        let function = |name: &str, module: &str, call_line: Option<u32>| Scope {
            module: Some(module.into()),
            call_line,
            ..Scope::new(ScopeKind::Function, name)
        };
        let mut builder = TreeBuilder::new();
        let main = builder.child(0, &function("main", "app", None));
        let region = builder.child(main, &function("GOMP_parallel", "libgomp.so.1", Some(7)));
        let body = builder.child(region, &function("solve._omp_fn.0", "app", None));
        let kernel = builder.child(body, &function("kernel", "app", Some(9)));
        let line = builder.child(kernel, &Scope { line: Some(3), ..Scope::new(ScopeKind::Line, "a.c:3") });
        let root = builder.child(0, &Scope::pseudo("<thread root>"));
        let start = builder.child(root, &function("gomp_thread_start", "libgomp.so.1", None));
        let body_2 = builder.child(start, &function("solve._omp_fn.0", "app", None));
        let kernel_2 = builder.child(body_2, &function("kernel", "app", Some(9)));
        let wait = builder.child(start, &function("gomp_team_barrier_wait_end", "libgomp.so.1", None));
        let spin = builder.child(wait, &function("futex_wait", "libgomp.so.1", None));
        let (tree, place) = builder.finish();
        let classified = Classified::new(&tree, &Frames::known());
        let task = |context: u32| classified.task(place[context as usize]);
        assert_eq!((task(body), task(kernel), task(line)), (task(body_2), task(kernel_2), task(kernel_2)));
        assert_ne!(task(body), task(kernel));
        assert_eq!(task(main), place[main as usize]);
        assert_eq!(classified.activity(place[spin as usize]), Activity::ThreadBarrier);
        assert!(classified.is_idle(place[spin as usize]) && !classified.is_idle(place[kernel as usize]));
    }
}
