//! Laws without noise are found exactly.

use falloff_models::{Basis, Error, Model, Observation, Points, Refusal, Scale, karp_flatt};

fn points(counts: &[f64], law: impl Fn(f64) -> f64) -> Points {
    Points::new(&counts.iter().map(|p| Observation::new(*p, &[law(*p)])).collect::<Vec<_>>()).unwrap()
}

const COUNTS: [f64; 5] = [4.0, 8.0, 16.0, 32.0, 64.0];

fn found(counts: &[f64], basis: &Basis, law: impl Fn(f64) -> f64) -> Model {
    let model = Model::new(&points(counts, &law), basis).unwrap();
    let (said, is) = (model.at(1000.0).cost.value, law(1000.0));
    assert!((said / is - 1.0).abs() < 1e-8, "{model}: {said} for {is}");
    model
}

#[test]
fn growth() {
    let weak = Basis::weak();
    assert_eq!(found(&COUNTS, &weak, |p| 5.0 + 2.0 * p.log2()).to_string(), "5 + 2·log2(p)");
    assert_eq!(found(&COUNTS, &weak, |p| 3.0 + 0.5 * p * p.log2()).to_string(), "3 + 0.5·p·log2(p)");
    assert_eq!(found(&COUNTS, &weak, |p| 10.0 + 0.01 * p * p).to_string(), "10 + 0.01·p^2");
    assert_eq!(found(&COUNTS, &weak, |p| 7.0 + p.sqrt()).to_string(), "7 + 1·p^(1/2)");
    assert_eq!(found(&COUNTS, &weak, |_| 4.5).to_string(), "4.5");
    assert_eq!(found(&COUNTS, &weak, |p| 3.0 * p).to_string(), "3·p");
}

#[test]
fn shared_work_with_overhead() {
    let counts = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    let strong = Basis::strong();
    let logarithmic = found(&counts, &strong, |p| 2.0 + 98.0 / p + 0.1 * p.log2());
    assert_eq!(logarithmic.to_string(), "2 + 98·p^-1 + 0.1·log2(p)");
    let linear = found(&counts, &strong, |p| 1.0 + 99.0 / p + 0.05 * p);
    assert_eq!(linear.to_string(), "1 + 99·p^-1 + 0.05·p");
    assert_eq!(found(&counts, &strong, |p| 2.0 + 98.0 / p).to_string(), "2 + 98·p^-1");
    assert_eq!(found(&counts, &strong, |p| 98.0 / p).to_string(), "98·p^-1");
    assert!(linear.adjusted_r2() > 1.0 - 1e-12 && linear.freedom() == 4.0);
}

/// The same law as total work: p·T.
#[test]
fn total_work() {
    let counts = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    let work = points(&counts, |p| 2.0 + 98.0 / p).work();
    assert_eq!(Model::new(&work, &Basis::weak()).unwrap().to_string(), "98 + 2·p");
}

#[test]
fn size_and_processors() {
    let law = |n: f64, p: f64| 2e-9 * n.powi(3) / p + 1e-5 * n * p.log2();
    let mut runs = Vec::new();
    for n in [128.0, 256.0, 512.0, 1024.0] {
        for p in [1.0, 2.0, 4.0, 8.0] {
            runs.push(Observation { scale: Scale { n, p }, values: vec![law(n, p)], known_variance: 0.0 });
        }
    }
    let model = Model::new(&Points::new(&runs).unwrap(), &Basis::sizes_and_processors()).unwrap();
    let said = model.predict(Scale { n: 4096.0, p: 64.0 }).cost.value;
    assert!((said / law(4096.0, 64.0) - 1.0).abs() < 1e-8, "{model}");
    assert!(model.to_string().contains("N^3·p^-1") && model.to_string().contains("N·log2(p)"), "{model}");
}

#[test]
fn one_size_says_nothing_of_sizes() {
    let error = Model::new(&points(&COUNTS, |p| p), &Basis::sizes_and_processors()).unwrap_err();
    assert_eq!(error.to_string(), "failed to find a law: there are 1 different scales and it needs 3");
}

#[test]
fn few_counts_say_little() {
    let counts = [1.0, 2.0, 4.0, 8.0];
    let error = Model::new(&points(&counts[..2], |p| p), &Basis::weak()).unwrap_err();
    assert_eq!(error.to_string(), "failed to find a law: there are 2 different scales and it needs 3");
    assert!(matches!(error, Error::TooFew { .. }));
    // Of four counts only shared work is told; growth is refused.
    assert_eq!(found(&counts, &Basis::strong(), |p| 2.0 + 98.0 / p).to_string(), "2 + 98·p^-1");
    let growing = Model::new(&points(&counts, |p| p), &Basis::weak()).unwrap();
    assert!(matches!(growing.trusted(Scale::processors(16.0), 8.0), Err(Refusal::NoLaw { .. })));
}

#[test]
fn what_is_too_far_is_refused() {
    let model = Model::new(&points(&COUNTS, |p| 5.0 + 2.0 * p.log2()), &Basis::weak()).unwrap();
    assert!(model.trusted(Scale::processors(512.0), 8.0).is_ok());
    let refused = model.trusted(Scale::processors(1024.0), 8.0).unwrap_err();
    assert_eq!(refused.to_string(), "16.000 times the largest count measured; models reach 8 times");
}

#[test]
fn repetitions_that_agree_make_misses_significant() {
    // A sawtooth that no law follows, with little scatter.
    let counts = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
    let runs: Vec<Observation> = counts
        .iter()
        .enumerate()
        .map(|(k, p)| Observation::new(*p, &[1.0, 1.01, 0.99].map(|noise| noise * (10.0 + (k % 2) as f64))))
        .collect();
    let model = Model::new(&Points::new(&runs).unwrap(), &Basis::weak()).unwrap();
    assert!(matches!(model.trusted(Scale::processors(256.0), 8.0), Err(Refusal::NoLaw { .. })));
}

#[test]
fn the_serial_fraction_of_a_model() {
    let law = found(&[1.0, 2.0, 4.0, 8.0, 16.0], &Basis::strong(), |p| 2.0 + 98.0 / p);
    let whole = law.at(1.0).cost.value;
    let fractions = karp_flatt(&[64.0, 512.0].map(|p| (p, whole / law.at(p).cost.value))).unwrap();
    assert!(fractions.iter().all(|(_, e)| (e - 0.02).abs() < 1e-9));
}
