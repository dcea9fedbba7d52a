//! What a setting is: a name (for its flag, its environment variable and its key in the configuration file), the values that
//! it takes, and for each command that has it the default and the help.

use std::ops::Deref;
use std::time::Duration;

/// The sections of the configuration file: one for each command that has settings.
pub(crate) const SECTIONS: [&str; 7] = [
    "manager", "referee", "player", "seat", "run", "serve", "league",
];

/// Indices into [`SECTIONS`].
pub(crate) mod section {
    pub(crate) const MANAGER: usize = 0;
    pub(crate) const REFEREE: usize = 1;
    pub(crate) const PLAYER: usize = 2;
    pub(crate) const SEAT: usize = 3;
    pub(crate) const RUN: usize = 4;
    pub(crate) const SERVE: usize = 5;
    pub(crate) const LEAGUE: usize = 6;
}

/// A setting whose value is a `T`.
#[derive(Debug)]
pub(crate) struct Setting<T: 'static> {
    pub(super) declared: Declared,
    parse: Parse<T>,
}

/// All of a setting but the type of its value.
#[derive(Debug)]
pub(crate) struct Declared {
    /// `JOIN_TIMEOUT`
    pub(crate) id: &'static str,
    pub(crate) values: Values,
    /// Whether the value must not be shown.
    pub(crate) secret: bool,
    /// Of a limit: what happens to what exceeds it.
    pub(crate) beyond: Option<&'static str>,
    pub(crate) uses: &'static [Use],
}

/// A setting as some commands have it.
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) sections: &'static [usize],
    pub(crate) default: DefaultValue,
    pub(crate) help: &'static str,
}

#[derive(Debug)]
pub(crate) enum DefaultValue {
    Text(&'static str),
    /// Follows from something else, as these words say.
    Derived(&'static str),
    None,
}

impl DefaultValue {
    fn help(&self) -> String {
        match self {
            Self::Text(text) | Self::Derived(text) => format!(" [default: {text}]"),
            Self::None => String::new(),
        }
    }
}

pub(super) const fn with_default(
    sections: &'static [usize],
    default: &'static str,
    help: &'static str,
) -> Use {
    Use {
        sections,
        default: DefaultValue::Text(default),
        help,
    }
}

pub(super) const fn derived(
    sections: &'static [usize],
    default: &'static str,
    help: &'static str,
) -> Use {
    Use {
        sections,
        default: DefaultValue::Derived(default),
        help,
    }
}

pub(super) const fn optional(sections: &'static [usize], help: &'static str) -> Use {
    Use {
        sections,
        default: DefaultValue::None,
        help,
    }
}

/// The values that a setting takes.
#[derive(Debug)]
pub(crate) enum Values {
    /// What stands for the value in the help, and what is expected of it.
    Text(&'static str, fn() -> String),
    OneOf(&'static [&'static str]),
    OnOff,
    Seconds,
    SecondsAboveZero,
    /// What stands for the value in the help, the least and the most.
    Whole(&'static str, u64, u64),
    WholeOrAuto,
}

impl Values {
    /// What stands for the value in the help.
    pub(crate) fn placeholder(&self) -> String {
        match self {
            Self::Text(placeholder, _) | Self::Whole(placeholder, ..) => (*placeholder).to_owned(),
            Self::OneOf(names) => names.join("|"),
            Self::OnOff => "on|off".to_owned(),
            Self::Seconds | Self::SecondsAboveZero => "SECONDS".to_owned(),
            Self::WholeOrAuto => "N|auto".to_owned(),
        }
    }

    pub(crate) fn expected(&self) -> String {
        match self {
            Self::Text(_, expected) => expected(),
            Self::OneOf(names) => names.join(" or "),
            Self::OnOff => "on or off or true or false".to_owned(),
            Self::Seconds => "seconds, such as 2 or 0.5".to_owned(),
            Self::SecondsAboveZero => "seconds above 0, such as 2 or 0.5".to_owned(),
            Self::Whole(_, least, most) if *most >= u64::from(u32::MAX) => {
                format!("a whole number from {least}")
            }
            Self::Whole(_, least, most) => format!("a whole number from {least} to {most}"),
            Self::WholeOrAuto => "a whole number or auto".to_owned(),
        }
    }

    /// The range, if the placeholder does not say it all.
    pub(crate) fn range(&self) -> Option<String> {
        match self {
            Self::SecondsAboveZero => Some("above 0".to_owned()),
            Self::Whole(_, least, most) if *most < u64::from(u32::MAX) => {
                Some(format!("{least} to {most}"))
            }
            Self::Whole(_, least @ 1.., _) => Some(format!("{least} or more")),
            _ => None,
        }
    }
}

#[derive(Debug)]
enum Parse<T: 'static> {
    With(fn(&str) -> Option<T>),
    /// The value of each name of [`Values::OneOf`].
    Named(&'static [T]),
}

const fn setting<T>(values: Values, parse: Parse<T>) -> Setting<T> {
    Setting {
        declared: Declared {
            id: "",
            values,
            secret: false,
            beyond: None,
            uses: &[],
        },
        parse,
    }
}

pub(super) const fn parsed<T>(
    placeholder: &'static str,
    expected: fn() -> String,
    parse: fn(&str) -> Option<T>,
) -> Setting<T> {
    setting(Values::Text(placeholder, expected), Parse::With(parse))
}

pub(super) const fn text(placeholder: &'static str) -> Setting<String> {
    parsed(
        placeholder,
        || "a text".to_owned(),
        |text| Some(text.to_owned()),
    )
}

pub(super) const fn one_of<T>(names: &'static [&'static str], values: &'static [T]) -> Setting<T> {
    setting(Values::OneOf(names), Parse::Named(values))
}

pub(super) const fn on_off() -> Setting<bool> {
    setting(
        Values::OnOff,
        Parse::With(|text| match text {
            "on" | "true" => Some(true),
            "off" | "false" => Some(false),
            _ => None,
        }),
    )
}

pub(super) const fn seconds() -> Setting<Duration> {
    setting(Values::Seconds, Parse::With(parse_seconds))
}

/// For times in which something has to be done.
pub(super) const fn seconds_above_zero() -> Setting<Duration> {
    let parse = |text: &str| parse_seconds(text).filter(|time| !time.is_zero());
    setting(Values::SecondsAboveZero, Parse::With(parse))
}

fn parse_seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().parse().ok()?).ok()
}

