//! A linear layer's weight, packed once for products in some kind of numbers, on some device.

use super::blocks::Blocks;
use super::finish_rows::Sums;
use super::half_rows::HalfRows;
use super::matmul::{PANEL, PANEL_LINES};
use super::matmul_blocks::BlockPanels;
use super::matmul_blocks_gpu::ResidentBlocks;
use super::matmul_cooperative::{UnitWeight, fault};
use super::matmul_tiled::Resident;
use super::matmul8::{Panels8, Quantized};
use super::{embedding_blocks, embedding_half};
use crate::engine::compute::gpu::Gpu;
use crate::engine::compute::lanes::{LANES, Line};
use crate::engine::compute::{ComputeError, Device, Tensor};
use std::sync::Arc;

/// A linear layer's weight `[out, in]`, packed for [`matmul`](super::matmul).
#[derive(Clone)]
pub struct Weight {
    pub(super) outputs: usize,
    pub(super) inputs: usize,
    pub(super) packed: Packed,
}

/// A weight's numbers.
#[derive(Clone)]
pub(super) enum Packed {
    /// (panel, input, 2) lines; outputs beyond the last are zero.
    F32(Vec<Line>),
    Int8(Panels8),
    /// Shared with whoever looks up its rows.
    Blocks(Arc<BlockPanels>),
    GpuBlocks(ResidentBlocks),
    /// In f32 or 16 bits, in the memory of a GPU.
    Gpu(Resident),
    /// In 16 bits, for the matrix units of a GPU.
    GpuUnits(UnitWeight),
}

impl Packed {
    fn name(&self) -> &'static str {
        match self {
            Self::F32(_) => "f32",
            Self::Int8(_) => "int8",
            Self::Blocks(_) => "blocks",
            Self::GpuBlocks(_) => "blocks on a GPU",
            Self::Gpu(_) => "f32 on a GPU",
            Self::GpuUnits(_) => "f16 on matrix units",
        }
    }
}

/// Whether weights of 16 bits go through the matrix units of a device.
pub(in crate::engine::compute) fn trusts_units(gpu: &Gpu) -> bool {
    gpu.trusts_units(|gpu| Ok(fault(gpu)?.map(|fault| fault.to_string())))
}

impl Weight {
    /// Packs a matrix `[out, in]`, or uploads it; products are in f32, or as a GPU insists
    /// ([`Device::format`]). What fails in that, the first product returns.
    pub fn new(device: &Device, weight: &Tensor) -> Self {
        let (outputs, inputs) = (weight.rows(), weight.width());
        if let Device::Gpu(gpu) = device {
            let packed = match gpu.keeps_half() && trusts_units(gpu) {
                true => Packed::GpuUnits(UnitWeight::new(gpu, weight)),
                false => Packed::Gpu(Resident::new(gpu, weight)),
            };
            return Self { outputs, inputs, packed };
        }
        let panel_lines = inputs * PANEL_LINES;
        let mut panels = vec![Line([0.0; LANES]); outputs.div_ceil(PANEL) * panel_lines];
        for output in 0..outputs {
            let (panel, column) = (output / PANEL, output % PANEL);
            for (input, value) in weight.row(output).iter().enumerate() {
                let line = panel * panel_lines + input * PANEL_LINES + column / LANES;
                panels[line].0[column % LANES] = *value;
            }
        }
        Self { outputs, inputs, packed: Packed::F32(panels) }
    }

    /// Packs a matrix `[out, in]` of 8-bit numbers; products are in integers, on a GPU in f32.
    pub fn int8(device: &Device, weight: &Quantized) -> Self {
        if let Device::Gpu(_) = device {
            return Self::new(device, &weight.to_f32());
        }
        let (outputs, inputs) = (weight.outputs(), weight.inputs());
        Self { outputs, inputs, packed: Packed::Int8(Panels8::new(weight)) }
    }

