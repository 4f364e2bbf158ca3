//! The form in which names are compared: no case, accents, punctuation or blanks.
//!
//! `data/make_places.py` stores names in the same form; a test compares the two.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// Signs that stand within a word: `Xi'an` and `Xian` are one name, written with any of them.
const APOSTROPHES: &str = "'’‘`´ʻʼʹʾʿ";

/// Folds a name: `  São Paulo ` and `SAO-PAULO` both become `saopaulo`, `St. John's` becomes
/// `saintjohns`.
#[must_use]
pub fn fold(name: &str) -> String {
    let bare: String = name
        .nfkd()
        .filter(|letter| canonical_combining_class(*letter) == 0 && !APOSTROPHES.contains(*letter))
        .collect();
    let mut plain = String::with_capacity(bare.len());
    for letter in bare.to_lowercase().chars() {
        match spelled_out(letter) {
            Some(letters) => plain.push_str(letters),
            None => plain.push(letter),
        }
    }
    plain
        .split(|letter: char| !letter.is_alphanumeric())
        .map(|word| match word {
            "st" => "saint",
            "ste" => "sainte",
            other => other,
        })
        .collect()
}

/// Letters that Unicode does not decompose.
fn spelled_out(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'ł' => "l",
        'ı' => "i",
        'ħ' => "h",
        'ŋ' => "ng",
        'ə' => "e",
        'ς' => "σ",
        _ => return None,
    })
}
