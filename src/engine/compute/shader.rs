//! What a shader promises to the code that runs it, as data.
//!
//! Each file of `shaders/` has one entry point with the file's name. Its partner in `kernels/`
//! declares here what it binds and how large its workgroups are; `tests/shaders.rs` reads the WGSL
//! and compares, without a GPU. A file whose weights are of either width calls them `Number`: a
//! line in front says which it is.

/// Declares the shader of a kernel's file: its name, the invocations of a workgroup, what it binds
/// after its parameters, and those. What it needs of an adapter, where that is more than plain
/// WGSL, stands before what it binds. A file with weights of either width is `"name" of f32`; its
/// twin is `"name" = "file" of f16`, and names the file's bindings instead of its own.
macro_rules! shader {
    ($name:literal, $lanes:literal, [$($binding:ident),*]; $visible:vis struct $params:ident $fields:tt) => {
        shader! { $name, $lanes, Nothing, [$($binding),*]; $visible struct $params $fields }
    };
    ($name:literal of f32, $lanes:literal, [$($binding:ident),*]; $visible:vis struct $params:ident $fields:tt) => {
        shader!(@params $visible $params $fields);
        shader!(@static $name, $name, concat!(
            "alias Number = f32;\n", include_str!(concat!("../../../../shaders/", $name, ".wgsl"))
        ), $lanes, Nothing, shader!(@bindings $params, [$($binding),*]));
    };
    ($name:literal = $file:literal of f16, $lanes:literal, $bindings:expr) => {
        shader!(@static $name, $file, concat!(
            "enable f16;\nalias Number = f16;\n",
            include_str!(concat!("../../../../shaders/", $file, ".wgsl"))
        ), $lanes, Half, $bindings);
    };
    ($name:literal, $lanes:literal, $needs:ident, [$($binding:ident),*]; $visible:vis struct $params:ident $fields:tt) => {
        shader!(@params $visible $params $fields);
        shader!($name, $lanes, $needs, shader!(@bindings $params, [$($binding),*]));
    };
    ($name:literal, $lanes:literal, $needs:ident, $bindings:expr) => {
        shader!(
            @static $name, $name, include_str!(concat!("../../../../shaders/", $name, ".wgsl")),
            $lanes, $needs, $bindings
        );
    };
    (@params $visible:vis $params:ident $fields:tt) => {
        #[repr(C)]
        #[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
        $visible struct $params $fields
    };
    (@bindings $params:ident, [$($binding:ident),*]) => {
        &[
            $crate::engine::compute::shader::Binding::Params { bytes: size_of::<$params>() as u32 },
            $($crate::engine::compute::shader::Binding::$binding),*
        ]
    };
    (@static $name:literal, $file:literal, $source:expr, $lanes:literal, $needs:ident, $bindings:expr) => {
        pub(super) static SHADER: $crate::engine::compute::shader::Shader = $crate::engine::compute::shader::Shader {
            name: $name,
            file: $file,
            source: $source,
            workgroup_size: [$lanes, 1, 1],
            needs: $crate::engine::compute::shader::Needs::$needs,
            bindings: $bindings,
        };
    };
}

/// Shaders that a device may run.
pub(super) type Shaders = &'static [&'static Shader];

/// A compute shader with the declarations of its Rust partner.
///
/// ```
/// use fnstore::engine::{Binding, kernels};
/// let shader = kernels::shaders().iter().find(|shader| shader.name == "layer_norm").unwrap();
/// assert!(shader.source.contains("fn layer_norm("));
/// assert!(matches!(shader.bindings[0], Binding::Params { bytes: 16 }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shader {
    /// The kernel's name.
    pub name: &'static str,
    /// The file's stem and the entry point; twins for weights of another width share one.
    pub file: &'static str,
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
