//! How long calls take, by the clock of the device: timestamp queries around each of them.
//!
//! Stamps are written between the calls of a pass where the adapter can, else around passes of one
//! call each. Without either, and where a driver refuses them, every call is submitted and waited
//! for by itself. What a submission stamped is copied behind its commands, and read when the host
//! waits for the device anyway, so that host and device overlap as they do without a profile.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::context::MOST_COMMANDS;
use super::counts::{Counts, Part, Work};
use crate::engine::compute::{GpuProfile, ProfileClock};

/// Stamps of a submission: two for each of its calls.
const MOST_STAMPS: u32 = 2 * MOST_COMMANDS as u32;

/// What a clock needs of a device.
fn features(clock: ProfileClock) -> wgpu::Features {
    match clock {
        ProfileClock::Host => wgpu::Features::empty(),
        ProfileClock::Passes => wgpu::Features::TIMESTAMP_QUERY,
        ProfileClock::Calls => {
            wgpu::Features::TIMESTAMP_QUERY
                | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS
                | wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES
        }
    }
}

/// The best clock, up to `most`, of an adapter or device with such features, and what it is asked
/// for.
pub(super) fn clock(
    of: wgpu::Features,
    most: Option<ProfileClock>,
) -> (ProfileClock, wgpu::Features) {
    let clocks = [ProfileClock::Calls, ProfileClock::Passes];
    let found = clocks
        .into_iter()
        .filter(|clock| most.is_none_or(|most| *clock <= most))
        .find(|clock| of.contains(features(*clock)));
    let clock = found.unwrap_or(ProfileClock::Host);
    (clock, features(clock))
}

/// What a device does, while it is profiled.
pub(super) struct Profiler {
    clock: ProfileClock,
    /// Nanoseconds of a tick of the device's clock.
    tick: f64,
    counts: Mutex<Counts>,
    sets: Mutex<Sets>,
}

/// Queries and where they are read.
#[derive(Default)]
struct Sets {
    free: Vec<Set>,
    /// Those of submissions whose stamps were not read yet.
    pending: Vec<(Set, Vec<Span>)>,
}

struct Set {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readback: wgpu::Buffer,
}

/// A call between two stamps.
struct Span {
    work: Work,
    begin: u32,
    end: u32,
}

/// The stamps of one submission while it is encoded.
pub(super) struct Stamps<'a> {
    profiler: &'a Profiler,
    set: Option<Set>,
    used: u32,
    spans: Vec<Span>,
}

impl Profiler {
    pub(super) fn new(clock: ProfileClock, queue: &wgpu::Queue) -> Self {
        let tick = f64::from(queue.get_timestamp_period());
        Self { clock, tick, counts: Mutex::new(Counts::new()), sets: Mutex::default() }
    }

    pub(super) fn counts(&self) -> MutexGuard<'_, Counts> {
        lock(&self.counts)
    }

    /// The host begins another part of its work; returns the one before.
    pub(super) fn enter(&self, part: Part) -> Part {
        self.counts().enter(part)
    }

    /// Begins a submission.
    pub(super) fn begin(&self, device: &wgpu::Device) -> Stamps<'_> {
        let mut counts = self.counts();
        counts.enter(Part::Submit);
        counts.submissions += 1;
        drop(counts);
        let set = match self.clock {
            ProfileClock::Host => None,
            ProfileClock::Passes | ProfileClock::Calls => {
                let free = lock(&self.sets).free.pop();
                Some(free.unwrap_or_else(|| Set::new(device)))
            }
        };
        Stamps { profiler: self, set, used: 0, spans: Vec::new() }
    }

    /// The host has so many bytes of what it waited for, and the device has done all.
    pub(super) fn end_step(&self, bytes: u64) {
        self.collect();
        let mut counts = self.counts();
        counts.steps += 1;
        counts.bytes_down += bytes;
        counts.enter(Part::Between);
    }

    /// Reads the stamps of all submissions; the device must have done them.
    fn collect(&self) {
        let mut sets = lock(&self.sets);
        let mut counts = self.counts();
        for (set, spans) in std::mem::take(&mut sets.pending) {
            let Ok(view) = set.readback.get_mapped_range(..) else {
                counts.untimed += spans.len() as u64;
                continue;
            };
            let ticks: &[u64] = bytemuck::cast_slice(&view);
            for Span { work, begin, end } in &spans {
                let (begin, end) = (ticks[*begin as usize], ticks[*end as usize]);
                match end.checked_sub(begin) {
                    Some(ticks) if begin > 0 => {
                        let nanoseconds = ticks as f64 * self.tick;
                        counts.add_time(*work, Duration::from_nanos(nanoseconds as u64));
                    }
                    // Some drivers have queries and no clock behind them.
                    _ => counts.untimed += 1,
                }
            }
            drop(view);
            set.readback.unmap();
            sets.free.push(set);
        }
    }

    /// What was counted, once the device has done all that was submitted.
    pub(super) fn report(&self, names: [&str; 2]) -> GpuProfile {
        self.collect();
        self.counts().report(self.clock, names)
    }

    /// Counts from zero, once the device has done all that was submitted.
    pub(super) fn restart(&self) {
        self.collect();
        *self.counts() = Counts::new();
    }
}

