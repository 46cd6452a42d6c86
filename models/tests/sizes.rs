//! Models over problem size and processor count of call paths whose laws are known, from noisy measurements.
#![expect(clippy::print_stdout, reason = "the figures are what is wanted, with --nocapture")]

use falloff_models::{Basis, EXTRAPOLATION_MAX, Model, Observation, Points, Scale};

/// Standard deviation of a run, as a part of its value.
const NOISE: f64 = 0.05;
const PATHS: usize = 198;

/// A draw that is all but normal: twelve uniform ones have variance 1.
fn normal(random: &mut fastrand::Rng) -> f64 {
    (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
}

type Law = Box<dyn Fn(Scale) -> f64>;

fn run(law: &Law, at: Scale, random: &mut fastrand::Rng) -> f64 {
    law(at) * (1.0 + NOISE * normal(random))
}

fn sweeps(law: &Law, sizes: &[f64], counts: &[f64], random: &mut fastrand::Rng) -> Points {
    let scales = sizes.iter().flat_map(|n| counts.iter().map(|p| Scale { p: *p, n: *n }));
    let observe = |scale| Observation {
        scale,
        values: (0..3).map(|_| run(law, scale, random)).collect(),
        known_variance: 0.0,
    };
    Points::new(&scales.map(observe).collect::<Vec<_>>()).unwrap()
}

/// A call path's law: what programs over a problem size are made of, parts of a sum of like size where N = 100.
fn call_path(index: usize, random: &mut fastrand::Rng) -> Law {
    let mut between = |low: f64, high: f64| low * (high / low).powf(random.f64());
    let (whole, part, small) = (between(1.0, 100.0), between(0.05, 0.5), between(0.01, 0.1));
    let laws: [Law; 9] = [
        Box::new(move |_| whole),
        Box::new(move |at| whole * (at.n / 100.0).powi(3) / at.p),
        Box::new(move |at| whole * (at.n / 100.0).powi(2) / at.p),
        Box::new(move |at| whole * at.n / 100.0),
        Box::new(move |at| whole * at.n / 100.0 * at.p.sqrt()),
        Box::new(move |at| whole * at.n * at.n.log2() / at.p),
        Box::new(move |at| whole * ((at.n / 100.0).powi(3) / at.p + part * (at.n / 100.0).powi(2))),
        Box::new(move |at| whole * ((at.n / 100.0).powi(2) / at.p + small * at.n / 100.0 * at.p.log2())),
        Box::new(move |at| whole * (at.n / 100.0).powi(2) / at.p + part * whole),
    ];
    laws.into_iter().nth(index % 9).unwrap()
}

/// Of 198 call paths with 5 % noise, at twice and 8 times the largest size and count at least 85 % of the predictions are within 25 % of
/// the law, and the bands hold at least 90 % of new measurements; refusals are bounded. Of constants, few are seen as something else.
#[test]
fn predictions_beyond_the_sizes_and_counts_measured() {
    let grids: [(&[f64], &[f64], [f64; 2]); 2] = [
        (&[100.0, 200.0, 400.0, 800.0], &[1.0, 2.0, 4.0, 8.0], [0.10, 0.20]),
        (&[100.0, 200.0, 400.0], &[1.0, 2.0, 4.0], [0.15, 0.40]),
    ];
    for (sizes, counts, refused_max) in grids {
        let (n, p) = (sizes[sizes.len() - 1], counts[counts.len() - 1]);
        let mut random = fastrand::Rng::with_seed(1);
        let models: Vec<(Law, Model)> = (0..PATHS)
            .map(|index| {
                let law = call_path(index, &mut random);
                let points = sweeps(&law, sizes, counts, &mut random);
                (law, Model::new(&points, &Basis::sizes_and_processors()).unwrap())
            })
            .collect();
        for (times, refused_max) in [2.0, EXTRAPOLATION_MAX].into_iter().zip(refused_max) {
            let target = Scale { n: times * n, p: times * p };
            let (mut predicted, mut close, mut held) = (0, 0, 0);
            for (law, model) in &models {
                let fresh = (0..3).map(|_| run(law, target, &mut random)).sum::<f64>() / 3.0;
                if let Ok(prediction) = model.trusted(target, EXTRAPOLATION_MAX) {
                    predicted += 1;
                    close += usize::from((prediction.cost.value / law(target) - 1.0).abs() <= 0.25);
                    held += usize::from(prediction.cost.holds(fresh));
                }
            }
            let share = |part: usize, of: usize| part as f64 / of as f64;
            let figures = format!(
                "{} sizes, {} counts, {times} times both: {:.1} % within 25 %, {:.1} % in the band, {:.1} % refused",
                sizes.len(),
                counts.len(),
                100.0 * share(close, predicted),
                100.0 * share(held, predicted),
                100.0 * share(PATHS - predicted, PATHS)
            );
            println!("{figures}");
            assert!(share(close, predicted) >= 0.85, "{figures}");
            assert!(share(held, predicted) >= 0.90, "{figures}");
            assert!(share(PATHS - predicted, PATHS) <= refused_max, "{figures}");
        }
        let constants = models.iter().step_by(9);
        let seen = constants.filter(|(_, model)| !model.law().terms.is_empty()).count();
        println!("{seen} of {} constants are seen as something else", PATHS / 9);
        assert!(seen <= 3, "{seen} of {} constants are seen as something else", PATHS / 9);
    }
}

#[test]
fn what_is_too_far_is_refused() {
    let law: Law = Box::new(|at| 1e-6 * at.n.powi(2) / at.p);
    let points = sweeps(&law, &[100.0, 200.0, 400.0], &[1.0, 2.0, 4.0], &mut fastrand::Rng::with_seed(1));
    let model = Model::new(&points, &Basis::sizes_and_processors()).unwrap();
    let refusal = |n, p| model.trusted(Scale { n, p }, EXTRAPOLATION_MAX).unwrap_err().to_string();
    assert_eq!(refusal(400.0, 64.0), "16.000 times the largest count measured; models reach 8 times");
    assert_eq!(refusal(4000.0, 4.0), "10.000 times the largest size measured; models reach 8 times");
    assert!(model.trusted(Scale { n: 3200.0, p: 32.0 }, EXTRAPOLATION_MAX).is_ok());
}
