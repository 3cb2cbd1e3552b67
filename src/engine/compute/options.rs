//! How a GPU is opened.

use std::path::PathBuf;

use super::ProfileClock;

/// Hears what a network did about a device that was full or lost, in a sentence.
pub type Notice = fn(&str);

/// How a GPU is opened.
#[derive(Debug, Clone, Default)]
pub struct GpuOptions {
    /// Whether shaders check every index and bound every loop; slow, for hunting defects.
    pub checked: bool,
    /// Directory in which compiled shaders are kept; none are without.
    pub cache: Option<PathBuf>,
    /// Whether weights are kept as 16-bit floats where the adapter computes with them: half the
    /// memory, and each weight within 2^-11 of its value. Sums are 32-bit in any case.
    pub half: bool,
    /// Whether matrix units multiply weights of 16 bits and weights in blocks, where the adapter
    /// has units that fit and a self-test finds them right: states are rounded to 16 bits for a
    /// product as well.
    pub units: bool,
    /// Whether the choice among the shaders of a product is measured, once for each adapter and
    /// driver; else a guess is used.
    pub tune: bool,
    /// Whether what the device does is counted and timed; see
    /// [`Gpu::profiles`](super::Gpu::profiles).
    pub profile: bool,
    /// Hears of what went wrong and was made up for.
    pub notice: Option<Notice>,
    /// What goes wrong on purpose.
    #[doc(hidden)]
    pub trial: Trial,
}

/// Limits and faults of a device that a test asks for: the real thing happens, only sooner.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Trial {
    /// Bytes of one binding, where the device allows more.
    pub binding: Option<u64>,
    /// Workgroups in one dimension, where the device allows more.
    pub workgroups: Option<u32>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Matrix units that are spelled out, where the adapter has 16-bit floats.
    pub units: bool,
    /// Submissions after which the device is destroyed.
    pub lose_after: Option<u64>,
    /// How many of the devices that follow are destroyed after as many.
    pub lose_again: u32,
    /// The clock of a profile, where the device has a better one.
    pub clock: Option<ProfileClock>,
}
