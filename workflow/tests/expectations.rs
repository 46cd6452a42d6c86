//! Expectations of some call paths, and every path from count to count.

mod table;

use falloff_workflow::scoring::{Scaling, Score, ScoredRow};
use proptest::prelude::*;

use table::Table;

fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-9, "found {found}, wanted {wanted}");
}

fn row<'a>(score: &'a Score, name: &str) -> &'a ScoredRow {
    score.context.rows.iter().find(|r| *r.name == *name).unwrap_or_else(|| panic!("no row `{name}`"))
}

/// The example of docs/score.md: total work of 120 s at 2 processes and 190 s at 8.
fn example() -> Table {
    let on_each =
        |n: u32, path: &'static str, seconds: f64| (0..n).map(move |rank| (n, 1, rank, path, seconds));
    let lines: Vec<_> = on_each(2, "main;solve", 50.0)
        .chain(on_each(8, "main;solve", 15.0))
        .chain(on_each(2, "main;solve;reduce", 4.0))
        .chain(on_each(8, "main;solve;reduce", 6.0))
        .chain(on_each(2, "main;output", 6.0))
        .chain(on_each(8, "main;output", 2.75))
        .collect();
    Table::new(&lines)
}

#[test]
fn a_subtree_may_have_its_own_expectation() {
    // Strong scaling: reduce should have stayed at 8 s and has 48.
    let strong = example().score(None, None, Scaling::Strong);
    close(strong.total().excess, (190.0 - 120.0) / 190.0);
    close(row(&strong, "reduce").inclusive.excess, 40.0 / 190.0);
    // Each process is expected to need log2(p) as long: 4 s at 2, 12 s at 8, 96 s together.
    let own = example().expecting(&["^reduce$=log2(p)"]).score(None, None, Scaling::Strong);
    close(row(&own, "reduce").inclusive.expected, 96.0);
    close(row(&own, "reduce").inclusive.excess, (48.0 - 96.0) / 190.0);
    close(row(&own, "reduce").own_efficiency.unwrap(), 2.0);
    // Its callers expect the sum.
    close(row(&own, "solve").exclusive.excess, (120.0 - 100.0) / 190.0);
    close(row(&own, "solve").inclusive.excess, (168.0 - 196.0) / 190.0);
    close(own.total().excess, (190.0 - 208.0) / 190.0);
    assert_eq!(own.own, ["^reduce$=log2(p)"]);
    // An expectation of solve is one of reduce too, unless that has its own.
    let both = example().expecting(&["^reduce$=log2(p)", "^solve$=1"]).score(None, None, Scaling::Strong);
    close(row(&both, "solve").exclusive.expected, 400.0);
    close(row(&both, "reduce").inclusive.expected, 96.0);
    close(row(&both, "output").inclusive.expected, 12.0);
}

#[test]
fn what_cannot_be_worked_out_is_told() {
    let lines = [(1, 1, 0, "main;reduce", 1.0), (2, 1, 0, "main;reduce", 1.0)];
    let error = |own: &str| {
        let table = Table::new(&lines).expecting(&[own]);
        let error = table.try_score(None, None, Scaling::Strong).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        format!("{error}\nhint: {}\n", error.hint().unwrap())
    };
    let texts = ["reduce=log2(p)", "reduce=n^3/p", "reduce=1/(p-1)", "reduce=-p"].map(error);
    insta::assert_snapshot!("expectation_errors", texts.join("\n"));
}

#[test]
fn only_the_root_is_tested_if_its_excess_may_be_none() {
    let lines = |noise: [f64; 3]| {
        let mut lines = Vec::new();
        for (repetition, noise) in (1..).zip(noise) {
            lines.push((1, repetition, 0, "main;solve", 10.0 * noise));
            lines.push((1, repetition, 0, "main;setup", 1.0));
            for rank in 0..2 {
                lines.push((2, repetition, rank, "main;solve", 4.8 * noise));
                lines.push((2, repetition, rank, "main;setup", 1.0));
            }
        }
        Table::new(&lines).score(None, None, Scaling::Strong)
    };
    let tested = |score: &Score| score.context.rows.iter().filter(|r| r.q_value.is_some()).count();
    let noisy = lines([0.7, 1.0, 1.3]);
    assert!(!noisy.total().is_told_from_zero() && row(&noisy, "setup").inclusive.is_told_from_zero());
    assert_eq!((tested(&noisy), row(&noisy, "setup").significant()), (1, false));
    let quiet = lines([1.0, 1.0, 1.0]);
    assert_eq!((tested(&quiet), row(&quiet, "setup").significant()), (quiet.context.rows.len(), true));
}

