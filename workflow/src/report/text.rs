//! The report for people. Its first screen says what is lost, where, how sure that is, and what to do next.

use falloff_models::Step;
use falloff_postprocess::views::ViewKind;

use super::bounding::{Bounding, Listing};
use super::causes::{cause_lines, efficiency_lines, waiting_lines};
use super::caveats::{of_measurements, of_sweep};
use super::functions::{function_lines, labelled};
use super::names::shorten;
use super::paint::Paint;
use super::table::{Table, percent, seconds, with_width};
use super::text_findings::finding_lines;
use super::tree::{hot_path_lines, tree_lines};
use crate::results::SweepState;
use crate::scoring::{Class, RunHealth, Scaling, Score};

/// What the reader wants to see.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// Colours.
    pub paint: Paint,
    /// Columns of the screen.
    pub width: usize,
    /// Smallest excess, as a fraction of the run, for a call path or a function to be listed.
    pub threshold: f64,
    /// Most rows of the tree; the threshold is raised for it.
    pub most_rows: Option<usize>,
    /// The view whose tree is printed.
    pub view: ViewKind,
}

/// Part of the time without a processor, as a fraction, from which it is told.
const PREEMPTED: f64 = 0.05;
/// Call paths that are listed by their bound.
const BOUNDING: usize = 5;
/// Divergent paths that are printed one by one.
const DIVERGENT: usize = 6;

/// The whole report.
pub fn text(sweep: &SweepState, score: &Score, options: &TextOptions) -> String {
    let mut lines = header(sweep, score, options);
    lines.extend(summary(score, options));
    lines.extend(scale_table(sweep, score, options));
    lines.extend(cause_lines(score, options));
    lines.extend(finding_lines(sweep, score, options));
    lines.extend(hot_path_lines(score, options));
    lines.extend(efficiency_lines(score, options));
    lines.extend(waiting_lines(score, options));
    lines.extend(bound_lines(score, options));
    lines.extend(function_lines(score, options));
    lines.extend(tree_lines(score, options));
    lines.extend(divergence(score, options));
    lines.extend(legend(score, options));
    let mut report = lines.join("\n");
    report.push('\n');
    report
}

fn header(sweep: &SweepState, score: &Score, options: &TextOptions) -> Vec<String> {
    let plan = &sweep.plan;
    let program = plan.program.join(" ");
    let room = options.width.saturating_sub(13);
    let mut lines = vec![
        options.paint.bold(&format!("falloff score {}", shorten(&sweep.dir.display().to_string(), room))),
        format!("  program   {}", shorten(&program, room)),
        format!(
            "  compared  {} -> {} processors, {} scaling, metric {} summed over all threads",
            sweep.name(score.base),
            sweep.name(score.at),
            score.scaling.name(),
            score.metric
        ),
        runs_line(sweep),
    ];
    if !score.own.is_empty() {
        let own = shorten(&score.own.join("  "), room);
        lines.push(format!("  expected  {own}  (cost of each of p processes)"));
    }
    lines.extend(measured_lines(&score.health));
    lines.extend(caveats(sweep, score).iter().map(|text| options.paint.yellow(&format!("  ! {text}"))));
    lines
}

/// The runs of a sweep in one line of the header.
pub(super) fn runs_line(sweep: &SweepState) -> String {
    let plan = &sweep.plan;
    let scales: Vec<String> = plan.scales.iter().map(u32::to_string).collect();
    format!(
        "  runs      {} of {} good: {} repetition{} at n = {}; launcher {}",
        sweep.good.len(),
        plan.runs().len(),
        plan.repetitions,
        if plan.repetitions == 1 { "" } else { "s" },
        scales.join(", "),
        plan.launcher
    )
}

/// How complete the measurements are, as lines of the header.
pub(crate) fn measured_lines(health: &RunHealth) -> impl Iterator<Item = String> {
    health.lines().into_iter().enumerate().map(|(number, line)| {
        let title = if number == 0 { "measured" } else { "" };
        format!("  {title:<8}  {line}")
    })
}

/// What the reader must know before trusting the numbers.
pub(crate) fn caveats(sweep: &SweepState, score: &Score) -> Vec<String> {
    let mut found = of_sweep(sweep, &score.metric);
    if score.swapped {
        found.push(format!("--base was above --at; {} is taken as the base", score.base));
    }
    if let Some(share) = score.preempted.filter(|share| *share >= PREEMPTED) {
        found.push(format!(
            "at n = {}, {} % of the time is that of threads ready to run without a processor; `--metric cpu` leaves it out",
            score.at,
            percent(share)
        ));
    }
    found.extend(of_measurements(score.helper_seconds, &score.health));
    found
}

