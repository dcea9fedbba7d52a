//! A list that goes to many receivers: held once, and written once. A table of 99 rows goes to 99 players after every few
//! results, and writing it out for each of them would be most of what a manager does.

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// An immutable list behind an `Arc`, with its JSON cached; cloning it copies neither.
#[derive(Debug)]
pub struct Shared<T>(Arc<Items<T>>);

#[derive(Debug)]
struct Items<T> {
    items: Box<[T]>,
    /// As JSON, from the first time that it is asked for. `None` if that failed, which every writing then says itself.
    written: OnceLock<Option<Box<RawValue>>>,
}

/// The size of a message that every receiver can be expected to read.
pub const MESSAGE_BYTES_MAX: usize = 10 * 1024;

/// What stands around a list in the largest message that carries one: the envelope, ids, the wrapping of JSON-RPC.
const FRAME_BYTES_MAX: usize = 1024;

impl<T: Serialize> Shared<T> {
    /// Whether a message that carries this list so many times keeps to [`MESSAGE_BYTES_MAX`]. Written once, like the list.
    pub fn fits_message(&self, times: usize) -> bool {
        let bytes = self.written().map_or(0, |written| written.get().len());
        bytes.saturating_mul(times).saturating_add(FRAME_BYTES_MAX) <= MESSAGE_BYTES_MAX
    }

    /// Whether a message that carries this list once, and this text, keeps to [`MESSAGE_BYTES_MAX`].
    pub fn fits_message_with(&self, text: &str) -> bool {
        let list = self.written().map_or(0, |written| written.get().len());
        let text = serde_json::to_string(text).map_or(0, |text| text.len());
        list.saturating_add(text).saturating_add(FRAME_BYTES_MAX) <= MESSAGE_BYTES_MAX
    }

    fn written(&self) -> Option<&RawValue> {
        let written = self
            .0
            .written
            .get_or_init(|| serde_json::value::to_raw_value(&self.0.items).ok());
        written.as_deref()
    }
}

impl<T> From<Vec<T>> for Shared<T> {
    fn from(items: Vec<T>) -> Self {
        Self(Arc::new(Items {
            items: items.into(),
            written: OnceLock::new(),
        }))
    }
}

impl<T> FromIterator<T> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        items.into_iter().collect::<Vec<_>>().into()
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Shared<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0.items
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.written() {
            Some(written) => written.serialize(serializer),
            None => self.0.items.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(feature = "schema")]
impl<T: JsonSchema> JsonSchema for Shared<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        Vec::<T>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<T>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::Shared;
    use serde_json::json;

    #[test]
    fn every_copy_is_written_as_the_list_it_holds() {
        let list: Shared<&str> = ["a", "b \"c\""].into_iter().collect();
        let copy = list.clone();
        assert_eq!(serde_json::to_string(&list).unwrap(), r#"["a","b \"c\""]"#);
        assert_eq!(
            serde_json::to_value(&copy).unwrap(),
            json!(["a", "b \"c\""])
        );
    }
}