/// Any table of runs at 1, 2 and 4 with two repetitions.
fn any_table() -> impl Strategy<Value = Vec<(u32, u32, u32, String, f64)>> {
    let path = prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d"]), 1..5);
    let line = (prop::sample::select(vec![1u32, 2, 4]), 1u32..=2, path, 0u32..1000);
    prop::collection::vec(line, 0..40).prop_map(|lines| {
        let all =
            lines.into_iter().map(|(n, m, path, cost)| (n, m, 0, path.join(";"), f64::from(cost) / 8.0));
        let always = [1, 2, 4].into_iter().flat_map(|n| [1, 2].map(|m| (n, m, 0, "a".to_owned(), 1.0)));
        all.chain(always).collect()
    })
}

fn score(lines: &[(u32, u32, u32, String, f64)], own: &[&str], scaling: Scaling) -> Score {
    let lines: Vec<_> = lines.iter().map(|(n, m, r, p, c)| (*n, *m, *r, p.as_str(), *c)).collect();
    Table::new(&lines).expecting(own).score(Some(1), Some(4), scaling)
}

proptest! {
    #[test]
    fn strong_and_weak_scaling_are_expectations(lines in any_table()) {
        for (scaling, formula) in [(Scaling::Strong, ".=1/p"), (Scaling::Weak, ".=1")] {
            let (preset, own) = (score(&lines, &[], scaling), score(&lines, &[formula], Scaling::Strong));
            for (a, b) in preset.views().flat_map(|v| &v.rows).zip(own.views().flat_map(|v| &v.rows)) {
                for (a, b) in [(a.inclusive, b.inclusive), (a.exclusive, b.exclusive)] {
                    prop_assert!((a.excess - b.excess).abs() < 1e-9, "{a:?} {b:?}");
                    prop_assert!((a.half_width - b.half_width).abs() < 1e-9, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn parts_sum_to_the_root_whatever_they_expect(lines in any_table(), weak: bool) {
        let scaling = if weak { Scaling::Weak } else { Scaling::Strong };
        let score = score(&lines, &["b=1+log2(p)", "c=p^0.5", "d=1/p^2"], scaling);
        for view in score.views() {
            let sum: f64 = view.parts().map(|r| r.exclusive.excess).sum();
            prop_assert!((sum - score.total().excess).abs() < 1e-9);
            let whole = score.scales.last().unwrap().against_base;
            prop_assert!((whole.excess - score.total().excess).abs() < 1e-9);
            prop_assert!((whole.half_width - score.total().half_width).abs() < 1e-9);
        }
    }

    #[test]
    fn steps_of_every_path_sum_to_its_excess(lines in any_table(), weak: bool, own: bool) {
        let scaling = if weak { Scaling::Weak } else { Scaling::Strong };
        let own: &[&str] = if own { &["b=1+log2(p)", "c=p^0.5"] } else { &[] };
        let score = score(&lines, own, scaling);
        prop_assert_eq!(score.steps.len(), 2);
        for row in &score.context.rows {
            let sums = score.steps.iter().map(|step| step.rows[row.id as usize]);
            let (inclusive, exclusive) = sums.fold((0.0, 0.0), |(i, e), s| (i + s.part_inclusive, e + s.part_exclusive));
            prop_assert!((inclusive - row.inclusive.excess).abs() < 1e-9);
            prop_assert!((exclusive - row.exclusive.excess).abs() < 1e-9);
        }
        let last = score.steps.last().unwrap();
        let previous = score.scales.last().unwrap().against_previous.unwrap().1;
        prop_assert!((last.rows[0].inclusive.excess - previous.excess).abs() < 1e-9);
    }
}
