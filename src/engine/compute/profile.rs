//! Where the time of a device goes: by kernel and shape, by part of the host's work, and in bytes.
//!
//! A device that was opened for it (`GpuOptions::profile`) counts; any other asks its driver for
//! nothing and keeps nothing. How long a call took is told by the device's own clock (`stamps.rs`).
//! What it computes and moves is told by its kernel ([`Cost`]), as the least that its definition
//! takes: a kernel that reads its weight twice has half the rate.
//!
//! A *step* ends where the host waits for numbers: in a decoder, that is one step of all rows.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use serde::Serialize;

use super::Device;

/// Kernels and shapes that a table shows; the other ones are added up.
pub(super) const SHOWN: usize = 40;

/// What a call computes and moves, and the sizes that tell calls of a kernel apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::engine::compute) struct Cost {
    pub(super) shape: [usize; 3],
    pub(super) flops: usize,
    pub(super) bytes: usize,
}

impl Cost {
    /// A call that reads and writes so many numbers of 32 bits and computes next to nothing.
    pub(in crate::engine::compute) fn moved(shape: &[usize], numbers: usize) -> Self {
        Self { shape: sizes(shape), flops: 0, bytes: 4 * numbers }
    }

    /// A product of (R, K) with (K, C) that lies in so many bytes.
    pub(in crate::engine::compute) fn product(shape: [usize; 3], weight: usize) -> Self {
        let [rows, inputs, outputs] = shape;
        let bytes = weight + 4 * rows * (inputs + outputs);
        Self { shape, flops: 2 * rows * inputs * outputs, bytes }
    }

    /// Attention of (R, heads * C) over `keys` keys of all rows together, `key_width` wide.
    pub(in crate::engine::compute) fn attention(
        shape: [usize; 3],
        keys: usize,
        key_width: usize,
    ) -> Self {
        let [rows, heads, columns] = shape;
        let width = heads * columns;
        let bytes = 4 * (2 * rows * width + 2 * keys * key_width);
        Self { shape, flops: 4 * keys * width, bytes }
    }
}

fn sizes(shape: &[usize]) -> [usize; 3] {
    std::array::from_fn(|place| shape.get(place).copied().unwrap_or(0))
}

/// Which clock tells how long a call takes, the best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ProfileClock {
    /// The host's: every call is submitted and waited for by itself.
    Host,
    /// The device's, around a pass of its own for every call.
    Passes,
    /// The device's, between the calls of a pass.
    Calls,
}

impl fmt::Display for ProfileClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "the host's clock, every call waited for by itself: slower than without",
            Self::Passes => "the device's clock, a pass for every call: slower than without",
            Self::Calls => "the device's clock, between calls",
        })
    }
}

/// Seconds of the host by what it did.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct HostTime {
    /// From the first call of a step to its end: kernels put their calls together.
    pub record: f64,
    /// Commands are encoded and handed over.
    pub submit: f64,
    /// Numbers are written to the device.
    pub upload: f64,
    /// For the device.
    pub wait: f64,
    /// What came back is copied.
    pub unpack: f64,
    /// From the end of a step to the next one's first call: the search, and all that is no network.
    pub between: f64,
}

/// What all calls of one kernel and shape took.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct KernelTime {
    /// Name of the shader.
    pub kernel: &'static str,
    /// Sizes: rows, inputs and outputs of a product; rows, heads and columns of attention; else
    /// rows and width.
    pub shape: String,
    /// Number of calls.
    pub calls: u64,
    /// Seconds on the device.
    pub seconds: f64,
    /// Additions and multiplications; 0 where they are next to nothing.
    pub flops: u64,
    /// Bytes that are read and written at least.
    pub bytes: u64,
}

/// Where the time went since the device was opened, or the profile begun anew.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GpuProfile {
    /// What was profiled, in the words of whoever asks.
    pub title: String,
    /// Name of the adapter.
    pub adapter: String,
    /// Its driver.
    pub driver: String,
    /// What `seconds` of kernels were measured with.
    pub clock: ProfileClock,
    /// Calls for which the driver gave no time; they count as calls alone.
    pub untimed: u64,
    /// Seconds on the wall.
    pub seconds: f64,
    /// Seconds of the host.
    pub host: HostTime,
    /// How often the host waited for numbers.
    pub steps: u64,
    /// Submissions of commands.
    pub submissions: u64,
    /// Calls of shaders.
    pub calls: u64,
    /// Bytes written to the device.
    pub bytes_up: u64,
    /// Bytes read back.
    pub bytes_down: u64,
    /// By kernel and shape, the longest first.
    pub kernels: Vec<KernelTime>,
}

impl GpuProfile {
    /// Seconds of all calls on the device.
    #[must_use]
    pub fn device_seconds(&self) -> f64 {
        self.kernels.iter().map(|kernel| kernel.seconds).sum()
    }

