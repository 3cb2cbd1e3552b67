//! The adapter that is measured, a device of it for each variant, and one product on it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use half::f16;
use half::slice::HalfFloatSliceExt as _;

use super::variants::{Binds, Variant};

/// What an output holds before a run: no sum of the bench.
pub(crate) const UNWRITTEN: f32 = -12_345.0;

/// Seconds that a measurement lasts at least.
const LEAST: f64 = 0.02;
const REPEATS: usize = 3;

/// An adapter, and whether its matrix units fit.
pub(crate) struct Card {
    adapter: wgpu::Adapter,
    pub(crate) info: wgpu::AdapterInfo,
    pub(crate) has_units: bool,
}

impl Card {
    /// The best Vulkan adapter whose name contains `wanted`: with units that fit, then by kind.
    pub(crate) fn find(wanted: &str) -> Option<Self> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let all = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
        let cards = all.into_iter().map(|adapter| Self {
            info: adapter.get_info(),
            has_units: has_units(&adapter),
            adapter,
        });
        let named = |card: &Self| card.info.name.to_lowercase().contains(&wanted.to_lowercase());
        cards.filter(named).min_by_key(|card| {
            let kind = match card.info.device_type {
                wgpu::DeviceType::DiscreteGpu => 0,
                wgpu::DeviceType::IntegratedGpu => 1,
                wgpu::DeviceType::VirtualGpu => 2,
                _ => 3,
            };
            (!card.has_units, kind)
        })
    }

    /// A device of its own for each variant, so that one that is lost takes no other along.
    pub(crate) fn open(&self, units: bool) -> Result<Opened, String> {
        let mut features = wgpu::Features::PASSTHROUGH_SHADERS;
        if units {
            features |= units_features();
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("units"),
            required_features: features & self.adapter.features(),
            required_limits: self.adapter.limits(),
            // SAFETY: a bench that asks whether the driver's code is right.
            experimental_features: unsafe { wgpu::ExperimentalFeatures::enabled() },
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(self.adapter.request_device(&descriptor))
            .map_err(|error| error.to_string())?;
        let faults = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&faults);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            told.lock().unwrap_or_else(PoisonError::into_inner).push(error.to_string());
        }));
        let told = Arc::clone(&faults);
        device.set_device_lost_callback(move |_, reason| {
            let lost = format!("the device is lost: {reason}");
            told.lock().unwrap_or_else(PoisonError::into_inner).push(lost);
        });
        Ok(Opened { device, queue, faults })
    }
}

fn units_features() -> wgpu::Features {
    wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX
        | wgpu::Features::SUBGROUP
        | wgpu::Features::SHADER_F16
}

fn has_units(adapter: &wgpu::Adapter) -> bool {
    use wgpu::CooperativeScalarType::{F16, F32};
    adapter.features().contains(units_features())
        && adapter.get_info().subgroup_min_size >= 32
        && adapter.cooperative_matrix_properties().iter().any(|shape| {
            (shape.m_size, shape.n_size, shape.k_size) == (16, 16, 16)
                && (shape.ab_type, shape.cr_type) == (F16, F32)
        })
}

/// Two matrices, (R, K) and (C, K).
pub(crate) struct Factors {
    pub(crate) shape: [usize; 3],
    pub(crate) a: Vec<f16>,
    pub(crate) b: Vec<f16>,
}

impl Factors {
    /// Rows, inputs and columns, all numbers 1.
    pub(crate) fn ones(shape: [usize; 3]) -> Self {
        let [rows, inputs, columns] = shape;
        let ones = |count| vec![f16::ONE; count];
        Self { shape, a: ones(rows * inputs), b: ones(columns * inputs) }
    }

    /// Numbers of [-1, 1) that 16 bits hold.
    pub(crate) fn random(shape: [usize; 3]) -> Self {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f16::from_f32((state >> 53) as f32 / 1024.0 - 1.0)
        };
        let [rows, inputs, columns] = shape;
        let a = (0..rows * inputs).map(|_| next()).collect();
        Self { shape, a, b: (0..columns * inputs).map(|_| next()).collect() }
    }

    /// One number of the product, summed in 64 bits.
    pub(crate) fn sum(&self, row: usize, column: usize) -> f64 {
        let inputs = self.shape[1];
        let of = |matrix: &[f16], at: usize| -> Vec<f64> {
            matrix[at * inputs..(at + 1) * inputs].iter().map(|x| x.to_f64()).collect()
        };
        of(&self.a, row).iter().zip(of(&self.b, column)).map(|(a, b)| a * b).sum()
    }

    /// The same with zeros behind the inputs, up to a multiple of `depth`.
    fn padded(&self, depth: usize) -> (usize, Vec<f16>, Vec<f16>) {
        let inputs = self.shape[1];
        let wide = inputs.next_multiple_of(depth);
        let pad = |matrix: &[f16]| {
            let zeros = vec![f16::ZERO; wide - inputs];
            matrix.chunks(inputs).flat_map(|row| row.iter().chain(&zeros)).copied().collect()
        };
        (wide, pad(&self.a), pad(&self.b))
    }
}

