//! What a type takes, as far as its spelling tells. Where it does not, the SDK finds out when it
//! makes the schema, and the probe of the library says so.

use syn::{GenericArgument, PathArguments, Type, TypePath};

use crate::types::peel;

/// What a type takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Whole numbers.
    Whole,
    /// Numbers.
    Float,
    /// Text of any length.
    Text,
    /// One character.
    Char,
    /// `true` and `false`.
    Bool,
    /// A list.
    List,
    /// A map.
    Map,
    /// The spelling does not tell.
    Unknown,
}

impl Kind {
    /// The kind of a type, looking through what may be absent and what only holds.
    pub(crate) fn of(ty: &Type) -> Self {
        match without_wrapper(ty) {
            Type::Array(_) | Type::Slice(_) => Self::List,
            Type::Reference(reference) => Self::of(&reference.elem),
            Type::Path(path) => Self::of_path(path),
            _ => Self::Unknown,
        }
    }

    fn of_path(path: &TypePath) -> Self {
        let name = last(path);
        match name.as_str() {
            "i8" | "i16" | "i32" | "i64" | "isize" | "u8" | "u16" | "u32" | "u64" | "usize" => {
                Self::Whole
            }
            "f32" | "f64" => Self::Float,
            "String" | "str" => Self::Text,
            "char" => Self::Char,
            "bool" => Self::Bool,
            "Vec" | "VecDeque" | "HashSet" | "BTreeSet" => Self::List,
            "HashMap" | "BTreeMap" => Self::Map,
            _ => Self::Unknown,
        }
    }

    /// The kind in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Whole | Self::Float => "a number",
            Self::Text => "text",
            Self::Char => "one character",
            Self::Bool => "a boolean",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Unknown => "anything",
        }
    }
}

/// The type that a constraint on values holds for: inside what may be absent, and inside lists.
pub(crate) fn of_values(ty: &Type) -> &Type {
    let ty = without_wrapper(ty);
    match ty {
        Type::Array(array) => of_values(&array.elem),
        Type::Path(path) if Kind::of_path(path) == Kind::List => {
            only_generic(path).map_or(ty, of_values)
        }
        _ => ty,
    }
}

/// The type inside `Option`, `Box`, `Arc` and `Rc`.
pub(crate) fn without_wrapper(ty: &Type) -> &Type {
    let ty = peel(ty);
    match ty {
        Type::Path(path) if ["Option", "Box", "Arc", "Rc"].contains(&last(path).as_str()) => {
            only_generic(path).map_or(ty, without_wrapper)
        }
        _ => ty,
    }
}

fn only_generic(path: &TypePath) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(ty) if arguments.args.len() == 1 => Some(ty),
        _ => None,
    }
}

fn last(path: &TypePath) -> String {
    let last = path.path.segments.last();
    last.map(|segment| segment.ident.to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use quote::ToTokens as _;
    use syn::parse_quote;

    use super::*;

    #[test]
    fn spelling_tells_the_kind() {
        let cases: [(Type, Kind); 9] = [
            (parse_quote!(u8), Kind::Whole),
            (parse_quote!(Option<f32>), Kind::Float),
            (parse_quote!(&str), Kind::Text),
            (parse_quote!(std::string::String), Kind::Text),
            (parse_quote!(Box<[u8; 3]>), Kind::List),
            (parse_quote!(Vec<u8>), Kind::List),
            (parse_quote!(HashMap<String, u8>), Kind::Map),
            (parse_quote!(Meters), Kind::Unknown),
            (parse_quote!((u8, u8)), Kind::Unknown),
        ];
        for (ty, expected) in cases {
            assert_eq!(Kind::of(&ty), expected, "{}", ty.to_token_stream());
        }
    }

    #[test]
    fn values_are_inside_options_and_lists() {
        let ty: Type = parse_quote!(Option<Vec<[Option<u8>; 2]>>);
        assert_eq!(*of_values(&ty), parse_quote!(u8));
        let ty: Type = parse_quote!(HashMap<String, u8>);
        assert_eq!(*of_values(&ty), ty);
    }
}
