//! The self-test's cases of what works with matrix units.

use super::finish_rows::Sums;
use super::half_rows::{HalfRows, depth, half_rows};
use super::matmul_cooperative::UnitWeight;
use super::self_test::{Draw, compare, largest};
use super::{
    Activation, Placing, Stream, Weight, activate_gated, add, embedding_half, gated_half_rows,
    matmul, norm_half_rows, place_heads, rms_norm, rotate, scatter,
};
use crate::engine::compute::{ComputeError, Device, Gpu, Tensor};

/// A product on units; the difference is relative to the root of the number of terms.
pub(super) fn test_matmul_cooperative(
    device: &Device,
    draw: &mut Draw,
) -> Result<(String, f32), ComputeError> {
    let (rows, inputs, outputs) = (draw.size(1, 300), draw.size(1, 700), draw.size(1, 200));
    let (input, weight) = (draw.tensor(&[rows, inputs]), draw.tensor(&[outputs, inputs]));
    let bias = draw.tensor(&[outputs]);
    let bias = (draw.below(4) > 0).then_some(&bias);
    let error = compare(device, (inputs as f32).sqrt(), |device| match device {
        Device::Gpu(gpu) => UnitWeight::new(gpu, &weight).multiply(&input, bias),
        Device::Cpu { .. } => matmul(device, &input, &Weight::new(device, &weight), bias),
    })?;
    Ok((format!("{rows} x {inputs} x {outputs}"), error))
}

/// Rows of every magnitude: what 16 bits and scales stand for, relative to the row's largest
/// number.
pub(super) fn test_half_rows(
    device: &Device,
    draw: &mut Draw,
) -> Result<(String, f32), ComputeError> {
    let (rows, width) = (draw.size(1, 90), draw.size(1, 300));
    let input = scaled(draw, rows, width)?;
    let shape = format!("{rows} x {width}");
    let Device::Gpu(gpu) = device else { return Ok((shape, 0.0)) };
    Ok((shape, half_error(gpu, &half_rows(gpu, &input)?, &input)?))
}

/// Rows of numbers that are as large, or as small, as 32 bits hold.
fn scaled(draw: &mut Draw, rows: usize, width: usize) -> Result<Tensor, ComputeError> {
    let numbers = (0..rows).flat_map(|_| {
        // Subnormal numbers of 32 bits may be taken for zeros.
        let size = 2f32.powi(draw.below(210) as i32 - 90);
        (0..width).map(|_| size * draw.number()).collect::<Vec<_>>()
    });
    Tensor::new(&[rows, width], numbers.collect())
}

pub(super) fn test_finish_rows(
    device: &Device,
    draw: &mut Draw,
) -> Result<(String, f32), ComputeError> {
    let (rows, columns) = (draw.size(1, 90), draw.size(1, 300));
    let shape = format!("{rows} x {columns}");
    let Device::Gpu(gpu) = device else { return Ok((shape, 0.0)) };
    let is_scaled = draw.below(2) == 0;
    let (found, mut wanted) = sums(gpu, draw, [rows, columns], is_scaled)?;
    let bias = draw.tensor(&[columns]);
    let bias = (draw.below(2) > 0).then_some(&bias);
    if let Some(bias) = bias {
        let repeated = Tensor::new(&[rows, columns], bias.data().repeat(rows))?;
        add(&Device::cpu(), &mut wanted, &repeated)?;
    }
    Ok((shape, largest(found.finish(bias)?.to_host()?.data(), wanted.data())))
}

/// Sums (R, C) as a product of scaled rows leaves them, and what they stand for.
fn sums(
    gpu: &Gpu,
    draw: &mut Draw,
    [rows, columns]: [usize; 2],
    is_scaled: bool,
) -> Result<(Sums, Tensor), ComputeError> {
    let stride = if draw.below(2) == 0 { columns } else { columns.next_multiple_of(64) };
    let numbers = draw.tensor(&[rows, stride]);
    let scales: Vec<f32> = (0..rows).map(|_| [1.0, 0.5, 4.0][draw.below(3)]).collect();
    let mut of_rows = HalfRows::unwritten(gpu, rows, 1, false)?;
    if is_scaled {
        of_rows = of_rows.scaled(gpu, &scales)?;
    }
    let buffer = gpu.upload(numbers.data())?;
    let scale = |row: usize| if is_scaled { 2.0 * scales[row] } else { 2.0 };
    let of_row = |row| numbers.row(row)[..columns].iter().map(move |number| number * scale(row));
    let wanted = (0..rows).flat_map(of_row).collect();
    let wanted = Tensor::new(&[rows, columns], wanted)?;
    Ok((Sums::new(gpu, &of_rows, (buffer, stride), columns, 2.0), wanted))
}

/// The largest difference of rows of 16 bits, relative to the largest number of each row.
fn half_error(gpu: &Gpu, found: &HalfRows, wanted: &Tensor) -> Result<f32, ComputeError> {
    let (width, depth) = (wanted.width(), depth(wanted.width()));
    let (numbers, scales) = found.to_host(gpu)?;
    let of_row = |row: usize| {
        let wanted = wanted.row(row);
        let most = wanted.iter().fold(f32::MIN_POSITIVE, |most, number| most.max(number.abs()));
        let found = &numbers[row * depth..(row + 1) * depth];
        if found[width..].iter().any(|number| *number != 0.0) {
            return f32::INFINITY;
        }
        let found: Vec<f32> = found[..width].iter().map(|number| number * scales[row]).collect();
        largest(&found, wanted) / most
    };
    Ok((0..wanted.rows()).map(of_row).fold(0.0, f32::max))
}

