//! Element-wise activation functions, in place, and the gated forms that multiply by another tensor
//! (Shazeer 2020: GLU variants).

use crate::engine::compute::gpu::{Cost, Gpu};
use crate::engine::compute::lanes::{LANES, Lanes, Work, dispatch};
use crate::engine::compute::tasks::for_each_piece;
use crate::engine::compute::{ComputeError, Device, Tensor};

shader! {
    "activation", 256, [Read, Write];
    struct Params {
        numbers: u32,
        function: u32,
        is_gated: u32,
        padding: u32,
    }
}

/// A function applied to every element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activation {
    /// `max(0, x)`
    Relu,
    /// `x / 2 * (1 + erf(x / sqrt 2))`  (Hendrycks and Gimpel 2016, exact form)
    Gelu,
    /// `x / (1 + e^-x)`, also called SiLU  (Ramachandran et al. 2017)
    Swish,
    /// `x / 2 * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`, GELU's approximation
    /// (Hendrycks and Gimpel 2016)
    GeluTanh,
}

/// Numbers handled by one task.
const PIECE: usize = 1 << 14;

/// Constants of [`Activation::GeluTanh`].
const CUBE_SHARE: f32 = 0.044_715;
const ROOT_OF_2_BY_PI: f32 = 0.797_884_6;

/// Applies the function to every element.
///
/// # Errors
/// When a GPU has no room or failed.
pub fn activate(
    device: &Device,
    activation: Activation,
    tensor: &mut Tensor,
) -> Result<(), ComputeError> {
    match device {
        Device::Cpu { threads } => cpu(*threads, activation, tensor),
        Device::Gpu(device) => gpu(device, activation, tensor, None)?,
    }
    Ok(())
}

/// Applies the function to every element of `gate` (R, D) and multiplies by that of `tensor` (R,
/// D).
///
/// # Errors
/// When the shapes differ, or a GPU has no room or failed.
pub fn activate_gated(
    device: &Device,
    activation: Activation,
    gate: &mut Tensor,
    tensor: &Tensor,
) -> Result<(), ComputeError> {
    tensor.expect("activate_gated", "tensor", gate.rows(), gate.width())?;
    match device {
        Device::Cpu { threads } => {
            cpu(*threads, activation, gate);
            gate.data_mut().iter_mut().zip(tensor.data()).for_each(|(gate, x)| *gate *= x);
        }
        Device::Gpu(device) => gpu(device, activation, gate, Some(tensor))?,
    }
    Ok(())
}

fn gpu(
    gpu: &Gpu,
    activation: Activation,
    tensor: &mut Tensor,
    factor: Option<&Tensor>,
) -> Result<(), ComputeError> {
    let (rows, width) = (tensor.rows(), tensor.width());
    let factor = factor.map(|factor| gpu.operand(factor)).transpose()?;
    let buffer = tensor.own_buffer(gpu)?;
    let numbers = if factor.is_some() { 3 } else { 2 };
    // Without a factor a small buffer stands in: a binding that is written may not be read as well.
    let unread = gpu.allocate(1)?;
    for part in gpu.parts(rows, &[width], usize::MAX)? {
        let params = Params {
            numbers: (part.1 * width) as u32,
            function: activation as u32,
            is_gated: u32::from(factor.is_some()),
            padding: 0,
        };
        let mut call = gpu.call(&SHADER, 0)?;
        call.bind(match &factor {
            Some(factor) => gpu.rows(factor, part, width),
            None => gpu.whole(&unread, 1)?,
        });
        call.bind(gpu.rows(&buffer, part, width));
        call.costs(|| Cost::moved(&[part.1, width], numbers * part.1 * width));
        call.run(&params, gpu.grid((part.1 * width).div_ceil(256)));
    }
    Ok(())
}

fn cpu(threads: usize, activation: Activation, tensor: &mut Tensor) {
    for_each_piece(threads, tensor.data_mut(), PIECE, |_, piece| {
        dispatch(Piece { activation, piece });
    });
}

struct Piece<'a> {
    activation: Activation,
    piece: &'a mut [f32],
}