/// A matrix whose fragments of 16 x 16 lie in one piece each, row by row.
fn in_fragments(matrix: &[f16], inputs: usize) -> Vec<f16> {
    let fragments = matrix.chunks(16 * inputs).flat_map(|rows| {
        (0..inputs).step_by(16).flat_map(move |k| {
            rows.chunks(inputs).flat_map(move |row| row[k..k + 16].iter().copied())
        })
    });
    fragments.collect()
}

fn bytes_of(numbers: &[f16]) -> &[u8] {
    bytemuck::cast_slice(numbers.reinterpret_cast())
}

/// An open device.
pub(crate) struct Opened {
    device: wgpu::Device,
    queue: wgpu::Queue,
    faults: Arc<Mutex<Vec<String>>>,
}

impl Opened {
    /// What went wrong so far.
    fn check(&self) -> Result<(), String> {
        let faults = std::mem::take(&mut *self.faults.lock().unwrap_or_else(|e| e.into_inner()));
        if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
    }

    fn wait(&self) -> Result<(), String> {
        self.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|e| e.to_string())?;
        self.check()
    }

    /// Compiles a variant.
    pub(crate) fn compile(&self, variant: &Variant) -> Result<wgpu::ComputePipeline, String> {
        let label = Some(variant.name);
        let module = if variant.passed.is_some() {
            let words = variant.words()?;
            // SAFETY: naga's own words for a shader of this bench; the edit leaves indices alone.
            unsafe {
                self.device.create_shader_module_passthrough(
                    wgpu::ShaderModuleDescriptorPassthrough {
                        label,
                        entry_points: vec![wgpu::PassthroughShaderEntryPoint {
                            name: variant.entry.into(),
                            workgroup_size: (0, 0, 0),
                        }]
                        .into(),
                        spirv: Some(words.into()),
                        ..Default::default()
                    },
                )
            }
        } else {
            let source = wgpu::ShaderSource::Wgsl(variant.text.as_str().into());
            let checks = wgpu::ShaderRuntimeChecks::unchecked();
            let descriptor = wgpu::ShaderModuleDescriptor { label, source };
            // SAFETY: shapes are multiples of what the shader says, and buffers hold them whole.
            unsafe { self.device.create_shader_module_trusted(descriptor, checks) }
        };
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&self.layout(variant.binds))],
            ..Default::default()
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label,
            layout: Some(&layout),
            module: &module,
            entry_point: Some(variant.entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &[],
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        });
        self.check()?;
        Ok(pipeline)
    }

    fn layout(&self, binds: Binds) -> wgpu::BindGroupLayout {
        let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
        let read = match binds {
            Binds::Staged => 3,
            Binds::Direct | Binds::Fragments => 2,
        };
        let kinds = [wgpu::BufferBindingType::Uniform]
            .into_iter()
            .chain(std::iter::repeat_n(storage(true), read))
            .chain([storage(false)]);
        let entries: Vec<_> = (0..)
            .zip(kinds)
            .map(|(binding, ty)| wgpu::BindGroupLayoutEntry {
                binding,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty,
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            })
            .collect();
        let label = Some("units");
        let descriptor = wgpu::BindGroupLayoutDescriptor { label, entries: &entries };
        self.device.create_bind_group_layout(&descriptor)
    }

    fn buffer(&self, bytes: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("units"),
            size: bytes.next_multiple_of(16),
            usage,
            mapped_at_creation: false,
        })
    }

    fn upload(&self, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let buffer = self.buffer(bytes.len() as u64, usage | wgpu::BufferUsages::COPY_DST);
        self.queue.write_buffer(&buffer, 0, bytes);
        buffer
    }

    /// Lays a product before a pipeline.
    pub(crate) fn prepare(
        &self,
        variant: &Variant,
        pipeline: &wgpu::ComputePipeline,
        factors: &Factors,
    ) -> Result<Prepared<'_>, String> {
        use wgpu::BufferUsages as Usage;
        let [rows, _, columns] = factors.shape;
        let (inputs, mut a, mut b) = factors.padded(variant.depth);
        if variant.binds == Binds::Fragments {
            (a, b) = (in_fragments(&a, inputs), in_fragments(&b, inputs));
        }
        let [r, k, c] = [rows as u32, inputs as u32, columns as u32];
        let (params, a) = match variant.binds {
            Binds::Direct => (vec![r, k, c, 0], bytes_of(&a).to_vec()),
            Binds::Fragments => (vec![k / 16, c, 0, r, c, 0, 0, 0], bytes_of(&a).to_vec()),
            Binds::Staged => {
                let wide: Vec<f32> = a.iter().map(|x| x.to_f32()).collect();
                // As the params of the shader name them: no bias, one batch.
                let params = vec![r, k, c, k, c, 0, 0, 1, 0, 0, 0, 0];
                (params, bytemuck::cast_slice(&wide).to_vec())
            }
        };
        let bytes = 4 * (rows * columns) as u64;
        let poison = vec![UNWRITTEN; rows * columns];
        let poison = self.upload(bytemuck::cast_slice(&poison), Usage::COPY_SRC);
        let output = self.buffer(bytes, Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST);
        let readback = self.buffer(bytes, Usage::MAP_READ | Usage::COPY_DST);
        let mut bound = vec![
            self.upload(bytemuck::cast_slice(&params), Usage::UNIFORM),
            self.upload(&a, Usage::STORAGE),
            self.upload(bytes_of(&b), Usage::STORAGE),
        ];
        if variant.binds == Binds::Staged {
            bound.push(self.upload(&[0; 16], Usage::STORAGE));
        }
        bound.push(output.clone());
        let entries: Vec<_> = (0..)
            .zip(&bound)
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(variant.name),
            layout: &self.layout(variant.binds),
            entries: &entries,
        });
        self.check()?;
        let [tile_rows, tile_columns] = variant.tile;
        let grid = [columns.div_ceil(tile_columns) as u32, rows.div_ceil(tile_rows) as u32];
        Ok(Prepared {
            opened: self,
            pipeline: pipeline.clone(),
            group,
            grid,
            poison,
            output,
            readback,
            bytes,
        })
    }
}

