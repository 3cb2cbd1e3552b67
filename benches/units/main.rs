//! Are matrix units right on this driver, and how fast are they? The same product by variants that
//! differ in how fragments reach the units: see `variants.rs`.
//!
//! `cargo bench --bench units`. Each variant multiplies ones three times with 16, 32 and 576
//! inputs, over a grid that fills a card, and tells what came out, where the first wrong number
//! stands, and whether the bits are those of the first time. Those that are right multiply random
//! numbers in shapes of a language model: the largest error, and TFLOP/s. `FNSTORE_DEVICE` names
//! another adapter than the best, `FNSTORE_BENCH_VARIANTS` some variants (`V2,V0`).
//! `FNSTORE_BENCH_SMALL=1` takes small shapes. `FNSTORE_BENCH_JSON` names a file for the record,
//! which is written after each variant: a driver that takes the process down leaves what was
//! found. Without matrix units only the variants that need none run, in small shapes.

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]
#![allow(unsafe_code, reason = "wgpu asks for consent to experiments and to SPIR-V of our own")]

mod card;
mod variants;

use std::collections::BTreeMap;
use std::error::Error;

use card::{Card, Factors, Opened, UNWRITTEN};
use serde_json::{Value, json};
use variants::{Variant, variants};

const RUNS: usize = 3;
const INPUTS: [usize; 3] = [16, 32, 576];
/// Numbers of a product that are compared with a sum on the host.
const SPOT_CHECKS: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let asked = std::env::var("FNSTORE_DEVICE").unwrap_or_default();
    let wanted = if matches!(asked.as_str(), "auto" | "gpu") { "" } else { asked.as_str() };
    let chosen = std::env::var("FNSTORE_BENCH_VARIANTS").unwrap_or_default();
    let chosen: Vec<&str> = chosen.split(',').filter(|name| !name.is_empty()).collect();
    let all = variants();
    if let Some(unknown) = chosen.iter().find(|name| all.iter().all(|each| each.name != **name)) {
        return Err(format!("FNSTORE_BENCH_VARIANTS: there is no variant `{unknown}`").into());
    }
    let Some(card) = Card::find(wanted) else {
        println!("there is no Vulkan adapter `{asked}`: nothing to measure");
        return Ok(());
    };
    let small = std::env::var_os("FNSTORE_BENCH_SMALL").is_some() || !card.has_units;
    let info = &card.info;
    println!("{}, {} {}", info.name, info.driver, info.driver_info);
    println!("subgroups of {} to {} lanes", info.subgroup_min_size, info.subgroup_max_size);
    if !card.has_units {
        println!("no matrix units that fit (16 x 16 x 16, f16 to f32): their variants do not run");
    }
    let mut bench = Bench { small, references: BTreeMap::new(), card: &card };
    let mut records = Vec::new();
    for variant in all.iter().filter(|each| chosen.is_empty() || chosen.contains(&each.name)) {
        if variant.needs_units && !card.has_units {
            // Whether naga takes it can be told anywhere.
            variant.words().map_err(|error| format!("{}: {error}", variant.name))?;
            continue;
        }
        println!("\n{}: {}", variant.name, variant.what);
        records.push(bench.measure(variant));
        if let Some(path) = std::env::var_os("FNSTORE_BENCH_JSON") {
            let record = json!({
                "bench": "units",
                "adapter": info.name,
                "driver": format!("{} {}", info.driver, info.driver_info),
                "subgroups": [info.subgroup_min_size, info.subgroup_max_size],
                "units": card.has_units,
                "small": small,
                "variants": records,
            });
            std::fs::write(path, serde_json::to_string_pretty(&record)? + "\n")?;
        }
    }
    summary(&records);
    Ok(())
}

struct Bench<'a> {
    small: bool,
    /// Products by the plain shader, by shape.
    references: BTreeMap<[usize; 3], Vec<f32>>,
    card: &'a Card,
}

