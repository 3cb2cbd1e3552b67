//! Shares of what was counted, with their intervals.

use serde::{Deserialize, Serialize};

/// A share of things that were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Share {
    /// Those that count.
    pub hits: u64,
    /// Of how many.
    pub of: u64,
}

impl Share {
    /// The share; 0 of none.
    #[must_use]
    pub fn share(self) -> f64 {
        if self.of == 0 { 0.0 } else { self.hits as f64 / self.of as f64 }
    }

    /// Wilson's score interval (1927) at 95 %.
    ///
    /// ```
    /// use fnstore::model::Share;
    ///
    /// let (low, high) = Share { hits: 57, of: 60 }.interval();
    /// assert_eq!(format!("{low:.3} {high:.3}"), "0.863 0.983");
    /// ```
    #[must_use]
    pub fn interval(self) -> (f64, f64) {
        const Z: f64 = 1.959_963_984_540_054;
        if self.of == 0 {
            return (0.0, 1.0);
        }
        let (share, count) = (self.share(), self.of as f64);
        let scale = 1.0 + Z * Z / count;
        let middle = (share + Z * Z / (2.0 * count)) / scale;
        let half =
            Z * (share * (1.0 - share) / count + Z * Z / (4.0 * count * count)).sqrt() / scale;
        ((middle - half).max(0.0), (middle + half).min(1.0))
    }
}
