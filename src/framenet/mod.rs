//! framenet
