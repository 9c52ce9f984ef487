//! The metadata of a chunk: a tree of elements with attributes, which declares the classes of events and
//! constants and their fields.

use hashbrown::HashMap;

use crate::format::ParseError;
use crate::format::by_number::ByNumber;
use crate::format::jfr::cursor::{Cursor, PooledText};

/// The maximum nesting of values; real recordings have three levels.
const MAX_DEPTH: usize = 8;

/// The classes of a chunk, by id.
#[derive(Debug, Default)]
pub(super) struct Classes(ByNumber<Class>);

/// A class of events, of constants, or of values nested in them.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) fields: Vec<ClassField>,
    /// How the keys of its constants are stored.
    pub(super) key: FieldKind,
}

#[derive(Debug)]
pub(super) struct ClassField {
    pub(super) name: String,
    pub(super) class: i64,
    pub(super) kind: FieldKind,
    pub(super) is_array: bool,
    /// The unit of a duration.
    pub(super) unit: Option<TimeUnit>,
}

/// The unit of a field that holds a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeUnit {
    /// Of the chunk's clock.
    Ticks,
    /// A number of nanoseconds.
    Nanoseconds(i64),
}

impl TimeUnit {
    /// The unit called `name` in an annotation.
    fn named(name: &str) -> Option<TimeUnit> {
        Some(TimeUnit::Nanoseconds(match name {
            "TICKS" => return Some(TimeUnit::Ticks),
            "NANOSECONDS" => 1,
            "MICROSECONDS" => 1_000,
            "MILLISECONDS" => 1_000_000,
            "SECONDS" => 1_000_000_000,
            _ => return None,
        }))
    }
}

/// How a field is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// The id of an entry in the pool of the field's class.
    Pooled,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    Text,
    /// Text of version 0.9: its length in bytes as a short number, and UTF-8.
    ShortText,
    /// Text of version 0.9: the number of its UTF-16 units, and these.
    WideText,
    /// The fields of the field's class, inline.
    Nested,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) enum FieldValue<'a> {
    /// A missing field, or one of a kind that no caller uses.
    #[default]
    None,
    /// A number, or the id of an entry in a pool.
    Number(i64),
    Float(f64),
    Text(PooledText<'a>),
}

impl FieldValue<'_> {
    /// The number; 0 if there is none, which is also how null references are stored.
    pub(super) fn number(&self) -> i64 {
        if let FieldValue::Number(number) = self { *number } else { 0 }
    }
}

/// How the fields of a class are read, of which some are wanted.
#[derive(Clone, Debug)]
pub(super) struct Plan<const N: usize> {
    steps: Vec<Step>,
    /// The number of leading fields to read: those after the last wanted field can be skipped.
    needed: usize,
}

/// How a field is read.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// How it is stored; `None` for arrays.
    kind: Option<FieldKind>,
    /// The index of its value in the result, which is too large if it is not wanted.
    place: usize,
}

impl Class {
    /// Reads the key of a constant.
    pub(super) fn read_key(&self, cursor: &mut Cursor<'_>) -> Result<u64, ParseError> {
        Ok(match self.key {
            // Extended like the fields that refer to it.
            FieldKind::Byte => i64::from(cursor.byte()? as i8) as u64,
            FieldKind::Short => cursor.short()? as u64,
            FieldKind::Int => i64::from(cursor.int()? as i32) as u64,
            _ => cursor.long()? as u64,
        })
    }

    /// The plan for reading the fields named `wanted`; empty names are ignored.
    pub(super) fn plan<const N: usize>(&self, wanted: &[&str; N]) -> Plan<N> {
        let step = |field: &ClassField| {
            let place = wanted.iter().position(|&name| name == field.name).filter(|_| !field.is_array);
            Step { kind: Some(field.kind).filter(|_| !field.is_array), place: place.unwrap_or(N) }
        };
        let steps: Vec<Step> = self.fields.iter().map(step).collect();
        let needed = steps.iter().rposition(|step| step.place < N).map_or(0, |last| last + 1);
        Plan { steps, needed }
    }

    /// The unit of the duration in the field called `name`.
    pub(super) fn unit(&self, name: &str) -> Option<TimeUnit> {
        self.fields.iter().find(|field| field.name == name)?.unit
    }

    /// The index of the field called `name`, and the id of its class.
    pub(super) fn field(&self, name: &str) -> Option<(usize, i64)> {
        let index = self.fields.iter().position(|field| field.name == name)?;
        Some((index, self.fields[index].class))
    }
}

impl Classes {
    pub(super) fn new(classes: HashMap<i64, Class>) -> Classes {
        let mut by_number = ByNumber::default();
        // In order, so that small ids get small indices.
        let mut classes: Vec<(i64, Class)> = classes.into_iter().collect();
        classes.sort_unstable_by_key(|&(id, _)| id);
        for (id, class) in classes {
            by_number.insert(id.cast_unsigned(), class);
        }
        Classes(by_number)
    }

