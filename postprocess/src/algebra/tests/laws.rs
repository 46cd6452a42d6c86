//! What one expects of sums and differences holds exactly.

use proptest::prelude::*;

use super::super::united::united;
use super::super::{
    Cut, Difference, Filter, Fraction, Gathering, Locations, Operand, Overlap, collapse, cut, diff, filter,
    max, mean, merge, min, scale, sum,
};
use super::random::{cells, database, nothing};
use crate::database::Database;

const AUTO: Locations = Locations::PairIfAlike;

fn operand<'a>(name: &'a str, database: &'a Database) -> Operand<'a> {
    Operand { name, database }
}

fn difference(a: &Database, b: &Database) -> Database {
    diff(operand("a", a), operand("b", b), AUTO).unwrap()
}

fn total(all: &[&Database]) -> Database {
    let operands: Vec<Operand> = all.iter().map(|d| operand("x", d)).collect();
    sum(&operands, AUTO).unwrap()
}

fn gathered(database: &Database) -> Database {
    collapse(operand("x", database), Gathering::All)
}

fn scaled(database: &Database, factor: &str) -> Database {
    scale(operand("x", database), factor.parse().unwrap()).unwrap()
}

/// As it is, or with its locations gathered if those of another are.
fn like(database: &Database, other: &Database) -> Database {
    let is_gathered = other.locations().iter().any(|l| l.is_gathered());
    if is_gathered { gathered(database) } else { database.clone() }
}

fn any_build() -> impl Strategy<Value = Option<u8>> {
    prop_oneof![Just(None), (0u8..3).prop_map(Some)]
}

