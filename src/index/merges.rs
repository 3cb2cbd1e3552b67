//! Which segments are merged, as they become many.
//!
//! Tantivy's own policy merges eight of about one size whatever they hold. A merge keeps some twenty
//! bytes of each entry in memory, so that one of sixteen million takes three hundred megabytes.
//! Here no merge makes a segment of more than some millions: at twenty million entries a reader
//! opens five of them in place of one.

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
        candidates.flat_map(|candidate| bounded(candidate, &sizes)).collect()
    }
}

/// The parts of a merge that make segments of bounded size, the smallest first. A single segment is
/// a part where its deleted entries are to go, which is why the policy names it.
fn bounded(
    MergeCandidate(mut ids): MergeCandidate,
    sizes: &HashMap<SegmentId, u64>,
) -> Vec<MergeCandidate> {
    if ids.len() == 1 {
        return vec![MergeCandidate(ids)];
    }
    let size = |id: &SegmentId| sizes.get(id).copied().unwrap_or(MOST);
    ids.sort_by_key(size);
    let (mut parts, mut part, mut together) = (Vec::new(), Vec::new(), 0);
    for id in ids {
        if together + size(&id) > MOST {
            parts.push(MergeCandidate(std::mem::take(&mut part)));
            together = 0;
        }
        together += size(&id);
        part.push(id);
    }
    parts.push(MergeCandidate(part));
    parts.retain(|MergeCandidate(part)| part.len() > 1);
    parts
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
        assert_eq!(merges(&[1_900_000; 9]), [[1_900_000; 2]; 4]);
        assert_eq!(merges(&[1_000_000; 9]), [[1_000_000; 4]; 2]);
        assert!(merges(&[2_100_000; 20]).is_empty());
        assert!(merges(&[9_000_000; 20]).is_empty());
    }
}
