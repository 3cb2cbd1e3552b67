//! Matrix units: which adapters have some that fit, and whether those of a device are right.
//!
//! wgpu calls them cooperative matrices and experimental. So they are requested only if the adapter
//! lists the one shape that `matmul_cooperative` is written in. They are used only after products
//! by them equal the plain shader's.

#![allow(unsafe_code, reason = "wgpu wants a word of consent to what it calls experimental")]

use std::sync::OnceLock;

/// Whether an adapter has what `matmul_cooperative` needs.
pub(super) fn fit(adapter: &wgpu::Adapter) -> bool {
    let wanted = features() | wgpu::Features::SHADER_F16;
    adapter.features().contains(wanted)
        && adapter.cooperative_matrix_properties().iter().any(is_fitting)
        // A workgroup of 128 lanes has no more subgroups than parts.
        && adapter.get_info().subgroup_min_size >= 32
}

fn is_fitting(shape: &wgpu::CooperativeMatrixProperties) -> bool {
    use wgpu::CooperativeScalarType::{F16, F32};
    (shape.m_size, shape.n_size, shape.k_size) == (16, 16, 16)
        && (shape.ab_type, shape.cr_type) == (F16, F32)
}

/// What a device is asked for beside 16-bit floats.
fn features() -> wgpu::Features {
    wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX | wgpu::Features::SUBGROUP
}

/// Adds them to what a device is asked for.
pub(super) fn ask(descriptor: &mut wgpu::DeviceDescriptor<'_>) {
    descriptor.required_features |= features();
    // SAFETY: what may go wrong is in the driver's code of one shader of our own, whose indices are
    // guarded, and which is not used where its self-test fails.
    descriptor.experimental_features = unsafe { wgpu::ExperimentalFeatures::enabled() };
}

/// The units of one device.
#[derive(Debug, Default)]
pub(super) struct Units {
    /// Whether the device was opened with them.
    pub(super) open: bool,
    are_right: OnceLock<bool>,
}

impl Units {
    pub(super) fn new(open: bool) -> Self {
        Self { open, are_right: OnceLock::new() }
    }

    /// Whether products may go through them: `test` says so, once, unless it could not tell. It may
    /// not ask for it.
    pub(super) fn are_right(&self, test: impl FnOnce() -> Option<bool>) -> bool {
        if !self.open {
            return false;
        }
        match self.are_right.get() {
            Some(right) => *right,
            // Two threads may test at a time; the first answer stands.
            None => test().is_some_and(|right| *self.are_right.get_or_init(|| right)),
        }
    }
}

#[cfg(test)]
mod tests {
    use wgpu::CooperativeScalarType::{F16, F32, I32};

    use super::*;

    #[test]
    fn units_are_tested_once_and_only_where_they_are_open() {
        assert!(!Units::new(false).are_right(|| panic!("there is nothing to test")));
        for right in [true, false] {
            let units = Units::new(true);
            assert!(!units.are_right(|| None), "nobody can tell, and they are tested again");
            assert_eq!(units.are_right(|| Some(right)), right);
            assert_eq!(units.are_right(|| panic!("it is known")), right);
        }
    }

    #[test]
    fn one_shape_fits() {
        let shape = |size, ab_type, cr_type| wgpu::CooperativeMatrixProperties {
            m_size: 16,
            n_size: size,
            k_size: 16,
            ab_type,
            cr_type,
            saturating_accumulation: false,
        };
        assert!(is_fitting(&shape(16, F16, F32)));
        for other in [shape(8, F16, F32), shape(16, F16, F16), shape(16, I32, I32)] {
            assert!(!is_fitting(&other), "{other:?}");
        }
    }
}
