//! The record of a function that opens state.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::Type;

use super::record::site_of_declaration;
use super::{site, site_at};
use crate::place;
use crate::plugin_state::{Filled, Opener};

/// Everything that makes the function an opener, in a scope of its own:
///
/// ```text
/// const _: () = {
///     use ::tool_sdk::__private as __sdk;
///     use __sdk::by_type::*;
///     pub struct __Opener;
///     impl __sdk::State<__Opener> for Db {}
///     …record…
/// };
/// ```
///
/// The struct stands in the trait's parameters, so that the state may be of any crate.
pub(crate) fn registration(opener: &Opener, sdk: &TokenStream) -> TokenStream {
    let inherited = &opener.inherited;
    let opens = &opener.opens;
    let record = record(opener);
    // What is wrong with the type is reported where it is written.
    let state = quote_spanned!(site_at(place::of_value(opens))=> __sdk::State<__Opener>);
    quote_spanned! {site()=>
        #(#inherited)*
        const _: () = {
            use #sdk::__private as __sdk;
            use __sdk::by_type::*;
            pub struct __Opener;
            impl #state for #opens {}
            #record
        };
    }
}

/// The record in the slice of all openers.
fn record(opener: &Opener) -> TokenStream {
    let opens = &opener.opens;
    let written = &opener.written;
    let declared = site_of_declaration(&opener.ident);
    let settings = opener.settings().map_or_else(
        || quote_spanned!(site()=> __sdk::None),
        |ty| {
            let site = site_at(place::of_type(ty));
            quote_spanned!(site=> __sdk::Some(__sdk::ArgumentOf::<#ty>::shape))
        },
    );
    let entry = entry(opener);
    quote_spanned! {site()=>
        #[__sdk::linkme::distributed_slice(__sdk::STATES)]
        #[linkme(crate = __sdk::linkme)]
        static __STATE: __sdk::StateRecord = __sdk::StateRecord {
            package: __sdk::env!("CARGO_PKG_NAME"),
            opens: #written,
            type_id: __sdk::type_of::<#opens>,
            #declared
            settings: #settings,
            opener: #entry,
        };
    }
}

/// The call itself:
///
/// ```text
/// __sdk::Opener::Blocking(|__args, __ctx| {
///     let __returned = open(__sdk::ArgumentOf::<Settings>::whole(__args)?, __ctx);
///     let __returned = __sdk::ReturnOf::<Result<Db>>::split(__returned);
///     __returned.opened::<__Opener>()
/// })
/// ```
fn entry(opener: &Opener) -> TokenStream {
    let mut function: Ident = opener.ident.clone();
    function.set_span(site_at(opener.ident.span()));
    let passed = opener.parameters.iter().map(passed);
    let ty: &Type = &opener.output;
    let of_error = site_at(place::of_error(ty));
    let of_value = site_at(place::of_value(ty));
    let split = quote_spanned!(of_error=> __sdk::ReturnOf::<#ty>::split(__returned));
    let state = quote_spanned!(of_value=> __returned.opened::<__Opener>());
    let end = quote_spanned!(site()=> let __returned = #split; #state);
    if opener.is_async {
        quote_spanned! {site()=>
            __sdk::Opener::Async(|__args, __ctx| __sdk::Box::pin(async move {
                let (__args, __ctx) = (&__args, &__ctx);
                let __returned = #function(#(#passed),*).await;
                #end
            }))
        }
    } else {
        quote_spanned! {site()=>
            __sdk::Opener::Blocking(|__args, __ctx| {
                let __returned = #function(#(#passed),*);
                #end
            })
        }
    }
}

fn passed(parameter: &Filled) -> TokenStream {
    match parameter {
        Filled::Settings(ty) => {
            let site = site_at(place::of_type(ty));
            quote_spanned!(site=> __sdk::ArgumentOf::<#ty>::whole(__args)?)
        }
        Filled::Context(ty) => quote_spanned!(site_at(place::of_type(ty))=> __ctx),
    }
}
