//! One open device: commands gathered, memory, and what comes back.
//!
//! Calls of kernels are *recorded*; they run when something is read back or a good number has come
//! together, so that a network's step is one submission. Numbers that belong to a call (its
//! parameters, lists of ids) are laid one after another into an *arena*; what is new in it is
//! written to the device with each submission. So a recorded call costs no allocation, its bind
//! group is that of the same call in the step before, and a list that all layers share crosses
//! once. An arena that is half full begins anew where the host has waited for the device.

use std::iter::Peekable;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytemuck::{Pod, cast_slice};

use super::counts::{Part, Work};
use super::faults::Faults;
use super::held::Holds;
use super::pipeline::{Pipeline, Pipelines};
use super::pool::{Buffer, Pool};
use super::stamps::{Profiler, Stamps};
use super::tuned::Tuned;
use super::units::Units;
use super::{Cost, Shader};
use crate::engine::compute::{Binding, ComputeError, Device, GpuProfile};

/// First size of the arena in bytes; it grows when a call brings more.
const ARENA: u64 = 1 << 20;

/// Room of an arena, in calls with lists as long as those that made it grow. A step shares its
/// lists, so one call's and what is beside them fit into the half that is free when a step begins.
const ARENA_CALLS: usize = 4;

/// Commands after which a submission starts by itself, so that the device does not wait for them
/// all and no driver's watchdog sees one submission run for seconds.
pub(super) const MOST_COMMANDS: usize = 256;

/// Lists that the arena is searched for before a list is laid into it again: those of a step are
/// the same for every layer.
const REMEMBERED: usize = 16;

/// What a device allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Bytes of one binding.
    pub(super) binding: u64,
    /// Workgroups in one dimension.
    pub(super) workgroups: u32,
    /// Bytes between the beginnings of bindings.
    pub(super) alignment: u64,
}

/// An open device.
pub(super) struct Context {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) limits: Limits,
    pub(super) faults: Arc<Faults>,
    pub(super) pool: Arc<Pool>,
    pub(super) pipelines: Pipelines,
    pub(super) tuning: Tuned,
    pub(super) units: Units,
    /// Submissions after which the device is destroyed, where a test says so.
    pub(super) lose_after: Option<u64>,
    /// What to go on with, once this device was lost.
    pub(super) successor: OnceLock<Device>,
    pub(super) submissions: AtomicU64,
    pub(super) dispatches: AtomicU64,
    /// Where the device was opened to be profiled.
    pub(super) profiler: Option<Profiler>,
    pub(super) state: Mutex<State>,
}

/// What waits for the next submission.
#[derive(Default)]
pub(super) struct State {
    commands: Vec<Command>,
    arena: Option<wgpu::Buffer>,
    /// What the arena will hold.
    laid: Vec<u8>,
    /// How many bytes of that it holds.
    written: usize,
    /// Lists in the arena: first byte and length.
    remembered: Vec<(usize, usize)>,
    held: Holds,
    readback: Option<wgpu::Buffer>,
}

/// Commands hold the buffers themselves and keep none from being used again: what is recorded later
/// runs later.
enum Command {
    Dispatch(Dispatch),
    Copy { from: wgpu::Buffer, to: wgpu::Buffer, bytes: u64 },
    Clear { buffer: wgpu::Buffer, from: u64 },
}

struct Dispatch {
    pipeline: Arc<Pipeline>,
    group: wgpu::BindGroup,
    params: u32,
    grid: [u32; 3],
    work: Work,
}

/// Part of a buffer.
#[derive(Debug, Clone)]
pub(in crate::engine::compute) struct Window {
    buffer: Buffer,
    offset: u64,
    bytes: u64,
}

impl State {
    /// Where a list lies in the arena.
    fn find(&self, list: &[u32]) -> Option<usize> {
        if let Some(place) = self.held.place(list) {
            return Some(place);
        }
        let bytes: &[u8] = cast_slice(list);
        let is_there = |(from, length): &&(usize, usize)| {
            *length == bytes.len() && self.laid[*from..from + length] == *bytes
        };
        self.remembered.iter().rev().take(REMEMBERED).find(is_there).map(|(from, _)| *from)
    }

    /// Lays a list behind what lies in the arena.
    fn lay(&mut self, list: &[u32]) -> usize {
        let (from, bytes) = (self.laid.len(), cast_slice(list));
        self.laid.extend_from_slice(bytes);
        self.remembered.push((from, bytes.len()));
        self.held.lay(list, from);
        from
    }

    /// Bytes of the arena.
    fn room(&self) -> usize {
        self.arena.as_ref().map_or(0, wgpu::Buffer::size) as usize
    }

    /// Begins the arena anew; no command may wait.
    fn clear_arena(&mut self) {
        self.laid.clear();
        self.remembered.clear();
        self.held.forget();
        self.written = 0;
    }
}

