//! Attention of a decoder's step on a GPU: heads that share keys are the CPU's, and a row has the
//! same bits whatever rows stand beside it.

use fnstore::engine::kernels::{DistanceBias, Heads, KeyList, attention};
use fnstore::engine::{Device, GpuOptions, Tensor};

use crate::gpu_kernels::device;

fn tensor(rows: usize, width: usize, step: usize) -> Tensor {
    let numbers = (0..rows * width).map(|i| (i * step % 101) as f32 / 50.0 - 1.0).collect();
    Tensor::new(&[rows, width], numbers).unwrap()
}

/// Rows in a table of rows, and lists of up to `most` of them.
fn lists(rows: usize, most: usize) -> (Vec<u32>, Vec<KeyList>) {
    let table = (0..rows + most).map(|i| (i * 611 % 300) as u32).collect();
    let list = |row| KeyList { start: row as u32, len: 1 + (row * 29 % most) as u32 };
    (table, (0..rows).map(list).collect())
}

#[test]
fn heads_that_share_keys_agree_with_the_cpu() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    let shapes =
        [(3, 3, 64), (2, 1, 64), (1, 7, 40), (2, 5, 256), (1, 9, 36), (3, 4, 4), (2, 2, 100)];
    for (key_heads, sharing, columns) in shapes {
        let (rows, count) = (33, key_heads * sharing);
        let queries = tensor(rows, count * columns, 37);
        let (keys, values) =
            (tensor(300, key_heads * columns, 53), tensor(300, key_heads * columns, 71));
        let (table, lists) = lists(rows, 150);
        let biases = tensor(count, 400, 43);
        let positions: Vec<u32> = lists.iter().map(|list| list.len / 2).collect();
        for has_bias in [false, true] {
            let run = |device: &Device| {
                let by_distance = &biases.clone().to_device(device).unwrap();
                let bias = DistanceBias { by_distance, zero: 200, positions: &positions };
                let bias = has_bias.then_some(bias);
                let heads = Heads { sharing, is_scaled: !has_bias, bias, ..Heads::from(count) };
                let table = Some(table.as_slice());
                attention(device, &queries, &keys, &values, &lists, table, heads)
                    .and_then(Tensor::to_host)
                    .unwrap()
            };
            let (found, wanted) = (run(&device), run(&Device::cpu()));
            for (at, (found, wanted)) in found.data().iter().zip(wanted.data()).enumerate() {
                let shape = (key_heads, sharing, columns, has_bias);
                assert!((found - wanted).abs() < 2e-5, "{shape:?} at {at}: {found} {wanted}");
            }
        }
    }
}

#[test]
fn a_row_has_the_same_bits_alone() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    let (rows, sharing, width) = (9, 3, 2 * 64);
    let queries = tensor(rows, width * sharing, 37);
    let (keys, values) = (tensor(300, width, 53), tensor(300, width, 71));
    let (table, lists) = lists(rows, 200);
    let heads = Heads { sharing, ..Heads::from(2 * sharing) };
    let run = |of_rows: &[usize]| {
        let numbers = of_rows.iter().flat_map(|row| queries.row(*row).to_vec()).collect();
        let queries = Tensor::new(&[of_rows.len(), width * sharing], numbers).unwrap();
        let lists: Vec<KeyList> = of_rows.iter().map(|row| lists[*row]).collect();
        attention(&device, &queries, &keys, &values, &lists, Some(&table), heads)
            .and_then(Tensor::to_host)
            .unwrap()
    };
    let bits = |row: &[f32]| -> Vec<u32> { row.iter().map(|x| x.to_bits()).collect() };
    let together = run(&(0..rows).collect::<Vec<_>>());
    for row in 0..rows {
        let wanted = bits(together.row(row));
        assert_eq!(bits(run(&[row]).row(0)), wanted, "alone");
        // On the other side of another row, with a shorter or a longer list.
        assert_eq!(bits(run(&[(row + 1) % rows, row]).row(1)), wanted, "behind another");
        assert_eq!(bits(run(&[row, (row + 4) % rows]).row(0)), wanted, "before another");
    }
}
