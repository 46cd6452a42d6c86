//! The parts of a run that are modelled: no second of it is in two of them.

use falloff_postprocess::Tree;

use crate::causes::{Classified, Frames};
use crate::scoring::{Columns, MIN_SAMPLES, Participants};

/// A run split by call path: the own code of every function on its path, with its loops and lines, and every operation of a run-time
/// library (an MPI call, a lock, a barrier) with all that it calls, whose inside changes from count to count.
pub(crate) struct Parts {
    /// For every context of the tree, that of its part.
    of: Vec<u32>,
    /// Contexts of parts with enough samples at some count to be looked at one by one.
    pub judged: Vec<u32>,
    /// Contexts of the others.
    pub rare: Vec<u32>,
    /// By column of cost and context, the cost of parts, seconds.
    pub costs: Vec<Vec<f64>>,
}

impl Parts {
    /// Splits the runs whose columns are over `tree`. Parts without any cost are none.
    pub fn new(tree: &Tree, columns: &Columns) -> Parts {
        let classified = Classified::new(tree, &Frames::known());
        let of: Vec<u32> = (0..tree.len() as u32).map(|context| classified.place(context)).collect();
        let cost_columns = columns.scales.iter().flat_map(|scale| &scale.cost);
        let costs: Vec<Vec<f64>> =
            cost_columns.map(|column| gathered(&of, &columns.values[*column])).collect();
        let samples: Vec<Vec<f64>> =
            columns.scales.iter().map(|scale| gathered(&of, &columns.samples(scale))).collect();
        let has_cost = |context: &u32| costs.iter().any(|column| column[*context as usize] > 0.0);
        let enough =
            |context: &u32| samples.iter().any(|column| column[*context as usize] >= MIN_SAMPLES as f64);
        let (judged, rare) = (0..tree.len() as u32).filter(has_cost).partition(enough);
        Parts { of, judged, rare, costs }
    }

    /// By context of a part, the largest over the mean cost of the participants; `None` without any cost.
    pub fn max_over_mean(&self, participants: &Participants) -> Vec<Option<f64>> {
        let (mut most, mut sum) = (vec![0.0f64; self.of.len()], vec![0.0; self.of.len()]);
        for column in participants.columns() {
            for (context, seconds) in gathered(&self.of, &column).into_iter().enumerate() {
                most[context] = most[context].max(seconds);
                sum[context] += seconds;
            }
        }
        let count = participants.count() as f64;
        most.iter().zip(sum).map(|(most, sum)| (sum > 0.0).then(|| most * count / sum)).collect()
    }
}

/// What belongs to a part at the part's context.
fn gathered(of: &[u32], column: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; of.len()];
    column.iter().zip(of).for_each(|(value, part)| sums[*part as usize] += value);
    sums
}

#[cfg(test)]
mod tests {
    use falloff_postprocess::{Scope, ScopeKind, TreeBuilder};

    use super::*;

    #[test]
    fn operations_are_whole_and_functions_have_their_own_lines() {
        let mut builder = TreeBuilder::new();
        let function = |name: &str| Scope::new(ScopeKind::Function, name);
        let main = builder.child(0, &function("main"));
        let line = builder.child(main, &Scope { line: Some(3), ..Scope::new(ScopeKind::Line, "a.c:3") });
        let reduce = builder.child(main, &function("MPI_Allreduce"));
        let poll = builder.child(reduce, &function("poll"));
        let seldom = builder.child(main, &function("seldom"));
        let never = builder.child(main, &function("never"));
        let (tree, place) = builder.finish();
        let mut cost = vec![0.0; tree.len()];
        let mut samples = vec![0.0; tree.len()];
        for (context, seconds) in [(line, 2.0), (reduce, 1.0), (poll, 4.0), (seldom, 0.01)] {
            cost[place[context as usize] as usize] = seconds;
            samples[place[context as usize] as usize] = seconds * 100.0;
        }
        let mut columns = Columns::default();
        columns.push(1, cost.clone(), samples, 7.0);
        let parts = Parts::new(&tree, &columns);
        let at = |context: u32| place[context as usize];
        assert_eq!(
            (parts.judged.clone(), parts.rare.clone()),
            (vec![at(main), at(reduce)], vec![at(seldom)])
        );
        assert_eq!(parts.costs[0][at(main) as usize], 2.0);
        assert_eq!(parts.costs[0][at(reduce) as usize], 5.0);
        assert_eq!(parts.costs[0][at(never) as usize], 0.0);
        let mut participants = Participants::new(tree.len());
        participants.add_cost(0, at(line), 2.0);
        participants.add_cost(0, at(poll), 1.0);
        participants.add_cost(1, at(reduce), 3.0);
        let spread = parts.max_over_mean(&participants);
        assert_eq!((spread[at(main) as usize], spread[at(reduce) as usize]), (Some(2.0), Some(1.5)));
        assert_eq!(spread[at(never) as usize], None);
    }
}
