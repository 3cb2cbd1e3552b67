//! The variants of a product on matrix units: their texts, and the SPIR-V that naga makes of them.
//!
//! V0, V1 and V1b are `staged.wgsl`, whose tiles lie in workgroup memory. V3 and V4 differ from it
//! in the parts that are named here. V2 and its neighbours use no workgroup memory. `plain.wgsl`
//! uses no matrix units and runs everywhere.

use fnstore::engine::spirv::{Part, edit};
use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// What a shader binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binds {
    /// The input in f32, the weight in f16, a bias.
    Staged,
    /// Two matrices of f16.
    Direct,
    /// The same in fragments of 16 x 16, as the library's own shaders take them.
    Fragments,
}

/// One way to compute the product.
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    /// What it is, for the table.
    pub(crate) what: &'static str,
    pub(crate) entry: &'static str,
    pub(crate) text: String,
    pub(crate) binds: Binds,
    /// Rows and columns of a tile.
    pub(crate) tile: [usize; 2],
    /// What the number of inputs is a multiple of.
    pub(crate) depth: usize,
    /// Whether it goes to the driver as SPIR-V of our own, and edited how.
    pub(crate) passed: Option<Part>,
    pub(crate) needs_units: bool,
}

const STAGED: &str = include_str!("staged.wgsl");

/// Sums that begin as the zero value, and eight subgroups without asking: V3.
const ZERO_VALUES: [(&str, &str); 3] = [
    ("var<workgroup> at_once: u32;\n", ""),
    (
        "    if (lane == 0u) {
        at_once = subgroups;
    }
    let step = workgroupUniformLoad(&at_once);
",
        "    let step = PARTS;
",
    ),
    (
        "        for (var at = own_lane; at < SIDE * SIDE; at += lanes) {
            staged[own + at] = 0.0;
        }
        workgroupBarrier();
        var sum_00 = coopLoadT<coop_mat16x16<f32, C>>(&staged[own], SIDE);
",
        "        var sum_00: coop_mat16x16<f32, C>;
",
    ),
];

/// Tiles of vectors, which begin at multiples of 16 bytes wherever the driver puts them: V4.
const VECTORS: [(&str, &str); 7] = [
    ("const PITCH: u32 = 40u;", "const PITCH: u32 = 5u;"),
    ("row_tile: array<f16, 5120>", "row_tile: array<vec4<u32>, 640>"),
    ("column_tile: array<f16, 5120>", "column_tile: array<vec4<u32>, 640>"),
    (
        "fn load_tiles(",
        "fn pair(row: u32, k: u32) -> u32 {
    return pack2x16float(vec2<f32>(f32(input_at(row, k)), f32(input_at(row, k + 1u))));
}

fn weights(four: vec4<f16>) -> vec2<u32> {
    let wide = vec4<f32>(four);
    return vec2<u32>(pack2x16float(wide.xy), pack2x16float(wide.zw));
}

fn load_tiles(",
    ),
    (
        "    for (var at = lane; at < TILE * DEPTH; at += WORKGROUP_SIZE) {
        let row = at / DEPTH;
        let k = at % DEPTH;
        row_tile[row * PITCH + k] = input_at(first_row + row, first_k + k);
    }
    for (var at = lane; at < TILE * DEPTH / 4u; at += WORKGROUP_SIZE) {
        let column = at / (DEPTH / 4u);
        let vector = at % (DEPTH / 4u);
        let four = weight_at(first_column + column, first_k / 4u + vector);
        let to = column * PITCH + 4u * vector;
        column_tile[to] = four.x;
        column_tile[to + 1u] = four.y;
        column_tile[to + 2u] = four.z;
        column_tile[to + 3u] = four.w;
    }
",
        "    for (var at = lane; at < TILE * DEPTH / 8u; at += WORKGROUP_SIZE) {
        let place = at / (DEPTH / 8u);
        let vector = at % (DEPTH / 8u);
        let row = first_row + place;
        let k = first_k + 8u * vector;
        row_tile[place * PITCH + vector] =
            vec4<u32>(pair(row, k), pair(row, k + 2u), pair(row, k + 4u), pair(row, k + 6u));
        let column = first_column + place;
        let four = first_k / 4u + 2u * vector;
        let low = weights(weight_at(column, four));
        let high = weights(weight_at(column, four + 1u));
        column_tile[place * PITCH + vector] = vec4<u32>(low, high);
    }
",
    ),
    ("part_row * PITCH + k;", "part_row * PITCH + k / 8u;"),
    ("part_column * PITCH + k;", "part_column * PITCH + k / 8u;"),
];

