//! Types as they are written: what a reference stands for, and what can't be an argument or a
//! result whatever it is called. Everything else is left to the compiler, which knows aliases,
//! full paths and shadowed names.

use quote::ToTokens;
use syn::{GenericArgument, PathArguments, Type, TypePath, TypeReference};

/// What a parameter's type asks for.
#[derive(Debug)]
pub(crate) enum Role {
    /// A value that the model fills in.
    Value,
    /// `&str`: text that the model fills in.
    Text,
    /// `&ToolContext`.
    Context,
    /// `&Args`: all arguments as JSON.
    Arguments,
    /// `&T` of the author's own: a value that the plugin opened when it was loaded.
    State(Box<Type>),
    /// A reference to something else, with the advice what to write.
    Unknown(String),
}

/// Reads the role off a parameter's type. Names count only behind `&`, where nothing else could
/// be meant.
pub(crate) fn role(ty: &Type) -> Role {
    let Type::Reference(reference) = peel(ty) else {
        return Role::Value;
    };
    let target = peel(&reference.elem);
    let name = match target {
        Type::Path(path) => last_segment(path),
        _ => String::new(),
    };
    let advice = match (name.as_str(), target) {
        ("ToolContext" | "Args", _) if reference.mutability.is_some() => {
            format!("everything in the call shares it: write `&{name}`")
        }
        ("str", _) if reference.mutability.is_none() => return text(reference),
        ("ToolContext", _) => return Role::Context,
        ("Args", _) => return Role::Arguments,
        (_, Type::TraitObject(_) | Type::ImplTrait(_)) => {
            "a model can't fill in a trait object: write an enum with `#[tool_type]`".to_owned()
        }
        (name, Type::Path(path)) if !is_known_value(name, path) => {
            if reference.mutability.is_none() {
                return Role::State(Box::new(target.clone()));
            }
            format!("calls share the state of a plugin: write `&{name}`, with a `Mutex` inside")
        }
        _ => format!("an argument is owned: write `{}`", owned(target)),
    };
    Role::Unknown(format!(
        "{advice} (the references that a tool takes are `&str`, `&ToolContext`, `&Args`, and to \
         what `#[plugin_state]` opens)"
    ))
}

/// Whether the name is that of a value which nobody opens once for a whole plugin.
fn is_known_value(name: &str, path: &TypePath) -> bool {
    const VALUES: [&str; 15] = [
        "String",
        "Path",
        "PathBuf",
        "OsStr",
        "Vec",
        "Option",
        "HashMap",
        "BTreeMap",
        "HashSet",
        "BTreeSet",
        "Value",
        "Map",
        "str",
        "ToolContext",
        "Args",
    ];
    is_primitive(&Type::Path(path.clone())) || VALUES.contains(&name)
}

/// `&'static str` would promise more than a call can hold.
fn text(reference: &TypeReference) -> Role {
    match &reference.lifetime {
        Some(lifetime) if lifetime.ident == "static" => {
            Role::Unknown("the text lives as long as the call: write `&str`".to_owned())
        }
        _ => Role::Text,
    }
}

/// The name of a primitive type, under which a literal can be checked by the compiler.
pub(crate) fn is_primitive(ty: &Type) -> bool {
    let Type::Path(path) = peel(ty) else {
        return false;
    };
    path.qself.is_none()
        && path.path.get_ident().is_some_and(|name| {
            [
                "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "isize", "u8", "u16",
                "u32", "u64", "usize",
            ]
            .iter()
            .any(|primitive| name == primitive)
        })
}

/// A part of a type that can't be there.
#[derive(Debug)]
pub(crate) struct Misfit<'a> {
    /// The part.
    pub(crate) part: &'a Type,
    /// Why not, and what to write instead.
    pub(crate) advice: String,
}

