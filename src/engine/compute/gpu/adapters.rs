//! The GPUs of this machine.

use super::units;
use crate::engine::compute::{AdapterKind, GpuAdapter};

/// The backends that are compiled in, in order of preference.
const BACKENDS: [(wgpu::Backend, &str); 3] = [
    (wgpu::Backend::Vulkan, "vulkan"),
    (wgpu::Backend::Metal, "metal"),
    (wgpu::Backend::Dx12, "dx12"),
];

/// The adapters of this machine, best first: by kind, then backend, then as the drivers list them.
pub fn adapters() -> Vec<GpuAdapter> {
    enumerate().iter().map(describe).collect()
}

/// The adapters themselves, best first.
pub(super) fn enumerate() -> Vec<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let mut found = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    found.retain(|adapter| backend(adapter.get_info().backend).is_some());
    found.sort_by_key(|adapter| {
        let info = adapter.get_info();
        (kind(info.device_type), backend(info.backend).map(|(rank, _)| rank))
    });
    found
}

/// What an adapter says of itself.
pub(super) fn describe(adapter: &wgpu::Adapter) -> GpuAdapter {
    let (info, limits, features) = (adapter.get_info(), adapter.limits(), adapter.features());
    let shape = |shape: &wgpu::CooperativeMatrixProperties| {
        let wgpu::CooperativeMatrixProperties { m_size, n_size, k_size, ab_type, cr_type, .. } =
            shape;
        format!("{m_size} x {n_size} x {k_size} {ab_type:?} to {cr_type:?}").to_lowercase()
    };
    GpuAdapter {
        name: info.name,
        kind: kind(info.device_type),
        backend: backend(info.backend).map_or("", |(_, name)| name),
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
        max_binding: limits.max_storage_buffer_binding_size,
        max_buffer: limits.max_buffer_size,
        max_workgroups: limits.max_compute_workgroups_per_dimension,
        workgroup_memory: limits.max_compute_workgroup_storage_size,
        workgroup_invocations: limits.max_compute_invocations_per_workgroup,
        half_precision: features.contains(wgpu::Features::SHADER_F16),
        matrix_units: match features.contains(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX) {
            true => adapter.cooperative_matrix_properties().iter().map(shape).collect(),
            false => Vec::new(),
        },
        has_fitting_units: units::fit(adapter),
        pipeline_cache: features.contains(wgpu::Features::PIPELINE_CACHE),
    }
}

fn backend(backend: wgpu::Backend) -> Option<(usize, &'static str)> {
    let rank = BACKENDS.iter().position(|(known, _)| *known == backend)?;
    Some((rank, BACKENDS[rank].1))
}

fn kind(device_type: wgpu::DeviceType) -> AdapterKind {
    match device_type {
        wgpu::DeviceType::DiscreteGpu => AdapterKind::Discrete,
        wgpu::DeviceType::IntegratedGpu => AdapterKind::Integrated,
        wgpu::DeviceType::VirtualGpu => AdapterKind::Virtual,
        wgpu::DeviceType::Other => AdapterKind::Other,
        wgpu::DeviceType::Cpu => AdapterKind::Software,
    }
}
