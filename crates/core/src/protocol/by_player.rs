//! A small map from player to something, in the order it was written: a JSON object keyed by player id.

use crate::protocol::ids::PlayerId;
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// A match has two players, so looking one up is a short walk.
#[derive(Debug, Clone)]
pub struct ByPlayer<T>(Entries<T>);

/// A pair has its place here rather than on the heap, because every result holds several.
#[derive(Debug, Clone)]
enum Entries<T> {
    Pair([(PlayerId, T); 2]),
    Any(Vec<(PlayerId, T)>),
}

impl<T> ByPlayer<T> {
    /// The entries of both players of a match, stored inline.
    pub fn pair(a: (PlayerId, T), b: (PlayerId, T)) -> Self {
        Self(Entries::Pair([a, b]))
    }

    fn entries(&self) -> &[(PlayerId, T)] {
        match &self.0 {
            Entries::Pair(pair) => pair,
            Entries::Any(any) => any,
        }
    }

    /// The player's entry, or `None` if the object has none.
    pub fn get(&self, player: &PlayerId) -> Option<&T> {
        self.entries()
            .iter()
            .find(|(id, _)| id == player)
            .map(|(_, value)| value)
    }

    /// In the order in which the entries were written, which is A, B in our own messages.
    pub fn iter(&self) -> impl Iterator<Item = (&PlayerId, &T)> {
        self.entries().iter().map(|(id, value)| (id, value))
    }

    /// How many players have an entry: two, unless a foreign agent sent more or fewer.
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether no player has an entry.
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }
}

impl<T> FromIterator<(PlayerId, T)> for ByPlayer<T> {
    fn from_iter<I: IntoIterator<Item = (PlayerId, T)>>(entries: I) -> Self {
        let entries: Vec<_> = entries.into_iter().collect();
        Self(match <[_; 2]>::try_from(entries) {
            Ok(pair) => Entries::Pair(pair),
            Err(any) => Entries::Any(any),
        })
    }
}

impl<T: PartialEq> PartialEq for ByPlayer<T> {
    fn eq(&self, other: &Self) -> bool {
        self.entries() == other.entries()
    }
}

impl<T: Eq> Eq for ByPlayer<T> {}

impl<T: Serialize> Serialize for ByPlayer<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

#[cfg(feature = "schema")]
impl<T: JsonSchema> JsonSchema for ByPlayer<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("ByPlayer_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "propertyNames": generator.subschema_for::<PlayerId>(),
            "additionalProperties": generator.subschema_for::<T>(),
        })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ByPlayer<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = ByPlayer<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object keyed by player id")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(entries.into_iter().collect())
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}