impl Set {
    fn new(device: &wgpu::Device) -> Self {
        use wgpu::BufferUsages as Usage;
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("stamps"),
                size: 8 * u64::from(MOST_STAMPS),
                usage,
                mapped_at_creation: false,
            })
        };
        let queries = device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("stamps"),
            ty: wgpu::QueryType::Timestamp,
            count: MOST_STAMPS,
        });
        Self {
            queries,
            resolved: buffer(Usage::QUERY_RESOLVE | Usage::COPY_SRC),
            readback: buffer(Usage::MAP_READ | Usage::COPY_DST),
        }
    }
}

impl Stamps<'_> {
    /// Whether a call needs a pass of its own.
    pub(super) fn is_alone(&self) -> bool {
        self.profiler.clock != ProfileClock::Calls
    }

    /// Whether a call is waited for by itself.
    pub(super) fn is_by_host(&self) -> bool {
        self.profiler.clock == ProfileClock::Host
    }

    /// What is stamped around the next pass.
    pub(super) fn around(&self) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let set = self.set.as_ref().filter(|_| self.profiler.clock == ProfileClock::Passes)?;
        (self.used + 2 <= MOST_STAMPS).then(|| wgpu::ComputePassTimestampWrites {
            query_set: &set.queries,
            beginning_of_pass_write_index: Some(self.used),
            end_of_pass_write_index: Some(self.used + 1),
        })
    }

    /// Comes before a call.
    pub(super) fn before(&mut self, pass: &mut wgpu::ComputePass<'_>, work: Work) {
        let mut counts = self.profiler.counts();
        counts.add_call(work);
        match (&self.set, self.profiler.clock) {
            // Room for the stamp that ends the pass stays.
            (Some(set), ProfileClock::Calls) if self.used + 2 <= MOST_STAMPS => {
                pass.write_timestamp(&set.queries, self.used);
                self.spans.push(Span { work, begin: self.used, end: self.used + 1 });
                self.used += 1;
            }
            (Some(_), ProfileClock::Passes) if self.used + 2 <= MOST_STAMPS => {
                self.spans.push(Span { work, begin: self.used, end: self.used + 1 });
                self.used += 2;
            }
            (Some(_), _) => counts.untimed += 1,
            (None, _) => self.spans.push(Span { work, begin: 0, end: 0 }),
        }
    }

    /// Ends a pass.
    pub(super) fn end(&mut self, pass: &mut wgpu::ComputePass<'_>) {
        let ends = self.spans.last().is_some_and(|span| span.end == self.used);
        if let (Some(set), ProfileClock::Calls, true) = (&self.set, self.profiler.clock, ends) {
            pass.write_timestamp(&set.queries, self.used);
            self.used += 1;
        }
    }

    /// Runs the one call that was encoded, and waits for it.
    pub(super) fn time(&mut self, run: impl FnOnce()) {
        self.profiler.enter(Part::Wait);
        let begin = Instant::now();
        run();
        let time = begin.elapsed();
        let mut counts = self.profiler.counts();
        for Span { work, .. } in self.spans.drain(..) {
            counts.add_time(work, time);
        }
        counts.enter(Part::Submit);
    }

    /// Comes behind the commands.
    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        if let Some(set) = self.set.as_ref().filter(|_| self.used > 0) {
            let bytes = 8 * u64::from(self.used);
            encoder.resolve_query_set(&set.queries, 0..self.used, &set.resolved, 0);
            encoder.copy_buffer_to_buffer(&set.resolved, 0, &set.readback, 0, Some(bytes));
        }
    }

    /// Comes once all is handed over.
    pub(super) fn submitted(self) {
        let Self { profiler, set, used, spans } = self;
        if let Some(set) = set {
            let mut sets = lock(&profiler.sets);
            match used {
                0 => sets.free.push(set),
                _ => {
                    set.readback.map_async(wgpu::MapMode::Read, .., |_| ());
                    sets.pending.push((set, spans));
                }
            }
        }
        profiler.enter(Part::Record);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Counts and lists are whole whoever panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_clock_of_an_adapter_is_used_up_to_a_limit() {
        let all = features(ProfileClock::Calls);
        for (of, most, wanted) in [
            (all, None, ProfileClock::Calls),
            (all, Some(ProfileClock::Passes), ProfileClock::Passes),
            (all, Some(ProfileClock::Host), ProfileClock::Host),
            (wgpu::Features::TIMESTAMP_QUERY, None, ProfileClock::Passes),
            (wgpu::Features::SHADER_F16, None, ProfileClock::Host),
        ] {
            let (found, asked) = clock(of, most);
            assert_eq!((found, asked), (wanted, features(wanted)));
        }
    }
}
