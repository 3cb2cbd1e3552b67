//! `fnstore gpu`: this machine's adapters, which one is used, and whether it computes right.

use fnstore::engine::kernels::{KernelTest, self_test};
use fnstore::engine::{
    AdapterKind, Device, DeviceChoice, Gpu, GpuAdapter, GpuOptions, adapters, choose,
};
use fnstore::model::{Amount, Positive};
use serde::Serialize;

use crate::cli::options::device::{DeviceArgs, options};
use crate::cli::print::output::{Output, counted_are, size, tell};
use crate::cli::print::render::{Row, rows_of};
use crate::cli::{Context, Outcome};

/// Shapes that each kernel is tested with.
const SEEDS: u64 = 5;

/// List GPUs, say which one is used and why, and test its kernels
///
/// Each kernel runs on random shapes and is compared with the CPU; exits with 1 when one is wrong.
/// A software adapter, which is the processor posing as a GPU, is used only when `--device` names
/// it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    device: DeviceArgs,
}

/// The command's answer as JSON; see `schema/gpu.schema.json`.
#[derive(Debug, Serialize)]
struct GpuRecord {
    asked: String,
    chosen: Option<String>,
    reason: String,
    adapters: Vec<GpuAdapter>,
    tests: Vec<TestRecord>,
}

#[derive(Debug, Serialize)]
struct TestRecord {
    kernel: &'static str,
    passed: bool,
    shapes: Positive,
    largest_error: Option<f32>,
    tolerance: Amount<f32>,
    failure: Option<String>,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let all = adapters();
    let choice = &args.device.device;
    let place = choose(&all, choice)?;
    let tests = match place {
        // Kernels of 16-bit weights are tested whatever weights are kept as.
        Some(place) => {
            test(&Device::Gpu(Gpu::open(place, &GpuOptions { half: true, ..options() })?))
        }
        None => Vec::new(),
    };
    let failed = tests.iter().filter(|test| !test.passed).count();
    let record = GpuRecord {
        asked: choice.to_string(),
        chosen: place.map(|place| all[place].name.clone()),
        reason: reason(&all, choice, place),
        adapters: all,
        tests,
    };
    let output = &mut context.output;
    output.report(&record, rows_of(&record.tests), |output| write(&record, output))?;
    if failed > 0 {
        output.flush()?;
        let wrong = record.tests.iter().filter(|test| !test.passed).map(|test| test.kernel);
        tell(&format!(
            "{} wrong on this adapter: {}",
            counted_are(failed as u64, "kernel"),
            advice(wrong)
        ));
        return Ok(Outcome::CheckFailed);
    }
    Ok(Outcome::Done)
}

/// Kernels that run for the matrix units alone, and those of 16-bit weights.
const OF_UNITS: [&str; 7] = [
    "embedding_half",
    "finish_rows",
    "gated_half_rows",
    "half_rows",
    "matmul_cooperative",
    "norm_half_rows",
    "place_heads",
];
const OF_HALF: [&str; 2] = ["matmul_half", "matvec_half"];

/// What computes right where these kernels do not.
fn advice<'a>(wrong: impl Iterator<Item = &'a str> + Clone) -> &'static str {
    if wrong.clone().all(|kernel| OF_UNITS.contains(&kernel)) {
        return "its plain shaders take the place of matrix units with `FNSTORE_GPU_COOPERATIVE=0`";
    }
    if wrong.clone().all(|kernel| OF_UNITS.contains(&kernel) || OF_HALF.contains(&kernel)) {
        return "its shaders of 32-bit weights take their place without `FNSTORE_GPU_HALF`, and with \
                `FNSTORE_GPU_COOPERATIVE=0`";
    }
    "use `--device cpu`"
}

/// Every kernel with several seeds; the worst of each counts.
fn test(device: &Device) -> Vec<TestRecord> {
    let mut worst: Vec<KernelTest> = self_test(device, 0);
    for seed in 1..SEEDS {
        for (worst, test) in worst.iter_mut().zip(self_test(device, seed)) {
            if worst.failure.is_none()
                && (test.failure.is_some() || test.largest_error > worst.largest_error)
            {
                *worst = test;
            }
        }
    }
    worst.into_iter().map(TestRecord::new).collect()
}

