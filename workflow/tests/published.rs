//! Tables that were published, and small ones worked out by hand: the whole score must show their numbers.

mod sweep_state;
mod table;

use falloff_postprocess::views::ViewKind;
use falloff_workflow::report::{Paint, TextOptions, text};
use falloff_workflow::scoring::{Scaling, Score, ScoredView};

use sweep_state::sweep_state;
use table::Table;

fn percent(view: &ScoredView, name: &str) -> f64 {
    let row = view.rows.iter().find(|r| *r.name == *name);
    100.0 * row.unwrap_or_else(|| panic!("no row `{name}`")).inclusive.excess
}

/// Costs of each process at p and q, by path, on all ranks alike.
fn score(scaling: Scaling, p: u32, q: u32, paths: &[(&str, f64, f64)]) -> Score {
    let ranks = |n: u32| (0..n).map(move |rank| (n, rank));
    let mut lines = Vec::new();
    for &(path, at_p, at_q) in paths {
        lines.extend(ranks(p).map(|(n, rank)| (n, 1, rank, path, at_p)));
        lines.extend(ranks(q).map(|(n, rank)| (n, 1, rank, path, at_q)));
    }
    Table::new(&lines).score(Some(p), Some(q), scaling)
}

/// A program whose leaves have this excess, in percent of the run at q, which takes 100 s on each process.
fn published(scaling: Scaling, p: u32, q: u32, leaves: &[(&str, f64)]) -> Score {
    let (p_f, q_f) = (f64::from(p), f64::from(q));
    // What a process would need at q without excess, shared evenly, and what the same work is at p.
    let needed = (100.0 - leaves.iter().map(|(_, x)| x).sum::<f64>()) / leaves.len() as f64;
    let at_p = needed * q_f / (scaling.rho(p, q) * p_f);
    let paths: Vec<(&str, f64, f64)> = leaves.iter().map(|(path, x)| (*path, at_p, needed + x)).collect();
    score(scaling, p, q, &paths)
}

fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-9, "found {found}, wanted {wanted}");
}

#[test]
fn strong_scaling_from_4_to_16() {
    let paths = [("solve", 80.0, 20.0), ("exchange", 12.0, 12.0), ("output", 8.0, 8.0)];
    let score = score(Scaling::Strong, 4, 16, &paths);
    for view in score.views() {
        close(percent(view, "solve"), 0.0);
        close(percent(view, "exchange"), 22.5);
        close(percent(view, "output"), 15.0);
    }
    close(100.0 * score.total().excess, 37.5);
    close(1.0 - score.total().excess, 0.625);
}

#[test]
fn weak_scaling_from_1_to_16() {
    let paths = [("solve", 90.0, 90.0), ("exchange", 10.0, 50.0), ("gather", 0.0, 10.0)];
    let score = score(Scaling::Weak, 1, 16, &paths);
    close(percent(&score.context, "solve"), 0.0);
    close(percent(&score.context, "exchange"), 100.0 * 40.0 / 150.0);
    close(percent(&score.context, "gather"), 100.0 * 10.0 / 150.0);
    close(100.0 * score.total().excess, 100.0 / 3.0);
}

#[test]
fn superlinear_from_1_to_4() {
    let score = score(Scaling::Strong, 1, 4, &[("solve", 100.0, 20.0)]);
    close(score.total().excess, -0.25);
    close(1.0 - score.total().excess, 1.25);
}

#[test]
fn excess_over_a_sweep_is_the_sum_of_its_steps() {
    let lines: Vec<_> = [(1, 100.0), (4, 30.0), (16, 12.0), (64, 6.0)]
        .into_iter()
        .flat_map(|(n, t)| (0..n).map(move |rank| (n, 1, rank, "solve", t)))
        .collect();
    let score = Table::new(&lines).score(None, None, Scaling::Strong);
    close(score.total().work_at * score.total().excess, 284.0);
    let steps = score.scales.iter().filter_map(|s| s.against_previous).map(|(_, x)| x.work_at * x.excess);
    close(steps.sum(), 284.0);
}

/// Coarfa et al., ICS'07: losses of six codes in percent. Leaves without a published number share the rest.
#[test]
fn the_codes_of_the_paper() {
    type Code = (Scaling, u32, u32, &'static [(&'static str, f64)], f64, &'static [(&'static str, f64)]);
    use Scaling::{Strong, Weak};
    let codes: [Code; 6] = [
        (
            Strong,
            4,
            64,
            &[("mhd;decomp", 14.0), ("mhd;caf_allsum_dp", 17.0), ("mhd;stream", 22.0)],
            53.0,
            &[("mhd", 53.0), ("decomp", 14.0), ("caf_allsum_dp", 17.0)],
        ),
        (
            Strong,
            4,
            64,
            &[("mbsp;adi;armci_notify", 37.0), ("mbsp;adi;x_solve", 21.0), ("mbsp;init", 2.0)],
            60.0,
            &[("mbsp", 60.0), ("adi", 58.0), ("armci_notify", 37.0)],
        ),
        (Strong, 1, 64, &[("mg;RecvComplete", 37.0), ("mg;resid", 44.0)], 81.0, &[("RecvComplete", 37.0)]),
        (
            Strong,
            4,
            64,
            &[
                ("pop;global_sum_scalar;RecvComplete", 21.0),
                ("pop;boundary;RecvComplete", 39.0),
                ("pop;baroclinic", 11.0),
            ],
            71.0,
            &[("global_sum_scalar", 21.0)],
        ),
        (
            Weak,
            1,
            16,
            &[("su3_rmd;wait_gather", 22.0), ("su3_rmd;do_gather", 10.0), ("su3_rmd;update", 1.0)],
            33.0,
            &[("su3_rmd", 33.0), ("wait_gather", 22.0), ("do_gather", 10.0)],
        ),
        (
            Strong,
            1,
            16,
            &[
                ("cg;conj_grad;prefetch;memget", 25.0),
                ("cg;conj_grad;prefetch;local", 4.0),
                ("cg;conj_grad;prefetch;other", 4.0),
                ("cg;conj_grad;reduce_sum", 19.0),
                ("cg;conj_grad;spmv", 8.0),
                ("cg;makea", 3.0),
            ],
            63.0,
            &[
                ("conj_grad", 60.0),
                ("prefetch", 33.0),
                ("memget", 25.0),
                ("local", 4.0),
                ("reduce_sum", 19.0),
            ],
        ),
    ];
    for (scaling, p, q, leaves, total, columns) in codes {
        let score = published(scaling, p, q, leaves);
        close(100.0 * score.total().excess, total);
        for (name, wanted) in columns {
            close(percent(&score.context, name), *wanted);
        }
        let (paint, view) = (Paint { colour: false }, ViewKind::Context);
        let options = TextOptions { paint, width: 110, threshold: 0.005, most_rows: None, view };
        let report = text(&sweep_state(&[p, q], 1), &score, &options);
        for wanted in columns.iter().map(|(_, x)| *x).chain([total]) {
            assert!(report.contains(&format!("{wanted:.1} ±")), "no {wanted:.1} in\n{report}");
        }
    }
    let pop = published(
        Strong,
        4,
        64,
        &[("pop;global_sum_scalar;RecvComplete", 21.0), ("pop;boundary;RecvComplete", 39.0), ("pop;x", 11.0)],
    );
    close(percent(&pop.flat, "RecvComplete"), 60.0);
    close(percent(pop.callers.as_ref().unwrap(), "RecvComplete"), 60.0);
}
