//! `falloff merge`: one database for the measurement files of a run, for a part of them, or for several databases.

use std::path::{Path, PathBuf};
use std::{fs, io};

use falloff_postprocess::{Database, Shard, merge_into, open_lazily, views};
use falloff_profiler::rank_of_many;
use falloff_workflow::exit;

use crate::algebra;
use crate::args::MergeArgs;
use crate::failure::Failure;
use crate::output::Output;

/// Which part of a run's measurement files is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The one of this process's rank among the ranks of its job.
    OfRank,
    /// This one.
    Of(Shard),
}

/// Parses `I/N` or `auto`.
pub fn part(text: &str) -> Result<Part, String> {
    if text == "auto" {
        return Ok(Part::OfRank);
    }
    let shard = text
        .split_once('/')
        .and_then(|(index, of)| Some(Shard { index: index.parse().ok()?, of: of.parse().ok()? }));
    match shard {
        Some(shard) if (1..=shard.of).contains(&shard.index) => Ok(Part::Of(shard)),
        _ => Err(format!("`{text}` is no part; use I/N with I from 1 to N, or auto")),
    }
}

impl Part {
    fn shard(self) -> Result<Shard, Failure> {
        let number = |n: i32| u32::try_from(n).unwrap_or(0);
        match (self, rank_of_many()) {
            (Part::Of(shard), _) => Ok(shard),
            (Part::OfRank, Some((rank, ranks))) if (0..ranks).contains(&rank) => {
                Ok(Shard { index: number(rank) + 1, of: number(ranks) })
            }
            (Part::OfRank, _) => Err(Failure::usage(
                "failed to choose a part: no launcher says which rank of how many this is",
                "start it with srun or mpirun, or say which part with `--shard I/N`",
            )),
        }
    }
}

/// Merges and says what became of it.
pub fn merge(args: &MergeArgs, output: &Output) -> Result<i32, Failure> {
    if args.metrics.metrics {
        return algebra::merge(args, output);
    }
    let options = args.debug.options();
    let inputs = args.dirs.iter().map(|dir| databases(dir)).collect::<Result<Vec<_>, Failure>>()?.concat();
    let database = match (&*args.dirs, args.shard) {
        ([run], Some(part)) if inputs.is_empty() => {
            let shard = part.shard()?;
            let name = format!("part-{}-of-{}", shard.index, shard.of);
            fs::create_dir_all(&args.output).map_err(|e| unreadable(&args.output, &e))?;
            merge_into(run, &options, Some(shard), &args.output.join(name))?
        }
        (_, Some(_)) => {
            return Err(Failure::usage(
                "failed to merge a part: --shard is for the measurement files of one run",
                "name the directory of a run; parts are joined by `falloff merge PARTS -o DIR`",
            ));
        }
        ([run], None) if inputs.is_empty() => merge_into(run, &options, None, &args.output)?,
        (dirs, None) => {
            // A run that is not merged yet is merged now, and its database kept.
            let runs = dirs.iter().filter(|dir| databases(dir).is_ok_and(|found| found.is_empty()));
            let opened: Vec<Database> = inputs
                .iter()
                .chain(runs)
                .map(|dir| Ok(open_lazily(dir, &options)?))
                .collect::<Result<_, Failure>>()?;
            Database::join_into(&opened.iter().collect::<Vec<_>>(), &args.output)?
        }
    };
    for line in views::health_lines(&database.health(), database.locations().len()) {
        output.note(&format!("falloff: {line}"));
    }
    for warning in database.warnings() {
        output.warn(&format!("falloff: {warning}"));
    }
    Ok(exit::OK)
}

/// The database of a directory, or the databases of a run's parts in it; none if it is a run.
fn databases(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    if Database::is_in(dir) {
        return Ok(vec![dir.to_owned()]);
    }
    let entries = fs::read_dir(dir).map_err(|e| unreadable(dir, &e))?;
    let below = entries.map(|entry| entry.map(|e| e.path())).collect::<Result<Vec<_>, _>>();
    let mut below = below.map_err(|e| unreadable(dir, &e))?;
    let is_part = |path: &Path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("part-"));
    below.retain(|path| is_part(path) && Database::is_in(path));
    below.sort();
    Ok(below)
}

fn unreadable(dir: &Path, error: &io::Error) -> Failure {
    Failure::usage(
        format!("failed to look into `{}`: {error}", dir.display()),
        "check the name and who may use it",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_from_one() {
        assert_eq!(part("3/8"), Ok(Part::Of(Shard { index: 3, of: 8 })));
        assert_eq!(part("auto"), Ok(Part::OfRank));
        for wrong in ["0/8", "9/8", "1/0", "3", "a/b", "/", "-1/2"] {
            assert!(part(wrong).unwrap_err().contains("is no part"), "{wrong}");
        }
    }
}