fn one_build() -> impl Strategy<Value = Option<u8>> {
    Just(Some(0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn a_database_less_itself_is_nothing(a in database(any_build())) {
        let zero = difference(&a, &a);
        prop_assert!(zero.values().is_empty());
        prop_assert_eq!(zero.tree(), a.tree());
        prop_assert_eq!(zero.locations().len(), a.locations().len());
    }

    #[test]
    fn differences_are_antisymmetric(a in database(any_build()), b in database(any_build())) {
        let (there, back) = (difference(&a, &b), difference(&b, &a));
        prop_assert!(cells(&total(&[&there, &back])).is_empty());
        prop_assert!(cells(&difference(&there, &scaled(&back, "-1"))).is_empty());
    }

    #[test]
    fn of_one_build_also_in_the_names(a in database(one_build()), b in database(one_build())) {
        prop_assert_eq!(cells(&difference(&a, &b)), cells(&scaled(&difference(&b, &a), "-1")));
    }

    #[test]
    fn a_difference_and_what_was_subtracted_are_the_whole(
        a in database(any_build()),
        b in database(any_build()),
    ) {
        let whole = total(&[&difference(&a, &b), &b]);
        // There is a `time` now if the other database has all its parts.
        let measured = |d: &Database| {
            let mut cells = cells(d);
            cells.retain(|(_, _, metric), _| metric != "time");
            cells
        };
        prop_assert_eq!(measured(&whole), measured(&like(&a, &whole)));
    }

    #[test]
    fn the_mean_of_equals_is_one_of_them(a in database(any_build()), n in 1usize..5) {
        let operands = vec![operand("a", &a); n];
        prop_assert_eq!(cells(&mean(&operands, AUTO).unwrap()), cells(&a));
    }

    #[test]
    fn a_mean_is_a_part_of_a_sum(a in database(any_build()), b in database(any_build()), c in database(any_build())) {
        let operands = [&a, &b, &c].map(|d| operand("x", d));
        let mean = mean(&operands, AUTO).unwrap();
        prop_assert_eq!(cells(&scaled(&mean, "3")), cells(&sum(&operands, AUTO).unwrap()));
    }

    #[test]
    fn nothing_adds_nothing(a in database(any_build())) {
        let empty = nothing();
        for operands in [[operand("a", &a), operand("e", &empty)], [operand("e", &empty), operand("a", &a)]] {
            for result in [
                merge(&operands, Overlap::Refuse, AUTO).unwrap(),
                sum(&operands, AUTO).unwrap(),
                mean(&operands, AUTO).unwrap(),
            ] {
                prop_assert_eq!(cells(&result), cells(&a));
                prop_assert_eq!(result.tree(), a.tree());
                prop_assert_eq!(result.locations(), a.locations());
                prop_assert_eq!(result.metrics(), a.metrics());
            }
        }
    }

    #[test]
    fn sums_of_one_build_are_associative_and_commutative(
        a in database(one_build()),
        b in database(one_build()),
        c in database(one_build()),
    ) {
        let all = total(&[&a, &b, &c]);
        for other in [
            total(&[&total(&[&a, &b]), &c]),
            total(&[&a, &total(&[&b, &c])]),
            total(&[&c, &b, &a]),
            total(&[&b, &total(&[&c, &a])]),
        ] {
            prop_assert_eq!(cells(&other), cells(&all));
            prop_assert_eq!(other.tree(), all.tree());
        }
    }

    #[test]
    fn sums_of_two_builds_are_commutative(a in database(any_build()), b in database(any_build())) {
        prop_assert!(cells(&difference(&total(&[&a, &b]), &total(&[&b, &a]))).is_empty());
    }

    #[test]
    fn gathering_and_subtracting_can_be_exchanged(a in database(any_build()), b in database(any_build())) {
        let after = gathered(&difference(&a, &b));
        prop_assert_eq!(cells(&after), cells(&difference(&gathered(&a), &gathered(&b))));
        let ranks = |d: &Database| collapse(operand("x", d), Gathering::Ranks);
        let paired = difference(&a, &b);
        if !paired.locations().iter().any(|l| l.is_gathered()) {
            prop_assert_eq!(cells(&ranks(&paired)), cells(&difference(&ranks(&a), &ranks(&b))));
        }
        let twice = collapse(operand("x", &ranks(&a)), Gathering::All);
        prop_assert_eq!(cells(&twice), cells(&gathered(&a)));
    }

    #[test]
    fn inclusive_values_of_a_difference_are_differences(a in database(any_build()), b in database(any_build())) {
        let d = Difference::new(operand("a", &a), operand("b", &b), AUTO).unwrap();
        let both = |name: &str| a.metric(name).is_some() && b.metric(name).is_some();
        for metric in d.database.metrics().iter().filter(|m| m.name != "time" || both("time")) {
            let inclusive = |of: &Database| {
                of.tree().inclusive(&of.exclusive_totals(&metric.name).unwrap_or_default())
            };
            let mut expected = vec![0.0; d.database.tree().len()];
            for (sign, places, side) in [(1.0, &d.places[0], &a), (-1.0, &d.places[1], &b)] {
                for (value, place) in inclusive(side).iter().zip(places) {
                    expected[*place as usize] += sign * value;
                }
            }
            for (found, expected) in inclusive(&d.database).iter().zip(expected) {
                prop_assert!((found - expected).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn uniting_again_changes_nothing(a in database(any_build()), b in database(any_build())) {
        prop_assert_eq!(&united(&[&a, &a]).tree, a.tree());
        let both = total(&[&a, &b]);
        prop_assert_eq!(&united(&[&both, &b]).tree, both.tree());
        for places in united(&[&a, &b]).places {
            let mut once = places.clone();
            once.sort_unstable();
            once.dedup();
            prop_assert_eq!(once.len(), places.len(), "two contexts of one database are one");
        }
    }

    #[test]
    fn scales_multiply(a in database(any_build()), above in 1i64..200, below in 1u64..200) {
        let there = Fraction::new(above, below).unwrap();
        let scaled_there = scale(operand("x", &a), there).unwrap();
        let back = scale(operand("x", &scaled_there), there.reciprocal().unwrap()).unwrap();
        prop_assert_eq!(cells(&back), cells(&a));
        prop_assert_eq!(back.metrics(), a.metrics());
        prop_assert_eq!(cells(&scaled(&a, "1")), cells(&a));
        prop_assert!(scaled(&a, "0").values().is_empty());
    }

    #[test]
    fn the_smallest_and_the_largest_are_both(a in database(any_build()), b in database(any_build())) {
        let operands = [operand("a", &a), operand("b", &b)];
        let (least, most) = (min(&operands, AUTO).unwrap(), max(&operands, AUTO).unwrap());
        prop_assert_eq!(cells(&total(&[&least, &most])), cells(&total(&[&a, &b])));
    }

    #[test]
    fn time_stays_the_sum_of_its_parts(a in database(any_build()), b in database(any_build())) {
        let operands = [operand("a", &a), operand("b", &b)];
        for result in [difference(&a, &b), mean(&operands, AUTO).unwrap(), min(&operands, AUTO).unwrap()] {
            let of = |metric| result.exclusive_totals(metric).unwrap_or_default();
            let parts = ["cpu", "blocked", "preempted"].map(of);
            for (context, time) in of("time").iter().enumerate() {
                let sum: f64 = parts.iter().map(|p| p[context]).sum();
                prop_assert!((time - sum).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn results_are_databases(a in database(any_build()), b in database(any_build())) {
        let dir = tempfile::tempdir().unwrap();
        let operands = [operand("a", &a), operand("b", &b)];
        let results = [
            difference(&difference(&a, &b), &a),
            mean(&operands, AUTO).unwrap(),
            gathered(&a),
            scaled(&a, "1/3"),
        ];
        for (at, result) in results.iter().enumerate() {
            let path = dir.path().join(at.to_string());
            result.write(&path).unwrap();
            prop_assert_eq!(&Database::open(&path).unwrap(), result);
            prop_assert!(!result.provenance().history.is_empty());
        }
    }

    #[test]
    fn what_is_cut_off_goes_to_its_caller_or_goes(a in database(any_build())) {
        let sums = |d: &Database| -> Vec<f64> {
            d.metrics().iter().map(|m| d.exclusive_totals(&m.name).unwrap().iter().sum()).collect()
        };
        let is = |name: &'static str| move |scope: &crate::Scope| &*scope.name == name;
        if let Ok(pruned) = cut(operand("a", &a), Cut::Prune, "g", is("g")) {
            for (found, expected) in sums(&pruned).into_iter().zip(sums(&a)) {
                prop_assert!((found - expected).abs() < 1e-6);
            }
            prop_assert!(pruned.tree().scopes().iter().all(|s| !s.kind.is_frame() || &*s.name != "g"));
        }
        if let Ok(rooted) = cut(operand("a", &a), Cut::Root, "g", is("g")) {
            let tree = a.tree();
            for (metric, found) in a.metrics().iter().zip(sums(&rooted)) {
                let inside = |c: &usize| tree.path(*c as u32).iter().any(|c| {
                    let scope = tree.scope(*c);
                    scope.kind.is_frame() && is("g")(scope)
                });
                let costs = a.exclusive_totals(&metric.name).unwrap();
                let expected: f64 = (0..costs.len()).filter(inside).map(|c| costs[c]).sum();
                prop_assert!((found - expected).abs() < 1e-6);
            }
            prop_assert!(rooted.tree().children(0).all(|c| &*rooted.tree().scope(c).name == "g"));
        }
    }

    #[test]
    fn filters_keep_what_they_name(a in database(any_build())) {
        let metrics = ["cpu".to_owned()];
        let rank_0 = |l: &crate::Location| l.rank == Some(0);
        let keep = Filter { metrics: &metrics, location: &rank_0, words: &metrics };
        let kept = filter(operand("a", &a), keep).unwrap();
        let mut expected = cells(&a);
        expected.retain(|(_, location, metric), _| location.0 == Some(0) && metric == "cpu");
        let found = cells(&kept);
        prop_assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        prop_assert_eq!(cells(&filter(operand("a", &kept), keep).unwrap()), found);
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let database = crate::synthetic::database();
    let operands = [operand("a", &database), operand("b", &database)];
    let overlap = merge(&operands, Overlap::Refuse, AUTO).unwrap_err();
    assert_eq!(overlap.to_string(), "failed to merge databases: metric `cpu` was measured in a and in b");
    for overlap in [Overlap::First, Overlap::Last, Overlap::Mean] {
        assert_eq!(cells(&merge(&operands, overlap, AUTO).unwrap()), cells(&database), "{overlap:?}");
    }
    let timed = crate::synthetic::time_database();
    let unlike = diff(operand("a", &database), operand("t", &timed), Locations::Pair).unwrap_err();
    assert!(unlike.to_string().contains("other ranks or threads"), "{unlike}");
    let words = ["time".to_owned()];
    let all = |_: &crate::Location| true;
    let alone =
        filter(operand("t", &timed), Filter { metrics: &words, location: &all, words: &words }).unwrap();
    let lost = diff(operand("alone", &alone), operand("t", &timed), AUTO).unwrap_err();
    assert!(lost.to_string().contains("alone has `time` without its parts"), "{lost}");
    let missing = Filter { metrics: &["cycels".to_owned()], location: &all, words: &words };
    assert!(filter(operand("t", &timed), missing).unwrap_err().hint().unwrap().contains("cycles"));
    assert!(cut(operand("t", &timed), Cut::Root, "nowhere", |_| false).is_err());
    let large = scale(operand("a", &database), "9000000000000".parse().unwrap()).unwrap_err();
    assert!(large.to_string().contains("`cpu` get too large"), "{large}");
}

#[test]
fn metrics_of_several_runs_are_merged() {
    let timed = crate::synthetic::time_database();
    let all = |_: &crate::Location| true;
    let only = |names: &[&str]| {
        let metrics: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        filter(operand("t", &timed), Filter { metrics: &metrics, location: &all, words: &metrics }).unwrap()
    };
    let (a, b) = (only(&["cpu", "blocked"]), only(&["preempted", "cycles", "instructions", "branches"]));
    let c = only(&["branch-misses"]);
    let merged = merge(&[&a, &b, &c].map(|d| operand("x", d)), Overlap::Refuse, AUTO).unwrap();
    assert_eq!(cells(&merged), cells(&timed));
    assert!(merged.warnings().is_empty(), "{:?}", merged.warnings());
    let difference = difference(&a, &b);
    assert!(
        difference.warnings()[0].contains("`blocked` was not measured in b"),
        "{:?}",
        difference.warnings()
    );
}
