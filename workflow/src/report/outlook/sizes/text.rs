//! The outlook over problem sizes for people.

use falloff_models::{Model, Scale};

use super::super::terms::term_lines;
use super::super::text::{BELOW, OutlookOptions, banded, law, name_of};
use crate::outlook::SizeOutlook;
use crate::outlook::sizes::SizePart;
use crate::report::caveats::{of_measurements, of_sweep};
use crate::report::names::shorten;
use crate::report::table::{Table, percent, seconds};
use crate::report::text::{measured_lines, runs_line, section};
use crate::results::SweepState;

/// The whole report; the sweeps are in order of their sizes.
pub fn text(sweeps: &[(f64, &SweepState)], outlook: &SizeOutlook, options: &OutlookOptions) -> String {
    let mut lines = header(sweeps, outlook, options);
    lines.extend(headline(outlook, options));
    lines.extend(measured(outlook, options));
    lines.extend(term_lines(outlook.form.as_deref(), &outlook.targets, options));
    lines.extend(part_lines(outlook, options));
    lines.extend(refused(outlook, options));
    lines.join("\n") + "\n"
}

fn header(sweeps: &[(f64, &SweepState)], outlook: &SizeOutlook, options: &OutlookOptions) -> Vec<String> {
    let room = options.width.saturating_sub(13);
    let named: Vec<String> =
        sweeps.iter().map(|(size, sweep)| format!("{size}={}", sweep.dir.display())).collect();
    let mut lines = vec![
        options.paint.bold(&format!("falloff model {}", shorten(&named.join(" "), room))),
        format!(
            "  modelled  seconds of {} a processor (sum over all threads / p), over problem size N and processor count p",
            outlook.metric
        ),
    ];
    let mut caveats = Vec::new();
    for ((size, sweep), health) in sweeps.iter().zip(&outlook.health) {
        lines.push(format!("  N = {size}"));
        lines.push(format!("  program   {}", shorten(&sweep.plan.program.join(" "), room)));
        lines.push(runs_line(sweep));
        lines.extend(measured_lines(health));
        let found = of_sweep(sweep, &outlook.metric).into_iter().chain(of_measurements(0.0, health));
        caveats.extend(found.map(|text| format!("N = {size}: {text}")));
    }
    caveats.extend(of_measurements(outlook.helper_seconds, &Default::default()));
    lines.extend(caveats.iter().map(|text| options.paint.yellow(&format!("  ! {text}"))));
    lines
}

/// What the whole run will take.
fn headline(outlook: &SizeOutlook, options: &OutlookOptions) -> Vec<String> {
    let now = outlook.whole.measured(outlook.last);
    let mut lines = vec![String::new()];
    for (target, prediction) in outlook.targets.iter().zip(&outlook.whole.predictions) {
        lines.push(match prediction {
            Ok(cost) => options.paint.bold(&format!(
                "PREDICTED at {target}: {} s, {:.2} times the {} s at {}",
                banded(cost),
                cost.value / now,
                seconds(now),
                outlook.last
            )),
            Err(reason) => {
                options.paint.yellow(&options.paint.bold(&format!("NOT PREDICTED at {target}: {reason}")))
            }
        });
    }
    lines.push(format!("  {}", law(&outlook.whole.model)));
    lines
}

/// The measured times of the whole run beside what its law says.
fn measured(outlook: &SizeOutlook, options: &OutlookOptions) -> Vec<String> {
    let mut table = Table::new(&["N", "p", "runs", "measured s", "± s", "by the law s", "error %"]);
    let said = |model: &Model, scale: Scale| model.predict(scale).cost.value;
    for point in outlook.whole.times.iter() {
        let law = outlook.whole.model.as_ref().ok().map(|model| said(model, point.scale));
        let or_none = |text: Option<String>| text.unwrap_or("?".into());
        table.row(vec![
            point.scale.n.to_string(),
            point.scale.p.to_string(),
            point.count.to_string(),
            seconds(point.mean),
            seconds(point.error),
            or_none(law.map(seconds)),
            or_none(law.map(|law| percent(law / point.mean - 1.0))),
        ]);
    }
    section("WHOLE RUN, MEASURED", table.lines(), options.paint)
}

