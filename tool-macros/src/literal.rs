//! Values that are known when the macro runs: literals. What else stands behind a key is an
//! expression that only the compiler can evaluate.

use std::cmp::Ordering;
use std::fmt;

use syn::{Expr, ExprArray, Lit, UnOp};

/// A value that is known when the macro runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    /// `-3`.
    Whole(i128),
    /// `0.5`.
    Float(f64),
    /// `"text"`.
    Text(String),
    /// `true`.
    Bool(bool),
}

impl Literal {
    /// The value of an expression that is a literal.
    pub(crate) fn of(expr: &Expr) -> Option<Self> {
        match expr {
            Expr::Group(group) => Self::of(&group.expr),
            Expr::Paren(paren) => Self::of(&paren.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
                match Self::of(&unary.expr)? {
                    Self::Whole(number) => Some(Self::Whole(number.checked_neg()?)),
                    Self::Float(number) => Some(Self::Float(-number)),
                    Self::Text(_) | Self::Bool(_) => None,
                }
            }
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) => number.base10_parse().ok().map(Self::Whole),
                Lit::Float(number) => number.base10_parse().ok().map(Self::Float),
                Lit::Str(text) => Some(Self::Text(text.value())),
                Lit::Char(character) => Some(Self::Text(character.value().to_string())),
                Lit::Bool(bool) => Some(Self::Bool(bool.value)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The order of two numbers.
    pub(crate) fn compare(&self, other: &Self) -> Option<Ordering> {
        if let (Self::Whole(a), Self::Whole(b)) = (self, other) {
            return Some(a.cmp(b));
        }
        self.as_f64()?.partial_cmp(&other.as_f64()?)
    }

    /// Whether both are the same value.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        self == other || self.compare(other) == Some(Ordering::Equal)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "only numbers of which one is a float are compared so"
    )]
    fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            Self::Text(_) | Self::Bool(_) => None,
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => write!(f, "{number}"),
            Self::Float(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Bool(bool) => write!(f, "{bool}"),
        }
    }
}

/// The expression as a list: `[1, 2]`, also behind `&`.
pub(crate) fn list(expr: &Expr) -> Option<&ExprArray> {
    match expr {
        Expr::Array(array) => Some(array),
        Expr::Group(group) => list(&group.expr),
        Expr::Reference(reference) => list(&reference.expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn numbers_compare_across_their_forms() {
        let literal = |expr: Expr| Literal::of(&expr).unwrap();
        let three = literal(parse_quote!(3));
        assert!(three.equals(&literal(parse_quote!(3.0))));
        assert_eq!(
            three.compare(&literal(parse_quote!(-3))),
            Some(Ordering::Greater)
        );
        assert_eq!(three.compare(&literal(parse_quote!("3"))), None);
        assert_eq!(Literal::of(&parse_quote!(TEN)), None);
    }
}
