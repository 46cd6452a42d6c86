//! A Parquet table as named columns, whole in memory.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::column::{Column, Kind};
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

    pub fn write(&self, path: &Path) -> Result<()> {
        let fields = self.0.iter().map(|(name, c)| c.field(name).map(Arc::new)).collect::<Result<_>>()?;
        let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("falloff ", env!("CARGO_PKG_VERSION")).into())
            .build();
        let out = BufWriter::new(File::create(path)?);
        let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
        for first in (0..self.rows()).step_by(ROW_GROUP) {
            let rows = first..self.rows().min(first + ROW_GROUP);
            let mut group = writer.next_row_group()?;
            for (_, column) in &self.0 {
                column.write(&mut group, rows.clone())?;
            }
            group.close()?;
        }
        writer.close()?;
        Ok(())
    }

    /// Reads the columns that `wanted` names, into the kinds that it has. Other columns are skipped.
    pub fn read(path: &Path, wanted: &[(&str, Kind)]) -> Result<Table, String> {
        // The parquet crate has panicked on damaged pages before; a damaged database is an error.
        let read = isolate(|| Table::read_unguarded(path, wanted));
        read.map_err(|panic| format!("damaged ({panic})"))?.map_err(|e| e.to_string())
    }

    fn read_unguarded(path: &Path, wanted: &[(&str, Kind)]) -> Result<Table> {
        let reader = SerializedFileReader::new(File::open(path)?)?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let mut table = Table::default();
        for (name, kind) in wanted {
            let index = schema.columns().iter().position(|c| c.name() == *name);
            let index = index.ok_or_else(|| ParquetError::General(format!("column `{name}` is missing")))?;
            let mut column = kind.column();
            let descriptor = schema.column(index);
            if descriptor.physical_type() != column.physical() || descriptor.max_rep_level() > 0 {
                return Err(ParquetError::General(format!("column `{name}` has another type")));
            }
            for group in 0..reader.num_row_groups() {
                let group = reader.get_row_group(group)?;
                let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
                column.read(group.get_column_reader(index)?, rows)?;
            }
            table = table.with(name, column);
        }
        let rows = table.rows();
        match table.0.iter().find(|(_, c)| c.len() != rows) {
            Some((name, _)) => Err(ParquetError::General(format!("column `{name}` has another length"))),
            None => Ok(table),
        }
    }

    fn take(&mut self, name: &str) -> Option<Column> {
        let index = self.0.iter().position(|(n, _)| n == name)?;
        Some(self.0.swap_remove(index).1)
    }
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
        let wanted = [
            ("a", Kind::U32),
            ("b", Kind::U64),
            ("g", Kind::I64),
            ("c", Kind::Flag),
            ("d", Kind::Text),
            ("e", Kind::MaybeU32),
            ("f", Kind::MaybeText),
        ];
        assert_eq!(Table::read(&path, &wanted).unwrap(), table);
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