impl Bench<'_> {
    /// Everything about a variant; what fails is part of the record.
    fn measure(&mut self, variant: &Variant) -> Value {
        let mut record = json!({ "name": variant.name, "what": variant.what });
        let measured = self.card.open(variant.needs_units).and_then(|opened| {
            let pipeline = &opened.compile(variant)?;
            let (ones, right) = self.ones(&opened, variant, pipeline)?;
            record["ones"] = ones;
            record["right"] = json!(right);
            if right && (variant.needs_units || self.small) {
                record["products"] = json!([]);
                for shape in self.shapes() {
                    let product = self.product(&opened, variant, pipeline, shape)?;
                    record["products"].as_array_mut().expect("it is an array").push(product);
                }
            }
            Ok(())
        });
        if let Err(failure) = measured {
            println!("  failed: {failure}");
            record["failure"] = json!(failure);
        }
        record
    }

    fn shapes(&self) -> Vec<[usize; 3]> {
        match self.small {
            true => vec![[256, 576, 128], [128, 96, 384]],
            false => vec![[2048, 576, 1536], [2048, 576, 49_152], [4096, 4096, 4096]],
        }
    }

    /// Products of ones; whether every one was right.
    fn ones(
        &self,
        opened: &Opened,
        variant: &Variant,
        pipeline: &wgpu::ComputePipeline,
    ) -> Result<(Value, bool), String> {
        let (mut lines, mut all_right) = (Vec::new(), true);
        let side = if self.small { 256 } else { 4096 };
        for inputs in INPUTS {
            let factors = Factors::ones([side, inputs, side]);
            let prepared = opened.prepare(variant, pipeline, &factors)?;
            let mut first: Option<Vec<f32>> = None;
            for _ in 0..RUNS {
                let found = prepared.once()?;
                let counted = Counted::of(&found, inputs);
                let same = first.as_ref().is_none_or(|first| same_bits(first, &found));
                println!("  K={inputs}: {counted}; same bits: {same}");
                all_right &= counted.first_bad.is_none();
                lines.push(counted.record(inputs, side, same));
                first.get_or_insert(found);
            }
        }
        Ok((json!(lines), all_right))
    }

    /// A product of random numbers: its error, and its rate.
    fn product(
        &mut self,
        opened: &Opened,
        variant: &Variant,
        pipeline: &wgpu::ComputePipeline,
        shape: [usize; 3],
    ) -> Result<Value, String> {
        let factors = Factors::random(shape);
        let reference = self.reference(&factors)?;
        let prepared = opened.prepare(variant, pipeline, &factors)?;
        let (mut error, mut same) = (0.0_f32, true);
        let mut first: Option<Vec<f32>> = None;
        for _ in 0..RUNS {
            let found = prepared.once()?;
            error = error.max(largest_error(reference, &found));
            same &= first.as_ref().is_none_or(|first| same_bits(first, &found));
            first.get_or_insert(found);
        }
        drop(first);
        let [rows, inputs, columns] = shape;
        let seconds = prepared.seconds()?;
        let rate = 2.0 * (rows * inputs * columns) as f64 / seconds / 1e12;
        println!(
            "  {rows} x {inputs} x {columns}: error {error:.1e}, same bits: {same}, {rate:.3} TFLOP/s"
        );
        Ok(json!({
            "rows": rows, "inputs": inputs, "columns": columns,
            // JSON has no number for what is not finite.
            "largest_error": error.is_finite().then_some(error),
            "same_bits": same, "microseconds": 1e6 * seconds, "tflops": rate,
        }))
    }

    /// The plain shader's product, some of whose numbers the host has summed, too.
    fn reference(&mut self, factors: &Factors) -> Result<&[f32], String> {
        if !self.references.contains_key(&factors.shape) {
            let all = variants();
            let plain = all.iter().find(|each| each.name == "P").expect("it is in the list");
            let opened = self.card.open(false)?;
            let found = opened.prepare(plain, &opened.compile(plain)?, factors)?.once()?;
            let [rows, inputs, columns] = factors.shape;
            for spot in 0..SPOT_CHECKS {
                let (row, column) = (spot * 977 % rows, spot * 7919 % columns);
                let (found, sum) =
                    (f64::from(found[row * columns + column]), factors.sum(row, column));
                if (found - sum).abs() > 1e-6 * inputs as f64 {
                    return Err(format!("the plain product is wrong at ({row}, {column})"));
                }
            }
            self.references.insert(factors.shape, found);
        }
        Ok(&self.references[&factors.shape])
    }
}

