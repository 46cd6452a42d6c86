//! The tree of hosts, processes and threads.

use super::xml::element;
use crate::export::places::places;
use crate::export::profile::Profile;

/// Hosts with their processes with their threads.
pub(super) struct System {
    hosts: Vec<Host>,
}

struct Host {
    name: String,
    processes: Vec<Process>,
}

struct Process {
    rank: u32,
    name: String,
    threads: Vec<Thread>,
}

struct Thread {
    /// Number of the group of locations in the profile.
    group: usize,
    name: String,
}

impl System {
    /// Every group of locations is a thread, where its first location is.
    pub fn of(profile: &Profile) -> System {
        let mut system = System { hosts: Vec::new() };
        for (group, place) in places(profile).into_iter().enumerate() {
            let members = &profile.groups()[group];
            let Some(location) = profile.locations(members).next() else { continue };
            let host = system.host(&location.host);
            // Locations are in the order of ranks and processes.
            if host.processes.last().is_none_or(|process| process.rank != place.rank) {
                let name = match location.rank {
                    Some(rank) => format!("rank {rank}"),
                    None => format!("{}:{}", location.program(), location.pid),
                };
                host.processes.push(Process { rank: place.rank, name, threads: Vec::new() });
            }
            let name = match members.locations.len() {
                1 => format!("{} ({})", location.thread, location.tid),
                threads => format!("{threads} threads"),
            };
            if let Some(process) = host.processes.last_mut() {
                process.threads.push(Thread { group, name });
            }
        }
        system
    }

    fn host(&mut self, name: &str) -> &mut Host {
        let at = self.hosts.iter().position(|host| host.name == name).unwrap_or_else(|| {
            self.hosts.push(Host { name: name.to_owned(), processes: Vec::new() });
            self.hosts.len() - 1
        });
        &mut self.hosts[at]
    }

    /// The groups in the order of their locations in the tree.
    pub fn columns(&self) -> Vec<usize> {
        let processes = self.hosts.iter().flat_map(|host| &host.processes);
        processes.flat_map(|process| &process.threads).map(|thread| thread.group).collect()
    }

    /// The element of the system.
    pub fn xml(&self) -> String {
        let mut text = String::from("<system>\n<systemtreenode Id=\"0\">\n");
        text.push_str("<name>machine</name>\n<class>machine</class>\n");
        let (mut groups, mut locations) = (0, 0);
        for (id, host) in (1..).zip(&self.hosts) {
            text.push_str(&format!("<systemtreenode Id=\"{id}\">\n{}", element("name", &host.name)));
            text.push_str("<class>node</class>\n");
            for process in &host.processes {
                text.push_str(&format!("<locationgroup Id=\"{groups}\">\n"));
                text.push_str(&described(&process.name, process.rank, "process"));
                groups += 1;
                for (number, thread) in (0..).zip(&process.threads) {
                    text.push_str(&format!("<location Id=\"{locations}\">\n"));
                    text.push_str(&described(&thread.name, number, "thread"));
                    text.push_str("</location>\n");
                    locations += 1;
                }
                text.push_str("</locationgroup>\n");
            }
            text.push_str("</systemtreenode>\n");
        }
        text.push_str("</systemtreenode>\n</system>\n");
        text
    }
}

fn described(name: &str, rank: u32, of_type: &str) -> String {
    format!("{}<rank>{rank}</rank>\n<type>{of_type}</type>\n", element("name", name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::By;
    use crate::synthetic::{database_with_helper, time_database};

    fn of_database(database: &crate::Database, by: By) -> System {
        System::of(&Profile::new(database, &["cpu"], by))
    }

    #[test]
    fn ranks_have_their_threads() {
        let whole = database_with_helper(false);
        let system = of_database(&whole, By::Thread);
        assert_eq!(system.columns(), [0, 1, 2]);
        let shape: Vec<(u32, &str, usize)> =
            system.hosts[0].processes.iter().map(|p| (p.rank, &*p.name, p.threads.len())).collect();
        assert_eq!(shape, [(0, "rank 0", 1), (1, "rank 1", 2)]);
        assert_eq!(of_database(&whole, By::Rank).columns(), [0, 1]);
    }

    #[test]
    fn processes_without_a_rank_have_their_own_names() {
        let system = of_database(&time_database(), By::None);
        let process = &system.hosts[0].processes[0];
        assert_eq!((process.rank, &*process.name, &*process.threads[0].name), (0, "app:100", "app (100)"));
    }
}