impl Context {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // Commands are whole entries; a panic elsewhere leaves them in order.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lists that somebody holds.
    pub(super) fn with_holds<T>(&self, work: impl FnOnce(&mut Holds) -> T) -> T {
        work(&mut self.lock().held)
    }

    /// Memory for `numbers` numbers, which are left over from an earlier use.
    pub(super) fn allocate(&self, numbers: usize) -> Result<Buffer, ComputeError> {
        self.pool.take(4 * numbers as u64)
    }

    /// A buffer that holds some numbers.
    pub(super) fn upload<T: Pod>(&self, numbers: &[T]) -> Result<Buffer, ComputeError> {
        let mut state = self.lock();
        // A write takes place before anything that is submitted after it: what still waits may read
        // an earlier use of the same buffer.
        self.submit(&mut state, None)?;
        let before = self.enter(Part::Upload);
        let bytes: &[u8] = cast_slice(numbers);
        let buffer = self.pool.take(bytes.len() as u64)?;
        self.queue.write_buffer(buffer.raw(), 0, bytes);
        if let (Some(profiler), Some(before)) = (&self.profiler, before) {
            profiler.counts().bytes_up += bytes.len() as u64;
            profiler.enter(before);
        }
        self.faults.check()?;
        Ok(buffer)
    }

