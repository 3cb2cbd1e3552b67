//! GPUs, through wgpu: Vulkan, Metal or Direct3D 12.
//!
//! [`Gpu`] is the one handle; nothing of wgpu leaves this folder. A tensor of it stays on the
//! device until it is asked for, and calls of shaders run when something is read back: see
//! `context.rs`.

mod adapters;
mod context;
mod counts;
mod faults;
mod held;
mod pipeline;
mod pool;
pub mod spirv;
mod stamps;
mod tuned;
mod units;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use bytemuck::Pod;

pub use adapters::adapters;

pub(super) use super::profile::Cost;
pub(super) use super::shader::Shader;
pub(super) use super::tuning::Tuning;
pub(super) use context::{Call, Window};
pub(crate) use held::Held;
pub(super) use pool::Buffer;

use super::shader::Shaders;
use super::{
    AdapterKind, ComputeError, Device, GpuAdapter, GpuOptions, GpuProfile, Needs, ProfileClock,
    Tensor, Trial,
};
use context::{Context, Limits, State};
use faults::Faults;
use pipeline::Pipelines;
use pool::Pool;
use stamps::Profiler;
use tuned::Tuned;
use units::Units;

/// How often an adapter is opened anew; after one loss more the CPU takes over.
const MOST_LOSSES: u32 = 3;

/// An open GPU; clones are the same one.
#[derive(Clone)]
pub struct Gpu {
    adapter: Arc<GpuAdapter>,
    options: Arc<GpuOptions>,
    context: Arc<Context>,
    /// All shaders that it may run.
    shaders: Shaders,
    /// How often the adapter was lost before.
    losses: u32,
}

impl Gpu {
    /// Opens the adapter at a place of [`adapters()`] for some shaders.
    pub(super) fn open_for(
        shaders: Shaders,
        place: usize,
        options: &GpuOptions,
    ) -> Result<Self, ComputeError> {
        let mut all = adapters::enumerate();
        if place >= all.len() {
            let found = all.iter().map(|adapter| adapter.get_info().name).collect();
            return Err(ComputeError::Adapter { wanted: format!("number {place}"), found });
        }
        let adapter = all.swap_remove(place);
        let described = adapters::describe(&adapter);
        let open = |options: &GpuOptions| open_context(&adapter, shaders, options);
        let context = open(options).or_else(|error| {
            // Its clock may be what the driver does not hand out.
            if !options.profile {
                return Err(error);
            }
            let trial = Trial { clock: Some(ProfileClock::Host), ..options.trial };
            open(&GpuOptions { trial, ..options.clone() })
        })?;
        Ok(Self {
            adapter: Arc::new(described),
            options: Arc::new(options.clone()),
            context: Arc::new(context),
            shaders,
            losses: 0,
        })
    }

    /// What to go on with where this device was lost: its adapter opened anew; the CPU where that
    /// is not to be had or was lost [`MOST_LOSSES`] times before. Opened once, told once.
    pub(super) fn successor(&self) -> Device {
        let open = || {
            let name = &self.adapter.name;
            if self.losses >= MOST_LOSSES {
                self.tell(&format!("the GPU `{name}` is lost again and again; the CPU takes over"));
                return Device::cpu();
            }
            match self.reopen() {
                Ok(again) => {
                    self.tell(&format!("the GPU `{name}` was lost; it is used again, opened anew"));
                    Device::Gpu(again)
                }
                Err(_) => {
                    self.tell(&format!("the GPU `{name}` was lost; the CPU takes over"));
                    Device::cpu()
                }
            }
        };
        self.context.successor.get_or_init(open).clone()
    }

    /// The same adapter, opened anew. Faults asked for by a test happen as often as it asked, and
    /// matrix units, which may be to blame, stay out.
    fn reopen(&self) -> Result<Self, ComputeError> {
        let place = adapters().iter().position(|adapter| *adapter == *self.adapter);
        let missing =
            ComputeError::Adapter { wanted: self.adapter.name.clone(), found: Vec::new() };
        let mut trial = self.options.trial;
        match trial.lose_again.checked_sub(1) {
            Some(left) => trial.lose_again = left,
            None => trial.lose_after = None,
        }
        trial.units = false;
        let options = GpuOptions { trial, units: false, ..(*self.options).clone() };
        let losses = self.losses + 1;
        let again = Self::open_for(self.shaders, place.ok_or(missing)?, &options)?;
        Ok(Self { losses, ..again })
    }

    /// Whether weights are kept as 16-bit floats on this device.
    pub fn keeps_half(&self) -> bool {
        self.options.half && self.adapter.half_precision
    }

