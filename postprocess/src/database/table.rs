//! A Parquet table as named columns, whole in memory.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use rustc_hash::FxHashMap;

use crate::isolate::isolate;

/// Rows of a row group; bounds the memory that a streaming reader needs.
const ROW_GROUP: usize = 1 << 20;

/// A column with all its rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Column {
    U32(Vec<u32>),
    U64(Vec<u64>),
    Flag(Vec<bool>),
    Text(Vec<Arc<str>>),
    MaybeU32(Vec<Option<u32>>),
    MaybeText(Vec<Option<Arc<str>>>),
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    U32,
    U64,
    Flag,
    Text,
    MaybeU32,
    MaybeText,
}

impl Kind {
    fn column(self) -> Column {
        match self {
            Kind::U32 => Column::U32(Vec::new()),
            Kind::U64 => Column::U64(Vec::new()),
            Kind::Flag => Column::Flag(Vec::new()),
            Kind::Text => Column::Text(Vec::new()),
            Kind::MaybeU32 => Column::MaybeU32(Vec::new()),
            Kind::MaybeText => Column::MaybeText(Vec::new()),
        }
    }
}

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
take!(u32s: U32 => u32, u64s: U64 => u64, flags: Flag => bool, texts: Text => Arc<str>,
      maybe_u32s: MaybeU32 => Option<u32>, maybe_texts: MaybeText => Option<Arc<str>>);

impl Column {
    fn len(&self) -> usize {
        match self {
            Column::U32(rows) => rows.len(),
            Column::U64(rows) => rows.len(),
            Column::Flag(rows) => rows.len(),
            Column::Text(rows) => rows.len(),
            Column::MaybeU32(rows) => rows.len(),
            Column::MaybeText(rows) => rows.len(),
        }
    }

    fn physical(&self) -> Physical {
        match self {
            Column::U32(_) | Column::MaybeU32(_) => Physical::INT32,
            Column::U64(_) => Physical::INT64,
            Column::Flag(_) => Physical::BOOLEAN,
            Column::Text(_) | Column::MaybeText(_) => Physical::BYTE_ARRAY,
        }
    }

    fn field(&self, name: &str) -> Result<Type> {
        let unsigned = |bit_width| Some(LogicalType::integer(bit_width, false));
        let logical = match self {
            Column::U32(_) | Column::MaybeU32(_) => unsigned(32),
            Column::U64(_) => unsigned(64),
            Column::Flag(_) => None,
            Column::Text(_) | Column::MaybeText(_) => Some(LogicalType::String),
        };
        let repetition = match self {
            Column::MaybeU32(_) | Column::MaybeText(_) => Repetition::OPTIONAL,
            _ => Repetition::REQUIRED,
        };
        Type::primitive_type_builder(name, self.physical())
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
    }

    fn write<W: std::io::Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        rows: std::ops::Range<usize>,
    ) -> Result<()> {
        let Some(mut column) = group.next_column()? else { return Ok(()) };
        match self {
            Column::U32(all) => put(column.typed::<Int32Type>(), all[rows].iter().map(|v| Some(*v as i32)))?,
            Column::U64(all) => put(column.typed::<Int64Type>(), all[rows].iter().map(|v| Some(*v as i64)))?,
            Column::Flag(all) => put(column.typed::<BoolType>(), all[rows].iter().map(|v| Some(*v)))?,
            Column::Text(all) => {
                put(column.typed::<ByteArrayType>(), all[rows].iter().map(|v| Some(ByteArray::from(&**v))))?;
            }
            Column::MaybeU32(all) => {
                put_some(column.typed::<Int32Type>(), all[rows].iter().map(|v| v.map(|v| v as i32)))?;
            }
            Column::MaybeText(all) => put_some(
                column.typed::<ByteArrayType>(),
                all[rows].iter().map(|v| v.as_deref().map(ByteArray::from)),
            )?,
        }
        column.close()
    }

    fn read(&mut self, reader: ColumnReader, rows: usize) -> Result<()> {
        match self {
            Column::U32(all) => {
                all.extend(get::<Int32Type>(reader, rows)?.into_iter().flatten().map(|v| v as u32))
            }
            Column::U64(all) => {
                all.extend(get::<Int64Type>(reader, rows)?.into_iter().flatten().map(|v| v as u64))
            }
            Column::Flag(all) => all.extend(get::<BoolType>(reader, rows)?.into_iter().flatten()),
            Column::Text(all) => {
                let mut interned = Interned::default();
                for text in get::<ByteArrayType>(reader, rows)?.into_iter().flatten() {
                    all.push(interned.text(&text)?);
                }
            }
            Column::MaybeU32(all) => {
                all.extend(get::<Int32Type>(reader, rows)?.into_iter().map(|v| v.map(|v| v as u32)));
            }
            Column::MaybeText(all) => {
                let mut interned = Interned::default();
                for text in get::<ByteArrayType>(reader, rows)? {
                    all.push(text.map(|t| interned.text(&t)).transpose()?);
                }
            }
        }
        Ok(())
    }
}

/// Equal texts of a column share their memory.
#[derive(Default)]
struct Interned(FxHashMap<Vec<u8>, Arc<str>>);

impl Interned {
    fn text(&mut self, bytes: &ByteArray) -> Result<Arc<str>> {
        if let Some(known) = self.0.get(bytes.data()) {
            return Ok(known.clone());
        }
        let text: Arc<str> = bytes.as_utf8()?.into();
        self.0.insert(bytes.data().to_vec(), text.clone());
        Ok(text)
    }
}

fn put<T: DataType>(
    column: &mut ColumnWriterImpl<'_, T>,
    rows: impl Iterator<Item = Option<T::T>>,
) -> Result<()> {
    let values: Vec<T::T> = rows.flatten().collect();
    column.write_batch(&values, None, None).map(drop)
}

fn put_some<T: DataType>(
    column: &mut ColumnWriterImpl<'_, T>,
    rows: impl Iterator<Item = Option<T::T>>,
) -> Result<()> {
    let rows: Vec<Option<T::T>> = rows.collect();
    let levels: Vec<i16> = rows.iter().map(|v| i16::from(v.is_some())).collect();
    let values: Vec<T::T> = rows.into_iter().flatten().collect();
    column.write_batch(&values, Some(&levels), None).map(drop)
}

fn get<T: DataType>(reader: ColumnReader, rows: usize) -> Result<Vec<Option<T::T>>> {
    let mut reader: ColumnReaderImpl<T> = get_typed_column_reader(reader);
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let (records, read, _) = reader.read_records(rows, Some(&mut levels), None, &mut values)?;
    if records != rows {
        return Err(ParquetError::General(format!("{records} rows instead of {rows}")));
    }
    if read == rows {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    Ok(levels.into_iter().map(|level| if level > 0 { values.next() } else { None }).collect())
}

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
            .with("c", Column::Flag(vec![true, false, true]))
            .with("d", Column::Text(vec!["".into(), "ä;\n".into(), "x".into()]))
            .with("e", Column::MaybeU32(vec![None, Some(1), None]))
            .with("f", Column::MaybeText(vec![Some("y".into()), None, None]));
        table.write(&path).unwrap();
        let wanted = [
            ("a", Kind::U32),
            ("b", Kind::U64),
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