fn summary(score: &Score, options: &TextOptions) -> Vec<String> {
    let total = score.total();
    let share = format!("{} ± {} %", percent(total.excess), percent(total.half_width));
    let (headline, colour): (String, fn(Paint, &str) -> String) = match total.excess {
        _ if !total.is_told_from_zero() && score.base != score.at => {
            (format!("NOT TOLD FROM ZERO: excess work of {share} of the work at {}", score.at), Paint::yellow)
        }
        x if x > 0.0 => (format!("LOST {share} of the work at {} is excess work", score.at), Paint::red),
        x if x < 0.0 => (format!("GAINED {share}: less work at {} than expected", score.at), Paint::green),
        _ => (format!("NOTHING LOST between {} and {}", score.base, score.at), Paint::green),
    };
    vec![
        String::new(),
        colour(options.paint, &options.paint.bold(&headline)),
        format!(
            "  {} s of {} at {}; {} from {} would need {} s; work efficiency {} %",
            seconds(total.work_at),
            score.metric,
            score.at,
            if score.own.is_empty() {
                format!("perfect {} scaling", score.scaling.name())
            } else {
                "what is expected".into()
            },
            score.base,
            seconds(total.expected),
            percent(1.0 - total.excess)
        ),
    ]
}

fn scale_table(sweep: &SweepState, score: &Score, options: &TextOptions) -> Vec<String> {
    let excess = format!("excess % vs {}", score.base);
    let mut table = Table::new(&[
        "n",
        "good runs",
        "work s",
        "wall s",
        &excess,
        "excess % vs n before",
        "efficiency %",
        "",
    ]);
    for scale in &score.scales {
        let (good, planned) = sweep.good_of(scale.scale);
        let against = &scale.against_base;
        table.row(vec![
            sweep.name(scale.scale),
            format!("{good}/{planned}"),
            seconds(against.work_at),
            seconds(scale.wall_seconds),
            with_width(against.excess, against.half_width),
            scale.against_previous.map_or("-".into(), |(_, x)| with_width(x.excess, x.half_width)),
            percent(1.0 - against.excess),
            if scale.repetitions == 1 { "n=1" } else { "" }.into(),
        ]);
    }
    section("SCALES", table.lines(), options.paint)
}

/// Call paths that bound the speed-up most; nothing if a count is compared with itself.
fn bound_lines(score: &Score, options: &TextOptions) -> Vec<String> {
    let Some(bounds) = score.bounds.as_ref().filter(|_| score.base != score.at) else { return Vec::new() };
    let name = |step: &Step, room: usize| match bounds.context(step) {
        Some(context) => labelled(&score.context.rows[context as usize], room),
        None => "<rare>".into(),
    };
    let bounding = Bounding {
        waterfall: &bounds.waterfall,
        counts: (f64::from(score.base), f64::from(score.at)),
        lasting: bounds.lasting(),
        inflexion: &|step| bounds.inflexion(step),
        name: &name,
        heading: "call path",
    };
    bounding.lines(&Listing {
        paint: options.paint,
        width: options.width,
        threshold: options.threshold,
        limit: BOUNDING,
    })
}

fn divergence(score: &Score, options: &TextOptions) -> Vec<String> {
    let divergence = &score.divergence;
    if divergence.paths.is_empty() {
        return Vec::new();
    }
    let shown: Vec<_> = divergence.paths.iter().filter(|p| p.excess.abs() >= options.threshold).collect();
    let mut body = vec![format!(
        "  new at {}: {} % of the run; gone since {}: {} %; the rows above them hold both together",
        score.at,
        percent(divergence.new),
        score.base,
        percent(divergence.vanished)
    )];
    for path in shown.iter().take(DIVERGENT) {
        let names = score.context.path(path.row).join(" > ");
        let sign = if path.class == Class::New { "+" } else { "" };
        let room = options.width.saturating_sub(12);
        body.push(format!("  {:>7}  {}", format!("{sign}{}", percent(path.excess)), shorten(&names, room)));
    }
    section("CALL PATHS AT ONE SCALE ONLY", body, options.paint)
}

fn legend(score: &Score, options: &TextOptions) -> Vec<String> {
    let rho = match score.scaling {
        _ if !score.own.is_empty() => "W(n) - expected W(n)",
        Scaling::Strong => "W(n) - W(base)",
        Scaling::Weak => "W(n) - n/base W(base)",
    };
    let (base, at) = score.repetitions;
    let sure = if base == 1 || at == 1 {
        "n=1: ± holds the sampling error only and says nothing about other runs; sweep with --repeat 3"
            .to_owned()
    } else {
        format!("± is the half width of a 95 % interval, in points, from {base} and {at} runs")
    };
    vec![
        String::new(),
        options.paint.dim(&format!(
            "excess = ({rho}) / W(n) of the whole run, W the work over all threads; rows add up"
        )),
        options.paint.dim(&sure),
        options.paint.dim("? marks rows with too few samples to judge, or not told from zero"),
    ]
}

/// A titled part of the report.
pub(crate) fn section(title: &str, body: Vec<String>, paint: Paint) -> Vec<String> {
    let mut lines = vec![String::new(), paint.bold(title)];
    lines.extend(body);
    lines
}