/// What can't be inside the type of an argument.
pub(crate) fn argument_misfits(ty: &Type) -> Vec<Misfit<'_>> {
    let mut misfits = Vec::new();
    walk(ty, &mut |part| {
        let advice = match part {
            Type::Path(path) if is_wide(path) => WIDE.to_owned(),
            Type::Path(path) if last_segment(path) == "ToolContext" => {
                "the context is lent for the call: write `&ToolContext`".to_owned()
            }
            Type::Reference(reference) if is_lent(&reference.elem) => {
                "this is never absent and stands alone: write the parameter as `&…` itself"
                    .to_owned()
            }
            Type::Path(path) if let Some(advice) = texts_without_a_schema(path) => advice,
            Type::Path(path) if let Some(advice) = keys_without_a_schema(path) => advice,
            Type::Reference(reference) => {
                format!(
                    "inside another type an argument is owned: write `{}`",
                    owned(&reference.elem)
                )
            }
            Type::Slice(_) => format!("an argument has a known size: write `{}`", owned(part)),
            Type::Tuple(tuple) if tuple.elems.is_empty() => {
                "`()` holds nothing that a model could fill in: leave the argument out".to_owned()
            }
            Type::Tuple(tuple) if tuple.elems.len() > 16 => {
                "a tuple of more than 16 is beyond serde: write a struct with `#[tool_type]`"
                    .to_owned()
            }
            Type::FnPtr(_) => {
                "a model can't fill in a function: take a name and choose by it".to_owned()
            }
            Type::Ptr(_) => "a model can't fill in a pointer: write the type itself".to_owned(),
            Type::ImplTrait(_) => {
                "the schema needs one type: write it, for example `String`".to_owned()
            }
            Type::TraitObject(_) => {
                "a model can't fill in a trait object: write an enum with `#[tool_type]`".to_owned()
            }
            Type::Never(_) => "no value has the type `!`: leave the argument out".to_owned(),
            Type::Infer(_) => "the schema needs the type: write it".to_owned(),
            _ => return true,
        };
        misfits.push(Misfit { part, advice });
        false
    });
    misfits
}

const WIDE: &str = "JSON has no numbers of 128 bits: write `i64` or `u64`, or take the digits as \
                    `String`";

fn is_wide(path: &TypePath) -> bool {
    path.path.is_ident("u128") || path.path.is_ident("i128")
}

/// Integers that no JSON holds, for arguments and results alike.
pub(crate) fn wide_integers(ty: &Type) -> Vec<Misfit<'_>> {
    let mut misfits = Vec::new();
    walk(ty, &mut |part| {
        if matches!(part, Type::Path(path) if is_wide(path)) {
            let advice = WIDE.to_owned();
            misfits.push(Misfit { part, advice });
        }
        true
    });
    misfits
}

/// What the host lends to a tool.
fn is_lent(ty: &Type) -> bool {
    ["ToolContext", "Args"]
        .iter()
        .any(|name| is_named(ty, name))
}

/// Types that are read from text, of which no schema says which.
fn texts_without_a_schema(path: &TypePath) -> Option<String> {
    const NAMES: [&str; 5] = [
        "SocketAddr",
        "SocketAddrV4",
        "SocketAddrV6",
        "CString",
        "OsString",
    ];
    let name = last_segment(path);
    NAMES.contains(&name.as_str()).then(|| {
        format!(
            "no schema says which text `{name}` takes: take a `String` and parse it in the body"
        )
    })
}

/// Keys of a map are texts in JSON. Those of 64 bits and of enums have a schema that says which.
fn keys_without_a_schema(path: &TypePath) -> Option<String> {
    const KEYS: [&str; 13] = [
        "i8",
        "i16",
        "i32",
        "u8",
        "u16",
        "u32",
        "bool",
        "char",
        "Uuid",
        "NaiveDate",
        "NaiveTime",
        "IpAddr",
        "Url",
    ];
    if !["HashMap", "BTreeMap"].contains(&last_segment(path).as_str()) {
        return None;
    }
    let last = path.path.segments.last()?;
    let Type::Path(key) = peel(generic_types(&last.arguments).next()?) else {
        return None;
    };
    let key = last_segment(key);
    KEYS.contains(&key.as_str()).then(|| {
        format!(
            "names in JSON are text, and no schema says which of them is a `{key}`: take `String` \
             or an enum with `#[tool_type]` as the key, `i64` or `u64` for numbers"
        )
    })
}

/// What can't be inside the type of a result.
pub(crate) fn result_misfits(ty: &Type) -> Vec<Misfit<'_>> {
    let mut misfits = Vec::new();
    walk(ty, &mut |part| {
        let advice = match part {
            Type::ImplTrait(_) => {
                "the output schema needs one type: write it, for example `String` or `Vec<…>`"
            }
            Type::Never(_) => "a tool has to answer: write `()` or `Result<()>`",
            Type::FnPtr(_) | Type::Ptr(_) => {
                "this does not become text or JSON: return a value, for example `String`"
            }
            _ => return true,
        };
        misfits.push(Misfit {
            part,
            advice: advice.to_owned(),
        });
        false
    });
    misfits
}

