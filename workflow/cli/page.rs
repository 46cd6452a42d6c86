//! `--html`: pages for the browser.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use falloff_postprocess::messages::CALLS;
use falloff_postprocess::views::{Excerpt, Groups, Query};
use falloff_postprocess::{Database, Tree};
use falloff_workflow::page::{self, Page, SourceTexts, Sweep, TimelineOf};
use falloff_workflow::results::{Choice, Results};

use crate::algebra_args::DiffArgs;
use crate::args::{ScoreArgs, SourceArgs};
use crate::failure::Failure;
use crate::output::Output;
use crate::timeline;
use crate::view::{all_metrics, metric};
use crate::view_args::ViewArgs;

/// Writes the page of a run.
pub fn profile(excerpt: &Excerpt, args: &ViewArgs, file: &Path, output: &Output) -> Result<(), Failure> {
    let title = format!("falloff view {}", args.dir.display());
    let sources = sources(&args.sources, excerpt.tree(), output);
    let timeline = timeline::of(args, output)?;
    if timeline.is_none() && excerpt.database().metric(CALLS).is_some() {
        output.note("falloff: the run has a log of calls of MPI: `--window A..B` puts a timeline of them into the page");
    }
    profile_page(excerpt, &title, &sources, timeline.as_ref(), file, output)
}

/// Writes the page of a difference.
pub fn difference(database: Database, args: &DiffArgs, file: &Path, output: &Output) -> Result<(), Failure> {
    let database = args.threads.of(database);
    let first = metric(&database, &args.a, args.metric.as_deref())?.name.clone();
    let metrics = match args.metric {
        Some(_) => vec![first],
        None => all_metrics(&database),
    };
    let query = Query { metrics, ..Query::default() };
    let excerpt =
        Excerpt::new(&database, &query).map_err(|error| Failure::usage(error.to_string(), error.hint()))?;
    let title = format!("falloff diff {} {}", args.a.display(), args.b.display());
    let sources = sources(&args.sources, excerpt.tree(), output);
    profile_page(&excerpt, &title, &sources, None, file, output)
}

/// Writes the page of a sweep.
pub fn sweep(
    results: &Results,
    choice: &Choice,
    args: &ScoreArgs,
    file: &Path,
    output: &Output,
) -> Result<(), Failure> {
    let sweep = Sweep::new(results, choice)?;
    let sources = sources(&args.sources, sweep.tree(), output);
    let title = format!("falloff score {}", args.dir.display());
    write(&page::sweep(results, &sweep, &title, &sources), file, output)
}

fn profile_page(
    excerpt: &Excerpt,
    title: &str,
    sources: &SourceTexts,
    timeline: Option<&TimelineOf>,
    file: &Path,
    output: &Output,
) -> Result<(), Failure> {
    let (groups, sections) = (Groups::of(excerpt), Groups::of_sections(excerpt)?);
    write(&page::profile(excerpt, title, &groups, &sections, sources, timeline), file, output)
}

/// The source files that the user wants in the page.
fn sources(args: &SourceArgs, tree: &Tree, output: &Output) -> SourceTexts {
    if !args.embed_sources {
        return SourceTexts::default();
    }
    let (texts, missing) = SourceTexts::read(tree);
    if let Some(first) = missing.first() {
        output.note(&format!(
            "falloff: {} source files are in the page, {} could not be read, the first {first}; see --map-path",
            texts.count(),
            missing.len()
        ));
    }
    texts
}

fn write(page: &io::Result<Page>, path: &Path, output: &Output) -> Result<(), Failure> {
    let write = |page: &Page| {
        let mut out = BufWriter::new(File::create(path)?);
        page.write(&mut out)?;
        out.flush()
    };
    let refused = |error: &io::Error| {
        let message = format!("failed to write `{}`: {error}", path.display());
        Failure::usage(message, "check its directory and the room there, or name another file")
    };
    write(page.as_ref().map_err(refused)?).map_err(|error| refused(&error))?;
    output.note(&format!("falloff: wrote {}", path.display()));
    Ok(())
}
