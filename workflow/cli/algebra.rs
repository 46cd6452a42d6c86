//! Operations on databases: `falloff diff`, `mean`, `sum`, `min`, `max`, `scale`, `filter`, `cut`, `collapse` and `merge --metrics`.

use std::fs;
use std::path::{Path, PathBuf};

use falloff_postprocess::algebra::{self, Cut, Difference, Filter, Locations, Operand};
use falloff_postprocess::{Database, Error, Level, Location, Scope, open};
use falloff_workflow::exit;
use falloff_workflow::plan::Plan;

use crate::algebra_args::{CollapseArgs, CombineArgs, CutArgs, DiffArgs, DiffFormat, FilterArgs, ScaleArgs};
use crate::args::{DebugArgs, MergeArgs};
use crate::failure::Failure;
use crate::output::Output;
use crate::page;
use crate::view::metric;

/// An operation on any number of databases.
type Combine = fn(&[Operand], Locations) -> Result<Database, Error>;

/// Prints what changed, and writes the difference if that is asked for.
pub fn diff(args: &DiffArgs, output: &Output) -> Result<i32, Failure> {
    if let Some(dir) = &args.output {
        must_be_free(dir)?;
    }
    let (a, b) = (Named::open(&args.a, &args.debug)?, Named::open(&args.b, &args.debug)?);
    let difference = Difference::new(a.operand(), b.operand(), args.locations.how())?;
    let metric = metric(&difference.database, &args.a, args.metric.as_deref())?;
    if let Some(dir) = &args.output {
        difference.database.write(dir)?;
    }
    let helpers = args.threads.helpers;
    if let Some(file) = &args.html {
        page::difference(difference.database, args, file, output)?;
        return Ok(exit::OK);
    }
    match args.format {
        DiffFormat::Text => output.data(&algebra::text(&difference, metric, helpers))?,
        DiffFormat::Json => output.stream(|out| {
            algebra::json(&difference, metric, helpers, &mut *out)?;
            out.write_all(b"\n")
        })?,
    }
    Ok(exit::OK)
}

/// Writes what an operation makes of several databases.
pub fn combine(args: &CombineArgs, operation: Combine, output: &Output) -> Result<i32, Failure> {
    must_be_free(&args.output.output)?;
    let all = Named::open_all(&args.dirs, &args.debug)?;
    let operands: Vec<Operand> = all.iter().map(Named::operand).collect();
    keep(&operation(&operands, args.locations.how())?, &args.output.output, output)
}

/// Writes a database of the metrics of several.
pub fn merge(args: &MergeArgs, output: &Output) -> Result<i32, Failure> {
    must_be_free(&args.output)?;
    let all = Named::open_all(&args.dirs, &args.debug)?;
    let operands: Vec<Operand> = all.iter().map(Named::operand).collect();
    let (overlap, locations) = (args.metrics.overlap.overlap(), args.metrics.locations.how());
    keep(&algebra::merge(&operands, overlap, locations)?, &args.output, output)
}

/// Writes a multiple of a database.
pub fn scale(args: &ScaleArgs, output: &Output) -> Result<i32, Failure> {
    must_be_free(&args.output.output)?;
    let named = Named::open(&args.dir, &args.debug)?;
    keep(&algebra::scale(named.operand(), args.factor)?, &args.output.output, output)
}

/// Writes some metrics and locations of a database.
pub fn filter(args: &FilterArgs, output: &Output) -> Result<i32, Failure> {
    must_be_free(&args.output.output)?;
    let named = Named::open(&args.dir, &args.debug)?;
    let mut words: Vec<String> = args.metrics.iter().map(|m| format!("metric {m}")).collect();
    words.extend(args.location.as_ref().map(|l| format!("location {l}")));
    let location = |l: &Location| args.location.as_ref().is_none_or(|s| s.holds(l));
    let keep_these = Filter { metrics: &args.metrics, location: &location, words: &words };
    keep(&algebra::filter(named.operand(), keep_these)?, &args.output.output, output)
}

/// Writes a database with its call paths cut.
pub fn cut(args: &CutArgs, output: &Output) -> Result<i32, Failure> {
    must_be_free(&args.output.output)?;
    let (how, pattern) = match (&args.at.root, &args.at.prune) {
        (Some(pattern), _) => (Cut::Root, pattern),
        (None, Some(pattern)) => (Cut::Prune, pattern),
        (None, None) => {
            return Err(Failure::usage("failed to cut: no frame is named", "use --root or --prune"));
        }
    };
    let named = Named::open(&args.dir, &args.debug)?;
    let matches = |scope: &Scope| pattern.is_in(&scope.name);
    keep(&algebra::cut(named.operand(), how, &pattern.to_string(), matches)?, &args.output.output, output)
}

/// Writes a database with fewer locations.
pub fn collapse(args: &CollapseArgs, output: &Output) -> Result<i32, Failure> {
    must_be_free(&args.output.output)?;
    let named = Named::open(&args.dir, &args.debug)?;
    keep(&algebra::collapse(named.operand(), args.to.gathering()), &args.output.output, output)
}

/// A database under the name of its directory.
struct Named {
    name: String,
    database: Database,
}

impl Named {
    fn open(dir: &Path, debug: &DebugArgs) -> Result<Named, Failure> {
        if Plan::exists(dir) {
            return Err(Failure::usage(
                format!("failed to open `{}`: it holds a sweep of several runs", dir.display()),
                format!("name its runs, for example {}/runs/n0001-r1", dir.display()),
            ));
        }
        Ok(Named { name: dir.display().to_string(), database: open(dir, &debug.options())? })
    }

    fn open_all(dirs: &[PathBuf], debug: &DebugArgs) -> Result<Vec<Named>, Failure> {
        dirs.iter().map(|dir| Named::open(dir, debug)).collect()
    }

    fn operand(&self) -> Operand<'_> {
        Operand { name: &self.name, database: &self.database }
    }
}

/// Results never replace anything.
pub fn must_be_free(dir: &Path) -> Result<(), Failure> {
    let free = match fs::read_dir(dir) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !dir.exists(),
    };
    if free {
        return Ok(());
    }
    Err(Failure::usage(
        format!("failed to write `{}`: it is there already", dir.display()),
        "choose a directory that is not there yet with `-o DIR`",
    ))
}

/// Writes a result and says what of its inputs has no counterpart.
fn keep(database: &Database, dir: &Path, output: &Output) -> Result<i32, Failure> {
    database.write(dir)?;
    let operation = database.provenance().history.last();
    let metric = database.default_metric().map(|m| m.name.as_str());
    for input in operation.map_or(&[][..], |o| &o.inputs) {
        if let Some(cost) = metric.and_then(|m| input.cost(m)) {
            let unmatched = cost.unmatched_percent();
            let exact = cost.matched_percent(Level::SameBuild);
            if unmatched > 0.0 || exact < 100.0 {
                output.note(&format!(
                    "falloff: {}: {unmatched:.2} % of its {} is in call paths that no other has, {:.2} % in paths matched \
                     across builds",
                    input.name,
                    cost.metric,
                    100.0 - unmatched - exact
                ));
            }
        }
    }
    Ok(exit::OK)
}
