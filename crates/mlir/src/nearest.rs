//! Suggestions for misspelled names.

/// `did you mean …?` with the candidate that [`nearest`] finds.
pub fn suggestion<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<String> {
    nearest(name, candidates).map(|near| format!("did you mean `{near}`?"))
}

/// Maximum length of names that are compared.
const MAX_LENGTH: usize = 64;

/// Minimum length of abbreviations.
const MIN_ABBREVIATION: usize = 3;

/// The shortest candidate that `name` abbreviates (`exponential` for `exp`), or that with the
/// smallest edit distance to `name`, if that is small.
pub fn nearest<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > MAX_LENGTH {
        return None;
    }
    let (mut whole, mut like) = (None, None);
    for candidate in candidates {
        if name.len() >= MIN_ABBREVIATION && candidate.starts_with(name) {
            let found = (candidate.len(), candidate);
            whole = whole.map_or(Some(found), |best| Some(found.min(best)));
        }
        let distance = distance(name, candidate);
        let length = name.len().max(candidate.len());
        if distance <= candidate.len().max(3) / 3 && 2 * distance < length {
            let found = (distance, candidate);
            like = like.map_or(Some(found), |best| Some(found.min(best)));
        }
    }
    whole.or(like).map(|(_, candidate)| candidate)
}

/// The number of bytes to insert, remove or replace to make one name of the other. Only the
/// beginnings of long names are compared.
pub fn distance(name: &str, other: &str) -> usize {
    let [name, other] = [name, other].map(|name| &name.as_bytes()[..name.len().min(MAX_LENGTH)]);
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in name.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.iter().enumerate() {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}
