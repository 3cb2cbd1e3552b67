//! Where the time of a device goes: by kernel and shape, by part of the host's work, and in bytes.
//!
//! A device that was opened for it (`GpuOptions::profile`) counts; any other asks its driver for
//! nothing and keeps nothing. How long a call took is told by the device's own clock (`stamps.rs`).
//! What it computes and moves is told by its kernel ([`Cost`]), as the least that its definition
//! takes: a kernel that reads its weight twice has half the rate.
//!
//! A *step* ends where the host waits for numbers: in a decoder, that is one step of all rows.

use std::collections::HashMap;
use std::fmt;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::compute::Device;

/// Kernels and shapes that a table shows; the other ones are added up.
const SHOWN: usize = 40;

/// What a call computes and moves, and the sizes that tell calls of a kernel apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::compute) struct Cost {
    shape: [usize; 3],
    flops: usize,
    bytes: usize,
}

impl Cost {
    /// A call that reads and writes so many numbers of 32 bits and computes next to nothing.
    pub(in crate::compute) fn moved(shape: &[usize], numbers: usize) -> Self {
        Self { shape: sizes(shape), flops: 0, bytes: 4 * numbers }
    }

    /// A product of (R, K) with (K, C) that lies in so many bytes.
    pub(in crate::compute) fn product(shape: [usize; 3], weight: usize) -> Self {
        let [rows, inputs, outputs] = shape;
        let bytes = weight + 4 * rows * (inputs + outputs);
        Self { shape, flops: 2 * rows * inputs * outputs, bytes }
    }

    /// Attention of (R, heads * C) over `keys` keys of all rows together, `key_width` wide.
    pub(in crate::compute) fn attention(shape: [usize; 3], keys: usize, key_width: usize) -> Self {
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

/// A part of the host's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Record,
    Submit,
    Upload,
    Wait,
    Unpack,
    Between,
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

/// A call that a profile hears of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    pub(super) kernel: &'static str,
    pub(super) cost: Cost,
}

/// What is counted while a device works.
#[derive(Debug)]
pub(super) struct Counts {
    begun: Instant,
    /// When the host began its present part.
    since: Instant,
    part: Part,
    host: [Duration; 6],
    pub(super) steps: u64,
    pub(super) submissions: u64,
    pub(super) bytes_up: u64,
    pub(super) bytes_down: u64,
    pub(super) untimed: u64,
    calls: HashMap<(&'static str, [usize; 3]), Calls>,
}

/// What is counted of a kernel and shape.
#[derive(Debug, Clone, Copy, Default)]
struct Calls {
    calls: u64,
    time: Duration,
    flops: u64,
    bytes: u64,
}

impl Counts {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            begun: now,
            since: now,
            part: Part::Between,
            host: [Duration::ZERO; 6],
            steps: 0,
            submissions: 0,
            bytes_up: 0,
            bytes_down: 0,
            untimed: 0,
            calls: HashMap::new(),
        }
    }

    /// The host begins another part of its work; returns the one before.
    pub(super) fn enter(&mut self, part: Part) -> Part {
        let (now, before) = (Instant::now(), self.part);
        self.host[before as usize] += now - self.since;
        (self.since, self.part) = (now, part);
        before
    }

    /// The host puts a call together.
    pub(super) fn enter_call(&mut self) {
        if self.part == Part::Between {
            self.enter(Part::Record);
        }
    }

    /// A call is handed to the device.
    pub(super) fn add_call(&mut self, Work { kernel, cost }: Work) {
        let known = self.calls.entry((kernel, cost.shape)).or_default();
        known.calls += 1;
        known.flops += cost.flops as u64;
        known.bytes += cost.bytes as u64;
    }

    /// A call took so long.
    pub(super) fn add_time(&mut self, Work { kernel, cost }: Work, time: Duration) {
        self.calls.entry((kernel, cost.shape)).or_default().time += time;
    }

