//! Nothing panics, and no cost is predicted negative, whatever is measured.

use falloff_models::{
    Advice, Basis, Inflexion, Model, Observation, Points, Scalability, Scale, Split, Turning, karp_flatt,
    stray_runs,
};
use proptest::prelude::*;

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        30 => 0.1f64..1e3,
        3 => Just(0.0),
        1 => Just(1e-100),
        1 => Just(1e100),
        1 => -1.0f64..0.0,
        1 => Just(f64::NAN),
    ]
}

fn observation() -> impl Strategy<Value = Observation> {
    let p = prop_oneof![8 => (0u32..12).prop_map(|k| f64::from(1 << k)), 1 => 0.0f64..1e6, 1 => Just(1e300)];
    let variance = prop_oneof![8 => Just(0.0), 3 => 0.0f64..10.0, 1 => Just(f64::INFINITY)];
    (p, proptest::collection::vec(value(), 0..5), variance).prop_map(|(p, values, known_variance)| {
        Observation { scale: Scale { p, n: 1.0 }, values, known_variance }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_input_panics(runs in proptest::collection::vec(observation(), 0..14)) {
        stray_runs(&runs);
        let pairs: Vec<(f64, f64)> = runs.iter().map(|run| (run.scale.p, run.values.iter().sum())).collect();
        let _ = (karp_flatt(&pairs), Scalability::fit(&pairs));
        // Most sets have something that no cost can be; what is left without it is looked at as well.
        let mut kept: Vec<Observation> = runs.iter().filter(|run| Points::new(&[(*run).clone()]).is_ok()).cloned().collect();
        kept.sort_by(|a, b| a.scale.p.total_cmp(&b.scale.p));
        kept.dedup_by(|a, b| a.scale == b.scale);
        for points in [Points::new(&runs), Points::new(&kept)].into_iter().flatten() {
            let _ = (Inflexion::new(&points), Turning::new(&points, 1), Split::find(&points), Advice::new(&points, 0.5, 0.5));
            for basis in [Basis::strong(), Basis::weak()] {
                if points.len() < 3 {
                    continue;
                }
                let model = Model::new(&points, &basis).unwrap();
                let cost = model.at(1e4).cost;
                prop_assert!(cost.value > 0.0 && cost.low >= 0.0 && cost.low <= cost.value, "{cost:?}");
                model.stray_scales();
                model.next_runs(Scale::processors(1e4), &[Scale::processors(3.0)]);
            }
        }
    }
}

/// A zero that is known exactly beside means that are far smaller than their errors: all that can be said is a constant.
#[test]
fn an_exact_zero_beside_noise_has_a_law() {
    let noise = |p, value, known_variance| Observation { known_variance, ..Observation::new(p, &[value]) };
    let runs = [noise(1.0, 0.0, 0.0), noise(2.0, 0.0, 3.4), noise(4.0, 1e-100, 3.3)];
    let model = Model::new(&Points::new(&runs).unwrap(), &Basis::strong()).unwrap();
    assert!(model.law().terms.is_empty());
    // The others' errors are 1.8.
    let cost = model.at(8.0).cost;
    assert!(cost.low == 0.0 && cost.high < 0.01, "{cost:?}");
}
