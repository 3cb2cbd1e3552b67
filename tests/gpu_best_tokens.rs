//! The best tokens of a row on a GPU are the CPU's, in its order, where many tie, where they lie in
//! one lane's share of the vocabulary, and where most may not be taken.

use fnstore::engine::kernels::{ScoredRow, TokenMask, best_tokens};
use fnstore::engine::{Device, GpuOptions, Tensor};

use crate::gpu_kernels::device;

/// Numbers of a test in quarter steps from -20 to 20: they tie exactly or are far apart.
fn quarters(count: usize, step: usize) -> Vec<f32> {
    (0..count).map(|i| (i * step % 161) as f32 / 4.0 - 20.0).collect()
}

/// One row on both devices: the same tokens in the same order, with the same log-probabilities.
fn assert_same(device: &Device, logits: &[f32], score: f32, mask: TokenMask<'_>, top: usize) {
    let logits = Tensor::new(&[1, logits.len()], logits.to_vec()).unwrap();
    let of = |device: &Device| best_tokens(device, &logits, &[score], &[mask], top).unwrap();
    let tokens = |rows: &[ScoredRow]| -> Vec<u32> {
        rows[0].best.iter().chain(&rows[0].extra).map(|best| best.token).collect()
    };
    let (found, wanted) = (of(device), of(&Device::cpu()));
    assert_eq!(found[0].is_finite, wanted[0].is_finite);
    assert_eq!(tokens(&found), tokens(&wanted), "top {top} of {}", logits.width());
    for (found, wanted) in found[0].best.iter().zip(&wanted[0].best) {
        let difference = (found.log_prob - wanted.log_prob).abs();
        assert!(difference < 1e-4 * wanted.log_prob.abs().max(1.0), "{found:?} {wanted:?}");
    }
}

#[test]
fn sums_that_tie_by_rounding_come_in_order_of_tokens() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    // A score that leaves nothing, a few steps, and all of the differences between logits.
    for score in [-1e8, -1e7, -3.0] {
        for (tokens, top) in [(5000, 40), (2049, 7), (300, 300)] {
            let logits = quarters(tokens, 37);
            assert_same(&device, &logits, score, TokenMask::default(), top);
            let rising: Vec<f32> = (0..tokens).map(|i| i as f32 / 4096.0).collect();
            assert_same(&device, &rising, score, TokenMask::default(), top);
        }
    }
    assert_same(&device, &[0.5; 3000], -1.0, TokenMask::default(), 700);
}

#[test]
fn the_best_may_all_lie_in_one_stripe() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    for (tokens, apart) in [(20_000, 256), (20_000, 1024), (70_000, 2048)] {
        for stripe in [0, 77, 255] {
            let mut logits = quarters(tokens, 53);
            for (place, token) in (stripe..tokens).step_by(apart).enumerate() {
                logits[token] = 30.0 + (place * 7 % 11) as f32;
            }
            assert_same(&device, &logits, -2.0, TokenMask::default(), 30);
        }
    }
}

#[test]
fn banned_tokens_hide_none_that_are_worse() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    for tokens in [1, 255, 256, 257, 2048, 6000] {
        let logits = quarters(tokens, 89);
        // The better half, all that a lane would keep, and all but every 500th.
        let of = |is_banned: &dyn Fn(usize) -> bool| -> Vec<u32> {
            (0..tokens).filter(|token| is_banned(*token)).map(|token| token as u32).collect()
        };
        let lists = [
            of(&|token| logits[token] > 0.0),
            of(&|token| token % 256 < 200),
            of(&|token| token % 500 != 7),
            of(&|_| true),
        ];
        for banned in &lists {
            for renormalize in [false, true] {
                let mask = TokenMask { banned, extra: &[0], renormalize };
                assert_same(&device, &logits, -0.5, mask, 20);
            }
        }
    }
}

#[test]
fn more_than_there_are_is_all_there_are() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    let logits = quarters(1500, 31);
    let banned: Vec<u32> = (0..1500).filter(|token| token % 3 == 0).collect();
    for banned in [&banned[..], &[]] {
        for top in [0, 1, 256, 257, 1000, 1600] {
            let mask = TokenMask { banned, ..TokenMask::default() };
            assert_same(&device, &logits, -4.0, mask, top);
        }
    }
}
