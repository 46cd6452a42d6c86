//! Debug files from debuginfod servers, kept where other clients of them keep theirs.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use ureq::Agent;
use ureq::tls::TlsConfig;

use super::authorities;
use super::debug_files::{hex, open_build};
use super::elf::Files;

/// Seconds that a server may take to answer, and that all of a file may take, if the user does not say.
const ANSWER_SECONDS: u64 = 90;
const FILE_SECONDS: u64 = 600;
/// A server that cannot be reached at all is given up sooner.
const CONNECT: Duration = Duration::from_secs(10);
/// Largest file that is fetched if the user does not say.
const FILE_BYTES: u64 = 4 << 30;
/// How long it is remembered that no server has a file.
const MISSING_SECONDS: u64 = 600;

/// Servers that could not be asked: they are not asked again by this process.
static UNREACHABLE: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// debuginfod servers, which have debug files and executables by build id, and how they are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Debuginfod {
    /// Beginnings of addresses, asked in this order.
    pub servers: Vec<String>,
    /// Directory where files are kept: `BUILDID/debuginfo` and `BUILDID/executable`.
    pub cache: PathBuf,
    /// How long a server may take to answer.
    pub answer_within: Duration,
    /// How long fetching a file may take.
    pub file_within: Duration,
    /// Largest file that is fetched, in bytes.
    pub max_bytes: u64,
}

/// What servers have of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Artifact {
    DebugInfo,
    Executable,
}

impl Artifact {
    fn name(self) -> &'static str {
        match self {
            Artifact::DebugInfo => "debuginfo",
            Artifact::Executable => "executable",
        }
    }
}

impl Debuginfod {
    /// As the environment says: `DEBUGINFOD_URLS`, `DEBUGINFOD_CACHE_PATH`, `DEBUGINFOD_TIMEOUT` and
    /// `DEBUGINFOD_MAXTIME` (seconds), `DEBUGINFOD_MAXSIZE` (bytes). `None` if it names no servers.
    pub fn from_env() -> Option<Debuginfod> {
        Debuginfod::from_variables(|name| env::var_os(name))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Option<Debuginfod> {
        let text = |name| variable(name).and_then(|value| value.into_string().ok());
        let number = |name| text(name)?.trim().parse::<u64>().ok().filter(|n| *n > 0);
        let is_server = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
        let servers: Vec<String> = text("DEBUGINFOD_URLS")?
            .split_whitespace()
            .filter(is_server)
            .map(|server| server.trim_end_matches('/').to_owned())
            .collect();
        let path = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let cache = path("DEBUGINFOD_CACHE_PATH").or_else(|| {
            let caches = path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")))?;
            Some(caches.join("debuginfod_client"))
        })?;
        (!servers.is_empty()).then(|| Debuginfod {
            servers,
            cache,
            answer_within: Duration::from_secs(number("DEBUGINFOD_TIMEOUT").unwrap_or(ANSWER_SECONDS)),
            file_within: Duration::from_secs(number("DEBUGINFOD_MAXTIME").unwrap_or(FILE_SECONDS)),
            max_bytes: number("DEBUGINFOD_MAXSIZE").unwrap_or(FILE_BYTES),
        })
    }

    /// A file of a build, fetched unless it is kept already; `None` if no server has it.
    ///
    /// # Errors
    /// Why no server could be asked, as a sentence.
    pub(super) fn find(&self, build_id: &[u8], artifact: Artifact) -> Result<Option<PathBuf>, String> {
        if build_id.len() < 2 {
            return Ok(None);
        }
        let dir = self.cache.join(hex(build_id));
        let kept = dir.join(artifact.name());
        if let Ok(metadata) = kept.metadata() {
            if metadata.len() > 0 {
                return Ok(Some(kept));
            }
            // An empty file says that no server had it, for a while.
            let age = metadata.modified().ok().and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age.as_secs() < MISSING_SECONDS) {
                return Ok(None);
            }
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&dir)
            .map_err(|e| format!("failed to keep files of debuginfod servers: {e}"))?;
        let mut trouble = None;
        for server in &self.servers {
            let known = UNREACHABLE.lock().ok().and_then(|list| list.get(server).cloned());
            let result = match known {
                Some(reason) => Err(Trouble::Server(reason)),
                None => self.fetch(server, build_id, artifact, &kept),
            };
            match result {
                Ok(true) => return Ok(Some(kept)),
                Ok(false) => {}
                Err(Trouble::File(reason)) => trouble = Some(reason),
                Err(Trouble::Server(reason)) => {
                    if let Ok(mut list) = UNREACHABLE.lock() {
                        list.insert(server.clone(), reason.clone());
                    }
                    trouble = Some(reason);
                }
            }
        }
        match trouble {
            Some(reason) => Err(reason),
            None => {
                // If that fails they are asked again next time.
                let _ = fs::write(&kept, b"");
                Ok(None)
            }
        }
    }

