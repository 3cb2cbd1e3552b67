//! What is said of a GPU, and which of several networks run on.

use std::fmt;
use std::str::FromStr;

use super::ComputeError;
use crate::model::named;

/// Where networks should run.
///
/// ```
/// use fnstore::engine::DeviceChoice;
/// let choice: DeviceChoice = "llvmpipe".parse()?;
/// assert_eq!(choice, DeviceChoice::Named("llvmpipe".to_owned()));
/// # Ok::<(), std::convert::Infallible>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// The best GPU, or the CPU where there is none.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The best GPU, which must be there.
    Gpu,
    /// The best adapter whose name or driver contains this, letter case aside. Only so a software
    /// adapter is used.
    Named(String),
}

impl FromStr for DeviceChoice {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "auto" => Self::Auto,
            "cpu" => Self::Cpu,
            "gpu" => Self::Gpu,
            _ => Self::Named(text.to_owned()),
        })
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::Named(name) => name,
        })
    }
}

named! {
    /// What kind of device an adapter drives.
    pub enum AdapterKind {
        /// A GPU with memory of its own.
        Discrete => "discrete",
        /// A GPU that shares the processor's memory.
        Integrated => "integrated",
        /// A GPU handed through to a virtual machine.
        Virtual => "virtual",
        /// The driver does not say.
        Other => "other",
        /// The processor, posing as a GPU: for tests, used by name only.
        Software => "software",
    }
}

/// An adapter of this machine and what it allows.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct GpuAdapter {
    /// Name of the device, by its driver.
    pub name: String,
    /// Kind of device; `software` is the processor posing as a GPU.
    pub kind: AdapterKind,
    /// The interface it is driven through, JSON `{"enum": ["vulkan", "metal", "dx12"]}`.
    pub backend: &'static str,
    /// The driver and its version.
    pub driver: String,
    /// Bytes of one binding of a shader.
    pub max_binding: u64,
    /// Bytes of one buffer.
    pub max_buffer: u64,
    /// Workgroups in one dimension of a dispatch.
    pub max_workgroups: u32,
    /// Bytes that the invocations of a workgroup share.
    pub workgroup_memory: u32,
    /// Invocations of a workgroup.
    pub workgroup_invocations: u32,
    /// Whether shaders compute with 16-bit floats.
    pub half_precision: bool,
    /// Shapes of the matrix products of its matrix units, as `rows x columns x depth` with the
    /// types that are multiplied and summed; empty without such units.
    pub matrix_units: Vec<String>,
    /// Whether one of them is a shape that our shader is written in.
    pub has_fitting_units: bool,
    /// Whether compiled shaders can be kept on disk.
    pub pipeline_cache: bool,
}

/// The place of the adapter that a choice names, among [`adapters`](super::adapters); `None` means
/// the CPU.
///
/// # Errors
/// When a GPU is asked for, or an adapter by name, that is not there.
pub fn choose(
    adapters: &[GpuAdapter],
    choice: &DeviceChoice,
) -> Result<Option<usize>, ComputeError> {
    let best = adapters.iter().position(|adapter| adapter.kind != AdapterKind::Software);
    let missing = || ComputeError::Adapter {
        wanted: choice.to_string(),
        found: adapters.iter().map(|adapter| adapter.name.clone()).collect(),
    };
    match choice {
        DeviceChoice::Cpu => Ok(None),
        DeviceChoice::Auto => Ok(best),
        DeviceChoice::Gpu => best.map(Some).ok_or_else(missing),
        DeviceChoice::Named(name) => {
            let name = name.to_lowercase();
            let is_named = |adapter: &GpuAdapter| {
                [&adapter.name, &adapter.driver]
                    .iter()
                    .any(|own| own.to_lowercase().contains(&name))
            };
            adapters.iter().position(is_named).map(Some).ok_or_else(missing)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(name: &str, kind: AdapterKind) -> GpuAdapter {
        GpuAdapter {
            name: name.to_owned(),
            kind,
            backend: "vulkan",
            driver: format!("{name} driver 1.2"),
            max_binding: 1 << 27,
            max_buffer: 1 << 28,
            max_workgroups: 65535,
            workgroup_memory: 16384,
            workgroup_invocations: 256,
            half_precision: false,
            matrix_units: Vec::new(),
            has_fitting_units: false,
            pipeline_cache: false,
        }
    }

    fn chosen(adapters: &[GpuAdapter], choice: &str) -> Result<Option<usize>, ComputeError> {
        choose(adapters, &choice.parse().expect("every text is a choice"))
    }

    #[test]
    fn a_software_adapter_is_chosen_by_name_only() {
        let software = [adapter("llvmpipe (LLVM 15)", AdapterKind::Software)];
        assert_eq!(chosen(&software, "auto").unwrap(), None);
        assert_eq!(chosen(&software, "LLVMpipe").unwrap(), Some(0));
        let refused = chosen(&software, "gpu");
        assert!(matches!(refused, Err(ComputeError::Adapter { .. })), "{refused:?}");
        assert_eq!(chosen(&software, "cpu").unwrap(), None);
    }

    #[test]
    fn the_first_that_is_no_software_is_the_best() {
        let all =
            [adapter("Big", AdapterKind::Discrete), adapter("Small", AdapterKind::Integrated)];
        assert_eq!(chosen(&all, "auto").unwrap(), Some(0));
        assert_eq!(chosen(&all, "gpu").unwrap(), Some(0));
        assert_eq!(chosen(&all, "small").unwrap(), Some(1));
        assert_eq!(chosen(&all, "small driver").unwrap(), Some(1));
        assert!(AdapterKind::Discrete < AdapterKind::Integrated);
    }

    #[test]
    fn a_name_that_nothing_has_is_refused_with_those_there_are() {
        let all = [adapter("Big", AdapterKind::Discrete)];
        let message = chosen(&all, "huge").unwrap_err().to_string();
        assert!(message.contains("`huge`") && message.contains("`Big`"), "{message}");
        let message = chosen(&[], "gpu").unwrap_err().to_string();
        assert!(message.contains("none"), "{message}");
    }
}
