//! Commands that train models and measure them.
//!
//! | file | what |
//! | --- | --- |
//! | [`train`] | a model of one's own |
//! | [`eval`] | how well a model does on data with known answers |
//! | [`experiment`] | whether generated sets help the models that learn from them |

mod eval;
mod experiment;
mod train;

commands! {
    Train in train,
    Eval in eval,
    Experiment in experiment,
}