pub(super) fn test_norm_half_rows(
    device: &Device,
    draw: &mut Draw,
) -> Result<(String, f32), ComputeError> {
    let (rows, width, cpu) = (draw.size(1, 90), draw.size(1, 300), Device::cpu());
    let shape = format!("{rows} x {width}");
    let Device::Gpu(gpu) = device else { return Ok((shape, 0.0)) };
    let (mut wanted, gain) = (draw.tensor(&[rows, width]), draw.tensor(&[width]));
    let mut stream = Stream::new(wanted.clone());
    if draw.below(4) > 0 {
        let is_scaled = draw.below(2) == 0;
        let (pending, more) = sums(gpu, draw, [rows, width], is_scaled)?;
        add(&cpu, &mut wanted, &more)?;
        stream.join(pending);
    }
    let states = norm_half_rows(gpu, &mut stream, &gain, 1e-5)?;
    let (joined, _) = stream.into_parts();
    let of_stream = largest(joined.to_host()?.data(), wanted.data());
    rms_norm(&cpu, &mut wanted, &gain, 1e-5)?;
    Ok((shape, half_error(gpu, &states, &wanted)?.max(of_stream)))
}

pub(super) fn test_gated_half_rows(
    device: &Device,
    draw: &mut Draw,
) -> Result<(String, f32), ComputeError> {
    let (rows, width) = (draw.size(1, 90), draw.size(1, 300));
    let shape = format!("{rows} x {width}");
    let Device::Gpu(gpu) = device else { return Ok((shape, 0.0)) };
    let (joined, whole) = sums(gpu, draw, [rows, 2 * width], false)?;
    let half = |from: usize| {
        let of_row = |row| whole.row(row)[from..from + width].iter().copied();
        Tensor::new(&[rows, width], (0..rows).flat_map(of_row).collect())
    };
    let (mut wanted, factor) = (half(0)?, half(width)?);
    activate_gated(&Device::cpu(), Activation::Swish, &mut wanted, &factor)?;
    Ok((shape, half_error(gpu, &gated_half_rows(&joined)?, &wanted)?))
}

pub(super) fn test_place_heads(
    device: &Device,
    draw: &mut Draw,
) -> Result<(String, f32), ComputeError> {
    let (rows, half, cpu) = (draw.size(1, 60), draw.size(1, 20), Device::cpu());
    let (heads, key_heads) = (draw.size(1, 6), draw.size(1, 3));
    let (queries, keys) = (heads * 2 * half, key_heads * 2 * half);
    let shape = format!("{rows} x {heads} and {key_heads} heads of {}", 2 * half);
    let Device::Gpu(gpu) = device else { return Ok((shape, 0.0)) };
    let (joined, mut whole) = sums(gpu, draw, [rows, queries + 2 * keys], false)?;
    let bias = draw.tensor(&[queries + 2 * keys]);
    let bias = (draw.below(2) == 0).then_some(&bias);
    if let Some(bias) = bias {
        let repeated = bias.data().repeat(rows);
        add(&cpu, &mut whole, &Tensor::new(&[rows, queries + 2 * keys], repeated)?)?;
    }
    let turns = draw.tensor(&[30, 2 * half]);
    let positions = draw.ids(rows, 30);
    let mut entries: Vec<u32> = (0..rows as u32 + 9).collect();
    entries.rotate_left(draw.below(rows + 9));
    entries.truncate(rows);
    let part = |from: usize, width: usize| {
        let of_row = |row| whole.row(row)[from..from + width].iter().copied();
        Tensor::new(&[rows, width], (0..rows).flat_map(of_row).collect())
    };
    let parts = [part(0, queries)?, part(queries, keys)?, part(queries + keys, keys)?];
    let [mut of_queries, mut of_keys, of_values] = parts;
    rotate(&cpu, &mut of_queries, &turns, &positions)?;
    rotate(&cpu, &mut of_keys, &turns, &positions)?;
    let table = Tensor::zeros(rows + 9, keys);
    let [mut key_table, mut value_table] = [table.clone(), table.clone()];
    scatter(&cpu, &of_keys, &entries, &mut key_table)?;
    scatter(&cpu, &of_values, &entries, &mut value_table)?;
    let [mut keys, mut values] = [table.clone().to_device(device)?, table.to_device(device)?];
    let placing = Placing { positions: &positions, entries: &entries, turns: &turns, bias };
    let found = place_heads(&joined, placing, &mut keys, &mut values)?.to_host()?;
    let differences =
        [(found, of_queries), (keys.to_host()?, key_table), (values.to_host()?, value_table)];
    let error = |(found, wanted): &(Tensor, Tensor)| largest(found.data(), wanted.data()) / 4.0;
    Ok((shape, differences.iter().map(error).fold(0.0, f32::max)))
}

pub(super) fn test_embedding_half(
    device: &Device,
    draw: &mut Draw,
) -> Result<(String, f32), ComputeError> {
    let (rows, width, known) = (draw.size(1, 90), draw.size(1, 300), draw.size(1, 200));
    let shape = format!("{rows} of {known} x {width}");
    let Device::Gpu(gpu) = device else { return Ok((shape, 0.0)) };
    let (table, ids) = (draw.tensor(&[known, width]), draw.ids(rows, known));
    let found = embedding_half::gpu(&UnitWeight::new(gpu, &table), &ids, 1.5)?.to_host()?;
    let of_id = |id: &u32| table.row(*id as usize).iter().map(|number| 1.5 * number);
    let wanted: Vec<f32> = ids.iter().flat_map(of_id).collect();
    Ok((shape, largest(found.data(), &wanted) / 3.0))
}
