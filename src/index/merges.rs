//! Which segments are merged, as they become many.
//!
//! Tantivy's own policy merges eight of about one size whatever they hold. A merge keeps some
//! twenty bytes of each entry in memory, so that one of sixteen million takes three hundred
//! megabytes. Here no merge makes a segment of more than some millions. Of those that would, two
//! segments or a few are merged at a time, for merges that are named together run together. At
//! twenty million entries a reader opens some ten segments.

use std::collections::HashMap;

use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::indexer::{LogMergePolicy, MergeCandidate, MergePolicy};

/// Most entries of a segment that a merge makes.
const MOST: u64 = 4_000_000;

/// Merges by size, each into a segment of bounded size.
#[derive(Debug, Default)]
pub(super) struct BoundedMerges(LogMergePolicy);

impl MergePolicy for BoundedMerges {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let sizes: HashMap<SegmentId, u64> =
            segments.iter().map(|segment| (segment.id(), segment.num_docs().into())).collect();
        let candidates = self.0.compute_merge_candidates(segments).into_iter();
        candidates.filter_map(|candidate| bounded(candidate, &sizes)).collect()
    }
}

/// The merge, or as many of the smallest segments as make one of bounded size; none where that is
/// one.
fn bounded(
    MergeCandidate(mut ids): MergeCandidate,
    sizes: &HashMap<SegmentId, u64>,
) -> Option<MergeCandidate> {
    let mut together = 0;
    ids.sort_by_key(|id| sizes[id]);
    let fit = ids.iter().take_while(|id| {
        together += sizes[*id];
        together <= MOST
    });
    let fit = fit.count();
    ids.truncate(fit);
    (fit > 1).then_some(MergeCandidate(ids))
}

#[cfg(test)]
mod tests {
    use tantivy::Index;
    use tantivy::schema::Schema;

    use super::*;

    /// How many entries each merge makes a segment of.
    fn merges(of: &[u32]) -> Vec<Vec<u32>> {
        let index = Index::create_in_ram(Schema::builder().build());
        let segments: Vec<SegmentMeta> = of
            .iter()
            .map(|size| index.new_segment_meta(SegmentId::generate_random(), *size))
            .collect();
        let size =
            |id: &SegmentId| segments.iter().find(|of| of.id() == *id).map(SegmentMeta::max_doc);
        let merges = BoundedMerges::default().compute_merge_candidates(&segments);
        merges.iter().map(|of| of.0.iter().filter_map(size).collect()).collect()
    }

    #[test]
    fn small_segments_are_merged_as_tantivy_merges_them() {
        assert_eq!(merges(&[250_000; 8]), [[250_000; 8]]);
        assert!(merges(&[250_000; 7]).is_empty());
    }

    #[test]
    fn no_merge_makes_a_segment_of_more_than_some_millions() {
        assert_eq!(merges(&[1_900_000; 9]), [[1_900_000; 2]]);
        assert_eq!(merges(&[1_000_000; 9]), [[1_000_000; 4]]);
        assert_eq!(
            merges(&[
                1_300_000, 1_200_000, 1_250_000, 1_200_000, 1_300_000, 1_200_000, 1_250_000,
                1_200_000
            ]),
            [[1_200_000; 3]]
        );
        assert!(merges(&[2_100_000; 20]).is_empty());
        assert!(merges(&[9_000_000; 20]).is_empty());
    }
}
