//! Load modules, functions and places in them.

use rustc_hash::FxHashMap;

use super::message::Message;
use super::strings::Strings;
use crate::cct::Scope;
use crate::database::Database;
use crate::export::frames::Frames;

/// Lines of a place, innermost function first: each is a function's index and a line in it, 0 if not known.
type Lines = Vec<(u32, u32)>;

/// Places that samples go through, by number from 1. A place is a line of a function as the linker placed it, with the
/// lines of the functions inlined there.
pub(super) struct Places {
    numbers: FxHashMap<Lines, u64>,
    places: Vec<Lines>,
    /// For each frame, the place whose innermost line it is and the frame outside of it; filled when asked for.
    of_frames: Vec<Option<(u64, Option<u32>)>>,
}

impl Places {
    /// None yet.
    pub fn new(frames: &Frames) -> Places {
        Places {
            numbers: FxHashMap::default(),
            places: Vec::new(),
            of_frames: vec![None; frames.frames().len()],
        }
    }

    /// Numbers of the places from this frame outwards.
    pub fn path(&mut self, frames: &Frames, frame: u32) -> Vec<u64> {
        let mut path = Vec::new();
        let mut next = Some(frame);
        while let Some(frame) = next {
            let (place, outside) = self.of_frames[frame as usize].unwrap_or_else(|| self.find(frames, frame));
            path.push(place);
            next = outside;
        }
        path
    }

    fn find(&mut self, frames: &Frames, frame: u32) -> (u64, Option<u32>) {
        let mut lines = Lines::new();
        let mut outside = None;
        for (_, inner) in frames.path(frame) {
            lines.push((inner.function, inner.line.unwrap_or(0)));
            outside = inner.caller;
            if !inner.inlined {
                break;
            }
        }
        let place = match self.numbers.get(&lines) {
            Some(number) => *number,
            None => {
                self.places.push(lines.clone());
                self.numbers.insert(lines, self.places.len() as u64);
                self.places.len() as u64
            }
        };
        self.of_frames[frame as usize] = Some((place, outside));
        (place, outside)
    }

    /// Each place as a `Location` message.
    pub fn messages(&self, frames: &Frames, modules: &Modules) -> impl Iterator<Item = Message> {
        (1..).zip(&self.places).map(|(number, lines)| {
            let outermost = lines.last().map(|(function, _)| frames.functions()[*function as usize]);
            let module = outermost.and_then(|scope| scope.module.as_deref());
            let location =
                Message::default().number(1, number).number(2, module.map_or(0, |m| modules.number(m)));
            lines.iter().fold(location, |location, (function, line)| {
                let line = Message::default().number(1, u64::from(*function) + 1).number(2, (*line).into());
                location.message(4, &line)
            })
        })
    }
}

/// Each function as a `Function` message; function n has number n + 1.
///
/// The name is the demangled one, and the system's name is left empty: readers take names that equal it for mangled ones
/// and shorten them.
pub(super) fn functions(frames: &Frames, strings: &mut Strings) -> Vec<Message> {
    let one = |(number, scope): (u64, &&Scope)| {
        Message::default()
            .number(1, number)
            .number(2, strings.index(&scope.name))
            .number(4, strings.index(scope.file.as_deref().unwrap_or("")))
            .number(5, scope.line.unwrap_or(0).into())
    };
    (1..).zip(frames.functions()).map(one).collect()
}

/// Load modules by their file names, numbered from 1, the program's own first.
pub(super) struct Modules<'a> {
    names: Vec<&'a str>,
    numbers: FxHashMap<&'a str, u64>,
}

impl<'a> Modules<'a> {
    /// Those of all functions.
    pub fn new(frames: &Frames<'a>, database: &'a Database) -> Modules<'a> {
        let program = database.locations().first().map_or("", |location| location.program());
        let mut names: Vec<&str> = frames.functions().iter().filter_map(|s| s.module.as_deref()).collect();
        names.sort_unstable_by_key(|name| (*name != program, *name));
        names.dedup();
        Modules { numbers: names.iter().copied().zip(1..).collect(), names }
    }

    fn number(&self, module: &str) -> u64 {
        self.numbers.get(module).copied().unwrap_or(0)
    }

    /// Each module as a `Mapping` message. All say that names, files, lines and inlined functions are known, as far as
    /// they can be: readers have nothing to look up.
    pub fn messages(&self, database: &Database, strings: &mut Strings) -> Vec<Message> {
        let one = |(number, name): (u64, &&str)| {
            let module = database.modules().iter().find(|module| module.file_name() == *name);
            let (path, build_id) = module.map_or((*name, ""), |m| (&m.path, &m.build_id));
            let mapping = Message::default()
                .number(1, number)
                .number(5, strings.index(path))
                .number(6, strings.index(build_id));
            (7..=10).fold(mapping, |mapping, flag| mapping.number(flag, 1))
        };
        (1..).zip(&self.names).map(one).collect()
    }
}
