//! The HTML file.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::block::{BlockInfo, Blocks};
use super::program;

/// Version of the data in the page.
const VERSION: u32 = 1;

/// What a page shows: a head, and blocks of numbers and texts.
#[derive(Clone, Debug)]
pub struct Page {
    /// Of the window.
    title: String,
    /// JSON object.
    head: serde_json::Value,
    blocks: Blocks,
}

#[derive(Serialize)]
struct Head<'a> {
    schema: &'static str,
    version: u32,
    #[serde(flatten)]
    of: &'a serde_json::Value,
    blocks: &'a [BlockInfo],
}

impl Page {
    pub(super) fn new(title: String, head: &impl Serialize, blocks: Blocks) -> io::Result<Page> {
        Ok(Page { title, head: serde_json::to_value(head)?, blocks })
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let (style, script) = (program::STYLE, program::script());
        let policy = policy_of(style, &script);
        let data = STANDARD.encode(self.compressed()?);
        let mut rest = program::FRAME;
        let parts = [
            ("{{policy}}", policy.as_str()),
            ("{{title}}", &escaped(&self.title)),
            ("{{style}}", style),
            ("{{data}}", &data),
            ("{{script}}", &script),
        ];
        for (mark, part) in parts {
            let (before, after) = rest.split_once(mark).ok_or_else(|| io::Error::other(mark))?;
            out.write_all(before.as_bytes())?;
            out.write_all(part.as_bytes())?;
            rest = after;
        }
        out.write_all(rest.as_bytes())
    }

    /// Length of the head in four bytes, head, blocks.
    fn compressed(&self) -> io::Result<Vec<u8>> {
        let head =
            Head { schema: "falloff.page", version: VERSION, of: &self.head, blocks: &self.blocks.infos };
        let head = serde_json::to_vec(&head)?;
        let length = u32::try_from(head.len()).map_err(io::Error::other)?;
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&length.to_le_bytes())?;
        encoder.write_all(&head)?;
        encoder.write_all(&self.blocks.bytes)?;
        encoder.finish()
    }
}

/// What the browser may do: run this script, use this style, and nothing else; above all, load nothing.
fn policy_of(style: &str, script: &str) -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(style)
    )
}

/// A source of a content security policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// A text in HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
