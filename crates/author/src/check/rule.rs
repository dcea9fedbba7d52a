//! The type of a conformance rule, and the macro that declares a table of them.

use super::protocol_pages::section;
use serde::Serialize;

#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Such as `choice.parity`. Published ids never change.
    pub id: &'static str,
    pub category: Category,
    pub weight: Weight,
    /// What holds if the rule holds.
    pub title: &'static str,
    /// The anchor in the pages of the protocol.
    pub anchor: &'static str,
    /// How to fix a violation, in a sentence or two.
    pub fix: &'static str,
    /// Whether `--quick` checks it too.
    pub quick: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// A violation loses matches, or spoils the league.
    Mandatory,
    /// A violation loses no match.
    Advisory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    Registration,
    Transport,
    JsonRpc,
    Envelope,
    Joining,
    Choosing,
    Refusals,
    Rounds,
    Results,
    Queries,
    Notices,
    Robustness,
    Timing,
    Trust,
}

impl Category {
    pub fn name(self) -> &'static str {
        match self {
            Self::Registration => "Registration",
            Self::Transport => "Transport",
            Self::JsonRpc => "JSON-RPC",
            Self::Envelope => "Envelope",
            Self::Joining => "Joining",
            Self::Choosing => "Choosing",
            Self::Refusals => "Refusals",
            Self::Rounds => "Rounds",
            Self::Results => "Results",
            Self::Queries => "Queries",
            Self::Notices => "Notices",
            Self::Robustness => "Robustness",
            Self::Timing => "Timing",
            Self::Trust => "Trust",
        }
    }
}

impl Rule {
    pub fn is_mandatory(&self) -> bool {
        self.weight == Weight::Mandatory
    }

    /// The command that tells what the rule is about, wherever the program is installed.
    pub fn explaining_command(&self) -> String {
        format!("matchday check --explain {}", self.id)
    }

    /// `docs/protocol-messages.md#choose_parity_response`
    pub fn doc_link(&self) -> String {
        let page = section(self.anchor).map_or("docs/protocol.md", |section| section.page);
        format!("{page}#{}", self.anchor)
    }
}

/// Declares the rules of a role as statics, and all of them in order as `OWN`. A row is
/// `NAME = Weight [quick], id, category, title, anchor, fix;`.
macro_rules! rules {
    ($($name:ident = $weight:ident $($quick:ident)?, $id:literal, $category:ident, $title:literal, $anchor:literal, $fix:expr;)*) => {
        $(pub(crate) static $name: $crate::check::rule::Rule = $crate::check::rule::Rule {
            id: $id,
            category: $crate::check::rule::Category::$category,
            weight: $crate::check::rule::Weight::$weight,
            title: $title,
            anchor: $anchor,
            fix: $fix,
            quick: !<[&str]>::is_empty(&[$(stringify!($quick))?]),
        };)*

        pub(crate) static OWN: &[&$crate::check::rule::Rule] = &[$(&$name,)*];
    };
}
pub(crate) use rules;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{manager, player, referee};
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    fn of_each_role() -> [Vec<&'static Rule>; 3] {
        let player = player::rules::OWN.to_vec();
        [
            player,
            referee::rules::all().collect(),
            manager::rules::all().collect(),
        ]
    }

    #[test]
    fn every_rule_has_a_name_of_its_own() {
        for rules in of_each_role() {
            assert_eq!(
                rules
                    .iter()
                    .map(|rule| rule.id)
                    .collect::<BTreeSet<_>>()
                    .len(),
                rules.len()
            );
        }
    }

    #[test]
    fn every_rule_links_to_an_anchor_or_a_heading_of_its_page() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for rule in of_each_role().into_iter().flatten() {
            let link = rule.doc_link();
            let (page, anchor) = link.split_once('#').unwrap();
            let text = fs::read_to_string(root.join(page)).unwrap();
            let is_heading = |line: &str| {
                line.strip_prefix("### ")
                    .is_some_and(|it| it.to_ascii_lowercase().replace(' ', "-") == anchor)
            };
            let is_there =
                text.contains(&format!("<a id=\"{anchor}\"></a>")) || text.lines().any(is_heading);
            assert!(is_there, "{}: {link}", rule.id);
        }
    }
}
