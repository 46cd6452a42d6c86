//! A difference with what it was made of: what changed in which function.

use rustc_hash::FxHashMap;

use super::alignment::Alignment;
use super::comparable::Absent;
use super::fraction::Fraction;
use super::operand::Operand;
use super::places::Locations;
use super::pointwise::total;
use crate::cct::{ScopeKind, Tree};
use crate::database::{Database, InputCost, Location, Operation, counted};
use crate::error::Error;

/// What `a` costs more than `b`, with both of them.
#[derive(Debug)]
pub struct Difference<'a> {
    /// The first database.
    pub a: Operand<'a>,
    /// The one that it is compared with.
    pub b: Operand<'a>,
    /// `a - b` at every context, location and metric.
    pub database: Database,
    /// Places of the contexts of `a` and `b` in the tree of the difference.
    pub(super) places: [Vec<u32>; 2],
}

/// Where a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// In both databases.
    Both,
    /// In the first only.
    OnlyA,
    /// In the second only.
    OnlyB,
}

/// The cost of one function's own code in both databases, in the metric's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Demangled name.
    pub name: String,
    /// Load module, without directory.
    pub module: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Line where it is defined.
    pub line: Option<u32>,
    /// Cost in the first database.
    pub a: f64,
    /// Cost in the second.
    pub b: f64,
    /// Where it is.
    pub presence: Presence,
}

impl Change {
    /// What it costs more in the first.
    pub fn change(&self) -> f64 {
        self.a - self.b
    }
}

impl<'a> Difference<'a> {
    /// Subtracts `b` from `a`.
    ///
    /// # Errors
    /// Those of [`super::sum`].
    pub fn new(a: Operand<'a>, b: Operand<'a>, locations: Locations) -> Result<Difference<'a>, Error> {
        let operands = [a, b];
        let alignment = Alignment::new(&operands, locations)?;
        let places = [0, 1].map(|at| alignment.contexts(at).to_vec());
        let operation = Operation { operator: "diff".into(), ..Operation::default() };
        let weight = |at| if at == 0 { Fraction::ONE } else { Fraction::MINUS_ONE };
        let database = alignment.folded(operation, Absent::IsZero, |at, _| weight(at), total)?;
        Ok(Difference { a, b, database, places })
    }

    /// Total and matched shares of both databases in a metric; `None` for the one that did not measure it.
    pub fn costs(&self, metric: &str) -> [Option<&InputCost>; 2] {
        let inputs = self.database.provenance().history.last().map_or(&[][..], |o| &o.inputs);
        [0, 1].map(|at| inputs.get(at)?.cost(metric))
    }

    /// The one whose run began later, if that is known.
    pub fn newer(&self) -> Option<Operand<'a>> {
        let began = |o: &Operand| o.database.locations().iter().map(|l| l.start_ns).filter(|n| *n > 0).min();
        let (a, b) = (began(&self.a)?, began(&self.b)?);
        match a.cmp(&b) {
            std::cmp::Ordering::Greater => Some(self.a),
            std::cmp::Ordering::Less => Some(self.b),
            std::cmp::Ordering::Equal => None,
        }
    }

    /// Cost of every function's own code in both databases, the largest increase first and the largest decrease last.
    /// Changes add up to that of the whole. Threads that the program did not start count only if `helpers` is set.
    pub fn changes(&self, metric: &str, helpers: bool) -> Vec<Change> {
        let tree = self.database.tree();
        let mut rows = Functions::default();
        for (side, operand) in [self.a, self.b].into_iter().enumerate() {
            let alone = !counted(operand.database.locations()).contains(&false);
            let at = |location: &Location| helpers || alone || !location.helper;
            let costs = operand.database.exclusive_at(metric, at).unwrap_or_default();
            for (context, place) in self.places[side].iter().enumerate().skip(1) {
                let cost = costs.get(context).copied().unwrap_or(0.0);
                rows.add(tree, *place, side, cost);
            }
        }
        let mut changes: Vec<Change> = rows.changes.into_iter().map(|(change, _)| change).collect();
        changes.sort_by(|x, y| y.change().total_cmp(&x.change()).then_with(|| x.name.cmp(&y.name)));
        changes
    }
}

/// What `a` costs more than `b`: `a - b` at every context, location and metric. What is not there counts as 0.
///
/// # Errors
/// Those of [`super::sum`].
pub fn diff(a: Operand, b: Operand, locations: Locations) -> Result<Database, Error> {
    Difference::new(a, b, locations).map(|difference| difference.database)
}

/// Functions by what makes them the same, whoever called them.
#[derive(Default)]
struct Functions {
    /// With whether it is in the first and in the second database.
    changes: Vec<(Change, [bool; 2])>,
    /// By scope of the tree.
    by_scope: FxHashMap<u32, usize>,
    by_name: FxHashMap<(Option<String>, Option<String>, String), usize>,
}

impl Functions {
    fn add(&mut self, tree: &Tree, context: u32, side: usize, cost: f64) {
        let up = std::iter::successors(Some(context), |c| tree.parent(*c));
        let Some(frame) =
            up.into_iter().find(|c| tree.kind(*c).is_frame() || tree.kind(*c) == ScopeKind::Root)
        else {
            return;
        };
        let at = self.row(tree, frame);
        let (change, present) = &mut self.changes[at];
        present[side] = true;
        *(if side == 0 { &mut change.a } else { &mut change.b }) += cost;
        change.presence = match present {
            [true, true] => Presence::Both,
            [true, false] => Presence::OnlyA,
            _ => Presence::OnlyB,
        };
    }

    fn row(&mut self, tree: &Tree, frame: u32) -> usize {
        let id = tree.contexts()[frame as usize].scope;
        if let Some(known) = self.by_scope.get(&id) {
            return *known;
        }
        let scope = tree.scope(frame);
        let text = |t: &Option<std::sync::Arc<str>>| t.as_deref().map(str::to_owned);
        let key = (text(&scope.module), text(&scope.file), scope.name.to_string());
        let at = *self.by_name.entry(key).or_insert_with(|| {
            let change = Change {
                name: scope.name.to_string(),
                module: text(&scope.module),
                file: text(&scope.file),
                line: scope.line,
                a: 0.0,
                b: 0.0,
                presence: Presence::Both,
            };
            self.changes.push((change, [false; 2]));
            self.changes.len() - 1
        });
        self.by_scope.insert(id, at);
        at
    }
}
