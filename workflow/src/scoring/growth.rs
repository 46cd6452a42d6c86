//! By which factor the work of each call path is expected to grow.

use std::collections::BTreeMap;

use falloff_postprocess::Tree;

use super::expectation::Scaling;
use super::own_expectation::OwnExpectation;
use crate::template::Argument;

/// Expected growth ρ of the work of every call path: that of its own expectation, else that of the whole run.
///
/// A call path has the expectation that its innermost function has of which one is given, so that a subtree follows its
/// outermost function unless one within has its own; of several for one function the last counts. Own work grows by its own
/// factor; what a path expects with all that it calls is the sum, so excess stays additive.
#[derive(Clone, Debug)]
pub struct Growth {
    scaling: Scaling,
    /// For every context which of `totals` it follows, from 1; 0 follows the scaling. Empty if all do.
    followed: Vec<u32>,
    /// Expected total work by processor count, in units of each expectation's own.
    totals: Vec<BTreeMap<u32, f64>>,
}

impl Growth {
    /// The same for all call paths.
    pub fn uniform(scaling: Scaling) -> Growth {
        Growth { scaling, followed: Vec::new(), totals: Vec::new() }
    }

    /// With expectations of some, which are worked out at these processor counts.
    ///
    /// # Errors
    /// Which expectation cannot be worked out where, as a sentence.
    pub fn new(
        scaling: Scaling,
        own: &[OwnExpectation],
        arguments: &[Argument],
        tree: &Tree,
        scales: &[u32],
    ) -> Result<Growth, String> {
        let totals = own
            .iter()
            .map(|e| scales.iter().map(|scale| Ok((*scale, e.total(*scale, arguments)?))).collect())
            .collect::<Result<Vec<BTreeMap<u32, f64>>, String>>()?;
        let last = |name: &str| own.iter().rposition(|e| e.is_of(name)).map_or(0, |index| index as u32 + 1);
        let of_scope: Vec<u32> = tree
            .scopes()
            .iter()
            .map(|scope| if scope.kind.is_frame() { last(&scope.name) } else { 0 })
            .collect();
        let mut followed = vec![0; if own.is_empty() { 0 } else { tree.len() }];
        for context in 1..followed.len() {
            let node = tree.contexts()[context];
            followed[context] = match of_scope[node.scope as usize] {
                0 => followed[node.parent as usize],
                own => own,
            };
        }
        Ok(Growth { scaling, followed, totals })
    }

    /// The factor of all call paths, if it is the same.
    pub fn of_all(&self, base: u32, at: u32) -> Option<f64> {
        self.followed.is_empty().then(|| self.scaling.rho(base, at))
    }

    /// The factor of one call path: total(at) / total(base); infinite or no number where nothing is expected at the base.
    pub fn of(&self, context: u32, base: u32, at: u32) -> f64 {
        let own = self
            .followed
            .get(context as usize)
            .and_then(|own| self.totals.get((*own as usize).checked_sub(1)?));
        own.map_or_else(|| self.scaling.rho(base, at), |totals| self.ratio(totals, base, at))
    }

    /// For every context which of [`Growth::totals`] it follows, from 1; 0 follows the scaling. Empty if all do.
    pub(crate) fn followed(&self) -> &[u32] {
        &self.followed
    }

    /// Expected total work by processor count of every expectation that call paths have of their own.
    pub(crate) fn totals(&self) -> &[BTreeMap<u32, f64>] {
        &self.totals
    }

    /// Whether all factors are numbers.
    pub fn is_known(&self, base: u32, at: u32) -> bool {
        self.totals.iter().all(|totals| self.ratio(totals, base, at).is_finite())
    }

    fn ratio(&self, totals: &BTreeMap<u32, f64>, base: u32, at: u32) -> f64 {
        let total = |scale: u32| totals.get(&scale).copied().unwrap_or(f64::NAN);
        if base == at { 1.0 } else { total(at) / total(base) }
    }
}

#[cfg(test)]
mod tests {
    use falloff_postprocess::{Scope, ScopeKind, TreeBuilder};

    use super::*;

    #[test]
    fn the_innermost_expectation_counts_and_the_last_of_it() {
        let mut builder = TreeBuilder::new();
        let function = |name: &str| Scope::new(ScopeKind::Function, name);
        let solve = builder.child(0, &function("solve"));
        let line = builder.child(solve, &Scope { line: Some(3), ..Scope::new(ScopeKind::Line, "solve.c:3") });
        let reduce = builder.child(solve, &function("reduce"));
        let poll = builder.child(reduce, &function("poll"));
        let output = builder.child(0, &function("output"));
        let (tree, place) = builder.finish();
        let own = ["solve=1", "reduce=1", "reduce=log2(p)"].map(|text| OwnExpectation::parse(text).unwrap());
        let growth = Growth::new(Scaling::Strong, &own, &[], &tree, &[1, 2, 8]).unwrap();
        let of = |context: u32| growth.of(place[context as usize], 2, 8);
        assert_eq!([solve, line, reduce, poll, output].map(of), [4.0, 4.0, 12.0, 12.0, 1.0]);
        assert!(growth.is_known(2, 8) && !growth.is_known(1, 8) && growth.is_known(1, 1));
        assert_eq!((growth.of_all(2, 8), Growth::uniform(Scaling::Weak).of_all(2, 8)), (None, Some(4.0)));
    }
}
