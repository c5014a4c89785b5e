"""Ways to spoil a file, each a function of the file and a random.Random: of bytes, of text with numbers and names in
it, of TOML, of XML, and of the rows and columns of a database. What comes out is the same for the same seed."""
import fractions
import random
import re
import sqlite3

NUMBERS = ["0", "-0", "-1", "1", "2", "7", "255", "256", "65535", "65536", "4294967295", "4294967296", "2147483648",
           "-2147483649", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615",
           "18446744073709551616", "1e308", "-1e308", "1e309", "4.9e-324", "1e-320", "nan", "-nan", "inf", "-inf",
           "0x7fffffff", "1e", "1.5.5", "00000000000000000001", "1" * 400, "0." + "3" * 400, "+5", "1_000"]
TEXTS = ["", " ", "\0", "\x1b[31mred\x1b[0m", "\x07\x08\r\n", "\u202e\u0627", "\ufeff", "é" * 300, "%s%n%d",
         "../../etc/passwd", "<script>alert(1)</script>", "</script>", "';DROP TABLE tasks;--", "${HOME}", "a" * 5000,
         "\xff\xfe", "\"\"\"",
         "virtual", "host", "/dev/zero", "NULL", "user 99999999999", "reduce", "write", "resource"]


# --- any file

def flip(data, r):
    """Some bits."""
    out = bytearray(data)
    for _ in range(r.choice((1, 1, 2, 8, 64))):
        if out:
            out[r.randrange(len(out))] ^= 1 << r.randrange(8)
    return bytes(out)


def cut(data, r):
    """The end is missing, or the beginning."""
    at = r.randrange(len(data) + 1)
    return data[:at] if r.random() < 0.8 else data[at:]


def splice(data, r):
    """A piece of it somewhere else, in place of something or in between."""
    if not data:
        return data
    a, b = sorted(r.randrange(len(data) + 1) for _ in range(2))
    at = r.randrange(len(data) + 1)
    piece = data[a:min(b, a + r.choice((1, 16, 512, 1 << 16)))]
    return data[:at] + piece + data[at + (len(piece) if r.random() < 0.5 else 0):]


def blot(data, r):
    """A run of one byte, or of any, over what was there: a page that a disk lost."""
    if not data:
        return data
    at, size = r.randrange(len(data)), r.choice((1, 4, 64, 512, 4096))
    fill = r.choice((b"\0", b"\xff", b" ", None))
    piece = bytes(r.randrange(256) for _ in range(size)) if fill is None else fill * size
    return (data[:at] + piece + data[at + size:])[:max(len(data), at + size)]


BYTES = [flip, cut, splice, blot]


# --- text

def a_number(text, r):
    found = list(re.finditer(r"[-+]?\b\d[\d.eE+]*", text))
    if not found:
        return text
    one = r.choice(found)
    return text[:one.start()] + r.choice(NUMBERS) + text[one.end():]


def a_near_number(text, r):
    """One that is likely taken: no other type, and not out of all bounds."""
    found = list(re.finditer(r"(?<![\w.\"-])\d+(\.\d+)?(?![\w.-])", text))
    if not found:
        return text
    one = r.choice(found)
    by = r.choice((0, 0.5, 0.9, 1.01, 2, 10, 1000, 1e6))
    new = f"{float(one[0]) * by:.6f}".rstrip("0") + "0" if one[1] else str(int(int(one[0]) * fractions.Fraction(by)))
    return text[:one.start()] + new + text[one.end():]


def some_numbers(text, r):
    for _ in range(r.randrange(2, 8)):
        text = a_number(text, r)
    return text


def a_quoted(text, r):
    found = list(re.finditer(r'"[^"\n]*"', text))
    if not found:
        return text
    one = r.choice(found)
    if r.random() < 0.3:
        other = r.choice(found)[0]
        return text[:one.start()] + other + text[one.end():]
    return text[:one.start()] + '"' + r.choice(TEXTS + NUMBERS).replace('"', "") + '"' + text[one.end():]


def lines(text, r):
    """A line goes, comes twice, or takes another's place; or one comes many times."""
    rows = text.splitlines(keepends=True)
    if not rows:
        return text
    i, j = r.randrange(len(rows)), r.randrange(len(rows))
    what = r.randrange(5)
    if what == 0:
        del rows[i]
    elif what == 1:
        rows.insert(j, rows[i])
    elif what == 2:
        rows[i], rows[j] = rows[j], rows[i]
    elif what == 3:
        rows[i:i + 1] = rows[i:i + 1] * r.choice((10, 300, 3000))
    else:
        rows[i] = r.choice(TEXTS) + "\n"
    return "".join(rows)


def a_word(text, r):
    found = list(re.finditer(r"[A-Za-z_]+", text))
    if not found:
        return text
    one, other = r.choice(found), r.choice(found)
    return text[:one.start()] + (other[0] if r.random() < 0.7 else r.choice(TEXTS)) + text[one.end():]


TEXT = [a_number, some_numbers, a_quoted, lines, a_word, a_near_number, a_near_number, a_near_number]


# --- TOML

def a_value(text, r):
    """What is behind an equals sign becomes something of another type."""
    found = list(re.finditer(r"=\s*([^\n#]+)", text))
    if not found:
        return text
    one = r.choice(found)
    deep = r.choice((5, 200, 5000))
    value = r.choice(["[]", "{}", "true", "[[[[1]]]]", "1979-05-27", '"x"', "[" * deep + "]" * deep,
                      "{a=1,b=[2,{c=3}]}", "[1e308, -1]", "'''", r.choice(NUMBERS), '"' + r.choice(TEXTS) + '"',
                      r.choice(found)[1]])
    return text[:one.start(1)] + value + text[one.end(1):]


