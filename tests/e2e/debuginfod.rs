//! Debug files from debuginfod servers, by http and by https, through the whole program.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::inlined::{anew, measured};
use crate::support::{Workshop, bash, outcome};

/// A measured program without debug information, which a server has.
struct Stripped {
    shop: Workshop,
    run: PathBuf,
    build_id: String,
}

impl Stripped {
    fn measure() -> Stripped {
        let shop = Workshop::shared();
        let build =
            "gcc -O2 -g prog.c -o whole && objcopy --only-keep-debug whole served && strip -o prog whole";
        let run = measured(&shop, build);
        let id = outcome(&mut bash(shop.dir(), "readelf -n prog | sed -n 's/.*Build ID: //p'")).stdout;
        Stripped { shop, run, build_id: id.trim().to_owned() }
    }

    /// Path of the debug file on servers, and the file.
    fn served(&self) -> (String, Vec<u8>) {
        let body = fs::read(self.shop.path("served")).expect("the program is built");
        (format!("/buildid/{}/debuginfo", self.build_id), body)
    }
}

#[test]
fn debug_files_come_from_a_server_that_is_named() {
    let program = Stripped::measure();
    let server = format!("http://{}", serve(program.served(), Some));
    let cache = program.shop.path("cache");
    let without = anew(&program.run, |command| {
        command.env("XDG_CACHE_HOME", &cache);
    });
    assert!(!without.stdout.contains("inner"), "{without}");
    let with = anew(&program.run, |command| {
        command.env("XDG_CACHE_HOME", &cache).env("DEBUGINFOD_URLS", &server);
    });
    assert!(with.stdout.contains("inner") && with.stdout.contains("outer"), "{with}");
    assert!(cache.join("debuginfod_client").join(&program.build_id).join("debuginfo").exists());
}

#[test]
fn a_server_of_an_authority_that_the_user_names_is_trusted() {
    let program = Stripped::measure();
    let (config, authority) = certified();
    let secure = move |stream| Some(StreamOwned::new(ServerConnection::new(config.clone()).ok()?, stream));
    let port = serve(program.served(), secure).port();
    let trusted = program.shop.path("authority.pem");
    fs::write(&trusted, authority).expect("failed to write the certificate");
    let ask = |authorities: Option<&PathBuf>| {
        anew(&program.run, |command| {
            command.env("XDG_CACHE_HOME", program.shop.path("cache")).env_remove("SSL_CERT_DIR");
            command.env("DEBUGINFOD_URLS", format!("https://localhost:{port}")).env_remove("SSL_CERT_FILE");
            command.envs(authorities.map(|file| ("SSL_CERT_FILE", file)));
        })
    };
    let stranger = ask(None);
    assert!(!stranger.stdout.contains("inner"), "{stranger}");
    assert!(
        stranger.to_string().contains("failed to fetch from the debuginfod server https://"),
        "{stranger}"
    );
    let known = ask(Some(&trusted));
    assert!(known.stdout.contains("inner") && !known.to_string().contains("failed to fetch"), "{known}");
}

/// A server of `localhost` with a certificate of an authority that is made up here, and the authority's own.
fn certified() -> (Arc<ServerConfig>, String) {
    let key = || KeyPair::generate().expect("a key");
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = Issuer::new(params.clone(), key());
    let authority_text = params.self_signed(authority.key()).expect("an authority").pem();
    let server_key = key();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let certificate = params.signed_by(&server_key, &authority).expect("a certificate");
    let private = PrivateKeyDer::Pkcs8(server_key.serialize_der().into());
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .expect("the key is the certificate's");
    (Arc::new(config), authority_text)
}

/// A server on this machine that has one file, until the test ends. `open` makes of a connection what is spoken through.
fn serve<S: Read + Write>(
    (path, body): (String, Vec<u8>),
    open: impl Fn(TcpStream) -> Option<S> + Send + 'static,
) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("no port");
    let address = listener.local_addr().expect("bound");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten().filter_map(&open) {
            let mut lines = BufReader::new(&mut stream).lines().map_while(Result::ok);
            let request = lines.next().unwrap_or_default();
            while lines.next().is_some_and(|line| !line.is_empty()) {}
            drop(lines);
            let found = request.split(' ').nth(1) == Some(&path);
            let (status, body) = if found { ("200 OK", &body[..]) } else { ("404 Not Found", &[][..]) };
            let head =
                format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            // A client that went away is its own affair.
            let _ = stream
                .write_all(head.as_bytes())
                .and_then(|()| stream.write_all(body))
                .and_then(|()| stream.flush());
        }
    });
    address
}