fn part_lines(outlook: &SizeOutlook, options: &OutlookOptions) -> Vec<String> {
    let SizeOutlook { ranked, last, targets, .. } = outlook;
    let weight = |part: &SizePart| {
        ranked.and_then(|t| part.standing.shares[t]).unwrap_or(0.0).max(part.standing.share)
    };
    let heavy = outlook.parts.iter().filter(|part| weight(part) >= options.threshold);
    let listed: Vec<&SizePart> = heavy.take(options.limit).collect();
    let then = ranked.map(|target| targets[target]);
    let title = match then {
        Some(at) => format!("CALL PATHS BY PREDICTED TIME AT {at}; now: {last}, then: {at}"),
        None => format!("CALL PATHS BY TIME AT {last}"),
    };
    let mut table = Table::new(&["rank now -> then", "share % now -> then", "s now", "s then"]);
    listed.iter().for_each(|part| table.row(cells(part, *ranked)));
    let label = |row: usize, room: usize| {
        name_of(listed[row].standing.place.as_ref(), listed[row].standing.count, room)
    };
    let mut rows = table.with_last(options.width, "call path", label).lines().into_iter();
    let mut body: Vec<String> = rows.next().into_iter().collect();
    for (row, part) in rows.zip(&listed) {
        body.push(row);
        body.extend(details(part, outlook, options));
    }
    let (count, share) =
        (outlook.parts.len() - listed.len(), listed.iter().map(|part| part.standing.share).sum::<f64>());
    if count > 0 {
        let line = format!("  {count} more: {} % of the time at {last}", percent((1.0 - share).max(0.0)));
        body.push(options.paint.dim(&line));
    }
    section(&title, body, options.paint)
}

fn cells(part: &SizePart, ranked: Option<usize>) -> Vec<String> {
    let then = |text: Option<String>| text.unwrap_or("?".into());
    let prediction = ranked.and_then(|target| part.surface.predictions[target].as_ref().ok());
    vec![
        format!("{} -> {}", part.standing.rank, then(part.standing.rank_then.map(|rank| rank.to_string()))),
        format!(
            "{} -> {:>5}",
            percent(part.standing.share),
            then(ranked.and_then(|target| part.standing.shares[target]).map(percent))
        ),
        seconds(part.standing.seconds),
        then(prediction.map(banded)),
    ]
}

/// What belongs below the row of a part: its law, the other predictions, and where it is called.
fn details(part: &SizePart, outlook: &SizeOutlook, options: &OutlookOptions) -> Vec<String> {
    let blank = " ".repeat(BELOW);
    let mut lines = vec![law(&part.surface.model)];
    if part.surface.model.is_ok() {
        lines.extend(others(part, outlook));
    }
    let above =
        part.standing.place.as_ref().and_then(|place| place.path.split_last()).map(|(_, above)| above);
    if let Some(above) = above.filter(|above| !above.is_empty()) {
        let names: Vec<&str> = above.iter().map(|name| &**name).collect();
        let room = options.width.saturating_sub(BELOW);
        lines.push(shorten(&format!("in {}", names.join(" > ")), room));
    }
    lines.into_iter().map(|line| options.paint.dim(&format!("{blank}{line}"))).collect()
}

/// What is predicted at targets that are not ranked, and for what reasons the others are not.
fn others(part: &SizePart, outlook: &SizeOutlook) -> Vec<String> {
    let mut lines = Vec::new();
    let mut refusals: Vec<(&str, Vec<String>)> = Vec::new();
    for (index, (target, prediction)) in outlook.targets.iter().zip(&part.surface.predictions).enumerate() {
        match prediction {
            Ok(_) if Some(index) == outlook.ranked => {}
            Ok(cost) => lines.push(format!("at {target}: {} s", banded(cost))),
            Err(reason) => match refusals.iter_mut().find(|(known, _)| known == reason) {
                Some((_, targets)) => targets.push(target.to_string()),
                None => refusals.push((reason, vec![target.to_string()])),
            },
        }
    }
    lines.extend(refusals.into_iter().map(|(reason, targets)| match targets.len() {
        all if all == outlook.targets.len() => format!("not predicted: {reason}"),
        _ => format!("not predicted at {}: {reason}", targets.join("; ")),
    }));
    lines
}

/// How much is not predicted.
fn refused(outlook: &SizeOutlook, options: &OutlookOptions) -> Vec<String> {
    let of = outlook.parts.iter().map(|part| part.standing.count).sum::<usize>();
    let line = |(index, target): (usize, &Scale)| {
        let (count, share) = outlook.refused(index);
        let share = percent(share);
        format!("  at {target}: {count} of {of} call paths, with {share} % of the time at {}", outlook.last)
    };
    section("NOT PREDICTED", outlook.targets.iter().enumerate().map(line).collect(), options.paint)
}
