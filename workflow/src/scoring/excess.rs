//! Excess work: the part of a run's cost that perfect scaling would not have spent.

/// Excess work as a fraction of the whole cost at the larger scale: X = (W_q − ρ·W_p) / A_q.
///
/// `work_at` and `work_base` are W_q and W_p, the total work of one context over all locations at the compared
/// and at the base scale; `rho` is the expected growth, see [`super::Scaling::rho`]; `allocated` is A_q, the
/// cost of the whole run at the compared scale, which must be positive (the caller checks). All three in
/// seconds. 0 is perfect scaling, above 0 is a loss. Excess is additive: that of a context is the sum of that of
/// its parts, and the root's is 1 − relative efficiency.
///
/// Coarfa et al., ICS'07, X_s and X_w, with per-process costs replaced by total work.
///
/// From 4 to 16 processes a context goes from 20 to 20 − 8 = 12 s per process in a run of 40 s:
///
/// ```
/// use falloff_workflow::scoring::excess;
/// let x = excess(16.0 * 12.0, 1.0, 4.0 * 12.0, 16.0 * 40.0);
/// assert!((x - 0.225).abs() < 1e-12);
/// ```
pub fn excess(work_at: f64, rho: f64, work_base: f64, allocated: f64) -> f64 {
    // Adding zero turns -0.0, which would print a sign, into 0.0.
    (work_at - rho * work_base) / allocated + 0.0
}

/// A context's own efficiency e = ρ·W_p / W_q: how much of its work at the larger scale was needed.
///
/// Shown beside excess and never ranked by: a tiny context may have a terrible efficiency and cost nothing.
/// `None` where the context does not run at the larger scale.
///
/// ```
/// use falloff_workflow::scoring::own_efficiency;
/// assert_eq!(own_efficiency(200.0, 1.0, 50.0), Some(0.25));
/// assert_eq!(own_efficiency(0.0, 1.0, 50.0), None);
/// ```
pub fn own_efficiency(work_at: f64, rho: f64, work_base: f64) -> Option<f64> {
    (work_at > 0.0).then(|| rho * work_base / work_at + 0.0)
}

/// Whether a context runs at both scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// It runs at both.
    Common,
    /// It runs at the compared scale only.
    New,
    /// It runs at the base scale only.
    Vanished,
}

impl Class {
    /// The class of a context with these two amounts of work.
    pub fn of(work_base: f64, work_at: f64) -> Class {
        match (work_base > 0.0, work_at > 0.0) {
            (false, true) => Class::New,
            (true, false) => Class::Vanished,
            _ => Class::Common,
        }
    }

    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Class::Common => "common",
            Class::New => "new",
            Class::Vanished => "vanished",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::Scaling;

    fn close(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 5e-6, "found {found}, wanted {wanted}");
    }

    /// Excess from costs per process, as the paper tabulates them.
    fn per_process(scaling: Scaling, (p, c_p): (u32, f64), (q, c_q): (u32, f64), t_q: f64) -> f64 {
        let (p_f, q_f) = (f64::from(p), f64::from(q));
        excess(q_f * c_q, scaling.rho(p, q), p_f * c_p, q_f * t_q)
    }

    #[test]
    fn strong_scaling_of_three_parts() {
        let x = |c_p, c_q| per_process(Scaling::Strong, (4, c_p), (16, c_q), 40.0);
        let parts = [x(80.0, 20.0), x(12.0, 12.0), x(8.0, 8.0)];
        close(parts[0], 0.0);
        close(parts[1], 0.225);
        close(parts[2], 0.15);
        let root = x(100.0, 40.0);
        close(root, 0.375);
        close(1.0 - root, 0.625);
        assert!((parts.iter().sum::<f64>() - root).abs() < 1e-12);
    }

    #[test]
    fn weak_scaling_with_a_new_part() {
        let x = |c_p, c_q| per_process(Scaling::Weak, (1, c_p), (16, c_q), 150.0);
        close(x(90.0, 90.0), 0.0);
        close(x(10.0, 50.0), 0.266_667);
        close(x(0.0, 10.0), 0.066_667);
        close(x(100.0, 150.0), 0.333_333);
    }

    #[test]
    fn superlinear_speedup_is_negative_excess() {
        let root = per_process(Scaling::Strong, (1, 100.0), (4, 20.0), 20.0);
        close(root, -0.25);
        close(1.0 - root, 1.25);
    }

    #[test]
    fn published_tables_come_back() {
        // (relative speedup of the whole run, p, q) and the columns in percent: totals and their parts.
        let tables: [(u32, u32, &[f64]); 6] = [
            (4, 64, &[53.0, 14.0, 17.0]),
            (4, 64, &[60.0, 58.0, 37.0]),
            (1, 64, &[81.0, 37.0]),
            (4, 64, &[71.0, 60.0, 21.0]),
            (1, 16, &[33.0, 22.0, 10.0]),
            (1, 16, &[63.0, 60.0, 33.0, 25.0, 4.0, 19.0]),
        ];
        for (p, q, percents) in tables {
            for &percent in percents {
                // A context that needed no work at p and this share of the run's work at q.
                let t_q = 10.0;
                close(
                    100.0 * per_process(Scaling::Strong, (p, 0.0), (q, t_q * percent / 100.0), t_q),
                    percent,
                );
                // And one that shrank to half of what perfect scaling leaves.
                let (c_q, ratio) = (3.0 * t_q / 10.0, f64::from(q) / f64::from(p));
                let c_p = (c_q - t_q * percent / 100.0) * ratio;
                close(100.0 * per_process(Scaling::Strong, (p, c_p), (q, c_q), t_q), percent);
            }
        }
        // The root of each gives the efficiency that the text implies: LBMHD's 53 % is 7.52 of 16.
        close(16.0 * (1.0 - 0.53), 7.52);
    }

    #[test]
    fn perfect_scaling_has_no_sign() {
        let x = excess(3.0, 1.0, 3.0, 5.0);
        assert_eq!(x.to_bits(), 0.0f64.to_bits());
        assert_eq!(excess(0.0, 1.0, 0.0, 5.0).to_bits(), 0.0f64.to_bits());
    }

    #[test]
    fn classes() {
        assert_eq!(Class::of(0.0, 1.0), Class::New);
        assert_eq!(Class::of(1.0, 0.0), Class::Vanished);
        assert_eq!(Class::of(1.0, 1.0), Class::Common);
        assert_eq!(Class::of(0.0, 0.0), Class::Common);
    }
}
