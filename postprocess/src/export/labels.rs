//! What all locations of a group have in common.

use super::by::By;
use super::profile::{Group, Profile};
use crate::database::Location;

/// Keys of labels and what each tells apart, from coarse to fine.
const KEYS: [(&str, By); 3] = [("rank", By::Rank), ("process", By::Process), ("thread", By::Thread)];

/// The labels of every location.
pub(super) struct Labels {
    /// For each of [`KEYS`], one for each location; none for the rank of a process without one.
    of_locations: [Vec<Option<String>>; 3],
}

impl Labels {
    /// The labels of a profile's locations.
    pub fn new(profile: &Profile) -> Labels {
        let locations = profile.database().locations();
        let has = |location: &Location, by| by != By::Rank || location.rank.is_some();
        let of = |by: By| {
            let labels = by.labels(locations).into_iter().zip(locations);
            labels.map(|(label, location)| has(location, by).then_some(label)).collect()
        };
        Labels { of_locations: KEYS.map(|(_, by)| of(by)) }
    }

    /// Keys and values that all locations of the group have in common.
    pub fn of<'a>(&'a self, group: &Group) -> Vec<(&'static str, &'a str)> {
        let (Some(first), rest) = (group.locations.first(), group.locations.get(1..).unwrap_or_default())
        else {
            return Vec::new();
        };
        let common = |labels: &'a Vec<Option<String>>| {
            let label = &labels[*first as usize];
            label.as_deref().filter(|_| rest.iter().all(|l| labels[*l as usize] == *label))
        };
        KEYS.iter()
            .zip(&self.of_locations)
            .filter_map(|((key, _), labels)| Some((*key, common(labels)?)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{database_with_helper, time_database};

    #[test]
    fn a_group_has_the_labels_of_all_its_locations() {
        let database = database_with_helper(false);
        let groups = |by| Profile::new(&database, &["cpu"], by);
        let labels = Labels::new(&groups(By::None));
        let of = |by, group: usize| labels.of(&groups(by).groups()[group]);
        assert_eq!(of(By::None, 0), []);
        assert_eq!(of(By::Rank, 1), [("rank", "rank 1"), ("process", "app:101")]);
        let thread = [("rank", "rank 1"), ("process", "app:101"), ("thread", "app:101:201")];
        assert_eq!(of(By::Thread, 2), thread);
        let database = time_database();
        let without_rank = Profile::new(&database, &["cpu"], By::Rank);
        let keys: Vec<_> =
            Labels::new(&without_rank).of(&without_rank.groups()[0]).iter().map(|l| l.0).collect();
        assert_eq!(keys, ["process", "thread"]);
    }
}