    /// The same with one entry for each kernel, whatever its shapes.
    #[must_use]
    pub fn by_kernel(&self) -> Vec<KernelTime> {
        let mut kernels: Vec<KernelTime> = Vec::new();
        for of_shape in &self.kernels {
            match kernels.iter_mut().find(|known| known.kernel == of_shape.kernel) {
                Some(known) => known.add(of_shape),
                None => kernels.push(KernelTime { shape: String::new(), ..of_shape.clone() }),
            }
        }
        kernels.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        kernels
    }
}

impl KernelTime {
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.seconds += other.seconds;
        self.flops += other.flops;
        self.bytes += other.bytes;
    }

    /// A line of a table, after how much of `all` seconds it is.
    fn line(&self, all: f64) -> String {
        let rate = |number: u64, unit: f64| match number {
            0 => "-".to_owned(),
            _ if self.seconds > 0.0 => format!("{:.3}", number as f64 / self.seconds / unit),
            _ => "-".to_owned(),
        };
        format!(
            "{:<20} {:<24} {:>8} {:>10.2} {:>10.1} {:>6.1} {:>8} {:>8}",
            self.kernel,
            self.shape,
            self.calls,
            1e3 * self.seconds,
            1e6 * self.seconds / self.calls.max(1) as f64,
            share(self.seconds, all),
            rate(self.flops, 1e12),
            rate(self.bytes, 1e9),
        )
    }
}

/// Percent.
fn share(part: f64, all: f64) -> f64 {
    if all > 0.0 { 100.0 * part / all } else { 0.0 }
}

/// Two tables and what belongs to a step, without a line's end.
impl fmt::Display for GpuProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, steps) = (self.device_seconds(), self.steps.max(1) as f64);
        let title = if self.title.is_empty() { "GPU profile" } else { &self.title };
        writeln!(f, "{title}: `{}` ({}); by {}", self.adapter, self.driver, self.clock)?;
        if self.untimed > 0 {
            writeln!(f, "for {} calls the driver gave no time", self.untimed)?;
        }
        writeln!(
            f,
            "{} steps in {:.3} s, {:.3} ms a step; calls take {:.3} s, {:.1} % of it",
            self.steps,
            self.seconds,
            1e3 * self.seconds / steps,
            device,
            share(device, self.seconds),
        )?;
        writeln!(
            f,
            "a step: {:.2} submissions, {:.1} calls, {:.0} bytes up, {:.0} bytes down",
            self.submissions as f64 / steps,
            self.calls as f64 / steps,
            self.bytes_up as f64 / steps,
            self.bytes_down as f64 / steps,
        )?;
        let HostTime { record, submit, upload, wait, unpack, between } = self.host;
        write!(f, "host, ms a step:")?;
        let parts = [
            ("record", record),
            ("submit", submit),
            ("upload", upload),
            ("wait", wait),
            ("unpack", unpack),
            ("between", between),
        ];
        for (number, (name, seconds)) in parts.into_iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let of_all = share(seconds, self.seconds);
            write!(f, "{comma} {name} {:.3} ({of_all:.1} %)", 1e3 * seconds / steps)?;
        }
        writeln!(f)?;
        self.write_kernels(f, device)
    }
}

impl GpuProfile {
    /// The two tables: by kernel, and by kernel and shape.
    fn write_kernels(&self, f: &mut fmt::Formatter<'_>, device: f64) -> fmt::Result {
        let head = format!(
            "{:<20} {:<24} {:>8} {:>10} {:>10} {:>6} {:>8} {:>8}",
            "kernel", "shape", "calls", "ms", "us a call", "%", "TFLOP/s", "GB/s"
        );
        write!(f, "{head}")?;
        for kernel in self.by_kernel() {
            write!(f, "\n{}", kernel.line(device))?;
        }
        write!(f, "\n\n{head}")?;
        let (shown, others) = self.kernels.split_at(self.kernels.len().min(SHOWN));
        for kernel in shown {
            write!(f, "\n{}", kernel.line(device))?;
        }
        if let [first, rest @ ..] = others {
            let shape = format!("{} shapes more", others.len());
            let mut sum = KernelTime { kernel: "", shape, ..first.clone() };
            rest.iter().for_each(|kernel| sum.add(kernel));
            write!(f, "\n{}", sum.line(device))?;
        }
        Ok(())
    }
}

/// Tables of a device's profiles under a title, and their JSON behind what a file has, a line each;
/// none where the device was not opened to be profiled.
///
/// # Errors
/// When the file cannot be written.
pub fn profile_report(
    device: &Device,
    title: &str,
    file: Option<&Path>,
) -> std::io::Result<Option<String>> {
    let Device::Gpu(gpu) = device else { return Ok(None) };
    let mut profiles = gpu.profiles();
    profiles.iter_mut().for_each(|profile| title.clone_into(&mut profile.title));
    if let Some(path) = file.filter(|_| !profiles.is_empty()) {
        let mut lines = String::new();
        for profile in &profiles {
            lines.push_str(&serde_json::to_string(profile)?);
            lines.push('\n');
        }
        OpenOptions::new().create(true).append(true).open(path)?.write_all(lines.as_bytes())?;
    }
    let tables: Vec<String> = profiles.iter().map(ToString::to_string).collect();
    Ok((!tables.is_empty()).then(|| tables.join("\n\n")))
}
