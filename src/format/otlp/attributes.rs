//! Attributes of resources and samples, which become labels.

use std::borrow::Cow;

use crate::format::ParseError;
use crate::format::labels::LabelList;
use crate::format::otlp::dictionary::{Dictionary, malformed, missing};
use crate::format::text::lossy;
use crate::format::wire::{Value, Wire, WireError};

/// An attribute, such as `thread.name = main`.
#[derive(Clone, Debug)]
pub(super) struct Attribute<'a> {
    pub(super) key: Cow<'a, str>,
    value: AttributeValue<'a>,
    unit: Cow<'a, str>,
}

#[derive(Clone, Debug)]
enum AttributeValue<'a> {
    Text(Cow<'a, str>),
    Number(i64),
}

impl<'a> Attribute<'a> {
    /// Reads an attribute of a resource (its key is text), or a row of the table of attributes (its key is a string's number).
    /// `None` if it has no value that fits a label, such as a list.
    pub(super) fn read(
        bytes: &'a [u8],
        dictionary: &Dictionary<'a>,
    ) -> Result<Option<Attribute<'a>>, WireError> {
        let (mut key, mut value, mut unit) = (Cow::Borrowed(""), None, 0);
        let mut wire = Wire::new(bytes);
        while let Some(field) = wire.field()? {
            match (field.number, field.value) {
                (1, Value::Bytes(text)) => key = lossy(text),
                (1, Value::Varint(string)) => key = dictionary.string(string).unwrap_or_default(),
                (2, Value::Bytes(any)) => value = AttributeValue::read(any, dictionary)?,
                // The unit of a row of the table; in a resource, the key's number.
                (3, Value::Varint(string)) => unit = string,
                _ => {}
            }
        }
        let mut unit = dictionary.string(unit).unwrap_or_default();
        if key.is_empty() {
            key = std::mem::take(&mut unit);
        }
        Ok(value.filter(|_| !key.is_empty()).map(|value| Attribute { key, value, unit }))
    }

    /// The attribute in a row of the dictionary.
    pub(super) fn of_row(row: u64, dictionary: &Dictionary<'a>) -> Result<Option<Attribute<'a>>, ParseError> {
        let bytes = dictionary.attribute(row).ok_or_else(|| missing("attribute", row))?;
        Attribute::read(bytes, dictionary).map_err(|_| malformed("attribute", row))
    }

    /// The value, if it is text.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            AttributeValue::Text(text) => Some(text),
            AttributeValue::Number(_) => None,
        }
    }

    /// The value, if it is a number.
    pub(super) fn number(&self) -> Option<i64> {
        match self.value {
            AttributeValue::Text(_) => None,
            AttributeValue::Number(number) => Some(number),
        }
    }

    fn add_as(&self, key: &str, labels: &mut LabelList<'_>) {
        match &self.value {
            AttributeValue::Text(text) => labels.text(key, text),
            AttributeValue::Number(number) => labels.number_in(key, *number, &self.unit),
        }
    }
}

impl<'a> AttributeValue<'a> {
    fn read(bytes: &'a [u8], dictionary: &Dictionary<'a>) -> Result<Option<Self>, WireError> {
        let mut wire = Wire::new(bytes);
        let mut value = None;
        while let Some(field) = wire.field()? {
            value = match (field.number, field.value) {
                (1, Value::Bytes(text)) => Some(AttributeValue::Text(lossy(text))),
                (2, Value::Varint(is_true)) => {
                    Some(AttributeValue::Text(if is_true == 0 { "false" } else { "true" }.into()))
                }
                (3, Value::Varint(number)) => Some(AttributeValue::Number(number as i64)),
                (4, Value::Fixed(bits)) => {
                    Some(AttributeValue::Text(f64::from_bits(bits).to_string().into()))
                }
                (8, Value::Varint(string)) => dictionary.string(string).map(AttributeValue::Text),
                _ => value,
            };
        }
        Ok(value)
    }
}

/// Names of attributes for what every format has: the thread and the process.
pub(super) const THREAD: &str = "thread.name";
pub(super) const TID: &str = "thread.id";
pub(super) const PID: &str = "process.pid";
/// The most readable name of a process comes first.
pub(super) const PROCESS: &[&str] =
    &["process.executable.name", "process.command", "process.executable.path"];

/// Adds the labels of a sample: those of its resource, unless it has an attribute of the same name, and its own.
pub(super) fn add_labels(labels: &mut LabelList<'_>, resource: &[Attribute<'_>], own: &[Attribute<'_>]) {
    let is_replaced = |attribute: &&Attribute<'_>| own.iter().any(|other| other.key == attribute.key);
    let attributes: Vec<&Attribute<'_>> =
        resource.iter().filter(|attribute| !is_replaced(attribute)).chain(own).collect();
    let named = |name: &str| attributes.iter().find(|attribute| attribute.key == name).copied();
    let process = PROCESS.iter().find_map(|name| named(name));
    if let Some(process) = process {
        process.add_as("process", labels);
    }
    for attribute in attributes {
        let key = match &*attribute.key {
            THREAD => "thread",
            TID => "tid",
            PID if process.is_none() => "process",
            key if process.is_some_and(|process| process.key == key) => continue,
            key => key,
        };
        attribute.add_as(key, labels);
    }
}
