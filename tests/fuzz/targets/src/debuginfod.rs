//! Answers of debuginfod servers.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};
use std::thread;

use falloff_postprocess::entrances;

use crate::edits::{Editable, edited};
use crate::input::Input;
use crate::scratch::{Scratch, source};

/// What the server answers next.
static NEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// Servers that failed are not asked again, so that each input needs one of its own name.
static ASKED: AtomicU64 = AtomicU64::new(0);

/// One byte that says what the rest is: the whole answer, or its head, with a file behind it, or edits of that file.
pub(crate) fn answer(input: &[u8]) {
    static SERVER: LazyLock<SocketAddr> = LazyLock::new(serve);
    static FILE: LazyLock<[Editable; 1]> = LazyLock::new(|| {
        let bytes = fs::read(source("seeds/linked/dwz-5/program")).expect("failed to read a seed");
        [Editable::elf(String::new(), bytes)]
    });
    let mut input = Input(input);
    let good =
        |body: &[u8]| format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    *NEXT.lock().unwrap_or_else(|e| e.into_inner()) = match input.byte() % 3 {
        0 => input.0.to_vec(),
        1 => [input.0, b"\r\n\r\n", &FILE[0].bytes].concat(),
        _ => {
            let body = edited(&*FILE, &mut input).concat();
            [good(&body), body].concat()
        }
    };
    let scratch = Scratch::new();
    let number = ASKED.fetch_add(1, Ordering::Relaxed);
    let _ = entrances::ask_debuginfod(&format!("http://{}/{number}", *SERVER), scratch.path(), &build_id());
}

/// The build that the file is of, so that what is sent is kept.
fn build_id() -> Vec<u8> {
    use object::Object;
    static ID: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let bytes = fs::read(source("seeds/linked/dwz-5/program")).expect("failed to read a seed");
        let file = object::File::parse(&*bytes).expect("a seed is no ELF file");
        file.build_id().ok().flatten().unwrap_or_default().to_vec()
    });
    ID.clone()
}

/// Answers for as long as the process runs.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("no port is free");
    let address = listener.local_addr().expect("a port has no number");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 1024];
            // A client that is gone needs no answer.
            if stream.read(&mut request).is_ok() {
                let _ = stream.write_all(&NEXT.lock().unwrap_or_else(|e| e.into_inner()));
            }
        }
    });
    address
}
