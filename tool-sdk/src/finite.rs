//! The JSON of a value, with an error where JSON has no number for it.
//!
//! `serde_json::to_value` makes a silent `null` of NaN and of infinity. The serializer here makes the
//! same values, but refuses such a number and says where it stands. It is compiled once, here: what
//! is generic in it is compiled again for every type of every plugin, so that is one call each.

use std::fmt;

use serde::ser::{self, Serialize, Serializer};
use serde_json::value::Serializer as SerdeJson;
use serde_json::{Map, Value};

/// The JSON of a value.
pub(crate) fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, NoJson> {
    value.serialize(Finite)
}

/// Why a value has no JSON, and where in it.
pub(crate) struct NoJson {
    /// JSON pointer to the part without JSON, empty for the value itself.
    pointer: String,
    reason: Reason,
}

enum Reason {
    Number(f64),
    Other(String),
}

impl NoJson {
    fn new(reason: Reason) -> Self {
        let pointer = String::new();
        Self { pointer, reason }
    }

    /// The same error, seen from the object or list around it.
    fn inside(mut self, name: &str) -> Self {
        let name = name.replace('~', "~0").replace('/', "~1");
        self.pointer.insert_str(0, &format!("/{name}"));
        self
    }
}

impl fmt::Display for NoJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = self.pointer.as_str();
        match &self.reason {
            Reason::Number(number) => {
                let place = if pointer.is_empty() { "it" } else { pointer };
                write!(f, "{place} is {number}, and JSON has no such number")
            }
            Reason::Other(text) if pointer.is_empty() => f.write_str(text),
            Reason::Other(text) => write!(f, "{pointer}: {text}"),
        }
    }
}

/// The text is for a person in a panic too.
impl fmt::Debug for NoJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for NoJson {}

impl ser::Error for NoJson {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self::new(Reason::Other(text.to_string()))
    }
}

impl From<serde_json::Error> for NoJson {
    fn from(error: serde_json::Error) -> Self {
        Self::new(Reason::Other(error.to_string()))
    }
}

/// Makes a [`Value`] of finite numbers only.
struct Finite;

/// What is no float and holds nothing is left to `serde_json`.
macro_rules! by_serde_json {
    ($($method:ident: $type:ty,)*) => {$(
        fn $method(self, value: $type) -> Result<Value, NoJson> {
            Ok(SerdeJson.$method(value)?)
        }
    )*};
}

impl Serializer for Finite {
    type Ok = Value;
    type Error = NoJson;
    type SerializeSeq = List;
    type SerializeTuple = List;
    type SerializeTupleStruct = List;
    type SerializeTupleVariant = List;
    type SerializeMap = Object;
    type SerializeStruct = Object;
    type SerializeStructVariant = Object;

