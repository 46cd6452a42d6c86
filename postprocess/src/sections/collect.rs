//! Bringing the sections of many processes, or of many databases, together. What comes out does not depend on their order.

use std::hash::Hash;
use std::sync::Arc;

use falloff_format::sections::NO_COMMUNICATOR;
use rustc_hash::FxHashMap;

use super::instance::Instance;
use super::model::{Checkpoint, Communicator, Dwell, Member, Section, SectionValue, Sections, summed};
use crate::load::Process;

/// Collects sections; [`Collector::finish`] brings them into canonical order.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    sections: Interned<Section>,
    communicators: Interned<Communicator>,
    members: Vec<Member>,
    dwells: Vec<Dwell>,
    instances: FxHashMap<(u32, u32), Instance>,
    values: FxHashMap<(u32, u32, u32), i64>,
    /// Numbers of the sections of the process that was added last.
    sections_of_process: Vec<u32>,
    checkpoints: Vec<Checkpoint>,
}

/// Things with the numbers that they were given.
#[derive(Debug)]
struct Interned<T> {
    all: Vec<T>,
    ids: FxHashMap<T, u32>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Interned { all: Vec::new(), ids: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Interned<T> {
    fn id(&mut self, thing: T) -> u32 {
        *self.ids.entry(thing).or_insert_with_key(|thing| {
            self.all.push(thing.clone());
            self.all.len() as u32 - 1
        })
    }
}

/// Where everything that sections refer to has its final place; an index that is not there is at its place already.
pub(crate) struct Places<'a> {
    /// By context.
    pub contexts: &'a [u32],
    /// By location.
    pub locations: &'a [u32],
    /// By metric.
    pub metrics: &'a [u32],
}

impl Places<'_> {
    /// Everything is at its place.
    pub const SAME: Places<'static> = Places { contexts: &[], locations: &[], metrics: &[] };
}

fn placed(places: &[u32], index: u32) -> u32 {
    places.get(index as usize).copied().unwrap_or(index)
}

impl Collector {
    /// Takes what a process says, whose first location is `first_location`.
    pub fn add(&mut self, process: &Process, first_location: u32) {
        let of = &process.sections;
        self.sections_of_process.clear();
        let Some(first) = process.locations.first().filter(|_| !of.communicators.is_empty()) else { return };
        let host: Arc<str> = first.host.as_str().into();
        let mut communicators: FxHashMap<u32, u32> = FxHashMap::default();
        for record in of.communicators.iter().filter(|c| c.id != NO_COMMUNICATOR) {
            let communicator = Communicator { size: record.size, members: record.members };
            communicators.insert(record.id, self.communicators.id(communicator));
        }
        self.checkpoints.extend(of.checkpoints.iter().filter_map(|c| {
            Some(Checkpoint {
                communicator: *communicators.get(&c.communicator)?,
                location: first_location,
                calls: c.events,
                order: c.order,
            })
        }));
        self.members.extend(of.communicators.iter().map(|c| Member {
            communicator: communicators.get(&c.id).copied(),
            location: first_location,
            rank: c.rank,
            calls: c.events,
            order: c.order,
            unclosed: c.unclosed,
            stray: c.stray,
            beyond: c.beyond,
        }));
        let mut ids: Vec<u32> = Vec::with_capacity(of.sections.len());
        for section in &of.sections {
            ids.push(self.sections.id(Section {
                parent: section.parent.map(|parent| ids[parent as usize]),
                label: section.label.as_str().into(),
                communicator: communicators.get(&section.communicator).copied(),
            }));
        }
        for (section, owner, dwell) in &of.dwells {
            let location = process.locations.iter().position(|l| l.ordinal == *owner).unwrap_or_default();
            self.dwells.push(Dwell {
                section: ids[*section as usize],
                location: first_location + location as u32,
                count: dwell.count,
                dwell_ns: dwell.dwell_ns,
                nested_ns: dwell.nested_ns,
                unlogged: dwell.unlogged,
            });
        }
        for stay in &of.stays {
            let section = ids[stay.section as usize];
            self.instance(Instance::of_one(
                section,
                stay.number,
                host.clone(),
                stay.in_ns,
                stay.out_ns,
                stay.unclosed,
            ));
        }
        self.sections_of_process = ids;
    }

    fn instance(&mut self, instance: Instance) {
        let key = (instance.section, instance.number);
        match self.instances.get_mut(&key) {
            Some(known) => known.join(&instance),
            None => drop(self.instances.insert(key, instance)),
        }
    }

    /// Takes a value of the process that was added last, in its section of this index.
    pub fn value(&mut self, section: u32, context: u32, metric: u32, value: i64) {
        let Some(section) = self.sections_of_process.get(section as usize) else { return };
        let sum = self.values.entry((*section, context, metric)).or_default();
        *sum = sum.saturating_add(value);
    }

