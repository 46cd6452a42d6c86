//! The linear form T = Σ βₖ·Xₖ: counts given by formulas of problem size and processor count, and what one of each costs.

use std::collections::BTreeMap;
use std::sync::Arc;

use falloff_models::{
    EXTRAPOLATION_MAX, Interval, MachineModel, Part, Points, Scale, WIDTH_MAX, within_reach,
};

use super::counted::Counted;
use super::term::{Given, SIZE, Term};
use crate::scoring::Run;

/// Mean miss of the measured times, as a fraction, with which the terms are not what the program does.
const MISS_MAX: f64 = 0.2;

/// What the user wants the time to be made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AskedTerms {
    /// The counts.
    pub terms: Vec<Term>,
    /// What one of some of them costs.
    pub given: Vec<Given>,
}

/// A linear form, fitted to measured times.
#[derive(Debug)]
pub struct LinearForm {
    /// The terms.
    pub terms: Vec<Term>,
    /// The costs, and how they make up times.
    pub model: MachineModel,
    /// What it was fitted to, with what the form says there.
    pub measured: Vec<Explained>,
    /// Seconds a processor at each target, in their order, and how they come about, or why nothing can be said.
    pub predictions: Vec<Result<(Interval, Vec<Part>), String>>,
}

/// A measured time and its parts by the form.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// Where.
    pub scale: Scale,
    /// Measured seconds a processor.
    pub seconds: f64,
    /// (said − measured) / measured.
    pub error: f64,
    /// What each term makes of the time said.
    pub parts: Vec<Part>,
}

impl AskedTerms {
    /// Fits the costs that are not given to the times of whole runs; `runs`, with the sizes of their problems, have the metrics of the
    /// formulas. `None` if there are no terms.
    ///
    /// # Errors
    /// The terms make no sense, or their costs cannot be told from these times.
    pub fn fit(
        &self,
        times: &Points,
        runs: &[(f64, &Run)],
        targets: &[Scale],
    ) -> crate::Result<Option<LinearForm>> {
        if self.terms.is_empty() && self.given.is_empty() {
            return Ok(None);
        }
        let form = self.check(times).and_then(|()| self.form(times, runs, targets));
        form.map(Some).map_err(|reason| crate::Error::Usage {
            action: "fit the terms",
            reason,
            hint: "write a term as NAME=FORMULA of p, N (where sweeps have sizes) and measured metrics, as in `--terms 'messages=N*log2(p)'`"
                .into(),
        })
    }

    fn check(&self, times: &Points) -> Result<(), String> {
        let names: Vec<&str> = self.terms.iter().map(Term::name).collect();
        if let Some(twice) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
            return Err(format!("the term `{}` is given twice", twice.1));
        }
        if let Some(given) = self.given.iter().find(|given| !names.contains(&&*given.name)) {
            return Err(format!("a cost of `{}` is given, and there is no such term", given.name));
        }
        match self.terms.iter().find(|term| term.is_of_size()) {
            Some(term) if times.largest_n() == 1.0 => Err(format!(
                "`{}` has `{SIZE}`, and the sweep has no problem size: name it SIZE=DIR",
                term.text()
            )),
            _ => Ok(()),
        }
    }

    fn form(&self, times: &Points, runs: &[(f64, &Run)], targets: &[Scale]) -> Result<LinearForm, String> {
        let mut counted = BTreeMap::new();
        for metric in self.terms.iter().flat_map(Term::metrics) {
            counted.insert(metric.clone(), Arc::new(Counted::new(runs, metric)?));
        }
        LinearForm::fit(times, &self.terms, &self.given, &counted, targets)
    }
}

impl LinearForm {
    fn fit(
        times: &Points,
        terms: &[Term],
        given: &[Given],
        counted: &BTreeMap<String, Arc<Counted>>,
        targets: &[Scale],
    ) -> Result<LinearForm, String> {
        let columns = terms.iter().map(|term| term.column(given, counted)).collect();
        let model = MachineModel::fit(times, columns).map_err(|error| error.to_string())?;
        let explain = |(point, error): (&falloff_models::Point, &f64)| {
            let parts = model.parts(point.scale).map_err(|error| error.to_string())?;
            Ok(Explained { scale: point.scale, seconds: point.mean, error: *error, parts })
        };
        let measured = times.iter().zip(model.errors()).map(explain).collect::<Result<Vec<_>, String>>()?;
        let mut form = LinearForm { terms: terms.to_vec(), model, measured, predictions: Vec::new() };
        form.predictions = targets.iter().map(|target| form.predict(times, *target, counted)).collect();
        Ok(form)
    }

    /// How far the form misses the measured times on average, as a fraction.
    pub fn miss(&self) -> f64 {
        self.measured.iter().map(|one| one.error.abs()).sum::<f64>() / self.measured.len() as f64
    }

