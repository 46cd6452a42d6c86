//! Who vouches for the names of https servers.

use std::sync::OnceLock;

use rustls_native_certs::load_native_certs;
use ureq::tls::{Certificate, RootCerts};

/// The authorities that this machine trusts, or those that `SSL_CERT_FILE` (a file of certificates) and `SSL_CERT_DIR` (a
/// directory of them) name instead; those that browsers trust if there are none. They are read once.
///
/// # Errors
/// Why none can be read, as the end of a sentence.
pub(super) fn trusted() -> Result<RootCerts, String> {
    static TRUSTED: OnceLock<Result<RootCerts, String>> = OnceLock::new();
    TRUSTED.get_or_init(load).clone()
}

fn load() -> Result<RootCerts, String> {
    let found = load_native_certs();
    match found.errors.first() {
        _ if !found.certs.is_empty() => {
            let certificates: Vec<_> =
                found.certs.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
            Ok(RootCerts::from(certificates))
        }
        Some(error) => Err(format!("the certificates of authorities cannot be read: {error}")),
        None => Ok(RootCerts::WebPki),
    }
}
