"""What make_places.py knows beyond its sources: names that people use, written by hand."""

# Capitals that the source spells in a way that none of its cities has.
CAPITALS = {
    "KZ": "Astana", "PW": "Ngerulmud", "PS": "Ramallah", "MN": "Ulaanbaatar", "EH": "Laayoune",
    "KI": "South Tarawa", "GP": "Basse-Terre", "TF": "Port-aux-Français",
}

# Cities that most people know although fewer than the wanted number live inside their limits:
# (name, country or country-region).
EXTRA_CITIES = [
    (name, place)
    for place, names in {
        "US": "Anchorage, Honolulu, Miami, Salt Lake City, Cleveland, Pittsburgh, Buffalo, Minneapolis, "
              "Orlando, Tampa, New Orleans, Cincinnati, Omaha, Raleigh, Tulsa, Oakland, St. Louis, Boise, "
              "Spokane, Reno, Mesa, Virginia Beach, Long Beach, Santa Fe, Des Moines, Madison, Detroit",
        "US-MO": "Kansas City", "US-VA": "Richmond", "US-MI": "Ann Arbor", "US-CA": "Palo Alto, Berkeley, "
        "Mountain View, Cupertino, Santa Clara, Bakersfield, Anaheim", "US-WA": "Redmond", "US-MA": "Cambridge",
        "US-AK": "Juneau", "US-NY": "Albany, Rochester", "US-TX": "Arlington", "US-ME": "Portland",
        "US-IL": "Springfield", "US-CO": "Boulder, Colorado Springs", "US-CT": "Hartford",
        "US-RI": "Providence", "US-SC": "Charleston", "US-GA": "Savannah", "US-NJ": "Newark",
        "CA": "Halifax, Quebec, Victoria, Regina, Saskatoon, St. John's, Whitehorse, Yellowknife, London, Fredericton",
        "AU": "Hobart, Darwin, Cairns, Gold Coast, Newcastle, Alice Springs",
        "NZ": "Christchurch, Dunedin, Queenstown, Hamilton",
        "GB": "Belfast, Cardiff, Liverpool, Bristol, Newcastle upon Tyne, Nottingham, Southampton, Cambridge, "
              "Oxford, York, Bath, Aberdeen, Brighton, Plymouth, Leicester, Coventry, Inverness",
        "IE": "Cork, Galway, Limerick", "FR": "Nice, Bordeaux, Strasbourg, Nantes, Lille, Montpellier, Rennes, "
        "Grenoble, Cannes", "DE": "Bonn, Freiburg, Heidelberg, Mannheim, Karlsruhe, Münster, Mainz, Wiesbaden, "
        "Potsdam, Aachen, Kiel, Bielefeld, Bochum, Wuppertal, Augsburg, Saarbrücken, Erfurt, Magdeburg",
        "AT": "Salzburg, Graz, Innsbruck, Linz", "CH": "Geneva, Basel, Lausanne, Lucerne, Davos",
        "IT": "Venice, Florence, Bologna, Bari, Verona, Pisa, Catania, Trieste, Padova, Modena",
        "ES": "Bilbao, Granada, Palma, Las Palmas de Gran Canaria, San Sebastián, Alicante, Córdoba, "
        "Santa Cruz de Tenerife", "PT": "Porto, Faro, Funchal, Ponta Delgada", "NL": "Utrecht, Eindhoven, Groningen, "
        "Maastricht", "BE": "Antwerpen, Gent, Brugge, Liège, Leuven", "DK": "Aarhus, Odense, Aalborg",
        "SE": "Malmö, Uppsala, Gothenburg, Kiruna", "NO": "Bergen, Trondheim, Stavanger, Tromsø",
        "FI": "Tampere, Turku, Oulu, Espoo, Rovaniemi", "IS": "Akureyri", "PL": "Gdańsk, Katowice, Lublin",
        "CZ": "Brno, Ostrava", "SK": "Košice", "HU": "Debrecen", "RO": "Cluj-Napoca, Timişoara, Constanţa",
        "BG": "Varna, Plovdiv", "GR": "Thessaloníki, Pátra", "HR": "Split, Dubrovnik", "EE": "Tartu",
        "LT": "Kaunas", "UA": "Lviv", "IL": "Tel Aviv, Haifa", "JP": "Nara, Nagasaki, Kanazawa, Naha",
        "TH": "Chiang Mai, Phuket, Pattaya", "VN": "Huế", "MX": "Cancún, Oaxaca", "BR": "Foz do Iguaçu",
        "PE": "Cusco", "EC": "Cuenca", "MA": "Marrakesh", "ZA": "Bloemfontein", "KE": "Mombasa",
        "EG": "Luxor, Aswān", "IN": "Panaji, Shimla", "MY": "George Town", "ID": "Denpasar",
    }.items()
    for name in names.split(", ")
]

