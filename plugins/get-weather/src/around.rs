//! The countries and regions that people write after a city, also by their short names.

use serde_json::Value;

/// Short and other names of countries, in plain form, with the ISO code.
const COUNTRIES: [(&str, &str); 14] = [
    ("usa", "US"),
    ("america", "US"),
    ("unitedstatesofamerica", "US"),
    ("uk", "GB"),
    ("greatbritain", "GB"),
    ("britain", "GB"),
    ("uae", "AE"),
    ("holland", "NL"),
    ("czechrepublic", "CZ"),
    ("korea", "KR"),
    ("burma", "MM"),
    ("russianfederation", "RU"),
    ("prc", "CN"),
    ("turkiye", "TR"),
];

/// Codes of regions: the country, then code and name of each.
const REGIONS: [(&str, &str); 3] = [
    (
        "US",
        "AL Alabama,AK Alaska,AZ Arizona,AR Arkansas,CA California,CO Colorado,CT Connecticut,\
         DC District of Columbia,DC Washington D.C.,DE Delaware,FL Florida,GA Georgia,\
         HI Hawaii,ID Idaho,IL Illinois,IN Indiana,IA Iowa,KS Kansas,KY Kentucky,LA Louisiana,\
         ME Maine,MD Maryland,MA Massachusetts,MI Michigan,MN Minnesota,MS Mississippi,\
         MO Missouri,MT Montana,NE Nebraska,NV Nevada,NH New Hampshire,NJ New Jersey,\
         NM New Mexico,NY New York,NC North Carolina,ND North Dakota,OH Ohio,OK Oklahoma,\
         OR Oregon,PA Pennsylvania,RI Rhode Island,SC South Carolina,SD South Dakota,\
         TN Tennessee,TX Texas,UT Utah,VT Vermont,VA Virginia,WA Washington,WV West Virginia,\
         WI Wisconsin,WY Wyoming",
    ),
    (
        "CA",
        "AB Alberta,BC British Columbia,MB Manitoba,NB New Brunswick,\
         NL Newfoundland and Labrador,NS Nova Scotia,NT Northwest Territories,NU Nunavut,\
         ON Ontario,PE Prince Edward Island,QC Quebec,SK Saskatchewan,YT Yukon",
    ),
    (
        "AU",
        "ACT Australian Capital Territory,NSW New South Wales,NT Northern Territory,\
         QLD Queensland,SA South Australia,TAS Tasmania,VIC Victoria,WA Western Australia",
    ),
];

/// A name without case, punctuation and blanks: `D.C.` becomes `dc`.
#[must_use]
pub fn plain(name: &str) -> String {
    name.chars()
        .filter(|letter| letter.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether a plain word names the country of a place that the service found.
#[must_use]
pub fn is_country(place: &Value, word: &str) -> bool {
    let code = text(place, "country_code");
    plain(code) == word
        || plain(text(place, "country")) == word
        || COUNTRIES
            .iter()
            .any(|(name, of)| *name == word && code == *of)
}

/// Whether a plain word names a region of a place that the service found.
#[must_use]
pub fn is_region(place: &Value, word: &str) -> bool {
    let named = ["admin1", "admin2", "admin3", "admin4"]
        .into_iter()
        .map(|key| plain(text(place, key)));
    let code = text(place, "country_code");
    let region = plain(text(place, "admin1"));
    let mut coded = REGIONS
        .iter()
        .filter(|(country, _)| *country == code)
        .flat_map(|(_, regions)| regions.split(','));
    named.into_iter().any(|name| name == word)
        || coded.any(|pair| {
            pair.split_once(' ')
                .is_some_and(|(short, name)| plain(short) == word && plain(name) == region)
        })
}

/// A text of a place, empty where it has none.
fn text<'a>(place: &'a Value, key: &str) -> &'a str {
    place.get(key).and_then(Value::as_str).unwrap_or_default()
}
