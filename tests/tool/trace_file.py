"""Trace files for tests, made with Python's own SQLite from the documented format, so that what reads and exports
traces is tried on files that the recorder did not write: random programs, hostile names, a million tasks.
"""
import random
import sqlite3

APPLICATION_ID = 0x57656674
SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE places(id INTEGER PRIMARY KEY, parent INTEGER, kind TEXT, name TEXT);
CREATE TABLE workers(id INTEGER PRIMARY KEY, place INTEGER, cpu INTEGER);
CREATE TABLE handles(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE tasks(id INTEGER PRIMARY KEY, parent INTEGER, name INTEGER, submitter INTEGER, submitted_ns INTEGER,
                   worker INTEGER, started_ns INTEGER, finished_ns INTEGER, outcome TEXT);
CREATE TABLE waits(task INTEGER, why TEXT, handle INTEGER, from_worker INTEGER, from_ns INTEGER, to_worker INTEGER,
                   to_ns INTEGER);
CREATE TABLE accesses(task INTEGER, position INTEGER, handle INTEGER, kind TEXT, version INTEGER,
                      next_version INTEGER);
CREATE TABLE steals(time_ns INTEGER, thief INTEGER, victim INTEGER, task INTEGER);
CREATE TABLE sleeps(worker INTEGER, from_ns INTEGER, to_ns INTEGER);
CREATE TABLE counters(task INTEGER, name TEXT, value INTEGER);
CREATE VIEW dependencies AS SELECT DISTINCT b.task AS before, a.task AS after, b.handle AS handle
  FROM accesses b JOIN accesses a ON b.handle = a.handle AND b.next_version = a.version;
"""


def write(path, tables, duration):
    """Makes a trace of a dict from table names to lists of rows. Workers and places are made to fit."""
    db = sqlite3.connect(path)
    db.executescript(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1; PRAGMA journal_mode = OFF;"
                     + SCHEMA)
    workers = tables["workers"]
    db.execute("INSERT INTO places VALUES (1, NULL, 'machine', 'test')")
    db.executemany("INSERT INTO workers VALUES (?, 1, NULL)", [(w,) for w in range(workers)])
    meta = {"weft": "0", "program": "test", "machine": "virtual", "policy": "local", "seed": 1, "workers": workers,
            "window": 1, "duration_ns": duration, "lost": 0, "counters": "", "complete": 1}
    db.executemany("INSERT INTO meta VALUES (?, ?)", [(k, str(v)) for k, v in meta.items()])
    for table, rows in tables.items():
        if table != "workers" and rows:
            db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows)
    db.commit()
    db.close()


class Versions:
    """The versions a handle gives to accesses: a group of equal kinds that may go together requires one version, and
    each access brings the handle one further (SuperGlue, section 3.1)."""

    def __init__(self):
        self.next = 0  # accesses so far
        self.kind = None
        self.required = 0
        self.group = []

    def register(self, kind):
        """A row [kind, version, next_version, number]; next_version is filled in as the group grows."""
        if kind == "write" or kind != self.kind:
            self.kind = kind
            self.required = self.next
            self.group = []
        row = [kind, self.required, 0, self.next]  # the last: how many accesses are before it
        self.next += 1
        self.group.append(row)
        for r in self.group:
            r[2] = self.next
        return row


def random_program(seed, count, workers=4, handles=6):
    """The tables of a run of random tasks, list-scheduled without overlap: reads, writes, adds, children that are
    waited for, stolen and failed tasks, and some that never ran."""
    rng = random.Random(seed)
    versions = [Versions() for _ in range(handles)]
    free = [0] * workers  # when each worker is free
    done_at = {}
    names = [(i + 1, f"kind {i}") for i in range(3)]
    tables = {"workers": workers, "names": names, "handles": [(h + 1, f"h{h}" if h % 2 else None)
                                                              for h in range(handles)],
              "tasks": [], "waits": [], "accesses": [], "steals": [], "sleeps": [], "counters": []}
    rows = []  # (task, position, handle, row): next_version is only known at the end
    ends = [[] for _ in range(handles)]  # when each access of a handle is done, by its number
    main_free = 5
    task = 0

    def accesses_of(t):
        ready = 0
        mine = []
        for position, h in enumerate(sorted(rng.sample(range(handles), rng.randint(0, 3)))):
            row = versions[h].register(rng.choice(["read", "read", "write", "add"]))
            rows.append((t, position, h + 1, row))
            mine.append((h, row))
            ready = max(ready, max(ends[h][:row[1]], default=0))
            ends[h].append(0)
        return ready, mine

    def run(parent, submitted, submitter):
        nonlocal task
        task += 1
        t = task
        # Children have no accesses here: one that asked for data of its waiting parent would never be ready.
        ready, mine = accesses_of(t) if parent is None else (0, [])
        worker = rng.randrange(workers)
        start = max(free[worker], ready, submitted) + rng.randint(1, 9)
        outcome = rng.choices(["done", "failed"], [20, 1])[0]
        end = start + rng.randint(1, 50)
        home = worker
        if parent is None and rng.random() < 0.2:  # submits children, waits for them, goes on elsewhere
            pause = start + rng.randint(2, 20)
            free[worker] = pause
            children = [run(t, start + 1, worker) for _ in range(rng.randint(1, 3))]
            worker = rng.randrange(workers)
            resume = max([free[worker], pause] + children) + 1
            tables["waits"].append((t, "children", None, home, pause, worker, resume))
            end = resume + rng.randint(1, 30)
        free[worker] = end
        for h, row in mine:
            ends[h][row[3]] = end
        done_at[t] = end
        if rng.random() < 0.3:
            tables["steals"].append((start, home, (home + 1) % workers, t))
        name = rng.choice([None, 1, 2, 3])
        tables["tasks"].append((t, parent, name, submitter, submitted, home, start, end, outcome))
        return end

    for _ in range(count):
        main_free += rng.randint(1, 3)
        run(None, main_free, 0)
    end = max(done_at.values())
    tables["waits"].append((None, "all", None, 0, 0, 0, end))
    task += 1
    tables["tasks"].append((task, None, None, None, main_free, None, None, None, "not run"))
    tables["accesses"] = [(t, p, h, row[0], row[1], row[2]) for t, p, h, row in rows]
    return tables, end
