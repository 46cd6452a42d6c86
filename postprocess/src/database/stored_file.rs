//! The file of a table, as the Parquet library reads it.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

/// A file whose end is an error. The library passes over a list that says it has 2^31 elements one by one, and a file does
/// not stop it by having no more bytes: a damaged head of a page would be read for a minute.
pub(super) struct StoredFile(pub File);

impl Length for StoredFile {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for StoredFile {
    type T = Unending<BufReader<File>>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.0.get_read(start).map(Unending)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// A reader that must not be read beyond its end.
pub(super) struct Unending<R>(R);

impl<R: Read> Read for Unending<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(ErrorKind::UnexpectedEof.into()),
            read => Ok(read),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_an_error_only_to_who_reads_on() {
        let mut reader = Unending(&b"abc"[..]);
        let mut read = [0; 3];
        reader.read_exact(&mut read).unwrap();
        assert_eq!((&read, reader.read(&mut []).unwrap()), (b"abc", 0));
        assert_eq!(reader.read(&mut read).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }
}
