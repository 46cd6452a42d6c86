//! What a replay tells of call paths, as metrics of a database.

use falloff_messages::waits::Paths;
use rustc_hash::FxHashMap;

use super::{Answer, Case};

/// Nanoseconds by location of the log and call path.
type Times = Vec<(usize, u32, i64)>;

/// A metric of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, as a word.
    pub name: String,
    /// What each location has on each call path; not 0, and in order.
    pub values: Times,
}

/// Three metrics of each case: what arises, at the call paths that compute; what is taken over and what is absorbed, at those of calls.
/// The first and second less the third are what a thread ends later than in the base.
pub fn columns(answer: &Answer, paths: &impl Paths) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for case in &answer.cases {
        let mut slug = word(&case.name);
        // Two patterns may be the same as words.
        while columns.iter().any(|column| column.name == format!("{slug}-absorbed")) {
            slug.push_str("-too");
        }
        let named = |(what, values)| Column { name: format!("{slug}-{what}"), values };
        columns.extend(of_case(case, paths).map(named));
    }
    columns
}

fn of_case(case: &Case, paths: &impl Paths) -> [(&'static str, Times); 3] {
    let mut arising: FxHashMap<(usize, u32), i64> = FxHashMap::default();
    for burst in &case.delays.bursts {
        let location = burst.location as usize;
        let [before, after] = [burst.before, burst.after].map(|context| paths.path(location, context));
        paths.burst(location, before, after, burst.longer.unsigned_abs(), &mut |path, ns| {
            *arising.entry((location, path)).or_default() += burst.longer.signum() * ns as i64;
        });
    }
    let [mut taken_over, mut absorbed] = [FxHashMap::default(), FxHashMap::default()];
    for calls in &case.delays.calls {
        let location = calls.location as usize;
        let key = (location, paths.path(location, calls.context));
        *taken_over.entry(key).or_default() += calls.taken_over as i64;
        *absorbed.entry(key).or_default() += calls.absorbed as i64;
    }
    let sorted = |of: FxHashMap<(usize, u32), i64>| {
        let mut values: Vec<(usize, u32, i64)> = of
            .into_iter()
            .filter(|(_, ns)| *ns != 0)
            .map(|((location, path), ns)| (location, path, ns))
            .collect();
        values.sort_unstable();
        values
    };
    [("arising", sorted(arising)), ("taken-over", sorted(taken_over)), ("absorbed", sorted(absorbed))]
}

/// Letters and digits, and a line between those that are apart.
fn word(name: &str) -> String {
    let parts = name.split(|c: char| !c.is_alphanumeric() && c != '.').filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use falloff_messages::waits::SamePaths;
    use falloff_messages::{Distribution, Network, Noise, Options, Perturbation};

    use super::super::report::tests::log;
    use super::super::{Origin, Question};
    use super::*;

    #[test]
    fn metrics_of_a_location_add_up_to_its_effect() {
        let noise = |mean| Noise::PerBurst { length: Distribution::Exponential(mean), shortest: 1 };
        let question = Question {
            perturbation: Some(Perturbation { local: noise(3e5), ..Perturbation::none() }),
            other_network: Some(Network { overhead: 9000, ..Network::IDEAL }),
            less_noise: Some(0.3),
            ..Question::new(Network::IDEAL, Origin::Words)
        };
        let answer = question.answer(|| Ok(log()), &Options::default()).unwrap();
        let columns = columns(&answer, &SamePaths);
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names[..3], ["disturbed-arising", "disturbed-taken-over", "disturbed-absorbed"]);
        assert_eq!(names[6], "less-noise-by-0.3-arising");
        for (case, columns) in answer.cases.iter().zip(columns.chunks(3)) {
            for (location, effect) in case.effect.ranks.iter().enumerate() {
                let sum = |column: &Column| -> i64 {
                    column.values.iter().filter(|(at, ..)| *at == location).map(|(.., ns)| ns).sum()
                };
                assert_eq!(sum(&columns[0]) + sum(&columns[1]) - sum(&columns[2]), *effect, "{}", case.name);
            }
        }
        assert!(columns[0].values.iter().all(|(.., ns)| *ns > 0));
        assert!(columns.iter().all(|column| !column.name.contains(' ')));
    }

    #[test]
    fn names_are_words() {
        assert_eq!(word("^solve$ 2 times faster"), "solve-2-times-faster");
        assert_eq!(word("latency 500"), "latency-500");
    }
}