/// A product that only has to be run.
pub(crate) struct Prepared<'a> {
    opened: &'a Opened,
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    grid: [u32; 2],
    poison: wgpu::Buffer,
    output: wgpu::Buffer,
    readback: wgpu::Buffer,
    bytes: u64,
}

impl Prepared<'_> {
    /// Runs it once over an output that was not written, and reads that.
    pub(crate) fn once(&self) -> Result<Vec<f32>, String> {
        let mut encoder = self.opened.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&self.poison, 0, &self.output, 0, Some(self.bytes));
        self.encode(&mut encoder, 1);
        encoder.copy_buffer_to_buffer(&self.output, 0, &self.readback, 0, Some(self.bytes));
        self.opened.queue.submit([encoder.finish()]);
        let slice = self.readback.slice(..self.bytes);
        slice.map_async(wgpu::MapMode::Read, |_| ());
        self.opened.wait()?;
        let view = slice.get_mapped_range().map_err(|error| error.to_string())?;
        let numbers = bytemuck::pod_collect_to_vec(&view);
        drop(view);
        self.readback.unmap();
        Ok(numbers)
    }

    /// Seconds that a run takes, the least of a few times so many that they last a while.
    pub(crate) fn seconds(&self) -> Result<f64, String> {
        let mut times = 1;
        while self.run(times)? < LEAST {
            times *= 2;
        }
        let mut best = f64::INFINITY;
        for _ in 0..REPEATS {
            best = best.min(self.run(times)? / f64::from(times));
        }
        Ok(best)
    }

    fn run(&self, times: u32) -> Result<f64, String> {
        self.opened.wait()?;
        let begin = Instant::now();
        let mut encoder = self.opened.device.create_command_encoder(&Default::default());
        self.encode(&mut encoder, times);
        self.opened.queue.submit([encoder.finish()]);
        self.opened.wait()?;
        Ok(begin.elapsed().as_secs_f64())
    }

    fn encode(&self, encoder: &mut wgpu::CommandEncoder, times: u32) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        for _ in 0..times {
            pass.dispatch_workgroups(self.grid[0], self.grid[1], 1);
        }
    }
}