/// Why this adapter, or none, was chosen.
fn reason(adapters: &[GpuAdapter], choice: &DeviceChoice, place: Option<usize>) -> String {
    match (choice, place) {
        (DeviceChoice::Cpu, _) => "the CPU was asked for".to_owned(),
        (DeviceChoice::Named(name), Some(_)) => format!("the best whose name contains `{name}`"),
        (_, Some(place)) => {
            format!("the best: {} before others", adapters[place].kind.as_str())
        }
        (_, None) if adapters.is_empty() => "there is no adapter".to_owned(),
        (_, None) => "software adapters are used only by name".to_owned(),
    }
}

impl Row for TestRecord {
    const COLUMNS: &'static [&'static str] =
        &["kernel", "passed", "shapes", "largest_error", "tolerance", "failure"];
}

impl TestRecord {
    fn new(test: KernelTest) -> Self {
        Self {
            kernel: test.kernel,
            passed: test.passed(),
            shapes: SEEDS,
            largest_error: test.largest_error.is_finite().then_some(test.largest_error),
            tolerance: test.tolerance,
            failure: test.failure.map(|failure| failure.to_string()),
        }
    }

    fn verdict(&self) -> &'static str {
        if self.passed { "ok" } else { "FAILED" }
    }
}

fn write(record: &GpuRecord, output: &mut Output) -> anyhow::Result<()> {
    for adapter in &record.adapters {
        output.heading(&adapter.name)?;
        let kind = match adapter.kind {
            AdapterKind::Software => "software, used only by name",
            kind => kind.as_str(),
        };
        let bindings = format!(
            "bindings of {}, buffers of {}",
            size(adapter.max_binding),
            size(adapter.max_buffer)
        );
        let workgroups = format!(
            "{} invocations, {} of memory, {} in a dimension",
            adapter.workgroup_invocations,
            size(adapter.workgroup_memory.into()),
            adapter.max_workgroups
        );
        let units = match adapter.matrix_units.as_slice() {
            [] => "no".to_owned(),
            shapes if adapter.has_fitting_units => format!("{} (one fits)", shapes.join(", ")),
            shapes => format!("{} (none fits)", shapes.join(", ")),
        };
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        for (name, value) in [
            ("kind", kind.to_owned()),
            ("driver", format!("{}, {}", adapter.backend, adapter.driver)),
            ("memory", bindings),
            ("workgroups", workgroups),
            ("16-bit floats", yes(adapter.half_precision)),
            ("matrix units", units),
            ("keeps shaders", yes(adapter.pipeline_cache)),
        ] {
            output.line(&format!("  {name:<14} {value}"))?;
        }
    }
    if !record.adapters.is_empty() {
        output.line("")?;
    }
    let chosen = record.chosen.as_deref().unwrap_or("the CPU");
    output.line(&format!("--device {}: {chosen} ({})", record.asked, record.reason))?;
    if record.tests.is_empty() {
        return Ok(());
    }
    let rows = record.tests.iter().map(|test| {
        let error = match (&test.failure, test.largest_error) {
            (Some(failure), _) => failure.clone(),
            (None, Some(error)) => format!("{error:.1e}"),
            (None, None) => "not finite".to_owned(),
        };
        vec![
            test.kernel.to_owned(),
            test.verdict().to_owned(),
            error,
            format!("{:.0e}", test.tolerance),
        ]
    });
    output.line("")?;
    Ok(output.table(&["kernel", "", "largest error", "allowed"], rows.collect())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_advised_is_what_computes_right() {
        let advised = |wrong: &[&'static str]| advice(wrong.iter().copied());
        assert!(advised(&["half_rows", "place_heads"]).contains("FNSTORE_GPU_COOPERATIVE=0"));
        assert!(advised(&["half_rows", "matmul_half"]).contains("FNSTORE_GPU_HALF"));
        assert!(advised(&["half_rows", "softmax"]).contains("--device cpu"));
    }

    #[test]
    fn every_kernel_of_the_lists_is_there() {
        let known: Vec<&str> =
            fnstore::engine::kernels::shaders().iter().map(|shader| shader.name).collect();
        for kernel in OF_UNITS.iter().chain(&OF_HALF) {
            assert!(known.contains(kernel), "{kernel}");
        }
    }
}
