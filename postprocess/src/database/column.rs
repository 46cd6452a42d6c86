//! A column of a Parquet table, whole in memory.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::Type;
use rustc_hash::FxHashSet;

/// A column with all its rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Column {
    U32(Vec<u32>),
    U64(Vec<u64>),
    I64(Vec<i64>),
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
    I64,
    Flag,
    Text,
    MaybeU32,
    MaybeText,
}

impl Kind {
    pub fn column(self) -> Column {
        match self {
            Kind::U32 => Column::U32(Vec::new()),
            Kind::U64 => Column::U64(Vec::new()),
            Kind::I64 => Column::I64(Vec::new()),
            Kind::Flag => Column::Flag(Vec::new()),
            Kind::Text => Column::Text(Vec::new()),
            Kind::MaybeU32 => Column::MaybeU32(Vec::new()),
            Kind::MaybeText => Column::MaybeText(Vec::new()),
        }
    }
}

impl Column {
    pub fn len(&self) -> usize {
        match self {
            Column::U32(rows) => rows.len(),
            Column::U64(rows) => rows.len(),
            Column::I64(rows) => rows.len(),
            Column::Flag(rows) => rows.len(),
            Column::Text(rows) => rows.len(),
            Column::MaybeU32(rows) => rows.len(),
            Column::MaybeText(rows) => rows.len(),
        }
    }

    pub fn physical(&self) -> Physical {
        match self {
            Column::U32(_) | Column::MaybeU32(_) => Physical::INT32,
            Column::U64(_) | Column::I64(_) => Physical::INT64,
            Column::Flag(_) => Physical::BOOLEAN,
            Column::Text(_) | Column::MaybeText(_) => Physical::BYTE_ARRAY,
        }
    }

    pub fn field(&self, name: &str) -> Result<Type> {
        let integer = |bit_width, signed| Some(LogicalType::integer(bit_width, signed));
        let logical = match self {
            Column::U32(_) | Column::MaybeU32(_) => integer(32, false),
            Column::U64(_) => integer(64, false),
            Column::I64(_) => integer(64, true),
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

    pub fn write<W: std::io::Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        rows: std::ops::Range<usize>,
    ) -> Result<()> {
        let Some(mut column) = group.next_column()? else { return Ok(()) };
        match self {
            Column::U32(all) => put(column.typed::<Int32Type>(), all[rows].iter().map(|v| Some(*v as i32)))?,
            Column::U64(all) => put(column.typed::<Int64Type>(), all[rows].iter().map(|v| Some(*v as i64)))?,
            Column::I64(all) => put(column.typed::<Int64Type>(), all[rows].iter().map(|v| Some(*v)))?,
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

    pub fn read(&mut self, reader: ColumnReader, rows: usize) -> Result<()> {
        match self {
            Column::U32(all) => {
                all.extend(get::<Int32Type>(reader, rows)?.into_iter().flatten().map(|v| v as u32))
            }
            Column::U64(all) => {
                all.extend(get::<Int64Type>(reader, rows)?.into_iter().flatten().map(|v| v as u64))
            }
            Column::I64(all) => all.extend(get::<Int64Type>(reader, rows)?.into_iter().flatten()),
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
struct Interned(FxHashSet<Arc<str>>);

impl Interned {
    fn text(&mut self, bytes: &ByteArray) -> Result<Arc<str>> {
        let text = bytes.as_utf8()?;
        if let Some(known) = self.0.get(text) {
            return Ok(known.clone());
        }
        let text: Arc<str> = text.into();
        self.0.insert(text.clone());
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
