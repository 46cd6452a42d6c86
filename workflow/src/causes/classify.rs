//! The activity of every context of a tree.

use falloff_postprocess::{ScopeKind, Tree};
use rustc_hash::FxHashMap;

use super::activity::Activity;
use super::frames::Frames;

/// Functions of C libraries that call what a thread begins with.
const THREAD_STARTS: [&str; 3] = ["start_thread", "thread_start", "start"];

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

    /// Gives the frames of threads the tasks that they have in common: what is reached by the same calls from a function that
    /// threads begin with is the same task in all of them, whoever called that function.
    fn name_tasks(&mut self, tree: &Tree) {
        let entries = self.entries(tree);
        // Who is above, 0 for an entry, and the scope.
        let mut known: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for context in 1..tree.len() {
            let node = tree.contexts()[context];
            let above = self.frames[node.parent as usize];
            self.tasks[context] = if self.frames[context] as usize != context {
                self.tasks[node.parent as usize]
            } else {
                let key = match entries[node.scope as usize] {
                    Some(entry) if self.activities[context] == Activity::Compute => (0, entry),
                    _ => (self.tasks[above as usize].max(1), node.scope),
                };
                *known.entry(key).or_insert(context as u32)
            };
        }
    }

    /// For every scope that is a function which threads begin with, the first scope that is this function.
    fn entries(&self, tree: &Tree) -> Vec<Option<u32>> {
        let function = |scope: u32| {
            let scope = &tree.scopes()[scope as usize];
            (&scope.name, &scope.module)
        };
        let mut first: FxHashMap<_, u32> = FxHashMap::default();
        for context in 1..tree.len() as u32 {
            let node = tree.contexts()[context as usize];
            let above = self.frames[node.parent as usize];
            let is_frame = self.frames[context as usize] == context;
            let is_work = self.activities[context as usize] == Activity::Compute;
            if is_frame && is_work && self.starts_tasks(tree, above) {
                first.entry(function(node.scope)).or_insert(node.scope);
            }
        }
        let entry = |scope: u32| first.get(&function(scope)).copied();
        (0..tree.scopes().len() as u32).map(entry).collect()
    }

    /// Whether a frame calls what threads begin with: that of a run-time library outside of operations, or of the C library.
    fn starts_tasks(&self, tree: &Tree, frame: u32) -> bool {
        let of_library = self.activities[frame as usize] != Activity::Compute;
        frame != 0
            && self.operations[frame as usize].is_none()
            && (of_library || THREAD_STARTS.contains(&&*tree.scope(frame).name))
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

    /// The first frame that does the same as a context's frame does, whichever thread: where threads take part in a parallel
    /// region, or begin with the same function, the paths of all of them are one task.
    pub fn task(&self, context: u32) -> u32 {
        self.tasks[context as usize]
    }

    /// Where the cost of a context that is no work of the program is told: its operation, or the frame of a run-time library. Of
    /// threads that do the same it is that of the first; operations in which all meet are told by call path.
    pub fn place(&self, context: u32) -> u32 {
        let place = self.operation(context).unwrap_or(self.frame(context));
        if self.activity(context).is_meeting() { place } else { self.task(place) }
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
        let called = builder.child(main, &function("pieces", "app", Some(8)));
        let lock = builder.child(called, &function("pthread_mutex_lock", "libc.so.6", Some(4)));
        let root = builder.child(0, &Scope::pseudo("<thread root>"));
        let thread = builder.child(root, &function("start_thread", "libc.so.6", None));
        let begun = builder.child(thread, &function("pieces", "app", None));
        let lock_2 = builder.child(begun, &function("pthread_mutex_lock", "libc.so.6", Some(4)));
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
        // A thread that the program made begins with what main calls too.
        assert_eq!((task(called), task(lock)), (task(begun), task(lock_2)));
        assert_eq!(classified.activity(place[spin as usize]), Activity::ThreadBarrier);
        assert!(classified.is_idle(place[spin as usize]) && !classified.is_idle(place[kernel as usize]));
    }
}
