//! Stands in for `gpu/` where the feature `gpu` is off: the same names, and nothing behind them.
//!
//! There is no value of [`Gpu`]. So kernels compile as they are, and the compiler drops their code
//! for GPUs: nothing ever runs it.

use std::convert::Infallible;
use std::marker::PhantomData;

use bytemuck::Pod;

pub(super) use super::profile::Cost;
pub(super) use super::shader::Shader;
pub(super) use super::tuning::Tuning;

use super::shader::Shaders;
use super::{ComputeError, Device, GpuAdapter, GpuOptions, GpuProfile, Needs, Tensor};

/// An open GPU, of which this build has none: it is built without the feature `gpu`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu(Infallible);

/// Memory of a GPU.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Buffer(Infallible);

/// Part of a buffer.
#[derive(Debug, Clone)]
pub(super) struct Window(Infallible);

/// One call of a shader while it is put together.
pub(super) struct Call<'a>(Infallible, PhantomData<&'a Gpu>);

/// Lists that a device knows by their place.
#[derive(Debug)]
pub(crate) struct Held<'a>(Infallible, PhantomData<&'a [u32]>);

/// The adapters of this machine: without the feature `gpu` none is looked for.
pub fn adapters() -> Vec<GpuAdapter> {
    Vec::new()
}

/// Methods of a type without values, by their heads; what is generic stands in brackets.
macro_rules! never {
    ($(
        $(#[$doc:meta])*
        $visible:vis fn $name:ident$([$($generic:tt)*])?
        ($this:ident $(, $argument:ident: $type:ty)*) -> $result:ty;
    )*) => {
        $(
            $(#[$doc])*
            #[allow(unused_variables, reason = "nothing calls it")]
            $visible fn $name$(<$($generic)*>)?(&$this $(, $argument: $type)*) -> $result {
                match $this.0 {}
            }
        )*
    };
}

impl Gpu {
    pub(super) fn open_for(_: Shaders, place: usize, _: &GpuOptions) -> Result<Self, ComputeError> {
        Err(ComputeError::NotBuilt { wanted: format!("number {place}") })
    }

    never! {
        /// The adapter.
        pub fn adapter(self) -> &GpuAdapter;
        /// Whether weights are kept as 16-bit floats on this device.
        pub fn keeps_half(self) -> bool;
        /// Whether a shader runs on this adapter.
        pub fn has(self, needs: Needs) -> bool;
        /// Calls of shaders that were handed to the device so far.
        pub fn dispatches(self) -> u64;
        /// Submissions so far.
        pub fn submissions(self) -> u64;
        /// Where the time went.
        pub fn profiles(self) -> Vec<GpuProfile>;
        /// Counts from zero.
        pub fn restart_profile(self) -> ();
        /// Waits until all that was recorded has run.
        pub fn finish(self) -> Result<(), ComputeError>;
        pub(crate) fn hold['a](self, lists: &[&'a [u32]]) -> Held<'a>;
        pub(super) fn successor(self) -> Device;
        pub(super) fn tell(self, text: &str) -> ();
        pub(super) fn spells_units_out(self) -> bool;
        pub(super) fn trusts_units(
            self,
            test: impl FnOnce(&Self) -> Result<Option<String>, ComputeError>
        ) -> bool;
        pub(super) fn with_half(self, half: bool) -> Self;
        pub(super) fn tuning(self, measure: impl FnOnce(&Self) -> Option<Tuning>) -> Tuning;
        pub(super) fn allocate(self, numbers: usize) -> Result<Buffer, ComputeError>;
        pub(super) fn upload[T: Pod](self, numbers: &[T]) -> Result<Buffer, ComputeError>;
        pub(super) fn download[T: Pod](
            self, buffer: &Buffer, numbers: usize
        ) -> Result<Vec<T>, ComputeError>;
        pub(super) fn grow(
            self, buffer: &Buffer, numbers: usize, wanted: usize
        ) -> Result<Buffer, ComputeError>;
        pub(super) fn operand(self, tensor: &Tensor) -> Result<Buffer, ComputeError>;
        pub(super) fn call(
            self, shader: &'static Shader, words: usize
        ) -> Result<Call<'_>, ComputeError>;
        pub(super) fn call_with[const N: usize](
            self, shader: &'static Shader, lists: [&[u32]; N], more: usize
        ) -> Result<(Call<'_>, [u32; N]), ComputeError>;
        pub(super) fn whole(self, buffer: &Buffer, numbers: usize) -> Result<Window, ComputeError>;
        pub(super) fn rows(self, buffer: &Buffer, rows: (usize, usize), width: usize) -> Window;
        pub(super) fn parts(
            self, rows: usize, widths: &[usize], most: usize
        ) -> Result<Vec<(usize, usize)>, ComputeError>;
        pub(super) fn tiles(
            self, tiles: usize, widths: &[usize], most: usize
        ) -> Result<Vec<(usize, usize)>, ComputeError>;
        pub(super) fn most_numbers(self) -> usize;
        pub(super) fn row_step(self, width: usize) -> usize;
        pub(super) fn grid(self, count: usize) -> [u32; 3];
        pub(super) fn most_workgroups(self) -> usize;
    }
}

impl Buffer {
    never! {
        pub(super) fn is_unshared(self) -> bool;
    }
}

impl Call<'_> {
    pub(super) fn words(&mut self, _: &[u32]) -> u32 {
        match self.0 {}
    }

    pub(super) fn bind(&mut self, _: Window) {
        match self.0 {}
    }

    pub(super) fn costs(&mut self, _: impl FnOnce() -> Cost) {
        match self.0 {}
    }

    pub(super) fn run<P: Pod>(self, _: &P, _: [u32; 3]) {
        match self.0 {}
    }
}
