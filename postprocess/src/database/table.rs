//! A Parquet table as named columns, whole in memory.

use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::column::{Column, Kind};
use super::stored_file::StoredFile;
use crate::isolate::isolate;

/// Rows of a row group; bounds the memory that a streaming reader needs.
const ROW_GROUP: usize = 1 << 20;

/// Columns of equal length, by name.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Table(Vec<(String, Column)>);

impl Table {
    pub fn with(mut self, name: &str, column: Column) -> Table {
        self.0.push((name.to_owned(), column));
        self
    }

    pub fn rows(&self) -> usize {
        self.0.first().map_or(0, |(_, column)| column.len())
    }

    /// Writes a table as a whole file.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut writer = Writer::create(path, self)?;
        for first in (0..self.rows()).step_by(ROW_GROUP) {
            writer.write_rows(self, first..self.rows().min(first + ROW_GROUP))?;
        }
        writer.finish()
    }

    /// Reads the columns that `wanted` names, into the kinds that it has. Other columns are skipped.
    pub fn read(path: &Path, wanted: &'static [(&'static str, Kind)]) -> Result<Table, String> {
        let reader = Reader::open(path, wanted)?;
        reader.read(0..reader.groups())
    }

    /// All columns, in order.
    #[cfg(feature = "entrances")]
    pub fn columns_mut(&mut self) -> impl Iterator<Item = &mut Column> {
        self.0.iter_mut().map(|(_, column)| column)
    }

    fn take(&mut self, name: &str) -> Option<Column> {
        let index = self.0.iter().position(|(n, _)| n == name)?;
        Some(self.0.swap_remove(index).1)
    }
}

/// A table that is written row group by row group.
pub(super) struct Writer(SerializedFileWriter<BufWriter<File>>);

impl Writer {
    /// Begins a file for rows like those of `table`.
    pub fn create(path: &Path, table: &Table) -> Result<Writer> {
        let fields = table.0.iter().map(|(name, c)| c.field(name).map(Arc::new)).collect::<Result<_>>()?;
        let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("falloff ", env!("CARGO_PKG_VERSION")).into())
            .build();
        let out = BufWriter::new(File::create(path)?);
        Ok(Writer(SerializedFileWriter::new(out, schema, Arc::new(properties))?))
    }

    /// Appends a row group.
    pub fn write(&mut self, table: &Table) -> Result<()> {
        self.write_rows(table, 0..table.rows())
    }

    fn write_rows(&mut self, table: &Table, rows: Range<usize>) -> Result<()> {
        let mut group = self.0.next_row_group()?;
        for (_, column) in &table.0 {
            column.write(&mut group, rows.clone())?;
        }
        group.close().map(drop)
    }

    pub fn finish(self) -> Result<()> {
        self.0.close().map(drop)
    }
}

/// A table that is read row group by row group.
pub(super) struct Reader {
    file: SerializedFileReader<StoredFile>,
    wanted: &'static [(&'static str, Kind)],
    /// Indices of the wanted columns.
    columns: Vec<usize>,
}

impl Reader {
    /// Opens a file and checks that it has the columns that `wanted` names, of the kinds that it has.
    pub fn open(path: &Path, wanted: &'static [(&'static str, Kind)]) -> Result<Reader, String> {
        guarded(|| {
            let file = SerializedFileReader::new(StoredFile(File::open(path)?))?;
            let schema = file.metadata().file_metadata().schema_descr_ptr();
            let index = |(name, kind): &(&str, Kind)| {
                let index = schema.columns().iter().position(|c| c.name() == *name);
                let index =
                    index.ok_or_else(|| ParquetError::General(format!("column `{name}` is missing")))?;
                let column = schema.column(index);
                if column.physical_type() != kind.column().physical() || column.max_rep_level() > 0 {
                    return Err(ParquetError::General(format!("column `{name}` has another type")));
                }
                Ok(index)
            };
            let columns = wanted.iter().map(index).collect::<Result<_>>()?;
            Ok(Reader { file, wanted, columns })
        })
    }

    /// Number of row groups.
    pub fn groups(&self) -> usize {
        self.file.num_row_groups()
    }

    /// Number of rows as the file's end says.
    pub fn rows(&self) -> u64 {
        u64::try_from(self.file.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// The wanted columns of some row groups.
    pub fn read(&self, groups: Range<usize>) -> Result<Table, String> {
        guarded(|| {
            let mut table = Table::default();
            for ((name, kind), index) in self.wanted.iter().zip(&self.columns) {
                let mut column = kind.column();
                for group in groups.clone() {
                    let group = self.file.get_row_group(group)?;
                    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
                    column.read(group.get_column_reader(*index)?, rows)?;
                }
                table = table.with(name, column);
            }
            let rows = table.rows();
            match table.0.iter().find(|(_, c)| c.len() != rows) {
                Some((name, _)) => Err(ParquetError::General(format!("column `{name}` has another length"))),
                None => Ok(table),
            }
        })
    }
}

/// The parquet crate has panicked on damaged pages before; a damaged database is an error.
fn guarded<T>(read: impl FnOnce() -> Result<T>) -> Result<T, String> {
    isolate(read).map_err(|panic| format!("damaged ({panic})"))?.map_err(|e| e.to_string())
}

/// Takes a column of one kind out of a table; empty if it is not there, which [`Table::read`] has excluded.
macro_rules! take {
    ($($name:ident: $variant:ident => $item:ty),*) => {
        impl Table {
            $(pub fn $name(&mut self, name: &str) -> Vec<$item> {
                match self.take(name) {
                    Some(Column::$variant(rows)) => rows,
                    _ => Vec::new(),
                }
            })*
        }
    };
}
take!(u32s: U32 => u32, u64s: U64 => u64, i64s: I64 => i64, flags: Flag => bool, texts: Text => Arc<str>,
      maybe_u32s: MaybeU32 => Option<u32>, maybe_texts: MaybeText => Option<Arc<str>>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_column_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.parquet");
        let table = Table::default()
            .with("a", Column::U32(vec![0, u32::MAX, 7]))
            .with("b", Column::U64(vec![u64::MAX, 0, 1]))
            .with("g", Column::I64(vec![i64::MIN, -1, 1]))
            .with("c", Column::Flag(vec![true, false, true]))
            .with("d", Column::Text(vec!["".into(), "ä;\n".into(), "x".into()]))
            .with("e", Column::MaybeU32(vec![None, Some(1), None]))
            .with("f", Column::MaybeText(vec![Some("y".into()), None, None]));
        table.write(&path).unwrap();
        const WANTED: [(&str, Kind); 7] = [
            ("a", Kind::U32),
            ("b", Kind::U64),
            ("g", Kind::I64),
            ("c", Kind::Flag),
            ("d", Kind::Text),
            ("e", Kind::MaybeU32),
            ("f", Kind::MaybeText),
        ];
        assert_eq!(Table::read(&path, &WANTED).unwrap(), table);
        assert!(Table::read(&path, &[("z", Kind::U32)]).unwrap_err().contains("`z` is missing"));
        assert!(Table::read(&path, &[("b", Kind::U32)]).unwrap_err().contains("another type"));
    }

    #[test]
    fn a_table_without_rows_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.parquet");
        let table = Table::default().with("a", Column::U32(vec![]));
        table.write(&path).unwrap();
        assert_eq!(Table::read(&path, &[("a", Kind::U32)]).unwrap(), table);
    }
}
