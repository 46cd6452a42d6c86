//! Databases: their files with any bytes, and their tables with any cells.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use falloff_postprocess::entrances::{Edit, edit_table};
use falloff_postprocess::{Database, sections};

use crate::edits::{Editable, edited};
use crate::input::Input;
use crate::scratch::{Scratch, list, source};

/// Databases of every version; the last one is of the newest, and has every table.
const SEEDS: [&str; 3] = ["../data/databases/v1", "../data/databases/v2", "seeds/database/sections"];
/// Tables, in the order of an input's numbers.
const TABLES: [&str; 13] = [
    "contexts",
    "locations",
    "metrics",
    "modules",
    "values",
    "summary",
    "sections",
    "communicators",
    "section_members",
    "section_checkpoints",
    "section_dwells",
    "section_instances",
    "section_values",
];
/// The number of the file in an input says also whether the input is the whole file.
const WHOLE: u8 = 0x80;

/// Which database, which of its files, and edits of it or all of its bytes.
pub(crate) fn files(input: &[u8]) {
    static DATABASES: LazyLock<[Vec<Editable>; SEEDS.len()]> = LazyLock::new(|| SEEDS.map(read));
    let mut input = Input(input);
    let database = &DATABASES[usize::from(input.byte()) % SEEDS.len()];
    let choice = input.byte();
    let number = usize::from(choice & !WHOLE) % database.len();
    let changed = &database[number..=number];
    let bytes = if choice & WHOLE == 0 { edited(changed, &mut input).concat() } else { input.0.to_vec() };
    let scratch = Scratch::new();
    database.iter().for_each(|file| drop(scratch.write(&file.name, &file.bytes)));
    scratch.write(&changed[0].name, &bytes);
    if let Ok(database) = Database::open_lazily(scratch.path()) {
        look(&database);
    }
    open(scratch.path());
}

/// Edits of cells: the table, the column, the row and the value of each.
pub(crate) fn cells(input: &[u8]) {
    static FILES: LazyLock<Vec<Editable>> = LazyLock::new(|| read(SEEDS[SEEDS.len() - 1]));
    let mut input = Input(input);
    let mut edits: [Vec<Edit>; TABLES.len()] = Default::default();
    while !input.is_empty() {
        let table = usize::from(input.byte()) % TABLES.len();
        let (column, row) = (input.byte(), input.u16());
        // Small numbers refer to rows, and are short.
        let value = if row & 0x8000 == 0 { u64::from(input.byte()) } else { input.u64() };
        edits[table].push(Edit { column, row: row & 0x7fff, value });
    }
    let from: PathBuf = source(SEEDS[SEEDS.len() - 1]);
    let scratch = Scratch::new();
    FILES.iter().for_each(|file| drop(scratch.write(&file.name, &file.bytes)));
    for (table, edits) in TABLES.iter().zip(&edits).filter(|(_, edits)| !edits.is_empty()) {
        edit_table(&from, scratch.path(), table, edits);
    }
    open(scratch.path());
}

fn read(seed: &str) -> Vec<Editable> {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let read = |path: &PathBuf| Editable::whole(name(path), fs::read(path).expect("failed to read a seed"));
    list(&source(seed)).iter().map(read).collect()
}

/// Opens a database and has it all read.
fn open(dir: &Path) {
    if let Ok(database) = Database::open(dir) {
        let _ = database.clone().without_helpers();
        for metric in database.metrics() {
            let _ = database.exclusive_totals(&metric.name);
        }
        look(&database);
    }
}

/// What is computed of a database before anything of it is shown.
pub(crate) fn look(database: &Database) {
    let _ = (database.summaries(), database.health(), database.section_values());
    let sections = database.sections();
    let _ = (sections.times(), sections.disagreements(), sections::text_table(sections));
}
