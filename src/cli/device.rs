//! `--device`: where the networks run.

use std::path::PathBuf;
use std::sync::Once;

use fnstore::compute::{Device, DeviceChoice, GpuOptions};

use super::locate;
use super::output::tell;

/// Options of every command that runs a network.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct DeviceArgs {
    /// Where the networks run: auto, cpu, gpu, or part of an adapter's name as `fnstore gpu` lists
    /// it
    #[arg(long, value_name = "DEVICE", env = "FNSTORE_DEVICE", default_value = "auto")]
    pub(super) device: DeviceChoice,
}

impl DeviceArgs {
    /// Whether the command line names another device than the environment, or `auto`, does.
    pub(super) fn is_given(&self) -> bool {
        let otherwise = std::env::var("FNSTORE_DEVICE").unwrap_or_else(|_| "auto".to_owned());
        otherwise.parse().ok().as_ref() != Some(&self.device)
    }

    /// Opens the device, and says so, once a run, where the CPU takes the place of a GPU.
    pub(super) fn open(&self) -> anyhow::Result<Device> {
        static TOLD: Once = Once::new();
        let device = Device::open(&self.device, &options())?;
        if self.device == DeviceChoice::Auto && matches!(device, Device::Cpu { .. }) {
            TOLD.call_once(|| tell("there is no GPU; the networks run on the CPU"));
        }
        Ok(device)
    }
}

/// How GPUs are opened: compiled shaders are kept in the cache. `FNSTORE_GPU_CHECKS=1` lets shaders
/// check every index, `FNSTORE_GPU_HALF=1` keeps weights as 16-bit floats, which go through matrix
/// units unless `FNSTORE_GPU_COOPERATIVE=0`, and `FNSTORE_GPU_TUNE=0` takes a guess for what is
/// measured else.
pub(super) fn options() -> GpuOptions {
    let is_set = |name| std::env::var(name).is_ok_and(|value| !matches!(value.as_str(), "" | "0"));
    let is_wanted = |name| std::env::var(name).as_deref() != Ok("0");
    GpuOptions {
        checked: cfg!(debug_assertions) || is_set("FNSTORE_GPU_CHECKS"),
        half: is_set("FNSTORE_GPU_HALF"),
        units: is_wanted("FNSTORE_GPU_COOPERATIVE"),
        tune: is_wanted("FNSTORE_GPU_TUNE"),
        cache: locate::cache().map(|dir: PathBuf| dir.join("gpu")),
        notice: Some(tell),
        ..GpuOptions::default()
    }
}