    /// The first `numbers` numbers of a buffer; waits for all that was recorded.
    pub(super) fn download<T: Pod>(
        &self,
        buffer: &Buffer,
        numbers: usize,
    ) -> Result<Vec<T>, ComputeError> {
        let bytes = 4 * numbers as u64;
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let mut state = self.lock();
        let readback = match state.readback.take().filter(|kept| kept.size() >= bytes) {
            Some(kept) => kept,
            None => self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("readback"),
                size: bytes.next_power_of_two(),
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }),
        };
        self.submit(&mut state, Some((buffer.raw(), &readback, bytes)))?;
        if state.laid.len() > state.room() / 2 {
            state.clear_arena();
        }
        let slice = readback.slice(..bytes);
        slice.map_async(wgpu::MapMode::Read, |_| ());
        self.enter(Part::Wait);
        let waited = self.device.poll(wgpu::PollType::wait_indefinitely());
        self.enter(Part::Unpack);
        self.faults.check()?;
        if let Err(error) = waited {
            return Err(self.faults.unknown(error.to_string()));
        }
        let view = slice.get_mapped_range().map_err(|e| self.faults.unknown(e.to_string()))?;
        let mut downloaded = vec![T::zeroed(); numbers];
        bytemuck::cast_slice_mut(&mut downloaded).copy_from_slice(&view);
        drop(view);
        readback.unmap();
        state.readback = Some(readback);
        if let Some(profiler) = &self.profiler {
            profiler.end_step(bytes);
        }
        Ok(downloaded)
    }

    /// The host begins another part of its work; returns the one before.
    fn enter(&self, part: Part) -> Option<Part> {
        self.profiler.as_ref().map(|profiler| profiler.enter(part))
    }

    /// What was counted, once all that was submitted is done; none where the device was not opened
    /// for it.
    pub(super) fn profile(&self, names: [&str; 2]) -> Option<GpuProfile> {
        let profiler = self.profiler.as_ref()?;
        let _state = self.lock();
        // A device that was lost has nothing more to tell.
        self.device.poll(wgpu::PollType::wait_indefinitely()).ok();
        Some(profiler.report(names))
    }

    /// Counts from zero.
    pub(super) fn restart_profile(&self) {
        if let Some(profiler) = &self.profiler {
            let _state = self.lock();
            self.device.poll(wgpu::PollType::wait_indefinitely()).ok();
            profiler.restart();
        }
    }

    /// Copies the first bytes of one buffer to another and clears what follows in that.
    pub(super) fn copy_and_clear(&self, from: &Buffer, to: &Buffer, numbers: usize) {
        let mut state = self.lock();
        let bytes = 4 * numbers as u64;
        let (from, to) = (from.raw().clone(), to.raw().clone());
        if bytes > 0 {
            state.commands.push(Command::Copy { from, to: to.clone(), bytes });
        }
        state.commands.push(Command::Clear { buffer: to, from: bytes });
    }

    /// Begins a call of a shader that brings some lists, and at most `more` numbers beside them;
    /// says at which number of the arena each list begins.
    pub(super) fn call<const N: usize>(
        &self,
        shader: &'static Shader,
        lists: [&[u32]; N],
        more: usize,
    ) -> Result<(Call<'_>, [u32; N]), ComputeError> {
        let pipeline = self.pipelines.get(&self.device, &self.faults, shader)?;
        let mut state = self.lock();
        if let Some(profiler) = &self.profiler {
            profiler.counts().enter_call();
        }
        // The parameters of the call come behind the lists, aligned.
        let beside = 4 * more + 2 * self.limits.alignment as usize;
        let all = beside + lists.iter().map(|list| size_of_val(*list)).sum::<usize>();
        if all as u64 > self.limits.binding {
            let (bytes, limit) = (all as u64, self.limits.binding);
            return Err(ComputeError::Memory { bytes, limit });
        }
        let mut places = lists.map(|list| state.find(list));
        let of_fresh = lists.iter().zip(&places).filter(|(_, place)| place.is_none());
        let fresh: usize = of_fresh.map(|(list, _)| size_of_val(*list)).sum();
        let is_full = state.laid.len() + fresh + beside > state.room() || all > state.room();
        if is_full || state.commands.len() >= MOST_COMMANDS {
            self.submit(&mut state, None)?;
        }
        if is_full {
            state.clear_arena();
            places = [None; N];
        }
        if all > state.room() {
            let size = ARENA.max((ARENA_CALLS * all).next_power_of_two() as u64);
            state.arena = Some(self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("arena"),
                size: size.min(self.limits.binding),
                usage: wgpu::BufferUsages::STORAGE
                    | wgpu::BufferUsages::UNIFORM
                    | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }));
        }
        let mut places = places.into_iter().zip(lists);
        let places = std::array::from_fn(|_| {
            let (known, list) = places.next().expect("as many places as lists");
            (known.unwrap_or_else(|| state.lay(list)) / 4) as u32
        });
        let windows = Vec::with_capacity(shader.bindings.len());
        let call = Call { context: self, state, shader, pipeline, windows, cost: Cost::default() };
        Ok((call, places))
    }

    /// Hands everything that waits to the device, and a copy behind it.
    fn submit(
        &self,
        state: &mut State,
        copy: Option<(&wgpu::Buffer, &wgpu::Buffer, u64)>,
    ) -> Result<(), ComputeError> {
        self.faults.check()?;
        if state.commands.is_empty() && copy.is_none() {
            return Ok(());
        }
        let fresh = state.written..state.laid.len();
        let mut stamps = self.profiler.as_ref().map(|profiler| {
            profiler.counts().bytes_up += fresh.len() as u64;
            profiler.begin(&self.device)
        });
        if let Some(arena) = state.arena.as_ref().filter(|_| !fresh.is_empty()) {
            self.queue.write_buffer(arena, fresh.start as u64, &state.laid[fresh.clone()]);
            state.written = fresh.end;
        }
        let mut encoder = self.device.create_command_encoder(&Default::default());
        self.encode(&mut encoder, state.commands.drain(..), &mut stamps);
        if let Some((from, to, bytes)) = copy {
            encoder.copy_buffer_to_buffer(from, 0, to, 0, Some(bytes));
        }
        if let Some(stamps) = &stamps {
            stamps.resolve(&mut encoder);
        }
        let submitted = self.submissions.fetch_add(1, Ordering::Relaxed) + 1;
        if self.lose_after.is_some_and(|after| submitted > after) {
            self.device.destroy();
            self.faults.lose("the device was destroyed".to_owned());
        }
        self.queue.submit([encoder.finish()]);
        if let Some(stamps) = stamps {
            stamps.submitted();
        }
        self.faults.check()
    }

    /// Writes commands into an encoder, in order.
    fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        commands: impl Iterator<Item = Command>,
        stamps: &mut Option<Stamps<'_>>,
    ) {
        let mut commands = commands.peekable();
        while let Some(command) = commands.peek() {
            match command {
                Command::Dispatch(_) => self.encode_pass(encoder, &mut commands, stamps),
                Command::Copy { from, to, bytes } => {
                    encoder.copy_buffer_to_buffer(from, 0, to, 0, Some(*bytes));
                    commands.next();
                }
                Command::Clear { buffer, from } => {
                    if *from < buffer.size() {
                        encoder.clear_buffer(buffer, *from, None);
                    }
                    commands.next();
                }
            }
        }
    }

    /// Writes the calls up to the next other command, in one pass unless their times ask for more.
    fn encode_pass(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        commands: &mut Peekable<impl Iterator<Item = Command>>,
        stamps: &mut Option<Stamps<'_>>,
    ) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: None,
            timestamp_writes: stamps.as_ref().and_then(Stamps::around),
        });
        let is_call = |next: &Command| matches!(next, Command::Dispatch(_));
        while let Some(Command::Dispatch(call)) = commands.next_if(is_call) {
            if let Some(stamps) = stamps {
                stamps.before(&mut pass, call.work);
            }
            let [x, y, z] = call.grid;
            pass.set_pipeline(&call.pipeline.raw);
            pass.set_bind_group(0, &call.group, &[call.params]);
            pass.dispatch_workgroups(x, y, z);
            self.dispatches.fetch_add(1, Ordering::Relaxed);
            if stamps.as_ref().is_some_and(Stamps::is_alone) {
                break;
            }
        }
        let Some(stamps) = stamps else { return };
        stamps.end(&mut pass);
        drop(pass);
        if stamps.is_by_host() {
            let fresh = self.device.create_command_encoder(&Default::default());
            let before = std::mem::replace(encoder, fresh);
            stamps.time(|| {
                self.queue.submit([before.finish()]);
                // What fails is found by whoever reads the results.
                self.device.poll(wgpu::PollType::wait_indefinitely()).ok();
            });
        }
    }
}

