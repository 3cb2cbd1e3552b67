//! What the operating system has a say in.
//!
//! | file | what |
//! | --- | --- |
//! | [`stop`] | Ctrl-C and SIGTERM |
//! | [`hang_up`] | whether the reader of the output has ended |
//! | [`descriptors`] | how many files the program may open |
//! | [`end`] | the end of the program |
//! | [`freed`] | memory that was freed, and that allocators keep |
//! | [`whole_file`] | files that commands write: whole or not at all |

pub(crate) mod descriptors;
pub(crate) mod end;
pub(crate) mod freed;
pub(crate) mod hang_up;
pub(crate) mod stop;
pub(crate) mod whole_file;
