//! Tensors and kernels on a [`Device`].
//!
//! Every operation of a network is one function of [`kernels`] that takes the device first, checks
//! shapes, and runs that device's code. On the CPU these are vector instructions, on a GPU the
//! shader of the kernel's name in `shaders/`. Two laws hold on the CPU:
//!
//! - **Batch invariance**: a row of a result depends on its own inputs only. Each output element is
//!   reduced in one order, whatever the number of rows, of threads, or the block that holds it. So
//!   results are the same *bits* for every batch.
//! - **No NaN, no infinity**: no kernel relies on them; they only appear when inputs are broken,
//!   and [`kernels::best_tokens`] reports them.
//!
//! On a GPU a result is the same bits for the same kernel and batch, and within 1e-3 of the CPU's.
//!
//! Batches are *ragged*: sequences of different lengths stand one after another in the rows of one
//! tensor, and attention is told which rows belong together. There is no padding to compute or to
//! mask.

mod device;
mod error;
#[macro_use]
mod gpu;
pub mod kernels;
mod lanes;
mod numbers;
mod renewable;
mod tasks;
mod tensor;

pub use device::Device;
pub use error::ComputeError;
#[doc(hidden)]
pub use gpu::Trial;
pub use gpu::{
    Adapter, AdapterKind, Binding, DeviceChoice, Gpu, GpuOptions, GpuProfile, HostTime, KernelTime,
    Needs, Notice, ProfileClock, Shader, adapters, choose, profile_report, spirv,
};
pub use numbers::{Numbers, UnknownNumbers};
pub(crate) use renewable::{DeviceError, Renewable, place_after, place_on};
pub use tensor::Tensor;
