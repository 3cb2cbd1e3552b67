//! Where kernels run: the processor or a GPU.
//!
//! On the CPU a kernel cuts its work into tasks that write disjoint parts of the result. Which
//! thread runs a task, and when, changes nothing in the numbers.

use std::sync::OnceLock;

use super::gpu::{Gpu, Held, adapters};
use super::kernels::{shaders, trusts_units};
use super::lanes::rounds_once;
use super::tasks::for_each_task;
use super::{AdapterKind, ComputeError, DeviceChoice, GpuOptions, Numbers, choose};

/// Where kernels run.
///
/// ```
/// use fnstore::engine::Device;
/// let Device::Cpu { threads } = Device::cpu() else { unreachable!("a CPU was asked for") };
/// assert!(threads >= 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Device {
    /// The processor.
    Cpu {
        /// Number of threads that one kernel may keep busy; at least 1.
        threads: usize,
    },
    /// A GPU, through WGSL shaders.
    Gpu(Gpu),
}

impl Gpu {
    /// Opens the adapter at a place of [`adapters()`].
    ///
    /// # Errors
    /// When there is none, or its driver refuses.
    pub fn open(place: usize, options: &GpuOptions) -> Result<Self, ComputeError> {
        Self::open_for(shaders(), place, options)
    }
}

impl Device {
    /// The processor with all threads of rayon's pool: as many as the hardware has, unless the pool
    /// was made with another number.
    pub fn cpu() -> Self {
        Self::Cpu { threads: rayon::current_num_threads() }
    }

    /// What a choice means on this machine.
    ///
    /// # Errors
    /// When a GPU is asked for that is not there, or its driver refuses, or the feature `gpu` is
    /// off.
    pub fn open(choice: &DeviceChoice, options: &GpuOptions) -> Result<Self, ComputeError> {
        if *choice == DeviceChoice::Cpu {
            return Ok(Self::cpu());
        }
        // Asking the drivers takes a while, and makes some complain, where no GPU can be.
        if *choice == DeviceChoice::Auto && !may_have_gpu() {
            return Ok(Self::cpu());
        }
        if !cfg!(feature = "gpu") {
            return Err(ComputeError::NotBuilt { wanted: choice.to_string() });
        }
        match choose(&adapters(), choice)? {
            Some(place) => Ok(Self::Gpu(Gpu::open(place, options)?)),
            None => Ok(Self::cpu()),
        }
    }

    /// The format in which products are computed where `numbers` are asked for: all of it that
    /// decides outputs. The CPU takes them by their name, and rounds what `blocks` are multiplied
    /// by to 8 bits. One without a fused multiply-add rounds twice where others round once: other
    /// last digits, and a name of their own (`f32-unfused`). A GPU keeps blocks and multiplies them
    /// by f32 (`blocks-f32`), or unpacks them to f16 for its matrix units, which multiply them by
    /// states of 16 bits (`blocks-f16-units`). Other numbers are `f32` there, `f16` if it keeps
    /// them so, or `f16-units`; behind `int8-` where weights are rounded to 8 bits first.
    pub fn format(&self, numbers: Numbers) -> &'static str {
        match (self, numbers) {
            (Self::Cpu { .. }, numbers) => format_on_cpu(numbers, rounds_once()),
            (Self::Gpu(gpu), Numbers::Blocks) if trusts_units(gpu) => "blocks-f16-units",
            (Self::Gpu(_), Numbers::Blocks) => "blocks-f32",
            (Self::Gpu(gpu), numbers) => {
                let [whole, rounded] =
                    match (gpu.keeps_half(), gpu.keeps_half() && trusts_units(gpu)) {
                        (false, _) => ["f32", "int8-f32"],
                        (true, false) => ["f16", "int8-f16"],
                        (true, true) => ["f16-units", "int8-f16-units"],
                    };
                if numbers == Numbers::Int8 { rounded } else { whole }
            }
        }
    }

    /// Whether weights are unpacked when they are loaded where `numbers` are asked for, so that
    /// something can be added to them.
    pub fn unpacks(&self, numbers: Numbers) -> bool {
        matches!(self.format(numbers), "blocks-f16-units" | "f16-units")
    }

    /// Tells a GPU that lists stay as they are, as long as what is returned lives, so that they are
    /// handed over once for all kernels that bring them.
    pub(crate) fn hold<'a>(&self, lists: &[&'a [u32]]) -> Option<Held<'a>> {
        match self {
            Self::Gpu(gpu) => Some(gpu.hold(lists)),
            Self::Cpu { .. } => None,
        }
    }

    /// Hypotheses that one step should hold: enough to hide what reading the weights and calling
    /// the device costs. Results do not depend on it.
    pub fn rows_at_once(&self) -> usize {
        match self {
            Self::Gpu(gpu) if gpu.adapter().kind != AdapterKind::Software => 4096,
            _ => 256,
        }
    }

    /// Tokens of sources that are best encoded as one batch: on a GPU enough to hide what calling
    /// it costs, else as few as keep nobody waiting who wants to stop.
    pub fn tokens_at_once(&self) -> usize {
        match self {
            Self::Gpu(gpu) if gpu.adapter().kind != AdapterKind::Software => 8192,
            _ => 512,
        }
    }

    /// A device in place of this one, which was lost: the same GPU opened anew. If it does not come
    /// back, or is lost again and again, the CPU. All callers get the same one.
    #[must_use]
    pub fn renewed(&self) -> Self {
        match self {
            Self::Gpu(gpu) => gpu.successor(),
            Self::Cpu { .. } => self.clone(),
        }
    }

    /// The processor that works beside this device: what lies between kernels is its part.
    #[must_use]
    pub fn host(&self) -> Self {
        match self {
            Self::Gpu(_) => Self::cpu(),
            Self::Cpu { .. } => self.clone(),
        }
    }

    /// Does independent tasks on the threads of the host and returns what each gave, in order; a
    /// task gets a device of as many threads as are left for it.
    ///
    /// For work that is more than kernels: what lies between them is shared out, too.
    pub(crate) fn share<T: Send + Sync>(
        &self,
        tasks: usize,
        work: impl Fn(&Self, usize) -> T + Sync,
    ) -> Vec<T> {
        let Self::Cpu { threads } = self else { return self.host().share(tasks, work) };
        let one = Self::Cpu { threads: (threads / tasks.max(1)).max(1) };
        let given: Vec<OnceLock<T>> = (0..tasks).map(|_| OnceLock::new()).collect();
        for_each_task(*threads, tasks, |task| {
            given[task].get_or_init(|| work(&one, task));
        });
        given.into_iter().map(|given| given.into_inner().expect("every task is done")).collect()
    }

    /// Does independent tasks that the host prepares and the device ends. Returns what each gave,
    /// in order, or the first error. On the CPU a thread does both parts of a task. For a GPU as
    /// many tasks as there are threads are prepared together, and it ends one after another.
    pub(crate) fn share_prepared<P: Send + Sync, T: Send + Sync, E: Send + Sync>(
        &self,
        tasks: usize,
        prepare: impl Fn(usize) -> Result<P, E> + Sync,
        end: impl Fn(&Self, P) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>, E> {
        let Self::Cpu { threads } = self.host() else { unreachable!("a host is a CPU") };
        if let Self::Cpu { .. } = self {
            let done = self.share(tasks, |one, task| end(one, prepare(task)?));
            return done.into_iter().collect();
        }
        let mut ended = Vec::with_capacity(tasks);
        for first in (0..tasks).step_by(threads) {
            let prepared = self.share(threads.min(tasks - first), |_, task| prepare(first + task));
            for prepared in prepared {
                ended.push(end(self, prepared?)?);
            }
        }
        Ok(ended)
    }

    /// Says something to whoever opened the device; a CPU has nobody to tell.
    pub fn tell(&self, text: &str) {
        if let Self::Gpu(gpu) = self {
            gpu.tell(text);
        }
    }
}