# Further names of cities that are neither capitals nor large enough for all their names:
# (name in GeoNames, country): names.
ALIASES = {
    ("New York City", "US"): "NYC, New York", ("Los Angeles", "US"): "LA, L.A.",
    ("San Francisco", "US"): "SF, SFO, Frisco", ("Washington", "US"): "Washington DC, DC",
    ("Las Vegas", "US"): "Vegas", ("Philadelphia", "US"): "Philly", ("Kuala Lumpur", "MY"): "KL",
    ("Mexico City", "MX"): "CDMX", ("Ho Chi Minh City", "VN"): "HCMC", ("Hong Kong", "HK"): "HK",
    ("Munich", "DE"): "München, Muenchen", ("Köln", "DE"): "Koeln, Cologne",
    ("Nuremberg", "DE"): "Nürnberg, Nuernberg", ("Frankfurt am Main", "DE"): "Frankfurt",
    ("Düsseldorf", "DE"): "Duesseldorf", ("Hannover", "DE"): "Hanover", ("Münster", "DE"): "Muenster",
    ("Zürich", "CH"): "Zuerich", ("Geneva", "CH"): "Genève, Genf, Ginevra",
    ("Basel", "CH"): "Basle", ("Lucerne", "CH"): "Luzern",
    ("Turin", "IT"): "Torino", ("Naples", "IT"): "Napoli", ("Genoa", "IT"): "Genova",
    ("Florence", "IT"): "Firenze", ("Venice", "IT"): "Venezia", ("Padova", "IT"): "Padua",
    ("Antwerpen", "BE"): "Antwerp, Anvers", ("Gent", "BE"): "Ghent, Gand", ("Brugge", "BE"): "Bruges",
    ("Liège", "BE"): "Liege, Luik", ("Göteborg", "SE"): "Gothenburg", ("Kraków", "PL"): "Cracow, Krakow",
    ("Thessaloníki", "GR"): "Salonica", ("Pátra", "GR"): "Patras", ("Sevilla", "ES"): "Seville",
    ("Zaragoza", "ES"): "Saragossa", ("Palma", "ES"): "Palma de Mallorca",
    ("Las Palmas de Gran Canaria", "ES"): "Las Palmas", ("Porto", "PT"): "Oporto",
    ("Marseille", "FR"): "Marseilles", ("Lyon", "FR"): "Lyons", ("Odesa", "UA"): "Odessa",
    ("Kharkiv", "UA"): "Kharkov", ("Lviv", "UA"): "Lvov", ("Dnipro", "UA"): "Dnepropetrovsk",
    ("Gdańsk", "PL"): "Danzig", ("Wrocław", "PL"): "Breslau", ("Mysuru", "IN"): "Mysore",
    ("Puducherry", "IN"): "Pondicherry", ("Kochi", "IN"): "Cochin", ("Kozhikode", "IN"): "Calicut",
    ("Vadodara", "IN"): "Baroda", ("Prayagraj", "IN"): "Allahabad", ("Varanasi", "IN"): "Benares, Banaras",
    ("Thiruvananthapuram", "IN"): "Trivandrum", ("Gurugram", "IN"): "Gurgaon",
    ("Visakhapatnam", "IN"): "Vizag", ("Hubballi", "IN"): "Hubli", ("Sholapur", "IN"): "Solapur",
    ("Quebec", "CA"): "Quebec City, Ville de Québec", ("George Town", "MY"): "Penang",
    ("Cusco", "PE"): "Cuzco", ("Marrakesh", "MA"): "Marrakech", ("Huế", "VN"): "Hue",
    ("Denpasar", "ID"): "Bali", ("Izmir", "TR"): "Smyrna", ("Mecca", "SA"): "Makkah",
    ("Aleppo", "SY"): "Halab",
    ("Newcastle upon Tyne", "GB"): "Newcastle", ("Panaji", "IN"): "Goa",
}

# GeoNames' name and country → the name that is shown.
RENAMED = {
    ("New York City", "US"): "New York", ("Köln", "DE"): "Cologne", ("Frankfurt am Main", "DE"): "Frankfurt",
    ("Antwerpen", "BE"): "Antwerp", ("Gent", "BE"): "Ghent", ("Brugge", "BE"): "Bruges",
    ("Sevilla", "ES"): "Seville", ("Höhtolgoy", "MN"): "Hovd", ("Ulan Bator", "MN"): "Ulaanbaatar",
    ("Downtown", "IO"): "Diego Garcia", ("DumontDUrville", "AQ"): "Dumont d'Urville",
}

# Rows that would surprise: the name means another place to nearly everyone.
LEFT_OUT = {("Victoria", "HK")}

