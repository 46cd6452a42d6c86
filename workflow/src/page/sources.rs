//! Texts of source files, for those who want them in the page.

use std::fs;
use std::io;

use falloff_postprocess::Tree;
use serde::Serialize;

use super::block::Blocks;

/// Files larger than this are no sources that people read, bytes.
const LARGEST: u64 = 4 << 20;

/// Source files with their texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceTexts(Vec<(String, String)>);

/// What the head says of a source file.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SourceInfo {
    file: String,
    block: String,
}

impl SourceTexts {
    /// Reads all files that the tree's scopes are in, and gives with their texts those that could not be read.
    pub fn read(tree: &Tree) -> (SourceTexts, Vec<String>) {
        let mut files: Vec<&str> = tree.scopes().iter().filter_map(|scope| scope.file.as_deref()).collect();
        files.sort_unstable();
        files.dedup();
        let (mut texts, mut missing) = (Vec::new(), Vec::new());
        for file in files {
            match text(file) {
                Ok(text) => texts.push((file.to_owned(), text)),
                Err(_) => missing.push(file.to_owned()),
            }
        }
        (SourceTexts(texts), missing)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn add(&self, blocks: &mut Blocks) -> Vec<SourceInfo> {
        let add = |(index, (file, text)): (usize, &(String, String))| {
            let block = format!("source {index}");
            blocks.text(&block, text);
            SourceInfo { file: file.clone(), block }
        };
        self.0.iter().enumerate().map(add).collect()
    }
}

fn text(file: &str) -> io::Result<String> {
    let metadata = fs::metadata(file)?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        return Err(io::Error::other("it is no source file"));
    }
    fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}
