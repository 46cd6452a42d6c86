//! Which laws are tried: the search space of a model.

use super::hypothesis::Hypothesis;
use super::term::{Factor, Term};

/// The laws tried for a cost, simplest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Basis {
    /// Terms that a law may have beside its constant.
    pub terms: Vec<Term>,
    /// Which terms may stand together in a law of two.
    pub pairs: Pairs,
}

/// Pairs of terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// 1/p and any other: c₀ + c₁/p + c₂·g(p), the shape of strong scaling.
    WithShared,
    /// Any two.
    All,
}

/// Exponents of growing terms: those of the performance model normal form (Calotoiu et al., SC'13) that are far enough apart
/// to be told from each other.
const EXPONENTS: [(i8, i8); 13] =
    [(0, 1), (1, 4), (1, 3), (1, 2), (2, 3), (3, 4), (1, 1), (5, 4), (4, 3), (3, 2), (2, 1), (5, 2), (3, 1)];

/// Scales below which two terms cannot be told from chance.
const SCALES_FOR_TWO: usize = 7;
/// Growth that may be told from shared work by few scales.
const PLAIN: [Factor; 3] = [Factor::new(0, 1, 1), Factor::new(1, 2, 0), Factor::new(1, 1, 0)];
/// Scales below which growth cannot be told from chance.
const SCALES_FOR_ONE: usize = 5;

impl Basis {
    /// For a cost of each process when the problem grows with the processors, or for total work: constant or growing, with
    /// p^i·log2(p)^j for i = 0 to 3 and j = 0 to 2.
    pub fn weak() -> Basis {
        Basis { terms: growing().map(Term::processors).collect(), pairs: Pairs::All }
    }

    /// For a time when the problem stays the same: c₀ + c₁/p + c₂·g(p), any part of which may be missing; g as in [`Basis::weak`].
    pub fn strong() -> Basis {
        let terms = [Term::SHARED].into_iter().chain(growing().map(Term::processors));
        Basis { terms: terms.collect(), pairs: Pairs::WithShared }
    }

    /// For a cost over problem size N and processor count p: products of N^i·log2(N)^j and p^k·log2(p)^l with i up to 3, k from −1
    /// to 1, alone or summed in twos.
    pub fn sizes_and_processors() -> Basis {
        let size = [(0, 1), (1, 2), (1, 1), (3, 2), (2, 1), (5, 2), (3, 1)];
        let sizes = size.iter().flat_map(|(i, d)| [0, 1].map(|j| Factor::new(*i, *d, j)));
        let processors = [(-1, 1, 0), (-1, 2, 0), (0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 1, 0), (1, 1, 1)];
        let products = sizes.flat_map(|n| processors.map(|(k, d, l)| Term { p: Factor::new(k, d, l), n }));
        let one = Term { p: Factor::ONE, n: Factor::ONE };
        Basis { terms: products.filter(|term| *term != one).collect(), pairs: Pairs::All }
    }

    /// The laws to try with this many scales: the constant; then those with one term; then those with two. Below 5 scales, of
    /// terms only 1/p is tried; two terms need 7, or 5 for 1/p and one of log2(p), √p and p.
    pub fn levels(&self, scales: usize) -> Vec<Vec<Hypothesis>> {
        let both =
            |terms: Vec<Term>| [false, true].map(|constant| Hypothesis { constant, terms: terms.clone() });
        let single = self.terms.iter().filter(|term| scales >= SCALES_FOR_ONE || **term == Term::SHARED);
        let mut levels =
            vec![vec![Hypothesis::CONSTANT], single.flat_map(|term| both(vec![*term])).collect()];
        let pairs = self
            .terms
            .iter()
            .enumerate()
            .flat_map(|(i, first)| self.terms[i + 1..].iter().map(move |second| vec![*first, *second]));
        let allowed = pairs.filter(|pair| {
            let shared = pair[0] == Term::SHARED;
            let plain = shared && PLAIN.contains(&pair[1].p) && scales >= SCALES_FOR_ONE;
            plain || scales >= SCALES_FOR_TWO && (shared || self.pairs == Pairs::All)
        });
        levels.push(allowed.flat_map(both).collect());
        levels
    }
}

fn growing() -> impl Iterator<Item = Factor> {
    let powers = EXPONENTS.iter().flat_map(|(i, d)| [0, 1, 2].map(|j| Factor::new(*i, *d, j)));
    powers.filter(|factor| *factor != Factor::ONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(basis: &Basis, scales: usize) -> Vec<usize> {
        basis.levels(scales).iter().map(Vec::len).collect()
    }

    #[test]
    fn more_scales_allow_more() {
        assert_eq!(sizes(&Basis::weak(), 4), [1, 0, 0]);
        assert_eq!(sizes(&Basis::strong(), 4), [1, 2, 0]);
        assert_eq!(sizes(&Basis::strong(), 5), [1, 78, 6]);
        assert_eq!(sizes(&Basis::weak(), 6), [1, 76, 0]);
        assert_eq!(sizes(&Basis::strong(), 7), [1, 78, 76]);
        assert_eq!(sizes(&Basis::weak(), 7), [1, 76, 38 * 37]);
    }
}
