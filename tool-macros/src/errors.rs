//! Collects every error of one item, so that an author sees them all in one compile.

use std::fmt::Display;
use std::thread;

use proc_macro2::Span;
use quote::ToTokens;

/// The errors found so far. [`Errors::finish`] must be called: a collector that is dropped
/// unread would turn mistakes of the author into silence.
#[derive(Debug)]
pub(crate) struct Errors {
    found: Option<syn::Error>,
    finished: bool,
}

impl Errors {
    /// No errors yet.
    pub(crate) fn new() -> Self {
        Self {
            found: None,
            finished: false,
        }
    }

    /// Adds an error.
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.found {
            Some(first) => first.combine(error),
            None => self.found = Some(error),
        }
    }

    /// Adds an error at one place.
    pub(crate) fn at(&mut self, span: Span, message: impl Display) {
        self.push(syn::Error::new(span, message));
    }

    /// Adds an error that underlines all these tokens.
    pub(crate) fn over(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Adds the error, if it is one.
    pub(crate) fn take<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// All errors as one, if there are any.
    pub(crate) fn finish(mut self) -> syn::Result<()> {
        self.finished = true;
        self.found.take().map_or(Ok(()), Err)
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        assert!(
            self.finished || thread::panicking(),
            "errors of a macro were not looked at"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_kept_in_order() {
        let mut errors = Errors::new();
        errors.at(Span::call_site(), "first");
        assert_eq!(
            errors.take::<()>(Err(syn::Error::new(Span::call_site(), "second"))),
            None
        );
        let all = errors.finish().unwrap_err();
        let texts: Vec<String> = all.into_iter().map(|error| error.to_string()).collect();
        assert_eq!(texts, ["first", "second"]);
    }

    #[test]
    #[should_panic(expected = "not looked at")]
    fn dropping_a_collector_unread_is_a_bug() {
        drop(Errors::new());
    }
}
