// activation: applies a function to every number, in place, and may multiply by a gated one.
//
// tensor = f(tensor), or f(tensor) * factor where `is_gated`
//     f 0: max(0, x)   1: x / 2 * (1 + erf(x / sqrt 2))   2: x / (1 + e^-x)
//     3: x / 2 * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
//
// Shapes      tensor, factor (N)
// Bindings    0 params; 1 factor (read where `is_gated`); 2 tensor
// Dispatch    N / 256 over x, then y, rounded up
// Reference   kernels/activation.rs, 1e-6 of x

struct Params {
    numbers: u32,
    function: u32,
    is_gated: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> factor: array<f32>;
@group(0) @binding(2) var<storage, read_write> tensor: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;

/// Abramowitz and Stegun 1964, 7.1.26: within 1.5e-7.
fn erf(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.3275911 * abs(x));
    let p = t * (0.254829592
        + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
    let y = 1.0 - p * exp(-min(x * x, 80.0));
    return select(y, -y, x < 0.0);
}

/// x / (1 + e^-y); the exponential stays finite, and the quotient vanishes where it should.
fn times_sigmoid(x: f32, y: f32) -> f32 {
    return select(x / (1.0 + exp(min(-y, 80.0))), 0.0, y < -80.0);
}

fn apply(x: f32) -> f32 {
    switch params.function {
        case 0u: {
            return select(x, 0.0, x < 0.0);
        }
        case 1u: {
            return 0.5 * x * (1.0 + erf(x * 0.70710678));
        }
        case 2u: {
            return times_sigmoid(x, x);
        }
        default: {
            // (1 + tanh y) / 2 = 1 / (1 + e^-2y)
            return times_sigmoid(x, 1.5957691 * (x + 0.044715 * x * x * x));
        }
    }
}

@compute @workgroup_size(256)
fn activation(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let at = (workgroup.y * grid.x + workgroup.x) * WORKGROUP_SIZE + lane;
    if (at >= params.numbers) {
        return;
    }
    var y = apply(tensor[at]);
    if (params.is_gated != 0u) {
        y *= factor[at];
    }
    tensor[at] = y;
}
