//! The product of matrix units spelled out lane by lane, for adapters that have none.
//!
//! It is slow, and there so that what is built around units can be tried everywhere: a device that
//! a test opens with [`Trial::units`](crate::engine::Trial) takes it for them.

use std::sync::LazyLock;

use super::matmul_cooperative;
use crate::engine::compute::{Needs, Shader};

/// What a fragment is where there are no units: each of 32 lanes has eight neighbouring sums, and
/// knows where factors lie.
const FRAGMENTS: &str = "
    var<private> first: u32;
    fn multiply_add(a: u32, b: u32, sums: array<f32, 8>) -> array<f32, 8> {
        var more = sums;
        for (var i = 0u; i < 8u; i++) {
            let from_a = a + (first + i) / SIDE * SIDE;
            let from_b = b + (first + i) % SIDE * SIDE;
            for (var k = 0u; k < SIDE; k++) {
                more[i] += f32(states[from_a + k]) * f32(weight[from_b + k]);
            }
        }
        return more;
    }
    fn store(sums: array<f32, 8>, at: u32, stride: u32) {
        var all = sums;
        for (var i = 0u; i < 8u; i++) {
            output[at + (first + i) / SIDE * stride + (first + i) % SIDE] = all[i];
        }
    }
";

/// The shader with its units spelled out. Of the workgroup's four subgroups two take part, so that
/// parts come in two rounds.
pub(super) fn spelled_out() -> &'static Shader {
    static SPELLED_OUT: LazyLock<Shader> = LazyLock::new(|| spell_out(&matmul_cooperative::SHADER));
    &SPELLED_OUT
}

fn spell_out(shader: &Shader) -> Shader {
    let mut source = shader.source.replace("enable wgpu_cooperative_matrix;", "");
    for (units, spelled_out) in [
        ("coop_mat16x16<f32, C>", "array<f32, 8>"),
        ("coopLoadT<coop_mat16x16<f16, A>>(&states[", "("),
        ("coopLoad<coop_mat16x16<f16, B>>(&weight[", "("),
        ("], SIDE)", ")"),
        ("coopMultiplyAdd(", "multiply_add("),
        ("coopStoreT(", "store("),
        ("&output[", ""),
        ("], stride)", ", stride)"),
        ("@builtin(num_subgroups) subgroups: u32,", ""),
        ("@builtin(subgroup_id) subgroup: u32,", "@builtin(local_invocation_index) lane: u32,"),
        (
            "    let line = ",
            "    let subgroups = 2u;
    let subgroup = lane / 32u;
    if (subgroup >= subgroups) {
        return;
    }
    first = 8u * (lane % 32u);
    let line = ",
        ),
    ] {
        assert!(source.contains(units), "the shader has no `{units}`");
        source = source.replace(units, spelled_out);
    }
    source.push_str(FRAGMENTS);
    Shader { source: source.leak(), needs: Needs::Half, ..*shader }
}
