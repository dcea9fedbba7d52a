//! Every link of the documentation leads to a file that is there, and to a place that is in it; the site has every page.

use crate::markdown::{anchors, links};
use crate::{pages, read, root};
use std::path::Path;

/// What is wrong with a link, if anything is.
fn fault(page: &str, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = link
        .split_once('#')
        .map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let file = match path {
        "" => root().join(page),
        path => root().join(page).parent().unwrap().join(path),
    };
    if !file.exists() {
        return Some(format!("{page}: {link} leads to no file"));
    }
    let anchor = anchor.filter(|_| file.extension().is_some_and(|ending| ending == "md"))?;
    let known = anchors(&std::fs::read_to_string(&file).unwrap());
    let missing = !known.iter().any(|known| known == anchor);
    missing.then(|| format!("{page}: {link} leads to no heading of {}", file.display()))
}

#[test]
fn every_link_leads_somewhere() {
    let mut faults = Vec::new();
    for page in pages() {
        faults.extend(
            links(&read(&page))
                .iter()
                .filter_map(|link| fault(&page, link)),
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    assert!(fault("README.md", "docs/nowhere.md").is_some());
    assert!(fault("README.md", "docs/network.md#nothing-like-this").is_some());
    assert!(fault("docs/network.md", "#relay").is_none());
}

#[test]
fn the_site_has_every_page_once() {
    let summary = links(&read("docs/SUMMARY.md"));
    for page in pages() {
        let Some(name) = page
            .strip_prefix("docs/")
            .filter(|name| *name != "SUMMARY.md")
        else {
            continue;
        };
        let count = summary.iter().filter(|link| *link == name).count();
        assert_eq!(count, 1, "docs/SUMMARY.md lists {name} {count} times");
    }
    for link in &summary {
        assert!(
            Path::new(&root()).join("docs").join(link).exists(),
            "{link}"
        );
    }
}
