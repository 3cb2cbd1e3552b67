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
    /// The number of the next hold.
    next: u64,
}

#[derive(Debug)]
struct Hold {
    /// Which [`Held`] it belongs to.
    number: u64,
    /// First byte in the host's memory, and number of words.
    list: (usize, usize),
    /// First byte on the device, once it lies there.
    place: Option<usize>,
}

fn of(list: &[u32]) -> (usize, usize) {
    (list.as_ptr() as usize, list.len())
}

impl Holds {
    /// Holds lists; returns the number that lets them go.
    fn hold(&mut self, lists: &[&[u32]]) -> u64 {
        let number = self.next;
        self.next += 1;
        self.lists.extend(lists.iter().map(|list| Hold { number, list: of(list), place: None }));
        number
    }

    fn let_go(&mut self, number: u64) {
        self.lists.retain(|held| held.number != number);
    }

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
    number: u64,
    /// Nobody changes them meanwhile.
    lists: PhantomData<&'a [u32]>,
}

impl Gpu {
    /// Holds lists, until what is returned is dropped.
    pub(crate) fn hold<'a>(&self, lists: &[&'a [u32]]) -> Held<'a> {
        let number = self.context.with_holds(|holds| holds.hold(lists));
        Held { gpu: self.clone(), number, lists: PhantomData }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.gpu.context.with_holds(|holds| holds.let_go(self.number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_known_by_its_place_until_what_lies_on_the_device_is_written_over() {
        let (one, same): (Vec<u32>, Vec<u32>) = (vec![1, 2, 3], vec![1, 2, 3]);
        let mut holds = Holds::default();
        let first = holds.hold(&[&one]);
        assert_eq!(holds.place(&one), None, "it was not laid yet");
        holds.lay(&same, 40);
        assert_eq!(holds.place(&one), None, "another list has the same numbers");
        holds.lay(&one, 80);
        assert_eq!(holds.place(&one), Some(80));
        assert_eq!((holds.place(&same), holds.place(&one[..2])), (None, None));
        holds.forget();
        assert_eq!(holds.place(&one), None);
        // Whoever holds lets go of its own, in whatever order.
        holds.hold(&[&same]);
        holds.let_go(first);
        holds.lay(&one, 8);
        holds.lay(&same, 16);
        assert_eq!((holds.place(&one), holds.place(&same)), (None, Some(16)));
    }
}