    /// Packs a matrix `[out, in]` in blocks, whose numbers stay as small as they are. Products
    /// round their input to 8 bits on the CPU, and are in f32 on a GPU, which unpacks in registers.
    /// For matrix units it is unpacked now, to 16 bits.
    pub fn blocks(device: &Device, weight: &Blocks) -> Self {
        match device {
            Device::Gpu(gpu) if trusts_units(gpu) => Self::unpacked(device, &weight.to_f32()),
            _ => Self::packed(device, weight),
        }
    }

    /// The same, never unpacked.
    pub(super) fn packed(device: &Device, weight: &Blocks) -> Self {
        let (outputs, inputs) = (weight.outputs(), weight.inputs());
        let panels = Arc::new(BlockPanels::new(weight));
        let packed = match device {
            Device::Gpu(gpu) => Packed::GpuBlocks(ResidentBlocks::new(gpu, panels)),
            Device::Cpu { .. } => Packed::Blocks(panels),
        };
        Self { outputs, inputs, packed }
    }

    /// Packs a matrix `[out, in]` for the matrix units of a device that [unpacks](Device::unpacks)
    /// blocks, and as [`new`](Self::new) does for another.
    pub fn unpacked(device: &Device, weight: &Tensor) -> Self {
        match device {
            Device::Gpu(gpu) if trusts_units(gpu) => {
                let packed = Packed::GpuUnits(UnitWeight::new(gpu, weight));
                Self { outputs: weight.rows(), inputs: weight.width(), packed }
            }
            _ => Self::new(device, weight),
        }
    }

    /// Rows of a weight in blocks, also an unpacked one, in f32 on a device, times `scale`: a table
    /// of tokens that is also a projection lies in memory once.
    ///
    /// # Errors
    /// When there is no such row, or no room.
    ///
    /// # Panics
    /// When the weight is not in blocks.
    pub fn look_up(
        &self,
        device: &Device,
        ids: &[u32],
        scale: f32,
    ) -> Result<Tensor, ComputeError> {
        if let Some(id) = ids.iter().find(|id| **id as usize >= self.outputs) {
            let (index, rows) = (*id as usize, self.outputs);
            return Err(ComputeError::Index { op: "a lookup", operand: "table", index, rows });
        }
        let panels = match &self.packed {
            Packed::Blocks(panels) => panels,
            Packed::GpuBlocks(resident) => {
                return embedding_blocks::gpu(resident, ids, scale)?.to_device(device);
            }
            Packed::GpuUnits(table) => {
                return embedding_half::gpu(table, ids, scale)?.to_device(device);
            }
            _ => panic!("only rows of weights in blocks are looked up"),
        };
        let mut output = Tensor::zeros(ids.len(), self.inputs);
        for (row, id) in output.data_mut().chunks_mut(self.inputs.max(1)).zip(ids) {
            panels.unpack_row(*id as usize, row);
            row.iter_mut().for_each(|value| *value *= scale);
        }
        output.to_device(device)
    }

    /// Rows of 16 bits times the transposed weight, which a device has
    /// [unpacked](Self::unpacked) for its matrix units.
    ///
    /// # Errors
    /// When the GPU has no room or failed.
    ///
    /// # Panics
    /// When the weight is in another form, or has other inputs.
    pub fn sums(&self, rows: &HalfRows) -> Result<Sums, ComputeError> {
        assert_eq!(rows.width, self.inputs, "rows are as wide as a weight has inputs");
        match &self.packed {
            Packed::GpuUnits(weight) => weight.sums(rows),
            other => panic!("rows of 16 bits meet a weight in {}", other.name()),
        }
    }

    /// The weight, where it is in the memory of its device.
    ///
    /// # Errors
    /// What failed when it was uploaded.
    pub fn placed(self) -> Result<Self, ComputeError> {
        match &self.packed {
            Packed::Gpu(resident) => resident.check().map(|()| self),
            Packed::GpuUnits(weight) => weight.check().map(|()| self),
            Packed::GpuBlocks(resident) => resident.check().map(|()| self),
            _ => Ok(self),
        }
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }
}

impl std::fmt::Debug for Weight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Weight[{}, {}; {}]", self.outputs, self.inputs, self.packed.name())
    }
}