/// One call of a shader while it is put together.
pub(in crate::engine::compute) struct Call<'a> {
    context: &'a Context,
    state: MutexGuard<'a, State>,
    shader: &'static Shader,
    pipeline: Arc<Pipeline>,
    windows: Vec<Window>,
    cost: Cost,
}

impl Call<'_> {
    /// Lays a list into the arena and says at which number it begins there.
    pub(in crate::engine::compute) fn words(&mut self, words: &[u32]) -> u32 {
        let known = self.state.find(words);
        let from = known.unwrap_or_else(|| self.state.lay(words));
        (from / 4) as u32
    }

    /// Binds the next tensor, in the order of the shader's bindings.
    pub(in crate::engine::compute) fn bind(&mut self, window: Window) {
        self.windows.push(window);
    }

    /// Says what the call computes and moves, where somebody wants to know.
    pub(in crate::engine::compute) fn costs(&mut self, cost: impl FnOnce() -> Cost) {
        if self.context.profiler.is_some() {
            self.cost = cost();
        }
    }

    /// Records the call.
    pub(in crate::engine::compute) fn run<P: Pod>(mut self, params: &P, grid: [u32; 3]) {
        if grid.contains(&0) {
            return;
        }
        let alignment = self.context.limits.alignment as usize;
        let State { laid, .. } = &mut *self.state;
        let at = laid.len().next_multiple_of(alignment);
        laid.resize(at, 0);
        laid.extend_from_slice(bytemuck::bytes_of(params));
        let group = self.group();
        let pipeline = Arc::clone(&self.pipeline);
        let work = Work { kernel: self.shader.name, cost: self.cost };
        let call = Dispatch { pipeline, group, params: at as u32, grid, work };
        self.state.commands.push(Command::Dispatch(call));
    }

    fn group(&self) -> wgpu::BindGroup {
        let arena = self.state.arena.as_ref().expect("a call makes an arena when it begins");
        let arena_bytes = arena.size().min(self.context.limits.binding);
        let mut windows = self.windows.iter();
        let mut bound = Vec::with_capacity(self.shader.bindings.len());
        for binding in self.shader.bindings {
            bound.push(match binding {
                Binding::Params { bytes } => (arena.clone(), 0, u64::from(*bytes)),
                Binding::Words => (arena.clone(), 0, arena_bytes),
                Binding::Read | Binding::Write => {
                    let Window { buffer, offset, bytes } =
                        windows.next().expect("a call binds every tensor of its shader");
                    (buffer.raw().clone(), *offset, *bytes)
                }
            });
        }
        let make = || {
            let entries: Vec<_> = bound
                .iter()
                .enumerate()
                .map(|(binding, (buffer, offset, size))| wgpu::BindGroupEntry {
                    binding: binding as u32,
                    resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer,
                        offset: *offset,
                        size: std::num::NonZero::new(*size),
                    }),
                })
                .collect();
            self.context.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(self.shader.name),
                layout: &self.pipeline.layout,
                entries: &entries,
            })
        };
        self.context.pool.group((self.shader.name, bound.clone()), make)
    }
}

impl Window {
    /// `rows` rows from `first` of a matrix with rows of `width` numbers.
    ///
    /// The beginning must be a place where a binding may begin; [`super::Gpu::parts`] cuts there.
    pub(super) fn rows(buffer: &Buffer, first: usize, rows: usize, width: usize) -> Self {
        let (offset, bytes) = (4 * (first * width) as u64, 4 * (rows * width) as u64);
        // A binding must hold something, also where a matrix has no row.
        let bytes = bytes.clamp(4, buffer.bytes() - offset);
        Self { buffer: buffer.clone(), offset, bytes }
    }

    /// All of a buffer, whatever part of it is in use: the same for every batch that fits.
    pub(super) fn whole(buffer: &Buffer, limit: u64) -> Option<Self> {
        let bytes = buffer.bytes();
        (bytes <= limit).then(|| Self { buffer: buffer.clone(), offset: 0, bytes })
    }
}
