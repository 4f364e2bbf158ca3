#!/usr/bin/env python3
"""Makes changes.tsv: local times around changes of the clocks, by an implementation that is not ours.

    python3 -m venv venv && venv/bin/pip install tzdata
    PYTHONTZPATH= venv/bin/python make_changes.py

Python's zoneinfo reads the package tzdata; the empty PYTHONTZPATH keeps the system's database out. Every instant lies
in the past, where all releases of the database since 2024 agree.
"""

import bisect
import datetime
import pathlib
import sys
import zoneinfo

# Zone → the years that are searched for changes.
ZONES = {
    "Africa/Casablanca": (2024, 2024), "Africa/Cairo": (2024, 2024), "America/Havana": (2023, 2023),
    "America/New_York": (2024, 2024), "America/Nuuk": (2023, 2024), "America/Santiago": (2024, 2024),
    "America/Sao_Paulo": (2018, 2019), "America/St_Johns": (2024, 2024), "Antarctica/Troll": (2024, 2024),
    "Asia/Beirut": (2024, 2024), "Asia/Gaza": (2022, 2022), "Asia/Jerusalem": (2024, 2024),
    "Asia/Kathmandu": (1985, 1986), "Asia/Tehran": (2022, 2022), "Atlantic/Azores": (2024, 2024),
    "Australia/Adelaide": (2024, 2024), "Australia/Lord_Howe": (2024, 2024), "Europe/Dublin": (2024, 2024),
    "Europe/London": (2024, 2024), "Europe/Volgograd": (2020, 2021), "Pacific/Apia": (2011, 2011),
    "Pacific/Auckland": (2024, 2024), "Pacific/Chatham": (2024, 2024),
}
UTC = datetime.timezone.utc


def changes(zone, first, last):
    """The seconds since 1970 at which the offset changes, found by halving hours."""
    def offset(second):
        return datetime.datetime.fromtimestamp(second, zone).utcoffset()

    start = int(datetime.datetime(first, 1, 1, tzinfo=UTC).timestamp())
    end = int(datetime.datetime(last + 1, 1, 1, tzinfo=UTC).timestamp())
    for hour in range(start, end, 3600):
        if offset(hour) != offset(hour + 3600):
            before = offset(hour)
            yield hour + bisect.bisect_left(range(3600), True, key=lambda s: offset(hour + s) != before)


def main():
    if zoneinfo.TZPATH:
        sys.exit("set PYTHONTZPATH to nothing: the package tzdata must be the only source")
    lines = ["# zone, seconds since 1970, local time, offset, abbreviation, day; made by make_changes.py"]
    for name, (first, last) in ZONES.items():
        zone = zoneinfo.ZoneInfo(name)
        for change in changes(zone, first, last):
            for second in (change - 1, change, change + 1):
                local = datetime.datetime.fromtimestamp(second, zone)
                offset = local.strftime("%z")
                lines.append("\t".join([name, str(second), local.strftime("%Y-%m-%d %H:%M:%S"),
                                        f"{offset[:3]}:{offset[3:]}", local.tzname(), local.strftime("%A")]))
    (pathlib.Path(__file__).parent / "changes.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
