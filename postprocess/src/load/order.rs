//! The order of call path nodes: callers before the called.

/// Id of a node and of its caller's node; 0 is "none".
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub id: u32,
    pub parent: u32,
}

/// Who called a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// Nobody: an outermost frame.
    None,
    /// The node at this place of the order.
    At(usize),
    /// A node that is not there, or one that is called by this one in turn.
    Lost,
}

/// All indices of `links`, callers first, each with its caller. `links` must be sorted by id.
///
/// Files have nodes in the order in which they were made, but for callers without values, which may stand behind
/// those that they call.
pub(super) fn callers_first(links: &[Link]) -> Vec<(usize, Caller)> {
    enum State {
        New,
        Open,
        Placed(usize),
    }
    let mut states: Vec<State> = links.iter().map(|_| State::New).collect();
    let mut order = Vec::with_capacity(links.len());
    let mut open = Vec::new();
    for first in 0..links.len() {
        let mut here = first;
        let mut caller = loop {
            match states[here] {
                State::New => {}
                State::Open => break Caller::Lost,
                State::Placed(place) => break Caller::At(place),
            }
            states[here] = State::Open;
            open.push(here);
            match links[here].parent {
                0 => break Caller::None,
                id => match links.binary_search_by_key(&id, |l| l.id) {
                    Ok(parent) => here = parent,
                    Err(_) => break Caller::Lost,
                },
            }
        };
        while let Some(node) = open.pop() {
            states[node] = State::Placed(order.len());
            order.push((node, caller));
            caller = Caller::At(order.len() - 1);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(links: &[(u32, u32)]) -> Vec<(usize, Caller)> {
        let links: Vec<Link> = links.iter().map(|(id, parent)| Link { id: *id, parent: *parent }).collect();
        callers_first(&links)
    }

    #[test]
    fn callers_may_stand_behind_the_called() {
        assert_eq!(
            order(&[(2, 8), (4, 2), (6, 0), (8, 6)]),
            [(2, Caller::None), (3, Caller::At(0)), (0, Caller::At(1)), (1, Caller::At(2))]
        );
    }

    #[test]
    fn rings_and_missing_callers_are_lost() {
        assert_eq!(
            order(&[(2, 4), (4, 2), (6, 2)]),
            [(1, Caller::Lost), (0, Caller::At(0)), (2, Caller::At(1))]
        );
        assert_eq!(order(&[(2, 2), (4, 99)]), [(0, Caller::Lost), (1, Caller::Lost)]);
    }
}