    /// Whether a shader runs on this adapter.
    pub fn has(&self, needs: Needs) -> bool {
        match needs {
            Needs::Nothing => true,
            Needs::Half => self.adapter.half_precision,
            Needs::MatrixUnits => self.context.units.open && !self.spells_units_out(),
        }
    }

    /// Whether a test asked for matrix units that are spelled out.
    pub(super) fn spells_units_out(&self) -> bool {
        self.options.trial.units && self.adapter.half_precision
    }

    /// Whether products of 16-bit weights go through matrix units: where the device was opened with
    /// them and `test` found no fault in them, the first time that it could tell.
    pub(super) fn trusts_units(
        &self,
        test: impl FnOnce(&Self) -> Result<Option<String>, ComputeError>,
    ) -> bool {
        if self.spells_units_out() {
            return true;
        }
        self.context.units.are_right(|| {
            let name = &self.adapter.name;
            match test(self) {
                Ok(None) => Some(true),
                Ok(Some(fault)) => {
                    self.tell(&format!(
                        "the matrix units of `{name}` are not used, its plain shaders are: {fault}"
                    ));
                    Some(false)
                }
                // What a driver refuses once it refuses again.
                Err(error @ ComputeError::Gpu { .. }) => {
                    self.tell(&format!("the matrix units of `{name}` are not used: {error}"));
                    Some(false)
                }
                // A device that is full or lost says nothing of its units.
                Err(_) => None,
            }
        })
    }

    /// The same device under other options; memory and pipelines are shared.
    pub(super) fn with_half(&self, half: bool) -> Self {
        let options = GpuOptions { half, ..(*self.options).clone() };
        Self { options: Arc::new(options), ..self.clone() }
    }

    /// The choice among the shaders of a product, found by `measure` the first time on this
    /// adapter.
    pub(super) fn tuning(&self, measure: impl FnOnce(&Self) -> Option<Tuning>) -> Tuning {
        if !self.options.tune || self.adapter.kind == AdapterKind::Software {
            return Tuning::default();
        }
        self.context.tuning.get(|| measure(self))
    }

    /// Tells whoever opened the device.
    pub(super) fn tell(&self, text: &str) {
        if let Some(notice) = self.options.notice {
            notice(text);
        }
    }

    /// The adapter.
    pub fn adapter(&self) -> &GpuAdapter {
        &self.adapter
    }

    /// Calls of shaders that were handed to the device so far.
    pub fn dispatches(&self) -> u64 {
        self.context.dispatches.load(Ordering::Relaxed)
    }

    /// Submissions so far.
    pub fn submissions(&self) -> u64 {
        self.context.submissions.load(Ordering::Relaxed)
    }

    /// Where the time went since the device was opened, or [`restart_profile`] was called, and the
    /// same of the devices that took its place after a loss; waits for them. None without
    /// [`GpuOptions::profile`].
    ///
    /// [`restart_profile`]: Self::restart_profile
    pub fn profiles(&self) -> Vec<GpuProfile> {
        let own = self.context.profile([&self.adapter.name, &self.adapter.driver]);
        let others = match self.context.successor.get() {
            Some(Device::Gpu(successor)) => successor.profiles(),
            _ => Vec::new(),
        };
        own.into_iter().chain(others).collect()
    }

    /// Counts from zero for [`profiles`](Self::profiles), once all that was submitted is done.
    pub fn restart_profile(&self) {
        self.context.restart_profile();
    }

    /// Waits until all that was recorded has run.
    ///
    /// # Errors
    /// When the device failed.
    pub fn finish(&self) -> Result<(), ComputeError> {
        let one = self.context.allocate(1)?;
        self.context.download::<u32>(&one, 1).map(|_| ())
    }

    /// Memory for so many numbers; what they are is left over.
    pub(super) fn allocate(&self, numbers: usize) -> Result<Buffer, ComputeError> {
        self.context.allocate(numbers)
    }

    pub(super) fn upload<T: Pod>(&self, numbers: &[T]) -> Result<Buffer, ComputeError> {
        self.context.upload(numbers)
    }

    pub(super) fn download<T: Pod>(
        &self,
        buffer: &Buffer,
        numbers: usize,
    ) -> Result<Vec<T>, ComputeError> {
        self.context.download(buffer, numbers)
    }

    /// A larger buffer with the same first numbers, and zeros behind them.
    pub(super) fn grow(
        &self,
        buffer: &Buffer,
        numbers: usize,
        wanted: usize,
    ) -> Result<Buffer, ComputeError> {
        let grown = self.allocate(wanted)?;
        self.context.copy_and_clear(buffer, &grown, numbers);
        Ok(grown)
    }

