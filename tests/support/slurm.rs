//! A Slurm of one node that a test starts and ends.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Outcome, Workshop, bash, outcome};

/// One node with eight processors, ended when dropped.
pub struct Slurm {
    dir: PathBuf,
}

impl Slurm {
    /// Starts it in the workshop.
    #[track_caller]
    pub fn start(shop: &Workshop) -> Slurm {
        let slurm = Slurm { dir: shop.path("slurm") };
        // Both are taken at once, so that they differ.
        let listeners = [(), ()].map(|()| TcpListener::bind("127.0.0.1:0").expect("no free port"));
        let ports = listeners.map(|l| l.local_addr().expect("a listener has an address").port());
        slurm.script("up", &ports.map(|port| port.to_string())).expect_code(0);
        slurm
    }

    /// A bash command line that reaches it.
    pub fn bash(&self, cwd: &Path, text: &str) -> Command {
        let mut command = bash(cwd, text);
        command.env("SLURM_CONF", self.dir.join("slurm.conf"));
        command
    }

    fn script(&self, action: &str, more: &[String]) -> Outcome {
        // Nothing of it may keep the output open: its daemons live on.
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/slurm");
        let log = self.dir.with_extension("log");
        let text = format!(
            "{script:?} {action} {:?} {} >>{log:?} 2>&1 || {{ cat {log:?}; exit 1; }}",
            self.dir,
            more.join(" ")
        );
        outcome(&mut bash(Path::new("/"), &text))
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.script("down", &[]);
    }
}
