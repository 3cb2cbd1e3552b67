//! What a shader promises to the code that runs it, as data.
//!
//! Each file of `shaders/` has one entry point with the file's name. Its partner in `kernels/`
//! declares here what it binds and how large its workgroups are; `tests/shaders.rs` reads the WGSL
//! and compares, without a GPU.

/// Declares the shader of a kernel's file: its name, the invocations of a workgroup, what it binds
/// after its parameters, and those. What it needs of an adapter, where that is more than plain
/// WGSL, stands before what it binds. A shader that binds what another does names that one's
/// bindings instead.
macro_rules! shader {
    ($name:literal, $lanes:literal, [$($binding:ident),*]; $visible:vis struct $params:ident $fields:tt) => {
        shader! { $name, $lanes, Nothing, [$($binding),*]; $visible struct $params $fields }
    };
    ($name:literal, $lanes:literal, $needs:ident, [$($binding:ident),*]; $visible:vis struct $params:ident $fields:tt) => {
        #[repr(C)]
        #[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
        $visible struct $params $fields

        shader!($name, $lanes, $needs, &[
            $crate::compute::gpu::Binding::Params { bytes: size_of::<$params>() as u32 },
            $($crate::compute::gpu::Binding::$binding),*
        ]);
    };
    ($name:literal, $lanes:literal, $needs:ident, $bindings:expr) => {
        pub(super) static SHADER: $crate::compute::gpu::Shader = $crate::compute::gpu::Shader {
            name: $name,
            source: include_str!(concat!("../../../shaders/", $name, ".wgsl")),
            workgroup_size: [$lanes, 1, 1],
            needs: $crate::compute::gpu::Needs::$needs,
            bindings: $bindings,
        };
    };
}

/// A compute shader with the declarations of its Rust partner.
///
/// ```
/// use fnstore::compute::{Binding, kernels};
/// let shader = kernels::shaders().iter().find(|shader| shader.name == "layer_norm").unwrap();
/// assert!(shader.source.contains("fn layer_norm("));
/// assert!(matches!(shader.bindings[0], Binding::Params { bytes: 16 }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shader {
    /// The file's stem and the entry point.
    pub name: &'static str,
    /// The WGSL text.
    pub source: &'static str,
    /// Invocations of a workgroup in each dimension.
    pub workgroup_size: [u32; 3],
    /// What the adapter must have beyond plain WGSL.
    pub needs: Needs,
    /// What is bound in group 0, by binding number.
    pub bindings: &'static [Binding],
}

/// What a shader needs of an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Needs {
    /// Nothing: it runs everywhere.
    Nothing,
    /// 16-bit floats.
    Half,
    /// Matrix units that multiply 16-bit floats and add 32-bit ones in squares of 16.
    MatrixUnits,
}

/// One binding of a shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Binding {
    /// The numbers of one call, a uniform of so many bytes; always binding 0.
    Params {
        /// Size of the structure.
        bytes: u32,
    },
    /// Lists of whole numbers that the call brings along (ids, lengths, masks): one storage buffer
    /// for all lists, in which the parameters say where each begins.
    Words,
    /// A tensor that is read.
    Read,
    /// A tensor that is written, and may be read.
    Write,
}
