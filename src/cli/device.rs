//! `--device`: where the networks run.

use std::path::PathBuf;

use fnstore::compute::{Device, DeviceChoice, GpuOptions};

use super::locate;
use super::output::tell;

/// Options of every command that runs a network.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct DeviceArgs {
    /// Where the networks run: auto, cpu, gpu, or part of an adapter's name as `fnstore gpu` lists it
    #[arg(long, value_name = "DEVICE", env = "FNSTORE_DEVICE", default_value = "auto")]
    pub(super) device: DeviceChoice,
}

impl DeviceArgs {
    /// Opens the device, and says so where the CPU takes the place of a GPU.
    pub(super) fn open(&self) -> anyhow::Result<Device> {
        let device = Device::open(&self.device, &options())?;
        if self.device == DeviceChoice::Auto && matches!(device, Device::Cpu { .. }) {
            tell("there is no GPU; the networks run on the CPU");
        }
        Ok(device)
    }
}

/// How GPUs are opened: compiled shaders are kept in the cache, and `FNSTORE_GPU_CHECKS=1` lets shaders
/// check every index.
pub(super) fn options() -> GpuOptions {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    GpuOptions {
        checked: cfg!(debug_assertions) || is_set("FNSTORE_GPU_CHECKS"),
        cache: locate::cache().map(|dir: PathBuf| dir.join("gpu")),
        notice: Some(tell),
        ..GpuOptions::default()
    }
}
