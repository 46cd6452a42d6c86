//! Choosing a law, and those that might be it as well.

use super::basis::Basis;
use super::candidate::{Candidate, Data};
use crate::interval::fisher;
use crate::points::Points;

/// A law with more terms must bring the score of points left out below this part of a simpler one's.
const BETTER: f64 = 0.7;
/// And by this much, in percentage points: below that, both follow the data exactly.
const BETTER_AT_LEAST: f64 = 1e-6;
/// |c|/se that a term needs, which pays for having looked at dozens of them.
const STRENGTH: f64 = 4.0;
/// |c|/se of every term of a law that is not taken and yet not ruled out.
const STRENGTH_OF_RIVAL: f64 = 3.0;
/// Laws that say what they have not seen almost as well as the best may be it.
const ALMOST: f64 = 1.1;

/// The law chosen and all that may be it, itself the first.
pub(crate) fn choose(points: &Points, basis: &Basis) -> Option<Vec<Candidate>> {
    let data = Data::new(points);
    let mut chosen: Option<Candidate> = None;
    let mut tried: Vec<Candidate> = Vec::new();
    for level in basis.levels(points.len()) {
        let fitted: Vec<Candidate> = level.iter().filter_map(|law| Candidate::new(law, &data)).collect();
        let strong = fitted.iter().filter(|candidate| candidate.weakest_term() >= STRENGTH);
        let best = strong.min_by(|a, b| a.smape.total_cmp(&b.smape));
        match (best, &chosen) {
            (Some(best), None) => chosen = Some(best.clone()),
            (Some(best), Some(simpler)) => {
                if best.smape <= BETTER * simpler.smape && simpler.smape - best.smape > BETTER_AT_LEAST {
                    chosen = Some(best.clone());
                }
            }
            (None, _) => {}
        }
        tried.extend(fitted);
    }
    let chosen = chosen?;
    let others =
        tried.into_iter().filter(|other| other.hypothesis != chosen.hypothesis && rivals(&chosen, other));
    Some([chosen.clone()].into_iter().chain(others).collect())
}

/// Whether `other` may be the law as well: with no more terms, if it says what it has not seen almost as well, or misses the data by no
/// more than chance (the F-ratio of one more parameter); with one more, if it looks better, though not by enough to be taken.
pub(super) fn rivals(chosen: &Candidate, other: &Candidate) -> bool {
    let chance = 1.0 + fisher(0.95, 1.0, chosen.fit.freedom) / chosen.fit.freedom;
    let (terms, own) = (other.hypothesis.terms.len(), chosen.hypothesis.terms.len());
    if terms <= own {
        other.smape <= ALMOST * chosen.smape || other.fit.rss <= chance * chosen.fit.rss
    } else {
        terms == own + 1 && ALMOST * other.smape <= chosen.smape && other.weakest_term() >= STRENGTH_OF_RIVAL
    }
}
