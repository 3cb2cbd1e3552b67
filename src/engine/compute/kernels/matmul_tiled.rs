//! Matrix product on a GPU: weights that stay there, and the choice of a shader.
//!
//! Many rows go through `matmul_tiled` or, in larger tiles, [`matmul_wide`](super::matmul_wide);
//! few go through [`matvec`](super::matvec), which is bound by reading the weights. Weights of 16
//! bits have shaders of their own; where matrix units multiply those, this file has no part in it.
//! Where one shader takes over from another is measured once for each adapter. Rows and outputs are
//! cut where a binding or a grid would be too large. The shader also takes matrices that are not
//! transposed, and batches of both, for [`product`].

use super::{matmul_half, matmul_wide, matvec, matvec_half};
use crate::engine::compute::gpu::{Buffer, Cost, Gpu, Shader, Tuning, Window};
use crate::engine::compute::{ComputeError, Device, Tensor};
use std::time::{Duration, Instant};

/// Rows and columns that a workgroup computes.
pub(super) const TILE: usize = 64;

shader! {
    "matmul_tiled" of f32, 256, [Read, Read, Read, Write];
    struct Params {
        rows: u32,
        inputs: u32,
        columns: u32,
        weight_stride: u32,
        output_stride: u32,
        first_column: u32,
        has_bias: u32,
        transposed: u32,
        input_batch: u32,
        weight_batch: u32,
        output_batch: u32,
        padding: u32,
    }
}

/// A weight `[out, in]` in a GPU's memory, each row padded with zeros to a multiple of four.
#[derive(Debug, Clone)]
pub(super) struct Resident {
    pub(super) gpu: Gpu,
    pub(super) outputs: usize,
    pub(super) inputs: usize,
    /// Whether its numbers are 16-bit floats.
    half: bool,
    /// Where the upload failed, the first product says so.
    buffer: Result<Buffer, ComputeError>,
}

impl Resident {
    /// Uploads a weight, once.
    pub(super) fn new(gpu: &Gpu, weight: &Tensor) -> Self {
        let (outputs, inputs) = (weight.rows(), weight.width());
        let padded = |data: &[f32]| {
            let mut padded = vec![0.0; outputs * stride(inputs)];
            let rows = padded.chunks_exact_mut(stride(inputs).max(1));
            for (to, from) in rows.zip(data.chunks_exact(inputs.max(1))) {
                to[..inputs].copy_from_slice(from);
            }
            padded
        };
        // A weight that 16 bits cannot hold keeps 32.
        let fits = |data: &[f32]| data.iter().all(|x| x.abs() <= matmul_half::LARGEST);
        let (mut half, data) = (gpu.keeps_half(), weight.host_data());
        half &= data.as_ref().is_ok_and(|data| fits(data));
        let buffer = data.and_then(|data| match half {
            true => gpu.upload(&matmul_half::pack(&padded(&data))),
            false => gpu.upload(&padded(&data)),
        });
        Self { gpu: gpu.clone(), outputs, inputs, half, buffer }
    }

    /// What failed when it was uploaded.
    pub(super) fn check(&self) -> Result<(), ComputeError> {
        self.buffer.clone().map(|_| ())
    }

    /// Numbers between the beginnings of two rows.
    pub(super) fn stride(&self) -> usize {
        stride(self.inputs)
    }

    /// Words of 32 bits between the beginnings of two rows.
    fn words(&self) -> usize {
        if self.half { self.stride() / 2 } else { self.stride() }
    }

    /// Bytes of so many outputs.
    pub(super) fn bytes(&self, outputs: usize) -> usize {
        4 * outputs * self.words()
    }
}

fn stride(inputs: usize) -> usize {
    inputs.next_multiple_of(4)
}

/// One product of a stretch of rows with a stretch of outputs.
#[derive(Debug, Clone)]
pub(super) struct Block<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) weight: &'a Resident,
    pub(super) rows: usize,
    pub(super) outputs: (usize, usize),
    pub(super) input: Window,
    pub(super) matrix: Window,
    pub(super) bias: Option<Window>,
    pub(super) output: Window,
}

