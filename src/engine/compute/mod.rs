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

mod adapter;
mod device;
mod error;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
mod gpu;
#[macro_use]
mod shader;
pub mod kernels;
mod lanes;
mod numbers;
mod options;
mod profile;
mod renewable;
mod tasks;
mod tensor;
mod tuning;

pub use adapter::{AdapterKind, DeviceChoice, GpuAdapter, choose};
pub use device::Device;
pub use error::ComputeError;
#[cfg(feature = "gpu")]
pub use gpu::spirv;
pub use gpu::{Gpu, adapters};
pub use numbers::{Numbers, UnknownNumbers};
#[doc(hidden)]
pub use options::Trial;
pub use options::{GpuOptions, Notice};
pub use profile::{GpuProfile, HostTime, KernelTime, ProfileClock, profile_report};
pub(crate) use renewable::{DeviceError, Renewable, place_after, place_on};
pub use shader::{Binding, Needs, Shader};
pub use tensor::Tensor;
