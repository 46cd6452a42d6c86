//! Formats that hold no negative values refuse them.

use std::io;

use super::profile::Profile;

/// An error if any value of the profile is negative, as in databases of differences.
pub(super) fn refuse(profile: &Profile, format: &str) -> io::Result<()> {
    let costs =
        |metric: usize| profile.groups().iter().flat_map(move |g| g.costs(metric)).map(|(_, cost)| *cost);
    match profile.metrics().iter().enumerate().find(|(index, _)| costs(*index).any(|cost| cost < 0.0)) {
        None => Ok(()),
        Some((_, metric)) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{format} holds no negative values, and `{}` has some, as differences do", metric.name),
        )),
    }
}
