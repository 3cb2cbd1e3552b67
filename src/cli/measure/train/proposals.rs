//! `fnstore train proposals`: weights that rank proposals, from decisions.

use fnstore::database::Database;
use fnstore::model::Fraction;
use fnstore::proposals::train::{Trained, decisions, run as fit};
use serde::Serialize;

use crate::cli::print::output::counted;
use crate::cli::print::render::ONE_ROW;
use crate::cli::{Context, Outcome};

use super::settings::WeightsFileArgs;

/// Fit the weights that rank proposals, on decisions
///
/// Learns from the standing decisions of `fnstore proposals`: accepted and merged proposals evoke
/// their frame, rejected and moved ones do not. At least five of either kind are needed. What is
/// printed compares the built-in weights with fitted ones on decisions that each fit did not see.
/// Where a verifier answered, weights that were fitted without its answers stand there, too.
/// `fnstore proposals --ranker FILE` ranks by the file.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    file: WeightsFileArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore train proposals --out ranker.json && fnstore proposals --ranker ranker.json";

/// What was fitted as JSON; see `schema/proposal-ranker.schema.json`.
#[derive(Debug, Serialize)]
struct RankerRecord {
    out: String,
    accepted: usize,
    rejected: usize,
    default_loss: f64,
    held_out_loss: f64,
    default_order: Fraction,
    held_out_order: Fraction,
    /// Mean log loss of weights that were fitted without the answers of a verifier, on decisions
    /// that the fit did not see; absent where no proposal has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    without_verifier_loss: Option<f64>,
    /// Share of pairs of both kinds that these weights put in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    without_verifier_order: Option<Fraction>,
    bias: f32,
    weights: std::collections::BTreeMap<&'static str, f32>,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let trained = fit(&decisions(&database)?)?;
    args.file.write("ranker", &trained.ranker.to_json())?;
    let Trained { ranker, accepted, rejected, .. } = &trained;
    let (loss, order) = trained.without_verifier.unzip();
    let record = RankerRecord {
        out: args.file.out.display().to_string(),
        accepted: *accepted,
        rejected: *rejected,
        default_loss: trained.default_loss,
        held_out_loss: trained.held_out_loss,
        default_order: trained.default_order,
        held_out_order: trained.held_out_order,
        without_verifier_loss: loss,
        without_verifier_order: order,
        bias: ranker.bias(),
        weights: ranker.weights().map(|(input, weight)| (input.as_str(), weight)).collect(),
    };
    context.output.report(&record, ONE_ROW, |output| {
        output.heading(&format!("the weights are in {}", args.file.out.display()))?;
        let rejected = counted(*rejected as u64, "rejected proposal");
        output.line(&format!("  {accepted} accepted and {rejected}"))?;
        let head = loss.map_or("", |_| "    without the verifier");
        output.line(&format!("                      built-in    fitted, held out{head}"))?;
        let rows = [
            ("log loss", record.default_loss, record.held_out_loss, loss),
            ("pairs in order", record.default_order, record.held_out_order, order),
        ];
        for (name, default, held_out, without) in rows {
            let without = without.map_or(String::new(), |figure| format!(" {figure:>23.3}"));
            output.line(&format!("  {name:<18} {default:>9.3} {held_out:>19.3}{without}"))?;
        }
        for (input, weight) in ranker.weights() {
            output.line(&format!("  {:<18} {weight:>9.2}", input.as_str()))?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}