# Regions that people write after a city's name: GeoNames' code → (usual code, name).
REGIONS = {
    "AU": {
        "01": ("ACT", "Australian Capital Territory"), "02": ("NSW", "New South Wales"),
        "03": ("NT", "Northern Territory"), "04": ("QLD", "Queensland"), "05": ("SA", "South Australia"),
        "06": ("TAS", "Tasmania"), "07": ("VIC", "Victoria"), "08": ("WA", "Western Australia"),
    },
    "CA": {
        "01": ("AB", "Alberta"), "02": ("BC", "British Columbia"), "03": ("MB", "Manitoba"),
        "04": ("NB", "New Brunswick"), "05": ("NL", "Newfoundland and Labrador"), "07": ("NS", "Nova Scotia"),
        "08": ("ON", "Ontario"), "09": ("PE", "Prince Edward Island"), "10": ("QC", "Quebec"),
        "11": ("SK", "Saskatchewan"), "12": ("YT", "Yukon"), "13": ("NT", "Northwest Territories"),
        "14": ("NU", "Nunavut"),
    },
    "GB": {
        "ENG": ("ENG", "England"), "SCT": ("SCT", "Scotland"), "WLS": ("WLS", "Wales"),
        "NIR": ("NIR", "Northern Ireland"),
    },
    "US": {
        pair.split(" ", 1)[0]: tuple(pair.split(" ", 1))
        for pair in (
            "AL Alabama,AK Alaska,AZ Arizona,AR Arkansas,CA California,CO Colorado,CT Connecticut,"
            "DC District of Columbia,DE Delaware,FL Florida,GA Georgia,HI Hawaii,ID Idaho,IL Illinois,"
            "IN Indiana,IA Iowa,KS Kansas,KY Kentucky,LA Louisiana,ME Maine,MD Maryland,MA Massachusetts,"
            "MI Michigan,MN Minnesota,MS Mississippi,MO Missouri,MT Montana,NE Nebraska,NV Nevada,"
            "NH New Hampshire,NJ New Jersey,NM New Mexico,NY New York,NC North Carolina,ND North Dakota,"
            "OH Ohio,OK Oklahoma,OR Oregon,PA Pennsylvania,RI Rhode Island,SC South Carolina,"
            "SD South Dakota,TN Tennessee,TX Texas,UT Utah,VT Vermont,VA Virginia,WA Washington,"
            "WV West Virginia,WI Wisconsin,WY Wyoming"
        ).split(",")
    },
}

# Code → (the name that is shown, other names).
AREA_ALIASES = {
    "AE": ("United Arab Emirates", "UAE, Emirates"), "AX": ("Åland Islands", ""),
    "BL": ("Saint Barthélemy", ""), "BQ": ("Bonaire, Sint Eustatius and Saba", "Caribbean Netherlands, Bonaire"),
    "CD": ("Democratic Republic of the Congo", "DRC, DR Congo, Congo-Kinshasa, Zaire"),
    "CG": ("Republic of the Congo", "Congo, Congo-Brazzaville"), "CI": ("Ivory Coast", "Côte d'Ivoire"),
    "CN": ("China", "People's Republic of China, PRC, Mainland China"), "CV": ("Cabo Verde", "Cape Verde"),
    "CW": ("Curaçao", ""), "CZ": ("Czechia", "Czech Republic"), "DE": ("Germany", "Deutschland"),
    "ES": ("Spain", "España"), "AT": ("Austria", "Österreich"), "CH": ("Switzerland", "Schweiz, Suisse"),
    "BR": ("Brazil", "Brasil"), "MX": ("Mexico", "México"), "IT": ("Italy", "Italia"),
    "FM": ("Micronesia", "Federated States of Micronesia"), "GB": ("United Kingdom", "UK, U.K., Great Britain, Britain"),
    "GM": ("Gambia", "The Gambia"), "BS": ("Bahamas", "The Bahamas"), "IE": ("Ireland", "Republic of Ireland, Eire"),
    "IR": ("Iran", "Islamic Republic of Iran, Persia"), "KP": ("North Korea", "DPRK"),
    "KR": ("South Korea", "Korea, Republic of Korea"), "MK": ("North Macedonia", "Macedonia"),
    "MM": ("Myanmar", "Burma"), "MO": ("Macao", "Macau"), "NL": ("Netherlands", "The Netherlands, Holland"),
    "PS": ("Palestine", "State of Palestine, Palestinian Territories"), "RE": ("Réunion", ""),
    "RU": ("Russia", "Russian Federation"), "ST": ("São Tomé and Príncipe", ""), "SY": ("Syria", ""),
    "SZ": ("Eswatini", "Swaziland"), "TL": ("Timor-Leste", "East Timor"), "TR": ("Turkey", "Türkiye"),
    "TW": ("Taiwan", "Republic of China, ROC"), "TZ": ("Tanzania", ""), "VA": ("Vatican City", "Holy See"),
    "US": ("United States", "USA, U.S.A., U.S., America, United States of America"), "VN": ("Vietnam", "Viet Nam"),
    "US-DC": ("District of Columbia", "Washington DC"), "US-HI": ("Hawaii", "Hawai'i"),
    "CA-QC": ("Quebec", "PQ"), "CA-NL": ("Newfoundland and Labrador", "Newfoundland"),
}
