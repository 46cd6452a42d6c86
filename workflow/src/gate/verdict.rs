//! What is decided of two sweeps.

use super::change::Change;
use super::limits::Limits;
use super::paths::{PathColumns, Side};
use crate::scoring::{FALSE_FINDINGS, MIN_SAMPLES, q_values};

/// Share of the run from which a call path is tested.
const TESTED: f64 = 0.01;

/// What a change is of.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// The whole run at a processor count.
    Run {
        /// The count.
        processors: u32,
    },
    /// A call path, with all that it calls, at the largest count.
    Path {
        /// The count.
        processors: u32,
        /// Names of its functions, outermost first.
        names: Vec<String>,
    },
}

impl Subject {
    /// The processor count.
    pub fn processors(&self) -> u32 {
        match self {
            Subject::Run { processors } | Subject::Path { processors, .. } => *processors,
        }
    }

    /// Names of a call path's functions; `None` for a whole run.
    pub fn names(&self) -> Option<&[String]> {
        match self {
            Subject::Run { .. } => None,
            Subject::Path { names, .. } => Some(names),
        }
    }
}

/// One test with its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was tested.
    pub subject: Subject,
    /// What was found.
    pub change: Change,
    /// Share of false findings among this test and all that look better.
    pub q_value: f64,
    /// Growth from which it is a regression, as a fraction of the run.
    pub limit: f64,
    /// Whether it is a regression.
    pub regression: bool,
    /// Whether a growth of that size can neither be found nor excluded.
    pub open: bool,
}

/// The decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// No growth of the limit or more, and the data would have shown it.
    Ok,
    /// Growth.
    Regression,
    /// There is not enough data to tell.
    Inconclusive,
}

/// All tests and the decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What is decided.
    pub decision: Decision,
    /// Whole runs, then call paths at the largest count, largest growth first.
    pub outcomes: Vec<Outcome>,
    /// Repetitions of each sweep with which the open questions are likely to be settled; `None` if there is none.
    pub repetitions_needed: Option<u32>,
}

impl Verdict {
    /// Decides. `period` is the asked time between samples in seconds. `None` if the sweeps have no processor count in common.
    ///
    /// All tests together give the q-values, so that an unchanged program is called slower in at most one of twenty tries
    /// (Benjamini and Hochberg, 1995, under the complete null hypothesis).
    pub fn new(columns: &PathColumns, limits: &Limits, period: f64) -> Option<Verdict> {
        let period = columns.period(period);
        let scales = columns.scales();
        let top = *scales.last()?;
        let mut tests: Vec<(Subject, Change, f64)> = scales
            .iter()
            .map(|scale| {
                (Subject::Run { processors: *scale }, change(columns, *scale, 0, period), limits.run)
            })
            .collect();
        let least = (TESTED * columns.mean(Side::Base, top, 0)).max(MIN_SAMPLES as f64 * period);
        let large = |context: &u32| {
            [Side::Base, Side::New].iter().any(|side| columns.mean(*side, top, *context) >= least)
        };
        tests.extend((1..columns.tree.len() as u32).filter(large).map(|context| {
            let subject = Subject::Path { processors: top, names: columns.names(context) };
            let limit = limits.of(&columns.tree.scope(context).name);
            (subject, change(columns, top, context, period), limit)
        }));
        let p_values: Vec<f64> = tests.iter().map(|(_, change, _)| change.p_value).collect();
        let q_values = q_values(&p_values);
        let mut outcomes: Vec<Outcome> = tests
            .into_iter()
            .zip(q_values)
            .map(|((subject, change, limit), q_value)| {
                let regression = q_value < FALSE_FINDINGS && change.change >= limit;
                let open = !regression && change.is_open(limit);
                Outcome { subject, change, q_value, limit, regression, open }
            })
            .collect();
        outcomes[scales.len()..].sort_by(|a, b| b.change.change.total_cmp(&a.change.change));
        let open = outcomes.iter().filter(|o| o.open);
        let needed = open.map(|o| o.change.repetitions_needed(o.limit)).max();
        let decision = match outcomes.iter().any(|o| o.regression) {
            true => Decision::Regression,
            false if needed.is_some() => Decision::Inconclusive,
            false => Decision::Ok,
        };
        Some(Verdict { decision, outcomes, repetitions_needed: needed })
    }

    /// The deepest call paths that are regressions: those that no other regression lies below.
    pub fn culprits(&self) -> Vec<&Outcome> {
        let paths: Vec<(&Outcome, &[String])> = self
            .outcomes
            .iter()
            .filter(|o| o.regression)
            .filter_map(|o| Some((o, o.subject.names()?)))
            .collect();
        let has_below = |names: &[String]| {
            paths.iter().any(|(_, other)| other.len() > names.len() && other.starts_with(names))
        };
        paths.iter().filter(|(_, names)| !has_below(names)).map(|(outcome, _)| *outcome).collect()
    }
}

