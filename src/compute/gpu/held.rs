//! Lists that stay as they are for a while, such as the paths of a step, which all layers bring.
//!
//! A list that lies on the device already is found by comparing numbers, which for a step of
//! thousands of rows costs more than all else that is recorded. While a list is [`Held`] nobody can
//! change it, so it is known by its place in the host's memory.

use std::marker::PhantomData;

use super::Gpu;

/// The lists that are held, and where they lie on the device.
#[derive(Debug, Default)]
pub(super) struct Holds {
    lists: Vec<Hold>,
}

#[derive(Debug)]
struct Hold {
    /// First byte in the host's memory, and number of words.
    list: (usize, usize),
    /// First byte on the device, once it lies there.
    place: Option<usize>,
}

fn of(list: &[u32]) -> (usize, usize) {
    (list.as_ptr() as usize, list.len())
}

impl Holds {
    /// Where a held list lies on the device.
    pub(super) fn place(&self, list: &[u32]) -> Option<usize> {
        let held = self.lists.iter().rev().find(|held| held.list == of(list));
        held.filter(|_| !list.is_empty())?.place
    }

    /// A list was laid where the device reads it.
    pub(super) fn lay(&mut self, list: &[u32], place: usize) {
        let held = self.lists.iter_mut().filter(|held| held.list == of(list));
        held.for_each(|held| held.place = Some(place));
    }

    /// What the device holds is written over.
    pub(super) fn forget(&mut self) {
        self.lists.iter_mut().for_each(|held| held.place = None);
    }
}

/// Some lists that a device knows by their place in memory as long as this lives.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    gpu: Gpu,
    count: usize,
    /// Nobody changes them meanwhile.
    lists: PhantomData<&'a [u32]>,
}

impl Gpu {
    /// Holds lists. What is held later is let go first.
    pub(crate) fn hold<'a>(&self, lists: &[&'a [u32]]) -> Held<'a> {
        self.context.with_holds(|holds| {
            holds.lists.extend(lists.iter().map(|list| Hold { list: of(list), place: None }));
        });
        Held { gpu: self.clone(), count: lists.len(), lists: PhantomData }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let count = self.count;
        self.gpu.context.with_holds(|holds| {
            let rest = holds.lists.len().saturating_sub(count);
            holds.lists.truncate(rest);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_known_by_its_place_until_what_lies_on_the_device_is_written_over() {
        let (one, same): (Vec<u32>, Vec<u32>) = (vec![1, 2, 3], vec![1, 2, 3]);
        let mut holds = Holds { lists: vec![Hold { list: of(&one), place: None }] };
        assert_eq!(holds.place(&one), None, "it was not laid yet");
        holds.lay(&same, 40);
        assert_eq!(holds.place(&one), None, "another list has the same numbers");
        holds.lay(&one, 80);
        assert_eq!(holds.place(&one), Some(80));
        assert_eq!((holds.place(&same), holds.place(&one[..2])), (None, None));
        holds.forget();
        assert_eq!(holds.place(&one), None);
    }
}
