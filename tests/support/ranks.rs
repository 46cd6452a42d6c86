//! What ranks say.

use std::fs;

use super::{Workshop, bash, outcome};

/// Runs a command in each rank under a library's launcher; gives what all say, a rank after the other. Each writes to a file
/// of its own: launchers read what ranks write in pieces, and a piece may end within a line.
#[track_caller]
pub fn said_by_ranks(shop: &Workshop, mpi: &str, ranks: u32, command: &str) -> String {
    let said = shop.path("said");
    fs::create_dir(&said).unwrap();
    fs::write(shop.path("rank.sh"), format!("exec {command} > said/$$\n")).unwrap();
    outcome(&mut bash(shop.dir(), &format!("mpirun.{mpi} -n {ranks} sh rank.sh"))).expect_code(0);
    let files = fs::read_dir(&said).unwrap().map(|entry| entry.unwrap().path());
    let text = files.map(|file| fs::read_to_string(file).unwrap()).collect();
    fs::remove_dir_all(said).unwrap();
    text
}