    /// The tensor's memory on this device; one that is elsewhere is uploaded for this use.
    pub(super) fn operand(&self, tensor: &Tensor) -> Result<Buffer, ComputeError> {
        match tensor.buffer(self) {
            Some(buffer) => Ok(buffer.clone()),
            None => self.upload(&tensor.host_data()?),
        }
    }

    /// Begins a call of a shader that brings at most `words` numbers of its own.
    pub(super) fn call(
        &self,
        shader: &'static Shader,
        words: usize,
    ) -> Result<Call<'_>, ComputeError> {
        self.context.call(shader, [], words).map(|(call, _)| call)
    }

    /// The same for a call that brings some lists, and at most `more` numbers beside them; says at
    /// which number each list begins. A list that lies on the device already takes no room.
    pub(super) fn call_with<const N: usize>(
        &self,
        shader: &'static Shader,
        lists: [&[u32]; N],
        more: usize,
    ) -> Result<(Call<'_>, [u32; N]), ComputeError> {
        self.context.call(shader, lists, more)
    }

    /// All of a buffer as one binding.
    ///
    /// # Errors
    /// When it is larger than a binding may be.
    pub(super) fn whole(&self, buffer: &Buffer, numbers: usize) -> Result<Window, ComputeError> {
        let limit = self.context.limits.binding;
        match Window::whole(buffer, limit) {
            Some(window) => Ok(window),
            None if 4 * numbers as u64 <= limit => Ok(Window::rows(buffer, 0, 1, numbers)),
            None => Err(ComputeError::Memory { bytes: 4 * numbers as u64, limit }),
        }
    }

    /// Cuts `rows` rows into parts whose bindings, of rows of each of the `widths`, are allowed,
    /// and of at most `most` rows: first row and number of rows.
    ///
    /// # Errors
    /// When a single row, or the fewest rows after which a binding may begin, are too many.
    pub(super) fn parts(
        &self,
        rows: usize,
        widths: &[usize],
        most: usize,
    ) -> Result<Vec<(usize, usize)>, ComputeError> {
        // Parts begin at a multiple of as many rows as make every width a multiple of the
        // alignment.
        let step = self.context.limits.alignment as usize / 4;
        self.parts_of(rows, widths, (step, most))
    }

    /// The same for tiles, each of which begins where a binding may begin.
    ///
    /// # Errors
    /// When a single tile is too large.
    pub(super) fn tiles(
        &self,
        tiles: usize,
        widths: &[usize],
        most: usize,
    ) -> Result<Vec<(usize, usize)>, ComputeError> {
        self.parts_of(tiles, widths, (1, most))
    }

    fn parts_of(
        &self,
        rows: usize,
        widths: &[usize],
        (step, most): (usize, usize),
    ) -> Result<Vec<(usize, usize)>, ComputeError> {
        let binding = self.context.limits.binding;
        let widest = widths.iter().copied().max().unwrap_or(0).max(1);
        if rows <= most && 4 * (rows * widest) as u64 <= binding {
            return Ok(vec![(0, rows)]);
        }
        let fitting = (binding / 4) as usize / widest;
        let part = fitting.min(most) / step * step;
        if part == 0 {
            return Err(ComputeError::Memory { bytes: 4 * (step * widest) as u64, limit: binding });
        }
        Ok((0..rows).step_by(part).map(|first| (first, part.min(rows - first))).collect())
    }

    /// Numbers that one binding holds.
    pub(super) fn most_numbers(&self) -> usize {
        (self.context.limits.binding / 4) as usize
    }

    /// Rows of `width` numbers after which a binding may begin.
    pub(super) fn row_step(&self, width: usize) -> usize {
        let step = self.context.limits.alignment as usize / 4;
        (1..step).find(|rows| (rows * width).is_multiple_of(step)).unwrap_or(step)
    }

    /// Part of a matrix as a binding; the whole buffer where that is what it is.
    pub(super) fn rows(
        &self,
        buffer: &Buffer,
        (first, rows): (usize, usize),
        width: usize,
    ) -> Window {
        let whole =
            if first == 0 { Window::whole(buffer, self.context.limits.binding) } else { None };
        whole.unwrap_or_else(|| Window::rows(buffer, first, rows, width))
    }

    /// A grid with one workgroup for each of `count`, in as many dimensions as it takes. A shader
    /// numbers them `x + y * width of the grid`.
    pub(super) fn grid(&self, count: usize) -> [u32; 3] {
        let most = self.context.limits.workgroups as usize;
        let y = count.div_ceil(most.max(1)).max(1);
        [count.div_ceil(y) as u32, y as u32, 1]
    }

    /// Workgroups in one dimension.
    pub(super) fn most_workgroups(&self) -> usize {
        self.context.limits.workgroups as usize
    }
}