    /// Takes what a database has. `locations`: the place of each of its own, if it is taken; the contexts and metrics of
    /// `values` are at their places already.
    pub fn add_united(
        &mut self,
        sections: &Sections,
        values: impl Iterator<Item = SectionValue>,
        with_instances: bool,
        locations: &[Option<u32>],
    ) {
        let communicators: Vec<u32> =
            sections.communicators.iter().map(|c| self.communicators.id(*c)).collect();
        let communicator = |index: Option<u32>| index.and_then(|i| communicators.get(i as usize)).copied();
        let location = |index: u32| locations.get(index as usize).copied().flatten();
        let mut ids: Vec<u32> = Vec::with_capacity(sections.sections.len());
        for section in &sections.sections {
            ids.push(self.sections.id(Section {
                parent: section.parent.and_then(|parent| ids.get(parent as usize)).copied(),
                label: section.label.clone(),
                communicator: communicator(section.communicator),
            }));
        }
        for member in &sections.members {
            if let Some(location) = location(member.location) {
                self.members.push(Member {
                    communicator: communicator(member.communicator),
                    location,
                    ..*member
                });
            }
        }
        self.checkpoints.extend(sections.checkpoints.iter().filter_map(|c| {
            let communicator = communicator(Some(c.communicator))?;
            Some(Checkpoint { communicator, location: location(c.location)?, ..*c })
        }));
        for dwell in &sections.dwells {
            if let Some(location) = location(dwell.location) {
                self.dwells.push(Dwell { section: ids[dwell.section as usize], location, ..*dwell });
            }
        }
        for instance in sections.instances.iter().filter(|_| with_instances) {
            self.instance(Instance { section: ids[instance.section as usize], ..instance.clone() });
        }
        for value in values {
            let place = (ids[value.section as usize], value.context, value.metric);
            let sum = self.values.entry(place).or_default();
            *sum = sum.saturating_add(value.exclusive);
        }
    }

    /// Everything in canonical order and at its place; the values sorted.
    pub fn finish(self, places: &Places<'_>) -> (Sections, Vec<SectionValue>) {
        let (communicators, communicator_places) = largest_first(self.communicators.all);
        let communicator = |id: Option<u32>| id.map(|id| communicator_places[id as usize]);
        let sections: Vec<Section> = self
            .sections
            .all
            .into_iter()
            .map(|s| Section { communicator: communicator(s.communicator), ..s })
            .collect();
        let (sections, section_places) = in_pre_order(sections);
        let location = |id: u32| placed(places.locations, id);
        let mut members: Vec<Member> = self.members;
        for member in &mut members {
            member.communicator = communicator(member.communicator);
            member.location = location(member.location);
        }
        members.sort_unstable();
        let mut checkpoints = self.checkpoints;
        for checkpoint in &mut checkpoints {
            checkpoint.communicator = communicator_places[checkpoint.communicator as usize];
            checkpoint.location = location(checkpoint.location);
        }
        checkpoints.sort_unstable();
        let mut dwells = self.dwells;
        for dwell in &mut dwells {
            dwell.section = section_places[dwell.section as usize];
            dwell.location = location(dwell.location);
        }
        dwells.sort_unstable();
        let mut instances: Vec<Instance> = self
            .instances
            .into_values()
            .map(|i| Instance { section: section_places[i.section as usize], ..i })
            .collect();
        instances.sort_unstable_by_key(|i| (i.section, i.number));
        let values = self.values.into_iter().map(|((section, context, metric), exclusive)| SectionValue {
            section: section_places[section as usize],
            context: placed(places.contexts, context),
            metric: placed(places.metrics, metric),
            exclusive,
        });
        let values = summed(values.collect());
        (Sections { sections, communicators, members, checkpoints, dwells, instances }, values)
    }
}

/// Communicators by size and members, that of all ranks first, and the place of each.
fn largest_first(all: Vec<Communicator>) -> (Vec<Communicator>, Vec<u32>) {
    let world = all.iter().map(|c| c.size).max().and_then(Communicator::of_first);
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|i| (std::cmp::Reverse(all[*i].size), Some(all[*i]) != world, all[*i].members));
    let mut places = vec![0; all.len()];
    order.iter().zip(0..).for_each(|(from, place)| places[*from] = place);
    (order.into_iter().map(|i| all[i]).collect(), places)
}

/// Sections in pre-order, those of one parent by label and communicator, and the place of each.
fn in_pre_order(all: Vec<Section>) -> (Vec<Section>, Vec<u32>) {
    let mut children: FxHashMap<Option<u32>, Vec<u32>> = FxHashMap::default();
    for (id, section) in (0u32..).zip(&all) {
        children.entry(section.parent).or_default().push(id);
    }
    // Last first, so that a stack gives the first first.
    for below in children.values_mut() {
        below.sort_by(|a, b| {
            let key = |id: u32| (&all[id as usize].label, all[id as usize].communicator);
            key(*b).cmp(&key(*a))
        });
    }
    let mut places = vec![0; all.len()];
    let mut out: Vec<Section> = Vec::with_capacity(all.len());
    let mut open = children.get(&None).cloned().unwrap_or_default();
    while let Some(id) = open.pop() {
        places[id as usize] = out.len() as u32;
        let section = &all[id as usize];
        out.push(Section { parent: section.parent.map(|parent| places[parent as usize]), ..section.clone() });
        open.extend(children.get(&Some(id)).into_iter().flatten());
    }
    (out, places)
}
