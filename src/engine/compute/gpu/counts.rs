//! What a profile counts while a device works.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::engine::compute::profile::{Cost, GpuProfile, HostTime, KernelTime, ProfileClock};

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
    use crate::engine::compute::profile::SHOWN;

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
