//! One view of a score as CSV, one line a row.

use falloff_models::Interval;
use falloff_postprocess::views::csv::quoted;

use super::json_bounds;
use crate::bounds::{PathBounds, RowBounds};
use crate::scoring::ScoredView;

const HEADINGS: &str = "id,parent,depth,kind,name,module,file,line,excess_incl_percent,\
excess_incl_half_width_percent,excess_excl_percent,excess_excl_half_width_percent,work_base_incl_seconds,\
work_expected_incl_seconds,work_at_incl_seconds,work_base_excl_seconds,work_expected_excl_seconds,work_at_excl_seconds,imbalance_percent,samples_base,samples_at,\
rare,q_value,significant,class,bound_average_value,bound_average_low,bound_average_high,\
bound_largest_value,bound_largest_low,bound_largest_high,inflexion_state,inflexion_fastest,inflexion_bracket_low,\
inflexion_bracket_high,inflexion_noise_known\n";

/// All rows of the view; fields with a comma, a quote or a line end are quoted as in RFC 4180.
///
/// `bounds` are those of the rows, if they are of the calling context view: in others these columns are empty.
pub fn csv(view: &ScoredView, bounds: Option<&PathBounds>) -> String {
    let number = |n: Option<u32>| n.map_or(String::new(), |n| n.to_string());
    let text = |t: Option<&str>| t.map_or(String::new(), quoted);
    let mut out = HEADINGS.to_owned();
    for row in &view.rows {
        let (incl, excl) = (&row.inclusive, &row.exclusive);
        let cells = [
            row.id.to_string(),
            number(row.parent),
            row.depth.to_string(),
            row.kind.word().into(),
            quoted(&row.name),
            text(row.module.as_deref()),
            text(row.file.as_deref()),
            number(row.line),
            (100.0 * incl.excess).to_string(),
            (100.0 * incl.half_width).to_string(),
            (100.0 * excl.excess).to_string(),
            (100.0 * excl.half_width).to_string(),
            incl.work_base.to_string(),
            incl.expected.to_string(),
            incl.work_at.to_string(),
            excl.work_base.to_string(),
            excl.expected.to_string(),
            excl.work_at.to_string(),
            row.max_over_mean.map_or(String::new(), |m| (100.0 * (m - 1.0)).to_string()),
            row.samples_base.to_string(),
            row.samples_at.to_string(),
            row.is_rare().to_string(),
            row.q_value.map_or(String::new(), |q| q.to_string()),
            row.significant().to_string(),
            row.class.name().into(),
        ];
        out.push_str(&cells.join(","));
        out.push(',');
        out.push_str(&bound_cells(bounds.and_then(|bounds| bounds.row(row.id))).join(","));
        out.push('\n');
    }
    out
}

/// How a row bounds the speed-up; what is infinite is empty, as null is.
fn bound_cells(row: Option<&RowBounds>) -> [String; 11] {
    let finite = |value: f64| if value.is_finite() { value.to_string() } else { String::new() };
    let interval =
        |of: Option<Interval>| of.map_or_else(Default::default, |of| [of.value, of.low, of.high].map(finite));
    let [average, average_low, average_high] = interval(row.map(|row| row.bounds.average));
    let [largest, largest_low, largest_high] = interval(row.map(|row| row.bounds.largest));
    let [state, fastest, low, high, noise] =
        row.and_then(|row| row.inflexion).map_or_else(Default::default, |of| {
            [
                json_bounds::state(of.state).into(),
                of.fastest.to_string(),
                of.bracket.0.to_string(),
                finite(of.bracket.1),
                of.noise_known.to_string(),
            ]
        });
    [average, average_low, average_high, largest, largest_low, largest_high, state, fastest, low, high, noise]
}
