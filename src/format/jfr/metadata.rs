//! What the events and constants of a chunk look like: a tree of elements with attributes, which
//! declares classes and their fields.

use hashbrown::HashMap;

use crate::format::ParseError;
use crate::format::jfr::cursor::{Cursor, Text};

/// How deeply values may lie within each other: recordings have three levels.
const MAX_DEPTH: usize = 8;

/// The classes of a chunk, by number.
#[derive(Debug, Default)]
pub(super) struct Classes(HashMap<i64, Class>);

/// A class: of events, of constants, or of values within them.
#[derive(Debug, Default)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) fields: Vec<Field>,
}

#[derive(Debug)]
pub(super) struct Field {
    name: String,
    class: i64,
    kind: Kind,
    is_array: bool,
}

/// How a field is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Number of an entry in the pool of the field's class.
    Pooled,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    Text,
    /// The fields of the field's class, one after the other.
    Nested,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) enum Value<'a> {
    /// A field that is not there, or of a kind that nobody asks for.
    #[default]
    None,
    /// A number, or that of an entry in a pool.
    Number(i64),
    Text(Text<'a>),
}

impl Value<'_> {
    /// The number; 0 where there is none, as for references to nothing.
    pub(super) fn number(&self) -> i64 {
        if let Value::Number(number) = self { *number } else { 0 }
    }
}

/// Which fields of a class are wanted: for each of its fields, the place of its value.
#[derive(Clone, Debug)]
pub(super) struct Plan<const N: usize> {
    places: Vec<Option<usize>>,
    /// How many fields must be read to have them all.
    needed: usize,
}

impl Class {
    /// The plan for the fields called `wanted`; empty names stand for nothing.
    pub(super) fn plan<const N: usize>(&self, wanted: &[&str; N]) -> Plan<N> {
        let places: Vec<Option<usize>> = self
            .fields
            .iter()
            .map(|field| wanted.iter().position(|&name| name == field.name).filter(|_| !field.is_array))
            .collect();
        let needed = places.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        Plan { places, needed }
    }

    /// The class of the field called `name`, and its number among the fields.
    pub(super) fn field(&self, name: &str) -> Option<(usize, i64)> {
        let index = self.fields.iter().position(|field| field.name == name)?;
        Some((index, self.fields[index].class))
    }
}

impl Classes {
    pub(super) fn get(&self, id: i64) -> Option<&Class> {
        self.0.get(&id)
    }

    /// The number of the class called `name`.
    pub(super) fn named(&self, name: &str) -> Option<i64> {
        // Of classes that share a name, which a recording does not have, the lowest number counts.
        self.0.iter().filter(|(_, class)| class.name == name).map(|(&id, _)| id).min()
    }

