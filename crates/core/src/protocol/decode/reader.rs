//! Reads the fields of a JSON object and tracks the path for errors.
//!
//! The path is a chain of borrowed steps on the stack, rendered only for an error.

use super::rules::{Rule, Wrong};
use super::{Conformance, Deviation, DeviationKind, Exchange, Reading, Rejection, rules};
use crate::protocol::envelope::id_fits;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{ConversationId, PlayerId};
use crate::protocol::json::{Fields, Json};
use crate::protocol::messages::ByPlayer;
use crate::protocol::text::{RuleBroken, check_characters};
use crate::protocol::time::{TimeForm, Timestamp};
use crate::protocol::untrusted::UntrustedText;
use serde_json::{Map, Value};
use std::cell::RefCell;

pub(super) type Read<T> = Result<T, Rejection>;

/// Parses a text without its deceptive characters, and returns whether it had any.
type ParseCleaned<T> = fn(&str) -> Result<(T, bool), RuleBroken>;

/// The state of decoding one message.
pub(super) struct Context<'a> {
    reading: &'a Reading<'a>,
    message: &'a Json,
    deviations: RefCell<Vec<Deviation>>,
}

impl<'a> Context<'a> {
    pub(super) fn new(message: &'a Json, reading: &'a Reading<'a>) -> Self {
        Self {
            reading,
            message,
            deviations: RefCell::default(),
        }
    }

    pub(super) fn into_deviations(self) -> Vec<Deviation> {
        self.deviations.into_inner()
    }
}

#[derive(Clone, Copy)]
struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Message,
    Key(&'a str),
    Index(usize),
}

impl Path<'_> {
    fn render(&self) -> String {
        let mut text = self.parent.map(Path::render).unwrap_or_default();
        match self.step {
            Step::Message => {}
            Step::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.extend(key.chars().take(CAME_CHARS_MAX));
            }
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
        text
    }
}

/// A reader of one object of a message.
pub(super) struct Reader<'a> {
    fields: &'a Fields,
    path: Path<'a>,
    context: &'a Context<'a>,
}

impl<'a> Reader<'a> {
    /// The message itself, if it is an object at all.
    pub(super) fn open(context: &'a Context<'a>) -> Read<Self> {
        let path = Path {
            parent: None,
            step: Step::Message,
        };
        object_at(path, context.message, context)
    }

    pub(super) fn is_lenient(&self) -> bool {
        self.context.reading.conformance == Conformance::Lenient
    }

    pub(super) fn now(&self) -> Timestamp {
        self.context.reading.now
    }