impl Work for Piece<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        for part in self.piece.chunks_mut(LANES) {
            let x = lanes.load_part(part, 0.0);
            let y = match self.activation {
                // The number stands second, so that a NaN stays one.
                Activation::Relu => lanes.max(lanes.splat(0.0), x),
                Activation::Gelu => {
                    let erf = lanes.erf(lanes.mul(x, lanes.splat(std::f32::consts::FRAC_1_SQRT_2)));
                    let half = lanes.mul(x, lanes.splat(0.5));
                    lanes.mul(half, lanes.add(erf, lanes.splat(1.0)))
                }
                Activation::Swish => {
                    let e = lanes.exp(lanes.sub(lanes.splat(0.0), x));
                    lanes.div(x, lanes.add(lanes.splat(1.0), e))
                }
                // (1 + tanh y) / 2 = 1 / (1 + e^-2y)
                Activation::GeluTanh => {
                    let cube = lanes.mul(lanes.mul(x, x), x);
                    let y = lanes.fma(cube, lanes.splat(CUBE_SHARE), x);
                    let e = lanes.exp(lanes.mul(y, lanes.splat(-2.0 * ROOT_OF_2_BY_PI)));
                    lanes.div(x, lanes.add(lanes.splat(1.0), e))
                }
            };
            lanes.store_part(part, y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::error::refusal;

    fn apply(activation: Activation, values: &[f32]) -> Vec<f32> {
        let mut tensor = Tensor::new(&[1, values.len()], values.to_vec()).unwrap();
        activate(&Device::Cpu { threads: 1 }, activation, &mut tensor).unwrap();
        tensor.into_data()
    }

    fn assert_close(got: &[f32], want: &[f32]) {
        assert_eq!(got.len(), want.len());
        for (got, want) in got.iter().zip(want) {
            assert!((got - want).abs() < 1e-6, "{got} {want}");
        }
    }

    #[test]
    fn relu_cuts_at_zero() {
        assert_eq!(apply(Activation::Relu, &[-1.5, 0.0, 2.5]), [0.0, 0.0, 2.5]);
    }

    #[test]
    fn gelu_is_the_exact_form() {
        // x * Phi(x) with Phi(1) = 0.8413447, Phi(2) = 0.9772499.
        assert_close(
            &apply(Activation::Gelu, &[-2.0, -1.0, 0.0, 1.0, 2.0]),
            &[-0.045_500_26, -0.158_655_26, 0.0, 0.841_344_7, 1.954_499_7],
        );
    }

    #[test]
    fn swish_is_x_times_its_sigmoid() {
        // sigmoid(1) = 0.7310586, sigmoid(-2) = 0.1192029.
        let got = apply(Activation::Swish, &[0.0, 1.0, -2.0]);
        assert_close(&got, &[0.0, 0.731_058_6, -0.238_405_84]);
    }

    #[test]
    fn gelu_by_tanh_is_near_the_exact_form_and_vanishes_far_below() {
        // tanh(0.797885 * 1.044715) = 0.6823840; for 3: tanh(0.797885 * 4.207305) = 0.9975720.
        let got = apply(Activation::GeluTanh, &[-1.0, 0.0, 1.0, 3.0, -40.0, 40.0]);
        assert_close(&got, &[-0.158_808, 0.0, 0.841_192, 2.996_362_7, 0.0, 40.0]);
    }

    #[test]
    fn a_gate_scales_the_other_tensor() {
        let mut gate = Tensor::new(&[1, 3], vec![-1.0, 2.0, 3.0]).unwrap();
        let tensor = Tensor::new(&[1, 3], vec![7.0, 0.5, -1.0]).unwrap();
        activate_gated(&Device::cpu(), Activation::Relu, &mut gate, &tensor).unwrap();
        assert_eq!(gate.data(), [0.0, 1.0, -3.0]);
        let narrow = Tensor::zeros(1, 2);
        let refused = activate_gated(&Device::cpu(), Activation::Relu, &mut gate, &narrow);
        assert_eq!(refusal(refused), "shape of tensor");
    }

    #[test]
    fn broken_numbers_stay_broken() {
        use Activation::{Gelu, GeluTanh, Relu, Swish};
        for activation in [Relu, Gelu, Swish, GeluTanh] {
            assert!(apply(activation, &[f32::NAN])[0].is_nan(), "{activation:?}");
        }
    }

    #[test]
    fn threads_and_position_do_not_change_a_number() {
        let values: Vec<f32> = (0..40_000).map(|i| (i % 977) as f32 * 0.01 - 5.0).collect();
        let mut tensor = Tensor::new(&[1, values.len()], values.clone()).unwrap();
        activate(&Device::Cpu { threads: 3 }, Activation::Gelu, &mut tensor).unwrap();
        for (value, got) in values.iter().zip(tensor.data()).step_by(131) {
            assert_eq!(apply(Activation::Gelu, &[*value])[0].to_bits(), got.to_bits());
        }
    }
}