    /// What was counted until now.
    pub(super) fn report(&mut self, clock: ProfileClock, names: [&str; 2]) -> GpuProfile {
        self.enter(self.part);
        let [record, submit, upload, wait, unpack, between] =
            self.host.map(|part| part.as_secs_f64());
        let mut kernels: Vec<KernelTime> = self.calls.iter().map(kernel_time).collect();
        kernels.sort_by(|a, b| {
            let by_time = b.seconds.total_cmp(&a.seconds);
            by_time.then_with(|| (a.kernel, &a.shape).cmp(&(b.kernel, &b.shape)))
        });
        GpuProfile {
            title: String::new(),
            adapter: names[0].to_owned(),
            driver: names[1].to_owned(),
            clock,
            untimed: self.untimed,
            seconds: self.begun.elapsed().as_secs_f64(),
            host: HostTime { record, submit, upload, wait, unpack, between },
            steps: self.steps,
            submissions: self.submissions,
            calls: kernels.iter().map(|kernel| kernel.calls).sum(),
            bytes_up: self.bytes_up,
            bytes_down: self.bytes_down,
            kernels,
        }
    }
}

fn kernel_time((&(kernel, shape), calls): (&(&'static str, [usize; 3]), &Calls)) -> KernelTime {
    let sizes: Vec<String> = shape.iter().filter(|size| **size > 0).map(usize::to_string).collect();
    KernelTime {
        kernel,
        shape: sizes.join(" x "),
        calls: calls.calls,
        seconds: calls.time.as_secs_f64(),
        flops: calls.flops,
        bytes: calls.bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_add_up_by_kernel_and_shape() {
        let mut counts = Counts::new();
        let product = |rows| Work { kernel: "p", cost: Cost::product([rows, 3, 5], 60) };
        for (work, millis) in [(product(2), 4), (product(7), 1), (product(2), 6)] {
            counts.add_call(work);
            counts.add_time(work, Duration::from_millis(millis));
        }
        counts.add_call(Work { kernel: "m", cost: Cost::moved(&[2, 8], 32) });
        let profile = counts.report(ProfileClock::Calls, ["card", "driver"]);
        assert_eq!(profile.calls, 4);
        let KernelTime { kernel, shape, calls, seconds, flops, bytes } = &profile.kernels[0];
        assert_eq!((*kernel, shape.as_str(), *calls), ("p", "2 x 3 x 5", 2));
        assert_eq!((*flops, *bytes), (2 * 60, 2 * (60 + 4 * 2 * 8)));
        assert!((seconds - 0.01).abs() < 1e-9);
        let of_kernels = profile.by_kernel();
        assert_eq!((of_kernels[0].calls, of_kernels[1].calls), (3, 1));
        let table = profile.to_string();
        assert!(table.contains("2 x 3 x 5") && table.contains("card"), "{table}");
        assert!(
            table.lines().any(|line| line.starts_with("m ") && line.contains(" - ")),
            "{table}"
        );
    }

    #[test]
    fn the_parts_of_the_host_are_all_of_its_time() {
        let mut counts = Counts::new();
        for part in [Part::Record, Part::Submit, Part::Upload, Part::Wait, Part::Unpack] {
            counts.enter(part);
            std::thread::sleep(Duration::from_millis(2));
        }
        counts.enter(Part::Between);
        counts.enter_call();
        let GpuProfile { host, seconds, .. } = counts.report(ProfileClock::Host, ["", ""]);
        let HostTime { record, submit, upload, wait, unpack, between } = host;
        for part in [record, submit, upload, wait, unpack] {
            assert!(part >= 0.002, "{host:?}");
        }
        let sum = record + submit + upload + wait + unpack + between;
        assert!(sum <= seconds && seconds - sum < 0.001, "{sum} {seconds}");
    }

    #[test]
    fn a_table_adds_up_what_it_does_not_show() {
        let mut counts = Counts::new();
        for rows in 1..SHOWN + 3 {
            counts.add_call(Work { kernel: "m", cost: Cost::moved(&[rows], 1) });
        }
        let table = counts.report(ProfileClock::Passes, ["", ""]).to_string();
        assert!(table.contains("2 shapes more"), "{table}");
    }
}