    /// Reads the wanted fields of `class`. With `whole`, the cursor ends behind all of its fields.
    pub(super) fn read<'a, const N: usize>(
        &self,
        cursor: &mut Cursor<'a>,
        class: &Class,
        plan: &Plan<N>,
        whole: bool,
    ) -> Result<[Value<'a>; N], ParseError> {
        let mut values = std::array::from_fn(|_| Value::None);
        let end = if whole { class.fields.len() } else { plan.needed };
        for (field, place) in class.fields[..end].iter().zip(&plan.places) {
            match place {
                Some(place) => values[*place] = self.value(cursor, field)?,
                None => self.skip(cursor, field)?,
            }
        }
        Ok(values)
    }

    /// The same for fields that are numbers: what is none, or is not there, is 0. Texts have to be told
    /// from numbers, and freed, in every one of a million events.
    pub(super) fn numbers<const N: usize>(
        &self,
        cursor: &mut Cursor<'_>,
        class: &Class,
        plan: &Plan<N>,
        whole: bool,
    ) -> Result<[i64; N], ParseError> {
        let mut numbers = [0; N];
        let end = if whole { class.fields.len() } else { plan.needed };
        for (field, place) in class.fields[..end].iter().zip(&plan.places) {
            match place {
                Some(place) => numbers[*place] = self.number(cursor, field)?,
                None => self.skip(cursor, field)?,
            }
        }
        Ok(numbers)
    }

    /// Passes over a field.
    pub(super) fn skip(&self, cursor: &mut Cursor<'_>, field: &Field) -> Result<(), ParseError> {
        if !field.is_array {
            return self.number(cursor, field).map(|_| ());
        }
        for _ in 0..cursor.count()? {
            self.one(cursor, field, 0)?;
        }
        Ok(())
    }

    fn value<'a>(&self, cursor: &mut Cursor<'a>, field: &Field) -> Result<Value<'a>, ParseError> {
        self.one(cursor, field, 0)
    }

    #[inline]
    fn number(&self, cursor: &mut Cursor<'_>, field: &Field) -> Result<i64, ParseError> {
        match field.kind {
            Kind::Pooled | Kind::Long => cursor.long(),
            Kind::Byte => Ok(i64::from(cursor.byte()? as i8)),
            Kind::Int => Ok(i64::from(cursor.int()? as i32)),
            _ => Ok(self.value(cursor, field)?.number()),
        }
    }

    /// One value of a field, or one item of an array.
    fn one<'a>(&self, cursor: &mut Cursor<'a>, field: &Field, depth: usize) -> Result<Value<'a>, ParseError> {
        Ok(match field.kind {
            Kind::Pooled | Kind::Long => Value::Number(cursor.long()?),
            Kind::Byte => Value::Number(i64::from(cursor.byte()? as i8)),
            Kind::Short => Value::Number(cursor.short()?),
            Kind::Int => Value::Number(i64::from(cursor.int()? as i32)),
            Kind::Float => cursor.skip(4).map(|()| Value::None)?,
            Kind::Double => cursor.skip(8).map(|()| Value::None)?,
            Kind::Text => Value::Text(cursor.text()?),
            Kind::Nested => self.nested(cursor, field, depth).map(|()| Value::None)?,
        })
    }

    /// Passes over the fields of a value within a value.
    fn nested(&self, cursor: &mut Cursor<'_>, field: &Field, depth: usize) -> Result<(), ParseError> {
        let class = self.get(field.class).filter(|class| !class.fields.is_empty());
        // Values that take no bytes could be repeated without end.
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

/// Reads the event that declares the classes, and says how its classes are stored.
pub(super) fn read(event: &mut Cursor<'_>) -> Result<Classes, ParseError> {
    if event.long()? != 0 {
        return Err(event.error("there is no metadata event at the offset given in the chunk header"));
    }
    for _ in 0..3 {
        event.long()?; // start, duration, number of the description
    }
    let mut strings = Vec::new();
    for _ in 0..event.count()? {
        strings.push(match event.text()? {
            Text::Here(text) => text.into_owned(),
            Text::Null | Text::Pooled(_) => String::new(),
        });
    }
    let mut classes = Declarations { strings, classes: HashMap::new(), open: None };
    classes.read(event)?;
    Ok(Classes(classes.classes))
}

struct Declarations {
    strings: Vec<String>,
    classes: HashMap<i64, Class>,
    /// The class whose elements are being read, and the depth they are at.
    open: Option<(i64, usize)>,
}

impl Declarations {
    /// Reads the tree of elements, parents before children.
    fn read(&mut self, event: &mut Cursor<'_>) -> Result<(), ParseError> {
        // How many children are still to come, for each element that is open.
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
        self.settle_kinds();
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
                let name = attribute("name").unwrap_or_default().to_string();
                self.classes.insert(id, Class { name, fields: Vec::new() });
                self.open = Some((id, depth));
            }
            Some("field") => {
                let Some(class) = number("class") else { return };
                let is_pooled = attribute("constantPool") == Some("true");
                let field = Field {
                    name: attribute("name").unwrap_or_default().to_string(),
                    class,
                    kind: if is_pooled { Kind::Pooled } else { Kind::Nested },
                    is_array: number("dimension").is_some_and(|dimension| dimension > 0),
                };
                let open = self.open.filter(|&(_, at)| depth == at + 1);
                if let Some(class) = open.and_then(|(id, _)| self.classes.get_mut(&id)) {
                    class.fields.push(field);
                }
            }
            _ => {}
        }
    }

    /// A field's class may be declared after it, so how it is stored is settled at the end.
    fn settle_kinds(&mut self) {
        let kinds: HashMap<i64, Kind> =
            self.classes.iter().filter_map(|(&id, class)| Some((id, simple_kind(&class.name)?))).collect();
        for field in self.classes.values_mut().flat_map(|class| &mut class.fields) {
            if let (Kind::Nested, Some(&kind)) = (field.kind, kinds.get(&field.class)) {
                field.kind = kind;
            }
        }
    }
}

/// How the classes are stored that have no fields.
fn simple_kind(name: &str) -> Option<Kind> {
    Some(match name {
        "boolean" | "byte" => Kind::Byte,
        "short" | "char" => Kind::Short,
        "int" => Kind::Int,
        "long" => Kind::Long,
        "float" => Kind::Float,
        "double" => Kind::Double,
        "java.lang.String" => Kind::Text,
        _ => return None,
    })
}
