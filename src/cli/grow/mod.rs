//! Commands that write, score and annotate sentences.
//!
//! | file | what |
//! | --- | --- |
//! | [`expand`] | annotated sentences from human ones; shards, dry runs, how far it is |
//! | [`generate`] | sentences for LUs that have none |
//! | [`attest`] | sentences of a corpus for LUs that have none |
//! | [`filter`] | scores of a filter for generated sets |
//! | [`fit`] | scores of a frame model for generated sets |
//! | [`verify`] | answers of a verifier for sets |
//! | [`discover`] | new LUs of frames, through a WordNet and word vectors |
//! | [`link`] | links of LUs and FEs to WordNets, VerbNet and PropBank |
//! | [`paraphrase`] | sentences under constraints, line by line |
//! | [`align`] | spans and words of sentence pairs; tasks for annotators |
//! | [`tag`] | parts of speech |
//! | [`annotate`] | targets, frames and FEs of raw text |
//! | [`score`] | likelihoods and answers of a language model |
//! | [`substitutes`] | what can stand in a word's place |
//! | [`mine`] | paraphrases from clusters of news |
//! | [`augment`] | training data of other tasks, rewritten |
//! | [`pass`] | what `filter`, `fit` and `verify` share: a pass over sets that are there |

pub(crate) mod align;
mod annotate;
mod attest;
mod augment;
mod discover;
pub(crate) mod expand;
pub(crate) mod filter;
mod fit;
mod generate;
mod link;
mod mine;
mod paraphrase;
mod pass;
mod score;
mod substitutes;
mod tag;
mod verify;

commands! {
    Expand in expand,
    Generate in generate,
    Attest in attest,
    Filter in filter,
    Fit in fit,
    Verify in verify,
    Paraphrase in paraphrase,
    Align in align,
    Tag in tag,
    Annotate in annotate,
    Score in score,
    Substitutes in substitutes,
    Mine in mine,
    Augment in augment,
    Discover in discover,
    Link in link,
}