fn same_bits(one: &[f32], other: &[f32]) -> bool {
    bytemuck::cast_slice::<_, u32>(one) == bytemuck::cast_slice::<_, u32>(other)
}

/// The largest difference; infinite where a number is not finite.
fn largest_error(wanted: &[f32], found: &[f32]) -> f32 {
    let differences = wanted.iter().zip(found).map(|(wanted, found)| (wanted - found).abs());
    differences
        .fold(0.0, |most, each| if each.is_finite() { most.max(each) } else { f32::INFINITY })
}

/// What a product of ones holds.
#[derive(Default)]
struct Counted {
    right: usize,
    zero: usize,
    multiple: usize,
    other: usize,
    unwritten: usize,
    not_finite: usize,
    /// The place of the first wrong number, and that.
    first_bad: Option<(usize, f32)>,
    columns: usize,
}

impl Counted {
    fn of(found: &[f32], inputs: usize) -> Self {
        let columns = found.len().isqrt();
        let mut counted = Self { columns, ..Self::default() };
        for (at, &number) in found.iter().enumerate() {
            let kind = match number {
                number if number == inputs as f32 => {
                    counted.right += 1;
                    continue;
                }
                0.0 => &mut counted.zero,
                UNWRITTEN => &mut counted.unwritten,
                number if !number.is_finite() => &mut counted.not_finite,
                number if number % 16.0 == 0.0 => &mut counted.multiple,
                _ => &mut counted.other,
            };
            *kind += 1;
            counted.first_bad.get_or_insert((at, number));
        }
        counted
    }

    fn record(&self, inputs: usize, side: usize, same: bool) -> Value {
        json!({
            "inputs": inputs, "side": side, "right": self.right, "zero": self.zero,
            "multiple_of_16": self.multiple, "other": self.other, "unwritten": self.unwritten,
            "not_finite": self.not_finite, "same_bits": same,
            "first_bad": self.first_bad.map(|(at, number)| json!({
                "row": at / self.columns, "column": at % self.columns,
                "found": number.to_string(),
            })),
        })
    }
}

impl std::fmt::Display for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { right, zero, multiple, other, unwritten, not_finite, columns, .. } = self;
        write!(f, "{right} right, {zero} zero, {multiple} multiples of 16, {other} other, ")?;
        write!(f, "{unwritten} unwritten, {not_finite} not finite")?;
        match self.first_bad {
            Some((at, number)) => {
                write!(f, "; first bad ({}, {}): {number}", at / columns, at % columns)
            }
            None => Ok(()),
        }
    }
}

/// One line for each variant: its rates, or what the first wrong product of ones held.
fn summary(records: &[Value]) {
    println!("\nvariant  right  TFLOP/s by shape");
    for record in records {
        let right = match (&record["failure"], record["right"].as_bool()) {
            (Value::String(_), _) => "failed",
            (_, Some(true)) => "yes",
            _ => "no",
        };
        let rates = list(&record["products"]).iter().map(|each| {
            let rate = each["tflops"].as_f64().unwrap_or(0.0);
            format!("{rate:.3} ({} x {} x {})", each["rows"], each["inputs"], each["columns"])
        });
        let wrong = list(&record["ones"]).iter().find(|line| !line["first_bad"].is_null());
        let wrong = wrong.map(|line| {
            let of = |key: &str| line[key].to_string();
            let counts = ["right", "zero", "multiple_of_16", "other", "unwritten", "not_finite"]
                .map(|key| format!("{} {}", of(key), key.replace('_', " ")));
            format!("K={}: {}", of("inputs"), counts.join(", "))
        });
        let failure = record["failure"].as_str().map(str::to_owned);
        let all: Vec<String> = rates.chain(wrong).chain(failure).collect();
        println!("{:<8} {right:<6} {}", record["name"].as_str().unwrap_or(""), all.join(", "));
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
