//! How a time grows with the processor count.

/// A law of growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// With log₂ p, as trees do.
    Logarithm,
    /// With p, as one after the other does.
    Linear,
}

/// How much better, in squared distance, one law must be than the other.
const BETTER: f64 = 2.0;

/// The law that times at processor counts follow; `None` if they do not grow, are fewer than three, or follow both as well.
///
/// ```
/// use falloff_workflow::causes::{Law, law};
/// assert_eq!(law(&[(1, 0.0), (2, 1.0), (4, 2.0)]), Some(Law::Logarithm));
/// assert_eq!(law(&[(1, 0.0), (2, 1.0), (4, 3.1), (8, 7.0)]), Some(Law::Linear));
/// assert_eq!(law(&[(1, 0.0), (2, 1.0)]), None);
/// ```
pub fn law(times: &[(u32, f64)]) -> Option<Law> {
    if times.len() < 3 {
        return None;
    }
    let along =
        |x: fn(f64) -> f64| distance(times.iter().map(|(p, time)| (x(f64::from(*p)), *time)).collect());
    match (along(f64::log2)?, along(|p| p)?) {
        (logarithm, linear) if logarithm * BETTER < linear => Some(Law::Logarithm),
        (logarithm, linear) if linear * BETTER < logarithm => Some(Law::Linear),
        _ => None,
    }
}

/// Sum of squared distances from the straight line of least squares; `None` if that does not rise.
fn distance(points: Vec<(f64, f64)>) -> Option<f64> {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / count, sum.1 + p.1 / count));
    let product = |f: fn(f64, f64) -> f64| points.iter().map(|p| f(p.0 - x, p.1 - y)).sum::<f64>();
    let (xx, xy, yy) = (product(|x, _| x * x), product(|x, y| x * y), product(|_, y| y * y));
    // What is left of nothing is below what rounding makes.
    (xx > 0.0 && xy > 0.0).then(|| (yy - xy * xy / xx).max(1e-12 * yy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shrinks_or_stays_has_no_law() {
        assert_eq!(law(&[(1, 3.0), (2, 2.0), (4, 1.0)]), None);
        assert_eq!(law(&[(1, 1.0), (2, 1.0), (4, 1.0)]), None);
    }

    #[test]
    fn noise_leaves_it_open() {
        assert_eq!(law(&[(1, 0.0), (2, 1.2), (4, 2.8)]), None);
    }
}