/// A text with some parts replaced, each of which must be there.
fn with(text: &str, parts: &[(&str, &str)]) -> String {
    parts.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "the shader has no `{from}`");
        text.replace(from, to)
    })
}

/// All variants, those first that no driver has yet got wrong.
pub(crate) fn variants() -> Vec<Variant> {
    let direct = |name, what, entry, text: &str, tile, depth| Variant {
        name,
        what,
        entry,
        text: text.to_owned(),
        binds: Binds::Direct,
        tile,
        depth,
        passed: None,
        needs_units: true,
    };
    let staged = |name, what, text, passed| Variant {
        name,
        what,
        entry: "staged_tiles",
        text,
        binds: Binds::Staged,
        tile: [128, 128],
        depth: 4,
        passed,
        needs_units: true,
    };
    let shipped = |name, what, entry, text, columns| Variant {
        binds: Binds::Fragments,
        ..direct(name, what, entry, text, [128, columns], 16)
    };
    let plain = |name, what, passed| Variant {
        passed,
        needs_units: false,
        ..direct(name, what, "plain", include_str!("plain.wgsl"), [16, 16], 2)
    };
    let as_it_is = || STAGED.to_owned();
    let zeros = with(STAGED, &ZERO_VALUES);
    let vectors = with(&zeros, &VECTORS);
    let [wide, deep, tall] = ["direct_wide", "direct_deep", "direct_tall"];
    let texts = [
        include_str!("direct_wide.wgsl"),
        include_str!("direct_deep.wgsl"),
        include_str!("direct_tall.wgsl"),
    ];
    let own = include_str!("../../shaders/matmul_cooperative.wgsl");
    vec![
        plain("P", "no units, 32-bit sums of f16 factors", None),
        plain("P1", "P as SPIR-V of our own", Some(Part::Whole)),
        shipped("S", "the library's, in fragments", "matmul_cooperative", own, 64),
        direct("V2", "from storage", "direct", include_str!("direct.wgsl"), [64, 64], 16),
        direct("V2b", "from storage, tiles of 128 x 128", wide, texts[0], [128, 128], 16),
        direct("V2c", "from storage, 32 inputs at a time", deep, texts[1], [64, 64], 32),
        direct("V2d", "from storage, tiles of 128 x 64", tall, texts[2], [128, 64], 16),
        staged("V0", "tiles in workgroup memory", as_it_is(), None),
        staged("V3", "V0, sums from zero values", zeros, None),
        staged("V4", "V3, tiles of vectors", vectors, None),
        staged("V1b", "V0 without strides", as_it_is(), Some(Part::Strides)),
        staged("V1", "V0 that keeps the memory model", as_it_is(), Some(Part::Whole)),
    ]
}

impl Variant {
    /// The SPIR-V that a driver of Vulkan 1.3 gets, edited or not.
    ///
    /// # Errors
    /// naga's, with the place; or when an edit does not know what naga wrote.
    pub(crate) fn words(&self) -> Result<Vec<u32>, String> {
        let module = naga::front::wgsl::parse_str(&self.text)
            .map_err(|error| error.emit_to_string(&self.text))?;
        let units = Capabilities::SHADER_FLOAT16
            | Capabilities::SUBGROUP
            | Capabilities::COOPERATIVE_MATRIX;
        let needs = if self.needs_units { units } else { Capabilities::empty() };
        let capabilities = needs | Capabilities::SHADER_FLOAT16_IN_FLOAT32;
        let info = Validator::new(ValidationFlags::all(), capabilities)
            .validate(&module)
            .map_err(|error| error.emit_to_string(&self.text))?;
        let unchecked = BoundsCheckPolicy::Unchecked;
        // As wgpu asks for a trusted shader.
        let options = spv::Options {
            lang_version: (1, 6),
            flags: spv::WriterFlags::LABEL_VARYINGS | spv::WriterFlags::FORCE_POINT_SIZE,
            bounds_check_policies: BoundsCheckPolicies {
                index: unchecked,
                buffer: unchecked,
                image_load: unchecked,
                binding_array: unchecked,
            },
            zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
            force_loop_bounding: false,
            fake_missing_bindings: true,
            emit_int_div_checks: false,
            ..spv::Options::default()
        };
        let words = spv::write_vec(&module, &info, &options, None).map_err(|e| e.to_string())?;
        match self.passed {
            Some(part) => {
                let edited = edit(&words, part).ok_or("the edit does not know this SPIR-V")?;
                Ok(edited.words)
            }
            None => Ok(words),
        }
    }
}
