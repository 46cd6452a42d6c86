//! Call paths as chains of frames: what formats that know stacks are made of.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::profile::{Profile, with_callers};
use crate::cct::{Scope, ScopeKind, THREAD_ROOT};

/// One step of a call path: a function where it was called in this place and by this caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    /// Index of the caller's frame, which is always below this one's.
    pub caller: Option<u32>,
    /// Index of the function, see [`Frames::functions`].
    pub function: u32,
    /// Line in the function: of the call, or of the statement that has the cost.
    pub line: Option<u32>,
    /// The function's body is part of the caller's.
    pub inlined: bool,
}

/// The frames of all call paths with cost, each once.
///
/// Functions, inlined functions and pseudo frames are frames; statements and loops say at which line a function was.
/// `<thread root>` is none, and cost of no function is that of `<program>`.
pub(super) struct Frames<'a> {
    functions: Vec<&'a Scope>,
    frames: Vec<Frame>,
    /// For each context the frame that has its cost, if there is any.
    of_context: Vec<Option<u32>>,
}

/// What is told apart beside functions and their callers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Lines, and inlined functions from others.
    Lines,
    /// Nothing.
    Functions,
}

impl<'a> Frames<'a> {
    /// The frames of a profile.
    pub fn new(profile: &Profile<'a>, detail: Detail) -> Frames<'a> {
        let tree = profile.tree();
        let mut builder =
            Builder { detail, functions: Vec::new(), frames: Vec::new(), known: FxHashMap::default() };
        let function_of = builder.functions_of(tree.scopes());
        let mut own = vec![false; tree.len()];
        profile.groups().iter().for_each(|group| group.mark(&mut own));
        let below = with_callers(tree, own.clone());
        // The frame that each context is in, its line still open.
        let mut open: Vec<Option<Frame>> = Vec::with_capacity(tree.len());
        let mut of_context = vec![None; tree.len()];
        for (index, context) in tree.contexts().iter().enumerate() {
            let scope = &tree.scopes()[context.scope as usize];
            let outer: Option<Frame> = if index == 0 { None } else { open[context.parent as usize] };
            let inner = match function_of[context.scope as usize] {
                Some(function) if below[index] => Some(Frame {
                    caller: outer.map(|frame| builder.frame(frame, scope.call_line)),
                    function,
                    line: None,
                    inlined: scope.kind == ScopeKind::Inlined && outer.is_some(),
                }),
                _ => outer,
            };
            open.push(inner);
            if own[index] {
                let line = if scope.kind.is_frame() { None } else { scope.line };
                let frame = inner
                    .unwrap_or_else(|| builder.program(&tree.scopes()[tree.contexts()[0].scope as usize]));
                of_context[index] = Some(builder.frame(frame, line));
            }
        }
        Frames { functions: builder.functions, frames: builder.frames, of_context }
    }

    /// Distinct functions: of one name, module and file.
    pub fn functions(&self) -> &[&'a Scope] {
        &self.functions
    }

    /// All frames; callers come before their callees.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The frame that has the cost of a context; `None` if it has none.
    pub fn of_context(&self, context: u32) -> Option<u32> {
        self.of_context[context as usize]
    }

    /// A frame, its caller's and so on to the outermost.
    pub fn path(&self, frame: u32) -> impl Iterator<Item = (u32, Frame)> + '_ {
        let at = |frame: u32| (frame, self.frames[frame as usize]);
        std::iter::successors(Some(at(frame)), move |(_, frame)| frame.caller.map(at))
    }

    /// Exclusive cost of every frame.
    pub fn sums(&self, costs: &[(u32, f64)]) -> Vec<f64> {
        let mut sums = vec![0.0; self.frames.len()];
        for (context, cost) in costs {
            if let Some(frame) = self.of_context(*context) {
                sums[frame as usize] += cost;
            }
        }
        sums
    }
}

struct Builder<'a> {
    detail: Detail,
    functions: Vec<&'a Scope>,
    frames: Vec<Frame>,
    known: FxHashMap<Frame, u32>,
}

impl<'a> Builder<'a> {
    /// The function of each scope; `None` for what is no frame.
    fn functions_of(&mut self, scopes: &'a [Scope]) -> Vec<Option<u32>> {
        let mut known = FxHashMap::default();
        let mut function = |scope: &'a Scope| match known.entry((&scope.name, &scope.module, &scope.file)) {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(free) => {
                self.functions.push(scope);
                *free.insert(self.functions.len() as u32 - 1)
            }
        };
        let thread_root = |scope: &Scope| scope.kind == ScopeKind::Pseudo && &*scope.name == THREAD_ROOT;
        scopes.iter().map(|s| (s.kind.is_frame() && !thread_root(s)).then(|| function(s))).collect()
    }

    /// The index of a frame at this line.
    fn frame(&mut self, frame: Frame, line: Option<u32>) -> u32 {
        let frame = match self.detail {
            Detail::Lines => Frame { line, ..frame },
            Detail::Functions => Frame { inlined: false, ..frame },
        };
        *self.known.entry(frame).or_insert_with(|| {
            self.frames.push(frame);
            self.frames.len() as u32 - 1
        })
    }

    /// The frame of cost that is in no function.
    fn program(&mut self, root: &'a Scope) -> Frame {
        let function = self.functions.iter().position(|f| std::ptr::eq(*f, root)).unwrap_or_else(|| {
            self.functions.push(root);
            self.functions.len() - 1
        });
        Frame { caller: None, function: function as u32, line: None, inlined: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{By, samples};

    fn text(frames: &Frames, frame: u32) -> String {
        let one = |(_, frame): (u32, Frame)| {
            let name = &frames.functions()[frame.function as usize].name;
            let line = frame.line.map_or(String::new(), |line| format!(":{line}"));
            format!("{}{name}{line}", if frame.inlined { "~" } else { "" })
        };
        frames.path(frame).map(one).collect::<Vec<_>>().join(" < ")
    }

    #[test]
    fn frames_have_the_lines_of_calls_and_statements() {
        let database = crate::synthetic::database();
        let profile = Profile::new(&database, &["cpu"], By::None);
        let frames = Frames::new(&profile, Detail::Lines);
        let costs = profile.groups()[0].costs(0);
        let mut paths: Vec<String> =
            costs.iter().map(|(context, _)| text(&frames, frames.of_context(*context).unwrap())).collect();
        paths.sort();
        insta::assert_snapshot!("frames", paths.join("\n"));
        assert!(frames.frames().iter().zip(0..).all(|(f, index)| f.caller.is_none_or(|c| c < index)));
        assert_eq!(frames.sums(costs).iter().sum::<f64>(), profile.groups()[0].total(0));
    }

    #[test]
    fn cost_of_no_function_is_the_programs() {
        let database = samples::changed(|value| value.context = 0);
        let profile = Profile::new(&database, &["cpu"], By::None);
        let frames = Frames::new(&profile, Detail::Lines);
        assert_eq!(text(&frames, frames.of_context(0).unwrap()), "<program>");
    }

    #[test]
    fn functions_alone_are_one_whatever_their_lines() {
        let database = crate::synthetic::database();
        let profile = Profile::new(&database, &["cpu"], By::None);
        let lines = Frames::new(&profile, Detail::Lines);
        let frames = Frames::new(&profile, Detail::Functions);
        assert!(frames.frames().len() < lines.frames().len());
        assert!(frames.frames().iter().all(|f| f.line.is_none() && !f.inlined));
    }
}