    pub(super) fn get(&self, id: i64) -> Option<&Class> {
        self.0.get(id.cast_unsigned())
    }

    /// The id of the class called `name`.
    pub(super) fn named(&self, name: &str) -> Option<i64> {
        // Names are unique in valid recordings; otherwise the lowest id wins, so that the result is deterministic.
        self.0.iter().filter(|(_, class)| class.name == name).map(|(id, _)| id.cast_signed()).min()
    }

    /// Reads the wanted fields of `class`. With `whole`, the cursor ends after its last field.
    pub(super) fn read<'a, const N: usize>(
        &self,
        cursor: &mut Cursor<'a>,
        class: &Class,
        plan: &Plan<N>,
        whole: bool,
    ) -> Result<[FieldValue<'a>; N], ParseError> {
        let mut values = std::array::from_fn(|_| FieldValue::None);
        let end = if whole { class.fields.len() } else { plan.needed };
        for (field, step) in class.fields[..end].iter().zip(&plan.steps) {
            match values.get_mut(step.place) {
                Some(value) => *value = self.value(cursor, field)?,
                None => self.skip(cursor, field)?,
            }
        }
        Ok(values)
    }

    /// Like [`read`](Self::read) for fields that are all numbers; other values, and missing fields, are 0. Faster,
    /// since there are no strings to allocate and free in each of a million events.
    pub(super) fn numbers<const N: usize>(
        &self,
        cursor: &mut Cursor<'_>,
        class: &Class,
        plan: &Plan<N>,
        whole: bool,
    ) -> Result<[i64; N], ParseError> {
        let mut numbers = [0; N];
        let end = if whole { class.fields.len() } else { plan.needed };
        for (at, step) in plan.steps[..end].iter().enumerate() {
            let number = match step.kind {
                Some(FieldKind::Pooled | FieldKind::Long) => cursor.long()?,
                Some(FieldKind::Byte) => i64::from(cursor.byte()? as i8),
                Some(FieldKind::Int) => i64::from(cursor.int()? as i32),
                Some(_) => self.value(cursor, &class.fields[at])?.number(),
                None => self.skip(cursor, &class.fields[at]).map(|()| 0)?,
            };
            if let Some(wanted) = numbers.get_mut(step.place) {
                *wanted = number;
            }
        }
        Ok(numbers)
    }

    /// Skips a field.
    pub(super) fn skip(&self, cursor: &mut Cursor<'_>, field: &ClassField) -> Result<(), ParseError> {
        if !field.is_array {
            return self.value(cursor, field).map(|_| ());
        }
        for _ in 0..cursor.count()? {
            self.one(cursor, field, 0)?;
        }
        Ok(())
    }

    fn value<'a>(&self, cursor: &mut Cursor<'a>, field: &ClassField) -> Result<FieldValue<'a>, ParseError> {
        self.one(cursor, field, 0)
    }

    /// Reads the value of a field, or one item of an array.
    fn one<'a>(
        &self,
        cursor: &mut Cursor<'a>,
        field: &ClassField,
        depth: usize,
    ) -> Result<FieldValue<'a>, ParseError> {
        Ok(match field.kind {
            FieldKind::Pooled | FieldKind::Long => FieldValue::Number(cursor.long()?),
            FieldKind::Byte => FieldValue::Number(i64::from(cursor.byte()? as i8)),
            FieldKind::Short => FieldValue::Number(cursor.short()?),
            FieldKind::Int => FieldValue::Number(i64::from(cursor.int()? as i32)),
            FieldKind::Float => FieldValue::Float(cursor.float()?),
            FieldKind::Double => FieldValue::Float(cursor.double()?),
            FieldKind::Text => FieldValue::Text(cursor.text()?),
            FieldKind::ShortText => FieldValue::Text(cursor.short_text()?),
            FieldKind::WideText => FieldValue::Text(cursor.wide_text()?),
            FieldKind::Nested => self.nested(cursor, field, depth).map(|()| FieldValue::None)?,
        })
    }

    /// Skips the fields of a nested value.
    fn nested(&self, cursor: &mut Cursor<'_>, field: &ClassField, depth: usize) -> Result<(), ParseError> {
        let class = self.get(field.class).filter(|class| !class.fields.is_empty());
        // A corrupt file could repeat values of zero bytes forever.
        let Some(class) = class.filter(|_| depth < MAX_DEPTH) else {
            return Err(cursor.error(format!("field {} has an undeclared class", field.name)));
        };
        for inner in &class.fields {
            let count = if inner.is_array { cursor.count()? } else { 1 };
            for _ in 0..count {
                self.one(cursor, inner, depth + 1)?;
            }
        }
        Ok(())
    }
}