fn change(columns: &PathColumns, scale: u32, context: u32, period: f64) -> Change {
    let of = |side| columns.repetitions(side, scale, context);
    let wholes = (columns.mean(Side::Base, scale, 0), columns.mean(Side::New, scale, 0));
    Change::new(&of(Side::Base), &of(Side::New), period, wholes)
}

#[cfg(test)]
mod tests {
    use falloff_postprocess::{Scope, ScopeKind, TreeBuilder};

    use super::*;

    /// Draws from a normal distribution, the same every time.
    struct Noise(u64);

    impl Noise {
        fn uniform(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        }

        fn normal(&mut self) -> f64 {
            (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
        }
    }

    /// Sweeps at 1, 2 and 4 of a program whose work is split among ten functions; the new one spends `slower` more of the
    /// whole run in the first of them at 4. Runs vary by `cv`.
    fn sweeps(noise: &mut Noise, repetitions: usize, cv: f64, slower: f64) -> PathColumns {
        let mut builder = TreeBuilder::new();
        let main = builder.child(0, &Scope::new(ScopeKind::Function, "main"));
        for part in 0..10 {
            builder.child(main, &Scope::new(ScopeKind::Function, &format!("part_{part}")));
        }
        let (tree, _) = builder.finish();
        let mut columns = Vec::new();
        for side in [Side::Base, Side::New] {
            for scale in [1, 2, 4] {
                for _ in 0..repetitions {
                    let run = 1.0 + cv * noise.normal();
                    let mut exclusive = vec![0.0; tree.len()];
                    for (context, cost) in exclusive.iter_mut().enumerate().skip(2) {
                        let grown =
                            if context == 2 && side == Side::New && scale == 4 { slower } else { 0.0 };
                        *cost = 10.0 * run * (0.1 + grown) * (1.0 + cv * noise.normal());
                    }
                    columns.push((side, scale, tree.inclusive(&exclusive), 8_000.0));
                }
            }
        }
        PathColumns::of_parts(tree, columns)
    }

    fn decisions(tries: usize, repetitions: usize, cv: f64, slower: f64) -> [usize; 3] {
        let (mut noise, limits) = (Noise(99), Limits::of_percent(3.0));
        let mut counts = [0; 3];
        for _ in 0..tries {
            let columns = sweeps(&mut noise, repetitions, cv, slower);
            let verdict = Verdict::new(&columns, &limits, 0.001).unwrap();
            counts[verdict.decision as usize] += 1;
        }
        counts
    }

    #[test]
    fn an_unchanged_program_is_hardly_ever_called_slower() {
        for (repetitions, cv) in [(3, 0.005), (3, 0.02), (5, 0.01), (10, 0.03)] {
            let [_, regression, _] = decisions(300, repetitions, cv, 0.0);
            // 5 % and two standard errors.
            assert!(
                regression as f64 <= 300.0 * (0.05 + 2.0 * (0.05f64 * 0.95 / 300.0).sqrt()),
                "{regression} of 300"
            );
        }
        let [ok, ..] = decisions(100, 3, 0.005, 0.0);
        assert!(ok >= 95, "{ok} of 100");
    }

    #[test]
    fn a_slower_part_is_found_with_enough_repetitions() {
        assert_eq!(decisions(20, 5, 0.005, 0.05), [0, 20, 0]);
        let [ok, ..] = decisions(100, 2, 0.05, 0.05);
        assert_eq!(ok, 0, "too few repetitions are never enough to say ok");
    }

    #[test]
    fn the_deepest_path_is_the_culprit() {
        let columns = sweeps(&mut Noise(5), 5, 0.002, 0.05);
        let verdict = Verdict::new(&columns, &Limits::of_percent(3.0), 0.001).unwrap();
        let names: Vec<&[String]> = verdict.culprits().iter().filter_map(|o| o.subject.names()).collect();
        assert_eq!(names, [["main".to_owned(), "part_0".to_owned()]]);
        assert_eq!(verdict.repetitions_needed, None);
    }

    #[test]
    fn reports_say_what_was_decided() {
        let compared =
            super::super::report::Compared { base: "a|b".into(), new: "<new>".into(), metric: "cpu".into() };
        let columns = sweeps(&mut Noise(5), 5, 0.002, 0.05);
        let verdict = Verdict::new(&columns, &Limits::of_percent(3.0), 0.001).unwrap();
        use super::super::report::{json, junit, markdown, text};
        insta::assert_snapshot!("check_text", text(&verdict, &compared));
        insta::assert_snapshot!("check_markdown", markdown(&verdict, &compared));
        let document: serde_json::Value = serde_json::from_str(&json(&verdict, &compared).unwrap()).unwrap();
        assert_eq!(document["decision"], "regression");
        assert_eq!(document["tests"].as_array().unwrap().len(), verdict.outcomes.len());
        let failures = verdict.outcomes.iter().filter(|o| o.regression).count();
        assert!(junit(&verdict, &compared).contains(&format!("failures=\"{failures}\"")));
    }
}