    by_serde_json! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
        serialize_char: char,
        serialize_str: &str,
        serialize_bytes: &[u8],
    }

    fn serialize_f32(self, value: f32) -> Result<Value, NoJson> {
        // The shortest digits that mean it: `0.1`, and not what they become as a wider float.
        let shortest = value.to_string().parse();
        self.serialize_f64(shortest.unwrap_or_else(|_| value.into()))
    }

    fn serialize_f64(self, value: f64) -> Result<Value, NoJson> {
        if value.is_finite() {
            Ok(value.into())
        } else {
            Err(NoJson::new(Reason::Number(value)))
        }
    }

    fn serialize_unit(self) -> Result<Value, NoJson> {
        Ok(Value::Null)
    }

    fn serialize_none(self) -> Result<Value, NoJson> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Value, NoJson> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Value, NoJson> {
        Ok(variant.into())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, NoJson> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Value, NoJson> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value, NoJson> {
        Tag(Some(variant)).around(value.serialize(self))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<List, NoJson> {
        Ok(List::new(None, length.unwrap_or(0)))
    }

    fn serialize_tuple(self, length: usize) -> Result<List, NoJson> {
        Ok(List::new(None, length))
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<List, NoJson> {
        Ok(List::new(None, length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<List, NoJson> {
        Ok(List::new(Some(variant), length))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Object, NoJson> {
        Ok(Object::new(None, length.unwrap_or(0)))
    }

    fn serialize_struct(self, name: &'static str, length: usize) -> Result<Object, NoJson> {
        let stand_in = name.starts_with("$serde_json::private::").then_some(name);
        Ok(Object {
            stand_in,
            ..Object::new(None, length)
        })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Object, NoJson> {
        Ok(Object::new(Some(variant), length))
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<Value, NoJson> {
        Ok(value.to_string().into())
    }
}

/// The variant of an enum that a value belongs to, if any.
struct Tag(Option<&'static str>);

impl Tag {
    /// The value as serde tags it: `{"Variant": value}`.
    fn around(&self, value: Result<Value, NoJson>) -> Result<Value, NoJson> {
        let Some(variant) = self.0 else { return value };
        let value = self.place(value)?;
        Ok(Map::from_iter([(variant.to_owned(), value)]).into())
    }

    /// Adds the variant to the place of an error.
    fn place<T>(&self, result: Result<T, NoJson>) -> Result<T, NoJson> {
        result.map_err(|error| match self.0 {
            Some(variant) => error.inside(variant),
            None => error,
        })
    }
}

/// A list that is being filled.
struct List {
    tag: Tag,
    items: Vec<Value>,
}

impl List {
    fn new(variant: Option<&'static str>, length: usize) -> Self {
        Self {
            tag: Tag(variant),
            items: Vec::with_capacity(length),
        }
    }

    fn push(&mut self, item: Result<Value, NoJson>) -> Result<(), NoJson> {
        let item = item.map_err(|error| error.inside(&self.items.len().to_string()));
        self.items.push(self.tag.place(item)?);
        Ok(())
    }
}

/// serde has a trait for each kind of list; they differ in the name of one method.
macro_rules! lists {
    ($($kind:ident: $method:ident,)*) => {$(
        impl ser::$kind for List {
            type Ok = Value;
            type Error = NoJson;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoJson> {
                self.push(value.serialize(Finite))
            }

            fn end(self) -> Result<Value, NoJson> {
                self.tag.around(Ok(self.items.into()))
            }
        }
    )*};
}
lists! {
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field,
}

/// An object that is being filled.
struct Object {
    tag: Tag,
    /// The name under which `serde_json` passes its own types through serde: a struct of one text
    /// that it makes the value of.
    stand_in: Option<&'static str>,
    key: Option<String>,
    fields: Map<String, Value>,
}

impl Object {
    fn new(variant: Option<&'static str>, length: usize) -> Self {
        Self {
            tag: Tag(variant),
            stand_in: None,
            key: None,
            fields: Map::with_capacity(length),
        }
    }

    fn insert(&mut self, key: String, value: Result<Value, NoJson>) -> Result<(), NoJson> {
        let value = value.map_err(|error| error.inside(&key));
        self.fields.insert(key, self.tag.place(value)?);
        Ok(())
    }

    fn finish(mut self) -> Result<Value, NoJson> {
        if let Some(name) = self.stand_in {
            let text = self.fields.remove(name).unwrap_or_default();
            let mut stand_in = SerdeJson.serialize_struct(name, 1)?;
            ser::SerializeStruct::serialize_field(&mut stand_in, name, &text)?;
            return Ok(ser::SerializeStruct::end(stand_in)?);
        }
        self.tag.around(Ok(self.fields.into()))
    }
}

macro_rules! structs {
    ($($kind:ident)*) => {$(
        impl ser::$kind for Object {
            type Ok = Value;
            type Error = NoJson;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), NoJson> {
                self.insert(key.to_owned(), value.serialize(Finite))
            }

            fn end(self) -> Result<Value, NoJson> {
                self.finish()
            }
        }
    )*};
}
structs! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for Object {
    type Ok = Value;
    type Error = NoJson;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NoJson> {
        // What becomes a key, and how, is known to serde_json alone; it tells by an object.
        let mut object = SerdeJson.serialize_map(Some(1))?;
        ser::SerializeMap::serialize_key(&mut object, key)?;
        self.key = only_key(object)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoJson> {
        let key = self.key.take().unwrap_or_default();
        self.insert(key, value.serialize(Finite))
    }

    fn end(self) -> Result<Value, NoJson> {
        self.finish()
    }
}

type SerdeJsonObject = <SerdeJson as Serializer>::SerializeMap;

/// The key of an object that lacks the value to its one key.
fn only_key(mut object: SerdeJsonObject) -> Result<Option<String>, NoJson> {
    ser::SerializeMap::serialize_value(&mut object, &())?;
    let object = ser::SerializeMap::end(object)?;
    let mut keys = object.as_object().into_iter().flat_map(Map::keys);
    Ok(keys.next().cloned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;
    use serde_json::value::RawValue;

    use super::*;

    /// Bytes as some types serialise them.
    struct Bytes;

    impl Serialize for Bytes {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(&[0, 255])
        }
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "`json!` makes a value")]
    fn check<T: Serialize>(value: &T, expected: Value) {
        assert_eq!(serde_json::to_value(value).unwrap(), expected);
        assert_eq!(to_value(value).unwrap(), expected);
    }

    #[track_caller]
    fn check_error<T: Serialize>(value: &T, expected: &str) {
        assert_eq!(to_value(value).unwrap_err().to_string(), expected);
    }

    #[test]
    fn what_serde_json_makes_of_rare_values_stays() {
        let raw = RawValue::from_string("{\"b\": [1, 2.50]}".to_owned()).unwrap();
        check(&[raw], json!([{"b": [1, 2.5]}]));
        check(&Bytes, json!([0, 255]));
        check(&(0.5_f32, u128::from(u64::MAX)), json!([0.5_f32, u64::MAX]));
        check(&BTreeMap::from([(-1, "a")]), json!({"-1": "a"}));
        check(&json!({"b": 1, "a": 1.5}), json!({"b": 1, "a": 1.5}));
    }

    #[test]
    fn single_floats_have_their_shortest_digits() {
        assert_eq!(
            to_value(&[0.1_f32, f32::MIN]).unwrap(),
            json!([0.1, -3.402_823_5e38])
        );
    }

    #[test]
    fn other_errors_say_where_they_are_too() {
        check_error(&vec![(1, i128::MAX)], "/0/1: number out of range");
        let no_name = BTreeMap::from([([1], 1)]);
        check_error(&Some(&no_name), "key must be a string");
        check_error(&[&no_name], "/0: key must be a string");
    }
}
