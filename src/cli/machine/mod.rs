//! What is on this machine: models, adapters, and the program's own pages.
//!
//! | file | what |
//! | --- | --- |
//! | [`model`] | the models there are, a new one, the one to use |
//! | [`gpu`] | adapters, which one is used, whether it computes right |
//! | [`completions`] | what a shell needs to complete commands |
//! | [`man`] | manual pages |

mod completions;
mod gpu;
mod man;
mod model;

commands! {
    Model in model,
    Gpu in gpu,
    Completions in completions,
    Man in man,
}
