//! One file of a database: header, sections, footer.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use super::section::Section;

/// What every file begins with.
const MAGIC: &[u8; 10] = b"HPCTOOLKIT";
/// Major and minor version of the format.
const VERSION: [u8; 2] = [4, 0];
/// Bytes before the list of sections.
const HEADER: u64 = 16;

/// Which file it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// File name.
    pub name: &'static str,
    /// In the header, behind the magic.
    pub id: &'static [u8; 4],
    /// The last bytes of a complete file.
    pub footer: &'static [u8; 8],
    /// Number of sections.
    pub sections: u64,
}

/// A file that is being written. It is complete, with its footer, only after [`DatabaseFile::finish`].
pub(super) struct DatabaseFile {
    format: Format,
    out: BufWriter<File>,
    here: u64,
}

impl Format {
    /// Where the contents begin.
    pub fn contents(&self) -> u64 {
        HEADER + 16 * self.sections
    }

    /// Creates the file in a directory.
    pub fn create(self, dir: &Path) -> io::Result<DatabaseFile> {
        let file = File::options().read(true).write(true).create_new(true).open(dir.join(self.name))?;
        let mut file = DatabaseFile { format: self, out: BufWriter::new(file), here: 0 };
        file.write(&vec![0; self.contents() as usize])?;
        Ok(file)
    }
}

impl DatabaseFile {
    /// Where the next byte goes.
    pub fn here(&self) -> u64 {
        self.here
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.here += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// The file with all that was written, to read it back.
    pub fn written(&mut self) -> io::Result<&File> {
        self.out.flush()?;
        Ok(self.out.get_ref())
    }

    /// Appends a section with what is before its beginning.
    pub fn append(&mut self, section: &Section) -> io::Result<()> {
        let gap = section.base() - self.here;
        self.write(&vec![0; gap as usize])?;
        self.write(section.bytes())
    }

    /// Writes the header, which has sizes and addresses of the sections, and then the footer.
    pub fn finish(mut self, sections: &[(u64, u64)]) -> io::Result<()> {
        let mut header = Section::from(0);
        MAGIC.iter().chain(self.format.id).chain(&VERSION).for_each(|byte| header.u8(*byte));
        for (size, address) in sections {
            header.u64(*size);
            header.u64(*address);
        }
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(header.bytes())?;
        self.out.seek(SeekFrom::End(0))?;
        self.out.write_all(self.format.footer)?;
        self.out.flush()
    }
}
