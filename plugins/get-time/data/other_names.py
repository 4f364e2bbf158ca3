"""Other names of capitals and huge cities, a line for each: name in GeoNames, country: names.

Chosen are the names in the largest European languages, the people's own ones in Latin letters, and former
ones that are still written; make_places.py refuses a name that GeoNames does not list for the city.
"""

OTHER_NAMES = """
Abu Dhabi, AE: Abu Zabi
Accra, GH: Akkra
Addis Ababa, ET: Addis Abeba, Adis Abeba
Ahmedabad, IN: Ahmadabad
Alexandria, EG: Alexandrie, Alejandría
Algiers, DZ: Alger, Algier, Argel, Algeri
Almaty, KZ: Alma-Ata
Amman, JO: Ammán
Antananarivo, MG: Tananarive
Ashgabat, TM: Ashkhabad
Asmara, ER: Asmera
Asunción, PY: Asuncion
Athens, GR: Athen, Atenas, Athènes, Atene, Athina
Baghdad, IQ: Bagdad
Baku, AZ: Bakı
Bangkok, TH: Krung Thep
Barcelona, ES: Barcelone, Barcellona
Beijing, CN: Peking, Pekin, Pekín, Pékin, Pequim, Pechino
Beirut, LB: Beyrouth, Beyrut
Belgrade, RS: Beograd, Belgrad, Belgrado
Bengaluru, IN: Bangalore
Berlin, DE: Berlín, Berlino, Berlim
Bern, CH: Berne, Berna
Bogotá, CO: Bogota
Bratislava, SK: Pressburg
Brasília, BR: Brasilia
Brussels, BE: Bruxelles, Brüssel, Brussel, Bruselas, Bruxelas
Bucharest, RO: Bucureşti, Bukarest, Bucarest
Budapest, HU: Budapeste
Busan, KR: Pusan
Cairo, EG: Le Caire, Kairo, El Cairo, Il Cairo, Al Qahirah
Cape Town, ZA: Kapstadt, Kaapstad, Le Cap, Ciudad del Cabo
Casablanca, MA: Dar el Beida
Chennai, IN: Madras
Chisinau, MD: Kishinev, Chişinău
Chongqing, CN: Chungking
Copenhagen, DK: København, Koebenhavn, Kopenhagen, Copenhague, Copenaghen, Kobenhavn
Dakar, SN: Dacar
Damascus, SY: Damaskus, Damasco, Damas
Dar es Salaam, TZ: Daressalam, Dar es-Salaam
Delhi, IN: Dilli
Dhaka, BD: Dacca
Dublin, IE: Baile Átha Cliath, Dublín, Dublino
Edinburgh, GB: Edimburgo, Édimbourg
Guangzhou, CN: Canton
Guatemala City, GT: Ciudad de Guatemala, Guatemala
Gwangju, KR: Kwangju
Hamburg, DE: Hambourg, Hamburgo
Hanoi, VN: Hà Nội
Harare, ZW: Salisbury
Havana, CU: La Habana, La Havane, Havanna
Helsinki, FI: Helsingfors
Ho Chi Minh City, VN: Saigon, Ho Chi Minh, Thành phố Hồ Chí Minh
Hong Kong, HK: Hongkong, Xianggang
Islamabad, PK: Islamábad
Istanbul, TR: Constantinople, Estambul
Jakarta, ID: Djakarta, Batavia
Jeddah, SA: Jiddah, Djeddah
Jerusalem, IL: Jérusalem, Jerusalén, Gerusalemme, Yerushalayim
Johannesburg, ZA: Joburg, Johannesbourg
Kabul, AF: Kaboul
Kathmandu, NP: Katmandu, Katmandou
Khartoum, SD: Khartum, Jartum
Kinshasa, CD: Leopoldville
Kolkata, IN: Calcutta
Kuwait City, KW: Al Kuwayt
Kyiv, UA: Kiev, Kiew
Laâyoune, EH: El Aaiun, Laayoune
Lisbon, PT: Lisboa, Lissabon, Lisbonne, Lisbona
Ljubljana, SI: Laibach
London, GB: Londres, Londra, Londen
Los Angeles, US: Los Ángeles
Luanda, AO: Loanda
Luxembourg, LU: Luxemburg, Lëtzebuerg
Manila, PH: Maynila, Manille
Maputo, MZ: Lourenco Marques
Mexico City, MX: Ciudad de México, Mexiko-Stadt, Mexico, Città del Messico
Milan, IT: Milano, Mailand, Milán
Mogadishu, SO: Muqdisho, Mogadiscio
Monaco, MC: Mónaco
Montréal, CA: Montreal
Moscow, RU: Moskva, Moskau, Moscou, Moscú, Mosca
Mumbai, IN: Bombay
Muscat, OM: Masqat, Maskat, Mascate
N'Djamena, TD: Fort-Lamy
Nanjing, CN: Nanking
Naypyidaw, MM: Nay Pyi Taw, Naypyitaw
New York City, US: Nueva York, Nova Iorque
Nicosia, CY: Lefkosia, Nikosia, Lefkoşa
Nuuk, GL: Godthåb
Oslo, NO: Kristiania, Christiania
Paris, FR: París, Parigi
Phnom Penh, KH: Pnom Penh
Prague, CZ: Praha, Prag, Praga
Pretoria, ZA: Tshwane
Pyongyang, KP: Phyongyang, Pjöngjang
Reykjavík, IS: Reykjavik
Riga, LV: Rīga
Riyadh, SA: Riad, Ar Riyad
Rome, IT: Roma, Rom
Saint Petersburg, RU: Sankt-Peterburg, Leningrad, Petersburg, Sankt Petersburg, San Petersburgo, Saint-Pétersbourg
Santiago, CL: Santiago de Chile
Sarajevo, BA: Sarayevo
Seoul, KR: Séoul, Seúl, Soul
Shanghai, CN: Schanghai
Singapore, SG: Singapur, Singapour, Singapura
Sofia, BG: Sofija, Sofiya
Stockholm, SE: Estocolmo
Sydney, AU: Sidney, Sídney
Taipei, TW: Taipeh, Taibei
Tallinn, EE: Reval
Tashkent, UZ: Toshkent, Taschkent
Tbilisi, GE: Tiflis
Tehran, IR: Teheran, Téhéran
Tianjin, CN: Tientsin
Tirana, AL: Tiranë
Tokyo, JP: Tokio, Tokió
Tripoli, LY: Tarabulus
Tunis, TN: Túnez, Tunisi
Ulan Bator, MN: Ulaanbaatar, Ulan-Bator
Valletta, MT: La Valletta
Vatican City, VA: Vatican, Vaticano
Vienna, AT: Wien, Vienne, Viena
Vilnius, LT: Vilna, Wilno
Warsaw, PL: Warszawa, Warschau, Varsovie, Varsovia
Xi’an, CN: Sian
Yangon, MM: Rangoon, Rangún
Yaoundé, CM: Yaunde
Yerevan, AM: Erevan, Jerewan
Zagreb, HR: Agram
""".strip().splitlines()