    fn predict(
        &self,
        times: &Points,
        target: Scale,
        counted: &BTreeMap<String, Arc<Counted>>,
    ) -> Result<(Interval, Vec<Part>), String> {
        within_reach(times, target, EXTRAPOLATION_MAX).map_err(|refusal| refusal.to_string())?;
        if self.miss() > MISS_MAX {
            return Err(format!(
                "the terms miss the measured times by {:.0} % on average",
                100.0 * self.miss()
            ));
        }
        for metric in self.terms.iter().flat_map(Term::metrics) {
            if let Some(Err(reason)) = counted.get(metric).map(|counted| counted.at(target)) {
                return Err(format!("`{metric}` is not predicted there: {reason}"));
            }
        }
        let seconds = self.model.predict(target).map_err(|error| error.to_string())?;
        if seconds.relative_width() > WIDTH_MAX {
            return Err(format!("the data allow anything from {:.4e} to {:.4e}", seconds.low, seconds.high));
        }
        Ok((seconds, self.model.parts(target).map_err(|error| error.to_string())?))
    }
}

#[cfg(test)]
mod tests {
    use falloff_models::Observation;

    use super::*;

    fn time(n: f64, p: f64) -> f64 {
        2e-9 * n.powi(3) / p + 5e-6 * n * p.log2()
    }

    fn times() -> Points {
        let scales = [100.0, 200.0, 400.0].map(|n| [1.0, 2.0, 4.0].map(|p| Scale { n, p }));
        let observe = |scale: &Scale| {
            let values = [0.99, 1.0, 1.01].map(|noise| noise * time(scale.n, scale.p)).to_vec();
            Observation { scale: *scale, values, known_variance: 0.0 }
        };
        Points::new(&scales.iter().flatten().map(observe).collect::<Vec<_>>()).unwrap()
    }

    fn fit(terms: &[&str], given: &[&str], target: Scale) -> Result<LinearForm, String> {
        let asked = AskedTerms {
            terms: terms.iter().map(|text| Term::parse(text).unwrap()).collect(),
            given: given.iter().map(|text| Given::parse(text).unwrap()).collect(),
        };
        let form = asked.fit(&times(), &[], &[target]).map_err(|error| error.to_string());
        form.map(|form| form.unwrap())
    }

    const WORK: &str = "operations=N^3/p";
    const MESSAGES: &str = "messages=N*log2(p)";

    #[test]
    fn costs_are_found_and_times_predicted() {
        let target = Scale { n: 1600.0, p: 16.0 };
        let form = fit(&[WORK, MESSAGES], &[], target).unwrap();
        let costs: Vec<f64> = form.model.costs().iter().map(|cost| cost.value()).collect();
        assert!((costs[0] / 2e-9 - 1.0).abs() < 1e-9 && (costs[1] / 5e-6 - 1.0).abs() < 1e-9, "{costs:?}");
        let (seconds, parts) = form.predictions[0].clone().unwrap();
        assert!(seconds.holds(time(1600.0, 16.0)) && seconds.relative_width() < 0.1, "{seconds:?}");
        // 10 µs more a message cost N·log2 p times as much.
        assert_eq!(parts[1].sensitivity, 6400.0);
        assert!((parts[0].share + parts[1].share - 1.0).abs() < 1e-12 && form.miss() < 1e-9);
    }

    #[test]
    fn a_given_cost_is_taken_as_it_is() {
        let form = fit(&[WORK, MESSAGES], &["messages=5e-6"], Scale { n: 800.0, p: 4.0 }).unwrap();
        assert_eq!(form.model.costs()[1], falloff_models::Cost::Given(5e-6));
        assert!((form.model.costs()[0].value() / 2e-9 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_does_not_follow_or_is_too_far_is_refused() {
        let refusal = |terms: &[&str], n| {
            fit(terms, &[], Scale { n, p: 4.0 }).unwrap().predictions[0].clone().unwrap_err()
        };
        assert!(refusal(&["start=1"], 800.0).contains("miss the measured times by"));
        let far = refusal(&[WORK, MESSAGES], 8000.0);
        assert_eq!(far, "20.000 times the largest size measured; models reach 8 times");
        let alike = fit(&[WORK, "again=2*N^3/p"], &[], Scale { n: 800.0, p: 4.0 }).unwrap_err();
        assert!(alike.contains("cannot be told apart"), "{alike}");
    }

    #[test]
    fn terms_that_make_no_sense_are_refused() {
        let refusal =
            |terms: &[&str], given: &[&str]| fit(terms, given, Scale { n: 800.0, p: 4.0 }).unwrap_err();
        let twice = refusal(&[WORK, WORK], &[]);
        assert_eq!(twice, "failed to fit the terms: the term `operations` is given twice");
        assert!(refusal(&[WORK], &["messages=1"]).contains("there is no such term"));
        assert!(refusal(&["faults=page-faults"], &[]).contains("cannot be used"));
    }
}