    pub(super) fn exchange(&self) -> Option<&'a Exchange> {
        self.context.reading.exchange
    }

    /// The place of this object in its list, counted from 1.
    pub(super) fn position(&self) -> Option<u32> {
        match self.path.step {
            Step::Index(index) => u32::try_from(index).ok()?.checked_add(1),
            Step::Message | Step::Key(_) => None,
        }
    }

    /// The field, null included.
    pub(super) fn raw(&self, key: &str) -> Option<&'a Json> {
        self.fields.get(key)
    }

    /// The field, unless it is missing or null.
    pub(super) fn value(&self, key: &str) -> Option<&'a Json> {
        self.raw(key).filter(|value| !value.is_null())
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// All fields except those named, for game-specific details.
    pub(super) fn fields_but(&self, known: &[&str]) -> Map<String, Value> {
        let rest = self.fields.entries().into_iter();
        rest.filter(|(key, _)| !known.contains(key))
            .map(|(key, value)| (key.to_owned(), value.into()))
            .collect()
    }

    /// A field that must be there.
    pub(super) fn required<T>(&self, key: &str, rule: impl Rule<'a, T>) -> Read<T> {
        match self.value(key) {
            Some(value) => rule(value).map_err(|wrong| self.wrong(key, wrong)),
            None => Err(self.missing(key, rule)),
        }
    }

    /// A field that may be missing or null.
    pub(super) fn optional<T>(&self, key: &str, rule: impl Rule<'a, T>) -> Read<Option<T>> {
        self.value(key)
            .map(|value| rule(value).map_err(|wrong| self.wrong(key, wrong)))
            .transpose()
    }

    /// A field of ours that no source knows. A foreign agent may use the name otherwise, which lenient decoding
    /// ignores.
    pub(super) fn extra<T>(&self, key: &str, rule: impl Rule<'a, T>) -> Read<Option<T>> {
        match self.optional(key, rule) {
            Err(_) if self.is_lenient() => Ok(None),
            read => read,
        }
    }

    /// An optional field that its receiver does not need. Lenient decoding ignores a wrong value, and records it.
    pub(super) fn unneeded<T>(&self, key: &str, rule: impl Rule<'a, T>) -> Read<Option<T>> {
        match self.optional(key, rule) {
            Err(_) if self.is_lenient() => {
                self.note(DeviationKind::Form, key);
                Ok(None)
            }
            read => read,
        }
    }

    /// A required field that its receiver does not need: lenient decoding replaces a missing or wrong value.
    pub(super) fn replaced<T>(
        &self,
        key: &str,
        rule: impl Rule<'a, T>,
        replacement: impl FnOnce() -> T,
    ) -> Read<T> {
        if !self.is_lenient() {
            return self.required(key, rule);
        }
        if !self.has(key) {
            self.note(DeviationKind::Missing, key);
            return Ok(replacement());
        }
        Ok(self.unneeded(key, rule)?.unwrap_or_else(replacement))
    }

    /// A required field; lenient decoding fills it in if possible.
    pub(super) fn filled<T>(
        &self,
        key: &str,
        rule: impl Rule<'a, T>,
        fill: impl FnOnce() -> Option<T>,
    ) -> Read<T> {
        if !self.is_lenient() || self.has(key) {
            return self.required(key, rule);
        }
        match fill() {
            Some(value) => {
                self.note(DeviationKind::Missing, key);
                Ok(value)
            }
            None => Err(self.missing(key, rule)),
        }
    }

    /// A required field; lenient decoding continues without it.
    pub(super) fn expected<T>(&self, key: &str, rule: impl Rule<'a, T>) -> Read<Option<T>> {
        if !self.is_lenient() {
            return self.required(key, rule).map(Some);
        }
        if !self.has(key) {
            self.note(DeviationKind::Missing, key);
        }
        self.optional(key, rule)
    }

    /// An optional name or endpoint. Lenient decoding removes deceptive characters.
    pub(super) fn optional_text<T>(
        &self,
        key: &str,
        parse_cleaned: ParseCleaned<T>,
    ) -> Read<Option<T>> {
        let read = self.optional(key, |value| self.plain_text(value, parse_cleaned))?;
        if let Some((_, true)) = read {
            self.note(DeviationKind::Form, key);
        }
        Ok(read.map(|(text, _)| text))
    }

    pub(super) fn required_text<T>(&self, key: &str, parse_cleaned: ParseCleaned<T>) -> Read<T> {
        let read = self.optional_text(key, parse_cleaned)?;
        read.ok_or_else(|| self.missing(key, |value| self.plain_text(value, parse_cleaned)))
    }

    fn plain_text<T>(
        &self,
        value: &Json,
        parse_cleaned: ParseCleaned<T>,
    ) -> Result<(T, bool), Wrong> {
        let text = value.as_str().unwrap_or_default();
        if !self.is_lenient() {
            check_characters(text)?;
        }
        Ok(parse_cleaned(text)?)
    }

    /// A required field for which null is an invalid value rather than missing.
    pub(super) fn present<T>(&self, key: &str, rule: impl Rule<'a, T>) -> Read<T> {
        match self.raw(key) {
            Some(value) => rule(value).map_err(|wrong| self.wrong(key, wrong)),
            None => Err(self.missing(key, rule)),
        }
    }

    pub(super) fn timestamp(&self, key: &str) -> Read<Timestamp> {
        self.optional_timestamp(key)?
            .ok_or_else(|| self.missing(key, rules::time))
    }

    pub(super) fn optional_timestamp(&self, key: &str) -> Read<Option<Timestamp>> {
        match self.optional(key, rules::time)? {
            Some((_, TimeForm::Sloppy)) if !self.is_lenient() => {
                Err(self.wrong(key, rules::not_utc()))
            }
            Some((timestamp, form)) => {
                if form == TimeForm::Sloppy {
                    self.note(DeviationKind::TimestampForm, key);
                }
                Ok(Some(timestamp))
            }
            None => Ok(None),
        }
    }

    /// An object that must be there.
    pub(super) fn object<'b>(&'b self, key: &'b str) -> Read<Reader<'b>> {
        match self.optional_object(key)? {
            Some(reader) => Ok(reader),
            None => Err(self.missing(key, rules::object)),
        }
    }

    pub(super) fn optional_object<'b>(&'b self, key: &'b str) -> Read<Option<Reader<'b>>> {
        self.value(key)
            .map(|value| object_at(self.step(Step::Key(key)), value, self.context))
            .transpose()
    }

    /// A list of objects that must be there.
    pub(super) fn objects<T>(
        &self,
        key: &str,
        read: impl Fn(&Reader<'_>) -> Read<T>,
    ) -> Read<Vec<T>> {
        self.objects_that(key, |_| true, read)
    }

    fn objects_that<T>(
        &self,
        key: &str,
        wanted: impl Fn(&Json) -> bool,
        read: impl Fn(&Reader<'_>) -> Read<T>,
    ) -> Read<Vec<T>> {
        let items = self.array(key)?;
        let list = self.step(Step::Key(key));
        let at = |(index, item)| {
            let path = Path {
                parent: Some(&list),
                step: Step::Index(index),
            };
            read(&object_at(path, item, self.context)?)
        };
        items
            .iter()
            .enumerate()
            .filter(|(_, item)| wanted(item))
            .map(at)
            .collect()
    }

    /// As [`Self::objects`], without entries whose `fields` name only other players than the reader's.
    pub(super) fn objects_naming<T>(
        &self,
        key: &str,
        fields: &[&str],
        read: impl Fn(&Reader<'_>) -> Read<T>,
    ) -> Read<Vec<T>> {
        let about = self.context.reading.about;
        let names_others = |entry: &Json, own: &PlayerId| {
            let named = |field: &&str| entry.get(field).and_then(Json::as_str);
            fields
                .iter()
                .all(|field| named(field).is_some_and(|id| id != own.as_str()))
        };
        self.objects_that(
            key,
            |entry| about.is_none_or(|own| !names_others(entry, own)),
            read,
        )
    }

    /// A list of plain values that must be there.
    pub(super) fn values<T>(&self, key: &str, rule: impl Rule<'a, T>) -> Read<Vec<T>> {
        let items = self.array(key)?;
        let list = self.step(Step::Key(key));
        let at = |(index, item)| {
            let path = Path {
                parent: Some(&list),
                step: Step::Index(index),
            };
            rule(item).map_err(|wrong| reject(&path, wrong, Some(item), self.context))
        };
        items.iter().enumerate().map(at).collect()
    }

    /// A required list.
    pub(super) fn array(&self, key: &str) -> Read<&'a [Json]> {
        let items = match self.value(key) {
            Some(value) => rules::array(value).map_err(|wrong| self.wrong(key, wrong))?,
            None => return Err(self.missing(key, rules::array)),
        };
        self.bound(key, items.len())?;
        Ok(items)
    }

    /// An object keyed by player, if it is there.
    pub(super) fn optional_by_player<T>(
        &self,
        key: &str,
        rule: impl Rule<'a, T>,
    ) -> Read<Option<ByPlayer<T>>> {
        self.has(key).then(|| self.by_player(key, rule)).transpose()
    }

    /// An object keyed by player that must be there.
    pub(super) fn by_player<T>(&self, key: &str, rule: impl Rule<'a, T>) -> Read<ByPlayer<T>> {
        let entries = self.required(key, rules::object)?.entries();
        self.bound(key, entries.len())?;
        let owner = self.step(Step::Key(key));
        let at = |(player, value): (&'a str, &'a Json)| {
            if !id_fits(player) {
                return Err(self.wrong(key, Wrong::format("player ids of 1 to 128 bytes as keys")));
            }
            let path = Path {
                parent: Some(&owner),
                step: Step::Key(player),
            };
            match rule(value) {
                Ok(read) => Ok((PlayerId::new(player), read)),
                Err(mut wrong) => {
                    if value.is_null() {
                        wrong.code = ErrorCode::MissingField;
                    }
                    Err(reject(&path, wrong, Some(value), self.context))
                }
            }
        };
        entries.into_iter().map(at).collect()
    }

    fn bound(&self, key: &str, len: usize) -> Read<()> {
        let max = self.context.reading.limits.array_len_max;
        if len <= max {
            return Ok(());
        }
        let mut rejection = self.wrong(key, Wrong::format(""));
        rejection.expected = format!("at most {max} entries");
        Err(rejection)
    }

    fn step<'b>(&'b self, step: Step<'b>) -> Path<'b> {
        Path {
            parent: Some(&self.path),
            step,
        }
    }

    /// Records a deviation.
    pub(super) fn note(&self, kind: DeviationKind, key: &str) {
        let path = self.step(Step::Key(key)).render();
        self.context
            .deviations
            .borrow_mut()
            .push(Deviation { kind, path });
    }

    #[cold]
    pub(super) fn wrong(&self, key: &str, wrong: Wrong) -> Rejection {
        reject(
            &self.step(Step::Key(key)),
            wrong,
            self.raw(key),
            self.context,
        )
    }

    /// The rule, applied to null, says what it expects.
    #[cold]
    pub(super) fn missing<T>(&self, key: &str, rule: impl Rule<'a, T>) -> Rejection {
        let expected = rule(&NULL)
            .err()
            .map_or("a value".into(), |wrong| wrong.expected);
        self.wrong(key, Wrong::new(ErrorCode::MissingField, expected))
    }
}

static NULL: Json = Json::Null;

fn object_at<'a>(path: Path<'a>, value: &'a Json, context: &'a Context<'a>) -> Read<Reader<'a>> {
    match rules::object(value) {
        Ok(fields) => Ok(Reader {
            fields,
            path,
            context,
        }),
        Err(wrong) => Err(reject(&path, wrong, Some(value), context)),
    }
}

#[cold]
fn reject(path: &Path<'_>, wrong: Wrong, value: Option<&Json>, context: &Context<'_>) -> Rejection {
    let secret = matches!(
        path.step,
        Step::Key("auth_token" | "join_code" | "to_player" | "from_player")
    );
    let said = |key: &str| context.message.get(key).and_then(Json::as_str);
    Rejection {
        code: wrong.code,
        path: path.render(),
        expected: wrong.expected.into_owned(),
        came: came(value, secret),
        message_type: said("message_type")
            .map(|text| UntrustedText::from(shorten(text, CAME_CHARS_MAX))),
        conversation_id: said("conversation_id")
            .filter(|text| id_fits(text))
            .map(ConversationId::new),
    }
}

const CAME_CHARS_MAX: usize = 60;
const SECRET_CHARS_MAX: usize = 8;

/// A short description of the value. Lists and objects are only counted, because they may contain tokens.
fn came(value: Option<&Json>, secret: bool) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Json::Array(items)) => format!("a list of {}", items.len()),
        Some(Json::Object(fields)) => format!("an object of {}", fields.entries().len()),
        Some(Json::String(text)) if secret || text.starts_with("tok") => {
            format!("{:?}", shorten(text, SECRET_CHARS_MAX))
        }
        Some(Json::String(text)) => format!("{:?}", shorten(text, CAME_CHARS_MAX)),
        Some(other) => other.to_string(),
    }
}

fn shorten(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
    }
}