def a_shape(text, r):
    """hwloc's own notation, wild."""
    parts = ["NUMANode", "Package", "L3", "L2", "L1d", "Core", "PU", "Group", "Die", "Machine", "Bogus"]
    shape = " ".join(f"{r.choice(parts)}:{r.choice([1, 1, 2, 2, 3, 4, 0, 64, 1024, 99999, -1, 4294967297])}"
                     for _ in range(r.randrange(1, 6)))
    if r.random() < 0.7:
        shape += f" PU:{r.choice((1, 2, 4))}"
    return re.sub(r'hwloc\s*=\s*"[^"]*"', lambda _: f'hwloc = "{shape}"', text, count=1)


# --- XML

def an_attribute(text, r):
    found = list(re.finditer(r'(\w+)="([^"]*)"', text))
    if not found:
        return text
    one = r.choice(found)
    value = r.choice([*NUMBERS, *TEXTS, "0x0", "0xf...f", "0xffffffff,0xffffffff", "0x1,,0x3", r.choice(found)[2]])
    value = value.replace('"', "").replace("<", "&lt;")
    return text[:one.start(2)] + value + text[one.end(2):]


def an_element(text, r):
    """One goes, comes again, or is inside itself."""
    found = list(re.finditer(r"<(\w+)[^<>]*/>", text))
    if not found:
        return text
    one = r.choice(found)
    what = r.randrange(4)
    if what == 0:
        new = ""
    elif what == 1:
        new = one[0] * r.choice((2, 40, 400))
    elif what == 2:
        deep = r.choice((1, 3, 100))
        new = (one[0][:-2] + ">") * deep + f"</{one[1]}>" * deep
    else:
        new = r.choice(found)[0]
    return text[:one.start()] + new + text[one.end():]


# --- a database

def values(r):
    return r.choice([None, 0, -1, 1, 2, 3, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, -(1 << 63), 1.5, -1e308,
                     float("inf"), r.choice(TEXTS), r.choice(NUMBERS), b"\0\1\2",
                     "x" * 100000 if r.random() < 0.05 else "x",
                     r.randrange(-5, 50), r.randrange(1 << 40)])


def rows(db, r):
    """Rows get other values, go, or come twice; columns and tables go; what is in meta is changed."""
    tables = [t for (t,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    for _ in range(r.choice((1, 1, 1, 2, 5))):
        table = r.choice(tables + ["meta", "tasks", "accesses"])
        try:
            columns = [c[1] for c in db.execute(f'PRAGMA table_info("{table}")')]
        except sqlite3.Error:
            break  # a column went that others need: nothing can be read any more
        if not columns:
            continue
        column, other = r.choice(columns), r.choice(columns)
        some = r.choice([f"rowid = (SELECT rowid FROM \"{table}\" LIMIT 1 OFFSET {r.randrange(30)})", "1",
                         f"rowid % {r.randrange(2, 9)} = 0"])
        what = r.randrange(10)
        try:
            if what < 4:
                db.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE {some}', (values(r),))
            elif what == 4:
                db.execute(f'UPDATE "{table}" SET "{column}" = "{other}" WHERE {some}')
            elif what == 5:
                db.execute(f'UPDATE "{table}" SET "{column}" = "{column}" * ? + ? WHERE {some}',
                           (r.choice((-1, 2, 1000, 10**12)), r.choice((0, 1, -1, 10**18))))
            elif what == 6:
                db.execute(f'DELETE FROM "{table}" WHERE {some}')
            elif what == 7:
                db.execute(f'INSERT INTO "{table}" SELECT * FROM "{table}" WHERE {some}')
            elif what == 8:
                db.execute(r.choice([f'DROP TABLE "{table}"', f'ALTER TABLE "{table}" DROP COLUMN "{column}"',
                                     f"PRAGMA user_version = {r.choice((0, 1, 2, 3, 5, 7, 8, 9, 10, 11, 12, -1, 99))}",
                                     f"PRAGMA application_id = {r.randrange(1 << 31)}"]))
            else:
                db.execute("UPDATE meta SET value = ? WHERE rowid = (SELECT rowid FROM meta LIMIT 1 OFFSET ?)",
                           (r.choice(NUMBERS + TEXTS), r.randrange(20)))
        except (sqlite3.Error, UnicodeError, OverflowError):
            continue  # a key that is there twice, a column that others need


def of_database(data, r, path):
    path.write_bytes(data)
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        db.execute("BEGIN")
        rows(db, r)
        db.execute("COMMIT")
    finally:
        db.close()
    return path.read_bytes()


def of_text(data, r, ways):
    text = data.decode("utf-8", "surrogateescape")
    for _ in range(r.choice((1, 1, 2, 3))):
        text = r.choice(ways)(text, r)
    return text.encode("utf-8", "surrogateescape")


def spoiled(kind: str, data: bytes, r: random.Random, scratch) -> bytes:
    """scratch: a path for what needs a file."""
    if kind == "trace" and data and r.random() < 0.75:
        data = of_database(data, r, scratch)
        return data if r.random() < 0.9 else r.choice(BYTES)(data, r)
    ways = {"toml": TEXT + [a_value, a_value, a_shape], "xml": TEXT + [an_attribute, an_attribute, an_element]}
    if kind != "trace" and r.random() < 0.75:
        return of_text(data, r, ways.get(kind, TEXT))
    for _ in range(r.choice((1, 1, 2))):
        data = r.choice(BYTES)(data, r)
    return data