    /// Asks one server and keeps what it has; false if it has nothing.
    fn fetch(&self, server: &str, build_id: &[u8], artifact: Artifact, kept: &Path) -> Result<bool, Trouble> {
        let about = |reason: String| format!("failed to fetch from the debuginfod server {server}: {reason}");
        let authorities = authorities::trusted().map_err(|reason| Trouble::Server(about(reason)))?;
        let config = Agent::config_builder()
            .user_agent(concat!("falloff/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT.min(self.answer_within)))
            .timeout_recv_response(Some(self.answer_within))
            .timeout_recv_body(Some(self.file_within))
            .tls_config(TlsConfig::builder().root_certs(authorities).build())
            .build();
        let url = format!("{server}/buildid/{}/{}", hex(build_id), artifact.name());
        let response = Agent::new_with_config(config)
            .get(&url)
            .call()
            .map_err(|e| Trouble::Server(about(e.to_string())))?;
        match response.status().as_u16() {
            200 => {}
            404 => return Ok(false),
            status => return Err(Trouble::Server(about(format!("it answered with status {status}")))),
        }
        let body = response.into_body().into_reader();
        self.keep(body, build_id, kept).map_err(|reason| Trouble::File(about(reason)))?;
        Ok(true)
    }

    /// Writes a file and puts it in place once it is whole and of the right build.
    fn keep(&self, mut body: impl Read, build_id: &[u8], kept: &Path) -> Result<(), String> {
        let partial = kept.with_extension(format!("part-{}", std::process::id()));
        let mut write = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial)?;
            // One byte more than is allowed shows that the file is too large.
            let bytes = io::copy(&mut (&mut body).take(self.max_bytes.saturating_add(1)), &mut file)?;
            match bytes > self.max_bytes {
                true => Err(io::Error::other("the file is larger than DEBUGINFOD_MAXSIZE")),
                false => Ok(()),
            }
        };
        // One that a killed process left under the same number.
        let _ = fs::remove_file(&partial);
        let result = write().map_err(|e| e.to_string()).and_then(|()| {
            let files = Files::default();
            let right = open_build(&partial, build_id, &files).is_some();
            right
                .then_some(())
                .ok_or_else(|| "what it sent is not the build that was asked for".to_owned())?;
            fs::rename(&partial, kept).map_err(|e| e.to_string())
        });
        if result.is_err() {
            let _ = fs::remove_file(&partial);
        }
        result
    }
}

/// What went wrong with one file, or with a server.
enum Trouble {
    File(String),
    Server(String),
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    /// A server on this machine that has some paths, counts what it is asked, and ends with the test.
    fn serve(files: Vec<(String, Vec<u8>)>) -> (String, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                let request = lines.next().unwrap_or_default();
                while lines.next().is_some_and(|line| !line.is_empty()) {}
                count.fetch_add(1, Ordering::Relaxed);
                let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                let found = files.iter().find(|(name, _)| *name == path);
                let (status, body) = found.map_or(("404 Not Found", &[][..]), |(_, body)| ("200 OK", body));
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
            }
        });
        (address, asked)
    }

    fn client(server: &str, cache: &Path) -> Debuginfod {
        let variable = |name: &str| match name {
            "DEBUGINFOD_URLS" => Some(format!("ima:enforcing {server}/ ").into()),
            "DEBUGINFOD_CACHE_PATH" => Some(cache.into()),
            "DEBUGINFOD_TIMEOUT" => Some("5".into()),
            _ => None,
        };
        Debuginfod::from_variables(variable).unwrap()
    }

    fn this_build() -> (Vec<u8>, Vec<u8>) {
        let path = env::current_exe().unwrap();
        let files = Files::default();
        let elf = super::super::elf::Elf::open(&path, &files).unwrap();
        (elf.build_id().to_vec(), fs::read(&path).unwrap())
    }

    #[test]
    fn without_servers_nothing_is_asked() {
        assert_eq!(Debuginfod::from_variables(|_| None), None);
        let only = |name: &str| (name != "DEBUGINFOD_MAXSIZE").then(|| "/x".into());
        assert_eq!(Debuginfod::from_variables(only), None);
    }

    #[test]
    fn files_are_fetched_once() {
        let (id, bytes) = this_build();
        let (server, asked) = serve(vec![(format!("/buildid/{}/debuginfo", hex(&id)), bytes.clone())]);
        let dir = tempfile::tempdir().unwrap();
        let client = client(&server, dir.path());
        for _ in 0..2 {
            let path = client.find(&id, Artifact::DebugInfo).unwrap().unwrap();
            assert_eq!(path, dir.path().join(hex(&id)).join("debuginfo"));
            assert_eq!(fs::read(path).unwrap(), bytes);
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        // What no server has is not asked again at once.
        for _ in 0..2 {
            assert_eq!(client.find(&id, Artifact::Executable), Ok(None));
        }
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        assert_eq!(client.find(&[], Artifact::Executable), Ok(None));
    }

    #[test]
    fn what_is_wrong_or_too_large_is_not_kept() {
        let (id, bytes) = this_build();
        let other = vec![7; 20];
        let path = |id: &[u8]| format!("/buildid/{}/debuginfo", hex(id));
        let (server, _) = serve(vec![(path(&other), bytes.clone()), (path(&id), bytes)]);
        let dir = tempfile::tempdir().unwrap();
        let client = client(&server, dir.path());
        let reason = client.find(&other, Artifact::DebugInfo).unwrap_err();
        assert!(reason.contains("not the build that was asked for"), "{reason}");
        let small = Debuginfod { max_bytes: 1000, ..client };
        let reason = small.find(&id, Artifact::DebugInfo).unwrap_err();
        assert!(reason.contains("DEBUGINFOD_MAXSIZE"), "{reason}");
        for dir in fs::read_dir(dir.path()).unwrap() {
            assert_eq!(fs::read_dir(dir.unwrap().path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_server_that_cannot_be_reached_is_asked_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        let dir = tempfile::tempdir().unwrap();
        let client = client(&server, dir.path());
        let first = client.find(&[1, 2, 3], Artifact::DebugInfo).unwrap_err();
        assert!(first.contains(&server), "{first}");
        // One that listens there now would be found.
        assert_eq!(client.find(&[4, 5, 6], Artifact::DebugInfo), Err(first));
    }
}