/// Whether there may be a GPU that this build can use: on Linux every one has a node in `/dev`.
fn may_have_gpu() -> bool {
    const NODES: [&str; 5] =
        ["/dev/dri", "/dev/nvidiactl", "/dev/dxg", "/dev/kgsl-3d0", "/dev/mali0"];
    let is_there = |node: &&str| std::path::Path::new(node).exists();
    cfg!(feature = "gpu") && (!cfg!(target_os = "linux") || NODES.iter().any(is_there))
}

/// The name of numbers on a processor that rounds a fused multiply-add once, or twice.
fn format_on_cpu(numbers: Numbers, rounds_once: bool) -> &'static str {
    match (rounds_once, numbers) {
        (true, numbers) => numbers.as_str(),
        (false, Numbers::F32) => "f32-unfused",
        (false, Numbers::Int8) => "int8-unfused",
        (false, Numbers::Blocks) => "blocks-unfused",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::model::Coded;

    #[test]
    fn shared_tasks_are_each_done_once_and_come_back_in_order() {
        let done = AtomicUsize::new(0);
        for threads in [1, 3] {
            let found = Device::Cpu { threads }.share(20, |device, task| {
                done.fetch_add(1, Ordering::Relaxed);
                (device.clone(), task)
            });
            let wanted: Vec<_> = (0..20).map(|task| (Device::Cpu { threads: 1 }, task)).collect();
            assert_eq!(found, wanted);
        }
        assert_eq!(done.into_inner(), 40);
        assert_eq!(
            Device::Cpu { threads: 8 }.share(2, |device, _| device.clone())[0],
            Device::Cpu { threads: 4 }
        );
    }

    #[test]
    fn a_gpu_by_name_is_refused_where_none_can_be_and_the_choice_left_open_is_the_cpu() {
        let open = |choice: DeviceChoice| Device::open(&choice, &GpuOptions::default());
        let error = open(DeviceChoice::Named("no such adapter".to_owned())).unwrap_err();
        assert!(error.to_string().contains("`no such adapter`"), "{error}");
        assert_eq!(error.code() == Some("D-not-built"), cfg!(not(feature = "gpu")), "{error}");
        if cfg!(not(feature = "gpu")) {
            assert_eq!(open(DeviceChoice::Gpu).unwrap_err().code(), Some("D-not-built"));
            assert!(Gpu::open(0, &GpuOptions::default()).is_err() && adapters().is_empty());
            assert_eq!(open(DeviceChoice::Auto).unwrap(), Device::cpu());
        }
        assert_eq!(open(DeviceChoice::Cpu).unwrap(), Device::cpu());
    }

    #[test]
    fn a_processor_that_rounds_twice_has_formats_of_its_own() {
        for numbers in Numbers::ALL {
            assert_eq!(format_on_cpu(numbers, true), numbers.as_str());
            assert_eq!(format_on_cpu(numbers, false), format!("{numbers}-unfused"));
        }
        assert_eq!(rounds_once(), Device::cpu().format(Numbers::F32) == "f32");
    }
}