pub(super) const fn whole<T: TryFrom<u64>>(
    placeholder: &'static str,
    least: u64,
    most: u64,
) -> Setting<T> {
    let parse = |text: &str| T::try_from(text.trim().parse().ok()?).ok();
    setting(Values::Whole(placeholder, least, most), Parse::With(parse))
}

/// None for `auto`.
pub(super) const fn whole_or_auto() -> Setting<Option<u32>> {
    setting(
        Values::WholeOrAuto,
        Parse::With(|text| match text.trim() {
            "auto" => Some(None),
            number => number.parse().ok().map(Some),
        }),
    )
}

impl<T> Setting<T> {
    pub(super) const fn secret(mut self) -> Self {
        self.declared.secret = true;
        self
    }

    /// For a setting that has the key of another, which other commands have.
    pub(super) const fn named(mut self, id: &'static str) -> Self {
        self.declared.id = id;
        self
    }

    pub(super) const fn beyond(mut self, what: &'static str) -> Self {
        self.declared.beyond = Some(what);
        self
    }

    pub(super) const fn declare(mut self, id: &'static str, uses: &'static [Use]) -> Self {
        if self.declared.id.is_empty() {
            self.declared.id = id;
        }
        self.declared.uses = uses;
        self
    }
}

impl<T: Clone> Setting<T> {
    pub(crate) fn parse(&self, text: &str) -> Option<T> {
        match (&self.values, &self.parse) {
            (Values::OneOf(names), Parse::Named(values)) => {
                let mut named = names.iter().zip(*values);
                named
                    .find(|(name, _)| **name == text)
                    .map(|(_, value)| value.clone())
            }
            (Values::Whole(_, least, most), Parse::With(parse)) => {
                let within = text
                    .trim()
                    .parse()
                    .is_ok_and(|number| (*least..=*most).contains(&number));
                if within { parse(text) } else { None }
            }
            (_, Parse::With(parse)) => parse(text),
            (_, Parse::Named(_)) => None,
        }
    }
}

impl<T> Deref for Setting<T> {
    type Target = Declared;

    fn deref(&self) -> &Declared {
        &self.declared
    }
}

impl Declared {
    /// `join-timeout`: the key in the configuration file, and with `--` the flag.
    pub(crate) fn name(&self) -> String {
        self.id.to_ascii_lowercase().replace('_', "-")
    }

    /// `MATCHDAY_JOIN_TIMEOUT`
    pub(crate) fn variable(&self) -> String {
        format!("MATCHDAY_{}", self.id)
    }

    pub(crate) fn used_by(&self, section: usize) -> Option<&'static Use> {
        self.uses
            .iter()
            .find(|used| used.sections.contains(&section))
    }

    /// The help of the first command that has it.
    pub(crate) fn help(&self) -> &'static str {
        self.uses.first().map_or("", |used| used.help)
    }

    /// The default of the first command that has it.
    pub(crate) fn default(&self) -> &'static str {
        match self.uses.first().map(|used| &used.default) {
            Some(DefaultValue::Text(text)) => text,
            _ => "",
        }
    }

    /// The help and the default.
    pub(crate) fn short_help(&self, used: &Use) -> String {
        format!("{}{}", used.help, used.default.help())
    }

    /// The help, with all that there is to know of the values.
    pub(crate) fn full_help(&self, used: &Use) -> String {
        let range = self
            .values
            .range()
            .map(|range| format!(" [range: {range}]"));
        let default = used.default.help();
        let file = if self.secret {
            format!(" [or in a file: --{}-file]", self.name())
        } else {
            String::new()
        };
        format!(
            "{}{}{default} [env: {}]{file}",
            used.help,
            range.unwrap_or_default(),
            self.variable()
        )
    }
}
