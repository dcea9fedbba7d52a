//! "Did you mean ...?", for names that are not known. Pure.

/// The known name that was probably meant: at most a quarter of its letters are other ones.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = known
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .min();
    near.filter(|(distance, known)| *distance <= known.len().div_ceil(4))
        .map(|(_, known)| known)
}

/// To be put behind a message: the name that was probably meant, or all that are known.
pub fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(known) => format!(" - did you mean {known:?}?"),
        None => format!(" - known are {}", known.collect::<Vec<_>>().join(", ")),
    }
}
