//! Random orders that another program can draw again: those of Python's `random.Random(seed)`.
//!
//! `training/judge/hidden.py` chose with them the LUs that the shipped verifier never saw. The
//! generator is MT19937 (Matsumoto and Nishimura 1998, Mersenne Twister), seeded by the key of its
//! authors' program of 2002.

/// Words of the state, and how far apart two of them are mixed.
const WORDS: usize = 624;
const APART: usize = 397;

/// A generator of random orders.
pub(super) struct Shuffler {
    state: [u32; WORDS],
    next: usize,
}

impl Shuffler {
    pub(super) fn new(seed: u64) -> Self {
        let mut state = [0_u32; WORDS];
        state[0] = 19_650_218;
        for at in 1..WORDS {
            state[at] = mixed(state[at - 1]).wrapping_mul(1_812_433_253).wrapping_add(at as u32);
        }
        let halves = [seed as u32, (seed >> 32) as u32];
        let key = if halves[1] == 0 { &halves[..1] } else { &halves[..] };
        let mut at = 1;
        let step = |state: &mut [u32; WORDS], at: &mut usize, factor: u32, added: u32| {
            let product = mixed(state[*at - 1]).wrapping_mul(factor);
            state[*at] = (state[*at] ^ product).wrapping_add(added);
            *at += 1;
            if *at == WORDS {
                state[0] = state[WORDS - 1];
                *at = 1;
            }
        };
        for turn in 0..WORDS {
            let place = turn % key.len();
            step(&mut state, &mut at, 1_664_525, key[place].wrapping_add(place as u32));
        }
        for _ in 1..WORDS {
            let taken = (at as u32).wrapping_neg();
            step(&mut state, &mut at, 1_566_083_941, taken);
        }
        state[0] = 1 << 31;
        Self { state, next: WORDS }
    }

    /// Puts the items into random order.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// Draws an order of so many items, and does nothing with it.
    pub(super) fn pass_over(&mut self, items: usize) {
        for last in (1..items).rev() {
            self.below(last + 1);
        }
    }

    /// A number below `bound`: as many bits as the bound has, until they are below it.
    fn below(&mut self, bound: usize) -> usize {
        let bits = usize::BITS - bound.leading_zeros();
        loop {
            let drawn = (self.word() >> (32 - bits)) as usize;
            if drawn < bound {
                return drawn;
            }
        }
    }

    fn word(&mut self) -> u32 {
        if self.next == WORDS {
            self.turn();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    fn turn(&mut self) {
        for at in 0..WORDS {
            let low = self.state[(at + 1) % WORDS] & !(1 << 31);
            let joined = self.state[at] & (1 << 31) | low;
            let twist = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[at] = self.state[(at + APART) % WORDS] ^ (joined >> 1) ^ twist;
        }
        self.next = 0;
    }
}

fn mixed(word: u32) -> u32 {
    word ^ (word >> 30)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `random.Random(seed)`, of which `shuffle` is asked with lists of several lengths in turn.
    #[test]
    fn orders_are_those_of_python() {
        let orders = |seed: u64| {
            let mut shuffler = Shuffler::new(seed);
            let mut first: Vec<u32> = (0..10).collect();
            shuffler.shuffle(&mut first);
            shuffler.pass_over(1000);
            let mut last: Vec<u32> = (0..7).collect();
            shuffler.shuffle(&mut last);
            (first, last)
        };
        assert_eq!(orders(2026), (vec![0, 6, 2, 3, 8, 4, 7, 9, 5, 1], vec![3, 1, 2, 0, 5, 4, 6]));
        assert_eq!(orders(0), (vec![7, 8, 1, 5, 3, 4, 2, 0, 9, 6], vec![1, 2, 6, 3, 0, 5, 4]));
        assert_eq!(
            orders((1 << 40) + 5),
            (vec![1, 2, 3, 6, 7, 0, 5, 4, 9, 8], vec![2, 4, 1, 3, 6, 5, 0])
        );
    }

    #[test]
    fn an_order_of_nothing_draws_nothing() {
        let (mut some, mut none) = (Shuffler::new(7), Shuffler::new(7));
        none.shuffle::<u32>(&mut []);
        none.shuffle(&mut [1]);
        none.pass_over(0);
        assert_eq!(some.word(), none.word());
    }
}
