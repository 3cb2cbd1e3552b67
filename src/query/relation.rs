//! Frame relations in queries: which relations a field follows, and how far.

use super::{Comparison, Field};

/// How many relations lie between two frames, by the shortest way, as in `{distance<=2}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distance {
    /// How the number of relations compares with `steps`.
    pub comparison: Comparison,
    /// The number in the query. A frame lies 0 relations from itself.
    pub steps: u64,
}

impl Distance {
    /// Whether so many relations lie within it.
    #[must_use]
    pub fn holds(self, steps: u64) -> bool {
        self.comparison.holds(steps, self.steps)
    }
}

/// The relations that a field follows from a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Followed {
    /// Those of this type, from child to parent.
    Upwards(&'static str),
    /// Those of all types, in both directions.
    All,
}

impl Field {
    /// The relations that a field of kind [`Relation`](super::FieldKind::Relation) follows; `None`
    /// for other fields.
    pub(crate) fn followed(self) -> Option<Followed> {
        Some(match self {
            Self::Inherits => Followed::Upwards("Inheritance"),
            Self::Uses => Followed::Upwards("Using"),
            Self::Perspective => Followed::Upwards("Perspective_on"),
            Self::Subframe => Followed::Upwards("Subframe"),
            Self::Related => Followed::All,
            _ => return None,
        })
    }

    /// The distances that count where a query names none. A frame inherits from itself, as what it
    /// means is a kind of itself; all frames together are one network, so that `related` asks for
    /// neighbours.
    pub(crate) fn usual_distance(self) -> Distance {
        match self {
            Self::Inherits => Distance { comparison: Comparison::GreaterOrEqual, steps: 0 },
            Self::Related => Distance { comparison: Comparison::Equal, steps: 1 },
            _ => Distance { comparison: Comparison::GreaterOrEqual, steps: 1 },
        }
    }
}