impl PartialEq for Gpu {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.context, &other.context)
    }
}

impl Eq for Gpu {}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gpu({})", self.adapter.name)
    }
}

fn open_context(
    adapter: &wgpu::Adapter,
    shaders: Shaders,
    options: &GpuOptions,
) -> Result<Context, ComputeError> {
    let (units, device, queue) = open_device(adapter, options)?;
    let faults = Arc::new(Faults::new(&adapter.get_info().name));
    let told = Arc::clone(&faults);
    device.on_uncaptured_error(Arc::new(move |error| told.add(&error)));
    let told = Arc::clone(&faults);
    device.set_device_lost_callback(move |_, reason| told.lose(reason));

    let trial = options.trial;
    let limits = adapter.limits();
    let pool = Pool::new(device.clone(), Arc::clone(&faults), limits.max_buffer_size, trial.memory);
    let path = options.cache.as_ref().and_then(|dir| {
        let key = wgpu::util::pipeline_cache_key(&adapter.get_info())?;
        Some(dir.join(format!("{key}-{}.pipelines", fingerprint(adapter, shaders))))
    });
    // What is measured with matrix units says nothing of a device without.
    let kept = if units { "units.tuning" } else { "tuning" };
    let profiler = options.profile.then(|| {
        let (clock, _) = stamps::clock(device.features(), trial.clock);
        Profiler::new(clock, &queue)
    });
    Ok(Context {
        limits: narrowed(&limits, trial),
        tuning: Tuned::new(path.as_ref().map(|path| path.with_extension(kept))),
        units: Units::new(units),
        pipelines: Pipelines::new(&device, path, options.checked),
        pool: Arc::new(pool),
        device,
        queue,
        faults,
        lose_after: trial.lose_after,
        successor: OnceLock::new(),
        submissions: AtomicU64::new(0),
        dispatches: AtomicU64::new(0),
        profiler,
        state: Mutex::new(State::default()),
    })
}

/// A device of the adapter with its queue, and whether it was opened with matrix units.
fn open_device(
    adapter: &wgpu::Adapter,
    options: &GpuOptions,
) -> Result<(bool, wgpu::Device, wgpu::Queue), ComputeError> {
    let mut wanted = wgpu::Features::PIPELINE_CACHE | wgpu::Features::SHADER_F16;
    if options.profile {
        wanted |= stamps::clock(adapter.features(), options.trial.clock).1;
    }
    let plain = wgpu::DeviceDescriptor {
        label: Some("fnstore"),
        required_features: adapter.features() & wanted,
        required_limits: adapter.limits(),
        ..Default::default()
    };
    let request = |units, descriptor| {
        let opened = pollster::block_on(adapter.request_device(descriptor));
        opened.map(|(device, queue)| (units, device, queue)).map_err(|error| ComputeError::Gpu {
            adapter: adapter.get_info().name,
            reason: error.to_string(),
        })
    };
    if !(options.units && units::fit(adapter)) {
        return request(false, &plain);
    }
    let mut with_units = plain.clone();
    units::ask(&mut with_units);
    request(true, &with_units).or_else(|error| {
        let opened = request(false, &plain)?;
        if let Some(notice) = options.notice {
            notice(&format!("opened without matrix units: {error}"));
        }
        Ok(opened)
    })
}

/// What the device allows, or less where a test asks for less.
fn narrowed(limits: &wgpu::Limits, trial: Trial) -> Limits {
    let alignment = limits.min_storage_buffer_offset_alignment.max(4);
    let alignment = alignment.max(limits.min_uniform_buffer_offset_alignment);
    let binding = limits.max_storage_buffer_binding_size.min(u64::from(u32::MAX)) / 4 * 4;
    let workgroups = limits.max_compute_workgroups_per_dimension;
    Limits {
        binding: trial.binding.unwrap_or(binding).min(binding),
        workgroups: trial.workgroups.unwrap_or(workgroups).min(workgroups),
        alignment: u64::from(alignment),
    }
}

/// What compiled code depends on beside the device: the driver and the shaders.
fn fingerprint(adapter: &wgpu::Adapter, shaders: Shaders) -> String {
    let info = adapter.get_info();
    let mut hash = blake3::Hasher::new();
    hash.update(info.driver.as_bytes()).update(info.driver_info.as_bytes());
    for shader in shaders {
        hash.update(shader.source.as_bytes());
    }
    hash.finalize().to_hex()[..16].to_owned()
}
