//! Sweeps from tables of exclusive cost.

use std::collections::BTreeMap;

use falloff_postprocess::{Scope, ScopeKind, Tree, TreeBuilder};
use falloff_workflow::bounds::BoundsOf;
use falloff_workflow::causes::{Accounts, Charge, Cost, Participant, RunCosts};
use falloff_workflow::outlook::{self, Outlook};
use falloff_workflow::scoring::{Columns, OwnExpectation, Participants, Question, RunHealth, Scaling, Score};
use falloff_workflow::{Error, Result};

/// Exclusive cost in seconds of one path on one rank of one run: (n, repetition, rank, path, cost).
type Line = (u32, u32, u32, u32, f64);

/// A sweep as a table.
pub struct Table {
    tree: Tree,
    lines: Vec<Line>,
    own: Vec<OwnExpectation>,
}

impl Table {
    /// From lines of (n, repetition, rank, `outer;inner` path, exclusive seconds).
    pub fn new(lines: &[(u32, u32, u32, &str, f64)]) -> Table {
        let mut builder = TreeBuilder::new();
        let contexts: Vec<u32> = lines
            .iter()
            .map(|(_, _, _, path, _)| {
                path.split(';')
                    .fold(0, |above, name| builder.child(above, &Scope::new(ScopeKind::Function, name)))
            })
            .collect();
        let (tree, place) = builder.finish();
        let lines =
            lines.iter().zip(contexts).map(|(l, c)| (l.0, l.1, l.2, place[c as usize], l.4)).collect();
        Table { tree, lines, own: Vec::new() }
    }

    /// With expectations of some call paths.
    #[allow(dead_code, reason = "not every test has some")]
    pub fn expecting(self, own: &[&str]) -> Table {
        Table { own: own.iter().map(|text| OwnExpectation::parse(text).unwrap()).collect(), ..self }
    }

    /// The score, sampled once in 5 ms.
    pub fn try_score(&self, base: Option<u32>, at: Option<u32>, scaling: Scaling) -> Result<Score> {
        self.answer(&Question {
            dir: "sweep".into(),
            metric: "cpu".into(),
            base,
            at,
            scaling,
            own: self.own.clone(),
            arguments: vec![],
            period: 0.005,
            charge: Charge::Place,
            transfer: BTreeMap::new(),
            callers: true,
            steps: true,
            bounds: BoundsOf::Rows,
        })
    }

    /// The score that answers a question.
    pub fn answer(&self, question: &Question) -> Result<Score> {
        let columns = self.columns();
        let participants = |scale: u32| self.participants(scale);
        let mut score =
            Score::of_columns(&self.tree, &columns, question, participants, RunHealth::default())?;
        let costs = score.expected_costs(self.costs());
        let accounts = Accounts::new(&self.tree, costs, Charge::Place, question.period);
        score.analyse(&accounts, &columns, &question.transfer);
        Ok(score)
    }

    /// What the table says of counts not in it.
    #[allow(dead_code, reason = "not every test looks ahead")]
    pub fn outlook(&self, question: &outlook::Question) -> Result<Outlook> {
        let columns = self.columns();
        let largest = self.lines.iter().map(|line| line.0).max().unwrap_or(0);
        let participants = self.participants(largest);
        Outlook::of_columns(&self.tree, &columns, question, &participants, RunHealth::default())
    }

    /// The runs side by side.
    fn columns(&self) -> Columns {
        let mut runs: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
        for (n, repetition, _, context, cost) in &self.lines {
            let column = runs.entry((*n, *repetition)).or_insert_with(|| vec![0.0; self.tree.len()]);
            column[*context as usize] += cost;
        }
        let mut columns = Columns::default();
        for ((n, _), cost) in runs {
            let samples = cost.iter().map(|c| (c / 0.005).round()).collect();
            let wall = cost.iter().sum::<f64>() / f64::from(n);
            columns.push(n, cost, samples, wall);
        }
        columns
    }

    /// Who takes part at a scale.
    fn participants(&self, scale: u32) -> Participants {
        let mut participants = Participants::new(self.tree.len());
        for (_, _, rank, context, cost) in self.lines.iter().filter(|l| l.0 == scale) {
            participants.add_cost(*rank, *context, *cost);
        }
        participants
    }

    /// The costs of every run.
    fn costs(&self) -> Vec<RunCosts> {
        let mut runs: BTreeMap<(u32, u32), RunCosts> = BTreeMap::new();
        for (scale, repetition, rank, context, seconds) in &self.lines {
            let run = runs.entry((*scale, *repetition)).or_insert_with(|| RunCosts {
                scale: *scale,
                repetition: *repetition,
                participants: (0..*scale)
                    .map(|number| Participant { number, ..Participant::default() })
                    .collect(),
                ranked: true,
                ..RunCosts::default()
            });
            let cost =
                Cost { context: *context, participant: Some(*rank), seconds: *seconds, ..Cost::default() };
            run.costs.push(cost);
        }
        for run in runs.values_mut() {
            run.costs.sort_by_key(|cost| (cost.context, cost.participant));
        }
        runs.into_values().collect()
    }

    /// As [`Table::try_score`], where it must work.
    pub fn score(&self, base: Option<u32>, at: Option<u32>, scaling: Scaling) -> Score {
        self.try_score(base, at, scaling).unwrap_or_else(|error: Error| panic!("{error}"))
    }
}