/// What a function returns when all goes well: the first type inside `Result<…>`, else the type
/// itself.
pub(crate) fn success(ty: &Type) -> &Type {
    let Type::Path(path) = peel(ty) else {
        return ty;
    };
    let last = path.path.segments.last();
    last.filter(|segment| segment.ident == "Result")
        .and_then(|segment| generic_types(&segment.arguments).next())
        .unwrap_or(ty)
}

/// Whether the last name of a path is this one.
pub(crate) fn is_named(ty: &Type, name: &str) -> bool {
    matches!(peel(ty), Type::Path(path) if last_segment(path) == name)
}

/// The types between `<` and `>`.
pub(crate) fn generic_types(arguments: &PathArguments) -> impl Iterator<Item = &Type> {
    let arguments = match arguments {
        PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
        PathArguments::None | PathArguments::Parenthesized(_) => None,
    };
    arguments
        .into_iter()
        .flatten()
        .filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })
}

/// The type without parentheses and without the invisible groups of `macro_rules!`.
pub(crate) fn peel(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            inner => return inner,
        };
    }
}

/// Visits the type and, where the visitor says so, every type inside it.
fn walk<'a>(ty: &'a Type, visit: &mut impl FnMut(&'a Type) -> bool) {
    let ty = peel(ty);
    if !visit(ty) {
        return;
    }
    match ty {
        Type::Array(array) => walk(&array.elem, visit),
        Type::Slice(slice) => walk(&slice.elem, visit),
        Type::Reference(reference) => walk(&reference.elem, visit),
        Type::Tuple(tuple) => tuple.elems.iter().for_each(|elem| walk(elem, visit)),
        Type::Path(path) => {
            let inside = path.path.segments.iter().map(|segment| &segment.arguments);
            inside
                .flat_map(generic_types)
                .for_each(|inner| walk(inner, visit));
        }
        _ => {}
    }
}

fn last_segment(path: &TypePath) -> String {
    path.path
        .segments
        .last()
        .map(|segment| segment.ident.to_string())
        .unwrap_or_default()
}

/// What to write instead of a reference to the type.
fn owned(ty: &Type) -> String {
    match peel(ty) {
        Type::Slice(slice) => format!("Vec<{}>", owned(&slice.elem)),
        Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
        Type::Path(path) if last_segment(path) == "Path" => "PathBuf".to_owned(),
        Type::Path(path) if last_segment(path) == "OsStr" => "String".to_owned(),
        Type::Reference(reference) => owned(&reference.elem),
        other => written(other),
    }
}

/// The type as a person would write it.
pub(crate) fn written(ty: &Type) -> String {
    let text = ty.to_token_stream().to_string();
    let mut tight = text;
    for (loose, close) in [
        (" < ", "<"),
        (" >", ">"),
        (" ,", ","),
        (" :: ", "::"),
        ("& ", "&"),
        ("[ ", "["),
        (" ]", "]"),
    ] {
        tight = tight.replace(loose, close);
    }
    tight
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn names_count_behind_a_reference_only() {
        let cases: [(Type, &str); 11] = [
            (parse_quote!(&str), "Text"),
            (parse_quote!(&'_ str), "Text"),
            (parse_quote!((&ToolContext)), "Context"),
            (parse_quote!(&tool_sdk::Args), "Arguments"),
            (parse_quote!(Args), "Value"),
            (parse_quote!(str), "Value"),
            (parse_quote!(&[u8]), "Unknown"),
            (parse_quote!(&Option<Db>), "Unknown"),
            (parse_quote!(&mut Db), "Unknown"),
            (parse_quote!(&reqwest::Client), "State"),
            (parse_quote!(&'static str), "Unknown"),
        ];
        for (ty, expected) in cases {
            let role = format!("{:?}", role(&ty));
            assert!(role.starts_with(expected), "{}: {role}", written(&ty));
        }
    }

    #[test]
    fn advice_names_the_type_to_write() {
        let slice: Type = parse_quote!(&[(String, Option<u8>)]);
        let Role::Unknown(advice) = role(&slice) else {
            panic!("a slice is no argument")
        };
        assert!(advice.contains("`Vec<(String, Option<u8>)>`"), "{advice}");
    }

    #[test]
    fn misfits_are_found_at_any_depth() {
        let ty: Type = parse_quote!(Vec<(Option<&str>, [u128; 2], std::sync::Arc<dyn Fn()>)>);
        let parts: Vec<String> = argument_misfits(&ty)
            .iter()
            .map(|misfit| written(misfit.part))
            .collect();
        assert_eq!(parts, ["&str", "u128", "dyn Fn ()"]);
    }
}