/// Reads the metadata event, which declares the classes and how their fields are stored.
pub(super) fn read(event: &mut Cursor<'_>) -> Result<Classes, ParseError> {
    if event.long()? != 0 {
        return Err(event.error("there is no metadata event at the offset given in the chunk header"));
    }
    for _ in 0..3 {
        event.long()?; // start, duration, metadata id
    }
    let mut strings = Vec::new();
    for _ in 0..event.count()? {
        strings.push(match event.text()? {
            PooledText::Here(text) => text.into_owned(),
            PooledText::Null | PooledText::Pooled(_) => String::new(),
        });
    }
    let mut classes = Declarations { strings, classes: HashMap::new(), open: None };
    classes.read(event)?;
    Ok(Classes::new(classes.classes))
}

struct Declarations {
    strings: Vec<String>,
    classes: HashMap<i64, Class>,
    /// The class whose elements are being read, and its depth in the tree. Annotations of its last field are one level
    /// deeper than fields.
    open: Option<(i64, usize)>,
}

impl Declarations {
    /// Reads the tree of elements, parents before children.
    fn read(&mut self, event: &mut Cursor<'_>) -> Result<(), ParseError> {
        // The number of children still to come, for each open element.
        let mut left: Vec<usize> = vec![1];
        while let Some(count) = left.last_mut() {
            if *count == 0 {
                left.pop();
                continue;
            }
            *count -= 1;
            let depth = left.len();
            let element = event.int()? as usize;
            let mut attributes = Vec::new();
            for _ in 0..event.count()? {
                attributes.push((event.int()? as usize, event.int()? as usize));
            }
            self.element(element, &attributes, depth);
            left.push(event.count()?);
        }
        self.resolve_kinds();
        Ok(())
    }

    fn element(&mut self, element: usize, attributes: &[(usize, usize)], depth: usize) {
        let attribute = |name: &str| {
            let text = |index: usize| self.strings.get(index).map_or("", String::as_str);
            attributes.iter().find(|&&(key, _)| text(key) == name).map(|&(_, value)| text(value))
        };
        let number = |name: &str| attribute(name).and_then(|text| text.parse::<i64>().ok());
        match self.strings.get(element).map(String::as_str) {
            Some("class") => {
                let Some(id) = number("id") else { return };
                let name = plain_name(attribute("name").unwrap_or_default());
                self.classes.insert(id, Class { name, fields: Vec::new(), key: FieldKind::Long });
                self.open = Some((id, depth));
            }
            Some("field") => {
                let Some(class) = number("class") else { return };
                let is_pooled = attribute("constantPool") == Some("true");
                let field = ClassField {
                    name: attribute("name").unwrap_or_default().to_string(),
                    class,
                    kind: if is_pooled { FieldKind::Pooled } else { FieldKind::Nested },
                    is_array: number("dimension").is_some_and(|dimension| dimension > 0),
                    unit: None,
                };
                let open = self.open.filter(|&(_, at)| depth == at + 1);
                if let Some(class) = open.and_then(|(id, _)| self.classes.get_mut(&id)) {
                    class.fields.push(field);
                }
            }
            Some("annotation") => {
                let Some(unit) = attribute("value").and_then(TimeUnit::named) else { return };
                let open = self.open.filter(|&(_, at)| depth == at + 2);
                let field = open.and_then(|(id, _)| self.classes.get_mut(&id)?.fields.last_mut());
                if let Some(field) = field {
                    field.unit = Some(unit);
                }
            }
            _ => {}
        }
    }

    /// Resolves how each field is stored. This happens last, because a field's class may be declared after it.
    fn resolve_kinds(&mut self) {
        let kinds: HashMap<i64, FieldKind> =
            self.classes.iter().filter_map(|(&id, class)| Some((id, simple_kind(&class.name)?))).collect();
        for field in self.classes.values_mut().flat_map(|class| &mut class.fields) {
            if let (FieldKind::Nested, Some(&kind)) = (field.kind, kinds.get(&field.class)) {
                field.kind = kind;
            }
        }
    }
}

/// The name of a class since Java 11. Oracle's Java 9 has `com.oracle.jdk.ExecutionSample` and
/// `com.oracle.jfr.types.Method`.
fn plain_name(name: &str) -> String {
    match name.strip_prefix("com.oracle.") {
        Some(rest) => {
            rest.strip_prefix("jfr.").map_or_else(|| rest.to_string(), |rest| format!("jdk.{rest}"))
        }
        None => name.to_string(),
    }
}

/// How values of a class without fields are stored.
fn simple_kind(name: &str) -> Option<FieldKind> {
    Some(match name {
        "boolean" | "byte" => FieldKind::Byte,
        "short" | "char" => FieldKind::Short,
        "int" => FieldKind::Int,
        "long" => FieldKind::Long,
        "float" => FieldKind::Float,
        "double" => FieldKind::Double,
        "java.lang.String" => FieldKind::Text,
        _ => return None,
    })
}
