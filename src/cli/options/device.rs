//! `--device`: where the networks run.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use anyhow::Context as _;
use fnstore::engine::{Device, DeviceChoice, GpuOptions, profile_report};

use super::locate;
use crate::cli::print::output::tell;

/// Asks for a profile of the GPUs: `1` for tables, else the file that their JSON is added to, too.
const PROFILE: &str = "FNSTORE_GPU_PROFILE";

/// The devices that this command opened to profile them.
static PROFILED: Mutex<Vec<Device>> = Mutex::new(Vec::new());

/// Options of every command that runs a network.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DeviceArgs {
    /// Where the networks run: auto, cpu, gpu, or part of an adapter's name as `fnstore gpu` lists
    /// it
    #[arg(long, value_name = "DEVICE", env = "FNSTORE_DEVICE", default_value = "auto")]
    pub(crate) device: DeviceChoice,
}

impl DeviceArgs {
    /// Whether the command line names another device than the environment, or `auto`, does.
    pub(crate) fn is_given(&self) -> bool {
        let otherwise = std::env::var("FNSTORE_DEVICE").unwrap_or_else(|_| "auto".to_owned());
        otherwise.parse().ok().as_ref() != Some(&self.device)
    }

    /// Opens the device, and says so, once a run, where the CPU takes the place of a GPU.
    pub(crate) fn open(&self) -> anyhow::Result<Device> {
        static TOLD: Once = Once::new();
        let device = Device::open(&self.device, &options())?;
        if is_set(PROFILE) {
            PROFILED.lock().unwrap_or_else(PoisonError::into_inner).push(device.clone());
        }
        if self.device == DeviceChoice::Auto && matches!(device, Device::Cpu { .. }) {
            TOLD.call_once(|| tell("there is no GPU; the networks run on the CPU"));
        }
        Ok(device)
    }
}

/// How GPUs are opened: compiled shaders are kept in the cache. `FNSTORE_GPU_CHECKS=1` lets shaders
/// check every index, `FNSTORE_GPU_HALF=1` keeps weights as 16-bit floats, which like blocks go
/// through matrix units unless `FNSTORE_GPU_COOPERATIVE=0`, and `FNSTORE_GPU_TUNE=0` takes a guess
/// for what is measured else. `FNSTORE_GPU_PROFILE` times every call.
pub(crate) fn options() -> GpuOptions {
    let is_wanted = |name| std::env::var(name).as_deref() != Ok("0");
    GpuOptions {
        checked: cfg!(debug_assertions) || is_set("FNSTORE_GPU_CHECKS"),
        half: is_set("FNSTORE_GPU_HALF"),
        units: is_wanted("FNSTORE_GPU_COOPERATIVE"),
        tune: is_wanted("FNSTORE_GPU_TUNE"),
        profile: is_set(PROFILE),
        cache: locate::cache().map(|dir: PathBuf| dir.join("gpu")),
        notice: Some(tell),
        ..GpuOptions::default()
    }
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Tells where the time of the devices went that were profiled, at a command's end.
pub(crate) fn tell_profiles() -> anyhow::Result<()> {
    let value = std::env::var_os(PROFILE).unwrap_or_default();
    let file = (value != "1").then_some(Path::new(&value));
    for device in &*PROFILED.lock().unwrap_or_else(PoisonError::into_inner) {
        let report = profile_report(device, "", file);
        let report = report.with_context(|| format!("writing {}", Path::new(&value).display()))?;
        if let Some(tables) = report {
            tell(&tables);
        }
    }
    Ok(())
}