/// A product by one shader.
pub(super) type Run = fn(Block<'_>) -> Result<(), ComputeError>;

/// `input` (R, in) times the weight transposed, plus `bias`: (R, out).
pub(super) fn gpu(
    weight: &Resident,
    input: &Tensor,
    bias: Option<&Tensor>,
) -> Result<Tensor, ComputeError> {
    let tuning = weight.gpu.tuning(measure);
    let run: Run = match (input.rows(), weight.half) {
        (rows, false) if rows <= tuning.few_rows => matvec::gpu,
        (rows, true) if rows <= tuning.few_rows => matvec_half::gpu,
        (_, true) => matmul_half::gpu,
        (rows, false) if rows >= tuning.many_rows => matmul_wide::gpu,
        _ => tiled,
    };
    by(run, weight, input, bias)
}

/// The same by a shader of the caller's choice.
pub(super) fn by(
    run: Run,
    weight: &Resident,
    input: &Tensor,
    bias: Option<&Tensor>,
) -> Result<Tensor, ComputeError> {
    let gpu = &weight.gpu;
    let (rows, outputs, inputs) = (input.rows(), weight.outputs, weight.inputs);
    let matrix = weight.buffer.clone()?;
    let input = gpu.operand(input)?;
    let bias = bias.map(|bias| gpu.operand(bias)).transpose()?;
    let output = gpu.allocate(rows * outputs)?;
    let most = TILE * gpu.most_workgroups();
    for (first_row, rows) in gpu.parts(rows, &[inputs, outputs], most)? {
        for (first, columns) in gpu.parts(outputs, &[weight.words()], most)? {
            run(Block {
                gpu,
                weight,
                rows,
                outputs: (first, columns),
                input: gpu.rows(&input, (first_row, rows), inputs),
                matrix: gpu.rows(&matrix, (first, columns), weight.words()),
                bias: bias.as_ref().map(|bias| gpu.whole(bias, outputs)).transpose()?,
                output: gpu.rows(&output, (first_row, rows), outputs),
            })?;
        }
    }
    Ok(Tensor::on_gpu(gpu, &[rows, outputs], output))
}

pub(super) fn tiled(block: Block<'_>) -> Result<(), ComputeError> {
    in_tiles(block, &SHADER, TILE)
}

/// Calls a shader that computes tiles of so many rows and columns.
pub(super) fn in_tiles(
    block: Block<'_>,
    shader: &'static Shader,
    tile: usize,
) -> Result<(), ComputeError> {
    let Block { gpu, weight, rows, outputs: (first, columns), .. } = block;
    let params = Params {
        rows: rows as u32,
        inputs: weight.inputs as u32,
        columns: columns as u32,
        weight_stride: weight.stride() as u32,
        output_stride: weight.outputs as u32,
        first_column: first as u32,
        has_bias: u32::from(block.bias.is_some()),
        transposed: 1,
        input_batch: 0,
        weight_batch: 0,
        output_batch: 0,
        padding: 0,
    };
    let mut call = gpu.call(shader, 0)?;
    call.bind(block.input);
    call.bind(block.matrix.clone());
    call.bind(block.bias.unwrap_or(block.matrix));
    call.bind(block.output);
    call.costs(|| Cost::product([rows, weight.inputs, columns], weight.bytes(columns)));
    call.run(&params, [columns.div_ceil(tile) as u32, rows.div_ceil(tile) as u32, 1]);
    Ok(())
}

/// Rows of the products that are measured.
const MEASURED_ROWS: [usize; 7] = [8, 16, 32, 64, 128, 512, 2048];

/// Width and outputs of their weight, those of a middling layer.
const MEASURED_WIDTH: usize = 1024;

/// Times the shaders on this device; `None` when one of them fails.
fn measure(gpu: &Gpu) -> Option<Tuning> {
    let zeros = Tensor::zeros(MEASURED_WIDTH, MEASURED_WIDTH);
    let weight = Resident::new(&gpu.with_half(false), &zeros);
    let (mut few_rows, mut many_rows) = (0, usize::MAX);
    for rows in MEASURED_ROWS {
        let input =
            Tensor::zeros(rows, MEASURED_WIDTH).to_device(&Device::Gpu(gpu.clone())).ok()?;
        let time = |run: Run, weight: &Resident| {
            time(gpu, || by(run, weight, &input, None).map(drop)).ok()
        };
        let [few, tiled] = [time(matvec::gpu, &weight)?, time(tiled, &weight)?];
        let wide = time(matmul_wide::gpu, &weight)?;
        if few <= tiled.min(wide) {
            few_rows = rows;
        }
        // A shader takes over for good: where it falls back again it was noise.
        many_rows = if wide < tiled { many_rows.min(rows) } else { usize::MAX };
    }
    Some(Tuning { few_rows, many_rows: many_rows.max(few_rows) })
}

/// How long runs that are timed together last at least: handing them over, and waiting, is little
/// of that.
const TIMED: Duration = Duration::from_millis(5);

/// The least time of one run, after one that compiles.
fn time(gpu: &Gpu, run: impl Fn() -> Result<(), ComputeError>) -> Result<Duration, ComputeError> {
    let together = |runs: u32| {
        let begin = Instant::now();
        (0..runs).try_for_each(|_| run())?;
        gpu.finish()?;
        Ok::<_, ComputeError>(begin.elapsed())
    };
    together(1)?;
    let mut runs = 8;
    while together(runs)? < TIMED && runs < 1 << 12 {
        runs *= 2;
    }
    let mut best = Duration::MAX;
    for _ in 0..3 {
        best = best.min(together(runs)? / runs);
    }
    Ok(best)
}

/// Products of two batches of matrices: `left` (B, R, K) times `right` (B, K, C), or (B, C, K)
/// where it is `transposed`: (B, R, C).
///
/// # Errors
/// When the shapes do not fit, or the GPU has no room for one of them.
pub fn product(
    device: &Device,
    left: &Tensor,
    right: &Tensor,
    transposed: bool,
) -> Result<Tensor, ComputeError> {
    const OP: &str = "product";
    let (&[batch, rows, inputs], &[_, second, third]) = (left.shape(), right.shape()) else {
        let (expected, found) = (vec![0; 3], right.shape().to_vec());
        return Err(ComputeError::Shape { op: OP, operand: "right", expected, found });
    };
    let columns = if transposed { second } else { third };
    let expected = if transposed { [batch, columns, inputs] } else { [batch, inputs, columns] };
    if right.shape() != expected {
        let (expected, found) = (expected.to_vec(), right.shape().to_vec());
        return Err(ComputeError::Shape { op: OP, operand: "right", expected, found });
    }
    match device {
        Device::Cpu { .. } => cpu_product(left, right, transposed, [batch, rows, inputs, columns]),
        Device::Gpu(gpu) => {
            gpu_product(gpu, left, right, transposed, [batch, rows, inputs, columns])
        }
    }
}

/// The definition, read aloud: nothing in a network's way runs it.
fn cpu_product(
    left: &Tensor,
    right: &Tensor,
    transposed: bool,
    [batch, rows, inputs, columns]: [usize; 4],
) -> Result<Tensor, ComputeError> {
    let (left, right) = (left.data(), right.data());
    let mut output = Vec::with_capacity(batch * rows * columns);
    for b in 0..batch {
        for row in 0..rows {
            let row = &left[(b * rows + row) * inputs..][..inputs];
            for column in 0..columns {
                let of_right = |k: usize| match transposed {
                    true => right[(b * columns + column) * inputs + k],
                    false => right[(b * inputs + k) * columns + column],
                };
                let add = |sum: f32, (k, x): (usize, &f32)| x.mul_add(of_right(k), sum);
                output.push(row.iter().enumerate().fold(0.0, add));
            }
        }
    }
    Tensor::new(&[batch, rows, columns], output)
}

fn gpu_product(
    gpu: &Gpu,
    left: &Tensor,
    right: &Tensor,
    transposed: bool,
    [batch, rows, inputs, columns]: [usize; 4],
) -> Result<Tensor, ComputeError> {
    let (input, matrix) = (gpu.operand(left)?, gpu.operand(right)?);
    let output = gpu.allocate(batch * rows * columns)?;
    let params = Params {
        rows: rows as u32,
        inputs: inputs as u32,
        columns: columns as u32,
        weight_stride: if transposed { inputs as u32 } else { columns as u32 },
        output_stride: columns as u32,
        first_column: 0,
        has_bias: 0,
        transposed: u32::from(transposed),
        input_batch: (rows * inputs) as u32,
        weight_batch: (inputs * columns) as u32,
        output_batch: (rows * columns) as u32,
        padding: 0,
    };
    let grid = [columns.div_ceil(TILE), rows.div_ceil(TILE), batch];
    if let Some(&most) = grid.iter().find(|count| **count > gpu.most_workgroups()) {
        let (bytes, limit) = (4 * (most * TILE) as u64, 4 * (gpu.most_workgroups() * TILE) as u64);
        return Err(ComputeError::Memory { bytes, limit });
    }
    let mut call = gpu.call(&SHADER, 0)?;
    call.bind(gpu.whole(&input, batch * rows * inputs)?);
    call.bind(gpu.whole(&matrix, batch * inputs * columns)?);
    call.bind(gpu.whole(&matrix, batch * inputs * columns)?);
    call.bind(gpu.whole(&output, batch * rows * columns)?);
    let of_right = 4 * batch * inputs * columns;
    call.costs(|| Cost::product([batch * rows, inputs, columns], of_right));
    call.run(&params, grid.map(|count| count as u32));
    Ok(Tensor::on_gpu(gpu, &[batch, rows, columns], output))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::error::refusal;

    #[test]
    fn a_batch_done_by_hand() {
        let device = Device::Cpu { threads: 1 };
        let left = Tensor::new(&[2, 1, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let right = Tensor::new(&[2, 2, 1], vec![10.0, 1.0, 1.0, 10.0]).unwrap();
        let output = product(&device, &left, &right, false).unwrap();
        assert_eq!((output.shape(), output.data()), (&[2, 1, 1][..], &[12.0, 43.0][..]));
        let right = Tensor::new(&[2, 1, 2], right.into_data()).unwrap();
        assert_eq!(product(&device, &left, &right, true).unwrap().data(), [12.0, 43.0]);
        assert_eq!(refusal(product(&device, &left, &right, false)), "shape of right");
    }
}
