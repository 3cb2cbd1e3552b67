//! What an answer says of itself where it is read: the lines above and below its sentence.

use super::Answer;
use crate::model::{FeStatus, Generation, Origin, Provenance};
use crate::text::drawing;

impl Answer {
    /// How an expansion made the set; none of a set that people made.
    #[must_use]
    pub fn generation(&self) -> Option<&Generation> {
        match &self.set.provenance {
            Provenance::Generated(generation) => Some(generation),
            _ => None,
        }
    }

    /// The id with everything about where the set comes from; with its release where the store has
    /// several.
    #[must_use]
    pub fn origin_line(&self) -> String {
        let set = &self.set;
        let origin = set.provenance.origin();
        let mut parts = vec![set.id.to_string()];
        parts.extend(self.is_of_several.then(|| self.release.name.clone()));
        parts.push(origin.as_str().to_owned());
        if let Some(made) = self.generation() {
            parts.push(format!("round {}", made.round));
            parts.extend(made.paraphrase_score().map(|score| format!("paraphrase {score:.2}")));
            parts.push(format!("aligner {:.2}", made.aligner));
            if let Some(scores) = made.filter {
                parts.push(format!("p {:.2}  r {:.2}", scores.precision, scores.recall));
            }
            parts.extend(made.fit.map(|fit| format!("frame fit {:.2}", fit.probability)));
            parts.push(format!("from {}", made.seed));
            parts.extend(made.flags.names().into_iter().map(|flag| format!("({flag})")));
        } else if let Provenance::Carried(carrying) = &set.provenance {
            parts.push(format!("aligner {:.2}", carrying.aligner));
            parts.push(format!("from {} beside {}", carrying.source, carrying.generated));
        } else if let Some(fit) = set.provenance.fit() {
            parts.push(format!("frame fit {:.2}", fit.probability));
        } else if !set.status.is_empty() {
            parts.push(set.status.clone());
        }
        if let Some(said) = &self.verification {
            let mut answer = |name, share: Option<f32>| {
                parts.extend(share.map(|share| format!("{name} {share:.2}")));
            };
            answer("evokes", said.evokes);
            answer("same meaning", said.same_meaning);
            answer("reverse", said.reverse.map(|reverse| reverse.score));
        }
        if let (Origin::FullText, Some(document)) = (origin, &self.document) {
            parts.push(document.to_string());
        }
        parts.join("  ")
    }

    /// The FEs that no words express, or why no FE is drawn; none where there is neither to tell.
    #[must_use]
    pub fn unexpressed_line(&self) -> Option<String> {
        let unexpressed = drawing::unexpressed(&self.set);
        if !unexpressed.is_empty() {
            return Some(unexpressed.join(" "));
        }
        if self.elements().next().is_some() {
            return None;
        }
        let why = match self.set.fe_status {
            FeStatus::Annotated => "(no FE)",
            FeStatus::Unannotated => "(FEs not annotated)",
            FeStatus::Unknown => "(FEs not carried over)",
            FeStatus::Carried => "(no FE found)",
        };
        Some(why.to_owned())
    }
}
