//! `FNSTORE_GPU_PROFILE` of the benches, as the commands read it: `1` for tables, else the file
//! that their JSON is added to, too.

use std::error::Error;
use std::path::Path;

use fnstore::engine::{Device, profile_report};

const NAME: &str = "FNSTORE_GPU_PROFILE";

/// Whether a profile is asked for.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os(NAME).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Counts from zero.
pub(crate) fn restart(device: &Device) {
    if let Device::Gpu(gpu) = device {
        gpu.restart_profile();
    }
}

/// Tells where the time went since then.
pub(crate) fn tell(device: &Device, title: &str) -> Result<(), Box<dyn Error>> {
    let value = std::env::var_os(NAME).unwrap_or_default();
    let file = (value != "1").then_some(Path::new(&value));
    if let Some(tables) = profile_report(device, title, file)? {
        eprintln!("{tables}");
    }
    Ok(())
}
