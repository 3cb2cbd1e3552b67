//! Shaders compiled for a device, when they are first called.
//!
//! Compiled code is kept on disk where the backend can hand it out (Vulkan), one file for each
//! adapter, driver and build of the shaders. A file that is damaged or of another driver costs a
//! compilation and nothing else.

#![allow(unsafe_code, reason = "runtime checks are left out of shaders that are our own")]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::faults::Faults;
use crate::engine::compute::{Binding, ComputeError, Shader};

/// A compiled shader.
pub(super) struct Pipeline {
    pub(super) raw: wgpu::ComputePipeline,
    pub(super) layout: wgpu::BindGroupLayout,
}

/// The compiled shaders of a device.
pub(super) struct Pipelines {
    compiled: Mutex<HashMap<&'static str, Arc<Pipeline>>>,
    /// Whether shaders check their indices and bound their loops.
    checked: bool,
    cache: Option<DiskCache>,
}

/// Compiled code that outlives the process.
struct DiskCache {
    raw: wgpu::PipelineCache,
    path: PathBuf,
}

impl Pipelines {
    pub(super) fn new(device: &wgpu::Device, path: Option<PathBuf>, checked: bool) -> Self {
        let cache = path
            .filter(|_| device.features().contains(wgpu::Features::PIPELINE_CACHE))
            .map(|path| DiskCache::open(device, path));
        Self { compiled: Mutex::default(), checked, cache }
    }

    /// The shader, compiled now if it was not before.
    pub(super) fn get(
        &self,
        device: &wgpu::Device,
        faults: &Faults,
        shader: &'static Shader,
    ) -> Result<Arc<Pipeline>, ComputeError> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = compiled.get(shader.name) {
            return Ok(Arc::clone(pipeline));
        }
        let pipeline = Arc::new(self.compile(device, shader));
        faults.check()?;
        if let Some(cache) = &self.cache {
            cache.write();
        }
        compiled.insert(shader.name, Arc::clone(&pipeline));
        Ok(pipeline)
    }

    fn compile(&self, device: &wgpu::Device, shader: &'static Shader) -> Pipeline {
        let label = Some(shader.name);
        let source = wgpu::ShaderSource::Wgsl(shader.source.into());
        let descriptor = wgpu::ShaderModuleDescriptor { label, source };
        let module = if self.checked {
            device.create_shader_module(descriptor)
        } else {
            // SAFETY: the text is one of shaders/, which are part of this crate. Each guards its
            // indices by the sizes in its parameters, its loops end, and the kernels check sizes
            // and ids before they call it. Tests run them with the checks, too.
            unsafe {
                device.create_shader_module_trusted(
                    descriptor,
                    wgpu::ShaderRuntimeChecks::unchecked(),
                )
            }
        };
        let entries: Vec<_> = shader.bindings.iter().enumerate().map(layout_entry).collect();
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label,
            entries: &entries,
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&layout)],
            ..Default::default()
        });
        let raw = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label,
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some(shader.file),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &[],
                // No shader reads workgroup memory that it did not write.
                zero_initialize_workgroup_memory: self.checked,
            },
            cache: self.cache.as_ref().map(|cache| &cache.raw),
        });
        Pipeline { raw, layout }
    }
}

fn layout_entry((number, binding): (usize, &Binding)) -> wgpu::BindGroupLayoutEntry {
    let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
    let (ty, size) = match binding {
        Binding::Params { bytes } => (wgpu::BufferBindingType::Uniform, u64::from(*bytes)),
        Binding::Words | Binding::Read => (storage(true), 0),
        Binding::Write => (storage(false), 0),
    };
    wgpu::BindGroupLayoutEntry {
        binding: number as u32,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: matches!(binding, Binding::Params { .. }),
            min_binding_size: std::num::NonZero::new(size),
        },
        count: None,
    }
}

impl DiskCache {
    fn open(device: &wgpu::Device, path: PathBuf) -> Self {
        let data = std::fs::read(&path).ok().and_then(unseal);
        // SAFETY: what is handed in was written by `write` from `get_data`: it carries its own
        // hash, and wgpu refuses data of another adapter or driver.
        let raw = unsafe {
            device.create_pipeline_cache(&wgpu::PipelineCacheDescriptor {
                label: Some("pipelines"),
                data: data.as_deref(),
                fallback: true,
            })
        };
        Self { raw, path }
    }

    /// Writes what is compiled so far beside the old file and swaps the two. A cache that cannot be
    /// written is no error: the next process compiles again.
    fn write(&self) {
        let (Some(data), Some(folder)) = (self.raw.get_data(), self.path.parent()) else { return };
        let beside = self.path.with_extension(format!("new-{}", std::process::id()));
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&beside, seal(data)))
            .and_then(|()| std::fs::rename(&beside, &self.path));
        if written.is_err() {
            std::fs::remove_file(&beside).ok();
        }
    }
}

/// Data behind its hash.
fn seal(data: Vec<u8>) -> Vec<u8> {
    let mut sealed = blake3::hash(&data).as_bytes().to_vec();
    sealed.extend(data);
    sealed
}

/// The data of a file, if it is whole.
fn unseal(mut sealed: Vec<u8>) -> Option<Vec<u8>> {
    let data = sealed.split_off(sealed.len().min(blake3::OUT_LEN));
    (blake3::hash(&data).as_bytes()[..] == sealed[..]).then_some(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_cache_is_not_used() {
        let sealed = seal(vec![1, 2, 3]);
        assert_eq!(unseal(sealed.clone()), Some(vec![1, 2, 3]));
        for at in [0, 31, 33] {
            let mut damaged = sealed.clone();
            damaged[at] ^= 1;
            assert_eq!(unseal(damaged), None);
        }
        assert_eq!(unseal(sealed[..20].to_vec()), None);
        assert_eq!(unseal(Vec::new()), None);
    }
}
