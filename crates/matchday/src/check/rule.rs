//! What an agent is held against: one rule each, with its place in the documentation and how to mend what breaks it.

use serde::Serialize;

/// One thing that is either so or not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// `choice.parity`: what people and programs call it by. Once published it stays.
    pub(crate) id: &'static str,
    pub(crate) category: Category,
    pub(crate) weight: Weight,
    /// What holds if it holds.
    pub(crate) title: &'static str,
    /// Where `docs/protocol.md` says so.
    pub(crate) anchor: &'static str,
    /// What an author does about it, in a sentence or two.
    pub(crate) mend: &'static str,
    /// Whether `--quick` looks at it too.
    pub(crate) quick: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Weight {
    /// Who breaks it loses matches, or the league.
    Mandatory,
    /// Who breaks it gets on, and would do better to mend it.
    Advisory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Category {
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
    pub(crate) fn name(self) -> &'static str {
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
    pub(crate) const fn mandatory(
        id: &'static str,
        category: Category,
        title: &'static str,
        anchor: &'static str,
        mend: &'static str,
    ) -> Self {
        Self { id, category, weight: Weight::Mandatory, title, anchor, mend, quick: false }
    }

    pub(crate) const fn advisory(
        id: &'static str,
        category: Category,
        title: &'static str,
        anchor: &'static str,
        mend: &'static str,
    ) -> Self {
        Self { id, category, weight: Weight::Advisory, title, anchor, mend, quick: false }
    }

    /// The same, looked at by `--quick` too.
    pub(crate) const fn quick(mut self) -> Self {
        self.quick = true;
        self
    }

    pub(crate) fn is_mandatory(&self) -> bool {
        self.weight == Weight::Mandatory
    }

    /// `docs/protocol.md#choose_parity_response`
    pub(crate) fn place(&self) -> String {
        format!("docs/protocol.md#{}", self.anchor)
    }
}

/// Whether the place that a rule names is in the documentation.
/// The rules of a role, each under a name of its own, and all of them in the order in which people read them.
macro_rules! rules {
    ($($name:ident = $rule:expr;)*) => {
        $(pub(in crate::check) static $name: Rule = $rule;)*

        pub(in crate::check) static OWN: &[&Rule] = &[$(&$name,)*];
    };
}
pub(crate) use rules;

#[cfg(test)]
pub(crate) fn is_documented(rule: &Rule) -> bool {
    let page = include_str!("../../../../docs/protocol.md");
    let heading = |line: &str| {
        let title = line.strip_prefix("### ")?;
        Some(title.to_ascii_lowercase().replace(' ', "-"))
    };
    page.contains(&format!("<a id=\"{}\"></a>", rule.anchor))
        || page.lines().filter_map(heading).any(|heading| heading == rule.anchor)
}
