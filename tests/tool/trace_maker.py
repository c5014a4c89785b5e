"""Makes trace files without running anything: small ones by hand, large ones with a plain list scheduler.

The tables are those of docs/guide/10-traces.md. Times are what the caller says, or what the scheduler finds.
"""
import heapq
import pathlib
import random
import sqlite3

import trace_file


def write(path: pathlib.Path, workers: int, names: list[str], handles: list, tasks: list, accesses: list, waits=(),
          steals=(), sleeps=(), **meta) -> pathlib.Path:
    """Rows as in the tables; names and handles are numbered from 1."""
    path.unlink(missing_ok=True)
    ends = [t[7] for t in tasks if t[7] is not None] + [w[6] for w in waits]
    about = {"weft": "0.1.0", "program": "made", "machine": "virtual", "policy": "local", "seed": 1,
             "workers": workers, "window": 100000, "duration_ns": max(ends, default=0) + 1, "lost": 0, "counters": "",
             **meta, "complete": 1}
    with sqlite3.connect(path) as db:
        db.executescript(f"PRAGMA application_id = {trace_file.APPLICATION_ID}; PRAGMA user_version = 1;"
                         + trace_file.SCHEMA)
        db.execute("PRAGMA synchronous = OFF")
        db.executemany("INSERT INTO meta VALUES (?, ?)", [(k, str(v)) for k, v in about.items()])
        db.executemany("INSERT INTO names VALUES (?, ?)", enumerate(names, 1))
        db.executemany("INSERT INTO handles VALUES (?, ?)", enumerate(handles, 1))
        db.execute("INSERT INTO places VALUES (1, NULL, 'machine', '')")
        db.executemany("INSERT INTO places VALUES (?, 1, 'core', ?)", [(2 + w, f"core {w}") for w in range(workers)])
        db.executemany("INSERT INTO workers VALUES (?, ?, NULL)", [(w, 2 + w) for w in range(workers)])
        db.executemany("INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", tasks)
        db.executemany("INSERT INTO accesses VALUES (?, ?, ?, ?, ?, ?)", accesses)
        db.executemany("INSERT INTO waits VALUES (?, ?, ?, ?, ?, ?, ?)", waits)
        db.executemany("INSERT INTO steals VALUES (?, ?, ?, ?)", steals)
        db.executemany("INSERT INTO sleeps VALUES (?, ?, ?)", sleeps)
    db.close()
    return path


def upgrade(path: pathlib.Path, own_ns: int, before_wait_ns: int = 0) -> pathlib.Path:
    """To format 3: the main program computed for so long by itself before each of its submissions but the first, and
    before its waits."""
    with sqlite3.connect(path) as db:
        db.executescript("""
            ALTER TABLE tasks ADD COLUMN priority INTEGER DEFAULT 0; ALTER TABLE tasks ADD COLUMN pin INTEGER;
            ALTER TABLE tasks ADD COLUMN subtasks INTEGER DEFAULT 0; ALTER TABLE tasks ADD COLUMN own_ns INTEGER;
            ALTER TABLE waits ADD COLUMN own_ns INTEGER;
            ALTER TABLE handles ADD COLUMN bytes INTEGER; ALTER TABLE handles ADD COLUMN units INTEGER;
            CREATE TABLE passed(task INTEGER, why TEXT, handle INTEGER, worker INTEGER, time_ns INTEGER,
                                own_ns INTEGER);
            CREATE TABLE kinds(kind TEXT PRIMARY KEY, readonly INTEGER, commutative INTEGER, exclusive INTEGER);
            INSERT INTO kinds VALUES ('read', 1, 1, 0), ('write', 0, 0, 1), ('add', 0, 1, 1);
            PRAGMA user_version = 3;""")
        db.execute("UPDATE tasks SET own_ns = CASE WHEN id = 1 THEN 0 ELSE ? END WHERE parent IS NULL", (own_ns,))
        db.execute("UPDATE waits SET own_ns = ? WHERE task IS NULL", (before_wait_ns,))
    db.close()
    return path


class Program:
    """Submits tasks with reads and writes, gives them versions as Weft does, and schedules them greedily."""

    def __init__(self, submit_ns: int = 100):
        self.names: list[str] = []
        self.handles: list[str] = []
        self.tasks: list[tuple[int, int, list[int]]] = []  # name, body, predecessors
        self.accesses: list[list] = []
        self.state: dict[int, dict] = {}
        self.submit_ns = submit_ns

    def handle(self, name=None) -> int:
        self.handles.append(name)
        self.state[len(self.handles)] = {"count": 0, "start": 0, "kind": None, "rows": [], "last": [], "group": []}
        return len(self.handles)

    def submit(self, name: str, body: int, *uses: tuple[str, int]) -> int:
        if name not in self.names:
            self.names.append(name)
        task = len(self.tasks) + 1
        before = []
        for position, (kind, handle) in enumerate(uses):
            s = self.state[handle]
            if kind != "read" or s["kind"] != kind:
                self._close(s)
                s["kind"], s["start"] = kind, s["count"]
            row = [task, position, handle, kind, s["start"], None]
            before += s["last"]
            s["rows"].append(row)
            s["group"].append(task)
            s["count"] += 1
            self.accesses.append(row)
        self.tasks.append((self.names.index(name) + 1, body, before))
        return task

    @staticmethod
    def _close(s: dict) -> None:
        for row in s["rows"]:
            row[5] = s["count"]
        if s["group"]:
            s["last"] = s["group"]
        s["rows"], s["group"] = [], []

    def run(self, path: pathlib.Path, workers: int, overhead_ns: int = 200, sleep_after_ns: int = 25_000, **meta):
        """Worker 0 submits everything, then takes part; the others take the oldest ready task."""
        for s in self.state.values():
            self._close(s)
        count = len(self.tasks)
        missing = [len(set(before)) for _, _, before in self.tasks]
        after: list[list[int]] = [[] for _ in self.tasks]
        for t, (_, _, before) in enumerate(self.tasks):
            for b in set(before):
                after[b - 1].append(t)
        submitted = [(t + 1) * self.submit_ns for t in range(count)]
        ready = [(submitted[t], t) for t in range(count) if missing[t] == 0]
        heapq.heapify(ready)
        wait_from = (count + 1) * self.submit_ns
        free = [(0, w) for w in range(1, workers)] + [(wait_from, 0)]
        heapq.heapify(free)
        latest = list(submitted)
        rows, sleeps, steals, end = [], [], [], wait_from
        while ready:
            at, t = heapq.heappop(ready)
            idle_since, w = heapq.heappop(free)
            start = max(at, idle_since) + overhead_ns
            if idle_since and start - idle_since > sleep_after_ns + 5000:
                sleeps.append((w, idle_since + sleep_after_ns, start - overhead_ns))
                steals.append((start - 50, w, 0, t + 1))
            name, body, _ = self.tasks[t]
            finish = start + body
            rows.append((t + 1, None, name, 0, submitted[t], w, start, finish, "done"))
            heapq.heappush(free, (finish, w))
            end = max(end, finish)
            for n in after[t]:
                missing[n] -= 1
                latest[n] = max(latest[n], finish)
                if missing[n] == 0:
                    heapq.heappush(ready, (latest[n], n))
        waits = [(None, "all", None, 0, wait_from, 0, end + overhead_ns)]
        return write(path, workers, self.names, self.handles, sorted(rows), self.accesses, waits, steals, sleeps,
                     **meta)


def cholesky(tiles: int, unit_ns: int = 20_000) -> Program:
    p = Program()
    a = {(i, j): p.handle(f"A[{i},{j}]") for i in range(tiles) for j in range(i + 1)}
    noise = random.Random(7)
    body = lambda weight: int(unit_ns * weight * noise.uniform(0.9, 1.25))
    for k in range(tiles):
        p.submit("potrf", body(1), ("write", a[k, k]))
        for i in range(k + 1, tiles):
            p.submit("trsm", body(2), ("read", a[k, k]), ("write", a[i, k]))
        for i in range(k + 1, tiles):
            for j in range(k + 1, i):
                p.submit("gemm", body(4), ("read", a[i, k]), ("read", a[j, k]), ("write", a[i, j]))
            p.submit("syrk", body(2), ("read", a[i, k]), ("write", a[i, i]))
    return p


def stencil(width: int, steps: int, body_ns: int = 2_000) -> Program:
    """Three accesses a task: itself, and what the neighbours left the step before."""
    p = Program(submit_ns=150)
    rows = [[p.handle(f"row{r}[{i}]") for i in range(width)] for r in range(2)]
    noise = random.Random(3)
    for s in range(steps):
        old, new = rows[s % 2], rows[1 - s % 2]
        for i in range(width):
            p.submit("border" if i in (0, width - 1) else "inner", int(body_ns * noise.uniform(0.5, 1.5)),
                     ("read", old[i - 1]), ("read", old[(i + 1) % width]), ("write", new[i]))
    return p


def million(path: pathlib.Path, tasks: int = 1_000_000, workers: int = 16) -> pathlib.Path:
    """Three accesses a task, made by the database itself: rounds around two rings in turn. A task writes its place in
    one ring and reads its neighbours' in the other, from the round before. Bodies are 900 ns of every 1000."""
    ring = 4096
    end = tasks * 1000 // workers + 1
    write(path, workers, ["even", "odd"], [None] * (2 * ring), [], [], [(None, "all", None, 0, 1, 0, end)],
          program="million")
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA synchronous = OFF")
        count = f"""WITH RECURSIVE n(i, r) AS (SELECT 0, 0 UNION ALL SELECT i + 1, (i + 1) / {ring} FROM n
                    WHERE i + 1 < ?)"""
        db.execute(f"""{count} INSERT INTO tasks SELECT i + 1, NULL, 1 + i % 2, 0, 0, i % {workers},
                   i / {workers} * 1000 + 1, i / {workers} * 1000 + 901, 'done' FROM n""", (tasks,))
        # Of each place: a write, then two reads in the next round, then a write again.
        db.execute(f"""{count} INSERT INTO accesses SELECT i + 1, 0, 1 + r % 2 * {ring} + i % {ring}, 'write',
                   r / 2 * 3, r / 2 * 3 + 1 FROM n""", (tasks,))
        for position, side in ((1, 1), (2, ring - 1)):
            db.execute(f"""{count} INSERT INTO accesses SELECT i + 1, {position},
                       1 + (r - 1) % 2 * {ring} + (i + {side}) % {ring}, 'read', (r - 1) / 2 * 3 + 1,
                       (r - 1) / 2 * 3 + 3 FROM n WHERE r > 0""", (tasks,))
    db.close()
    return path


def dense(path: pathlib.Path, tasks: int, workers: int = 8) -> pathlib.Path:
    """Rows so full of short tasks that many fall on one pixel, with a few long ones and many sleeps among them. A hash
    of its number gives each its length and gap, so the trace is the same every time; no two of a worker overlap."""
    write(path, workers, ["short", "other", "long"], [], [], [], program="dense")
    draw = lambda salt, below: f"((i * 2654435761 + {salt} * 40503) % 4294967296 / 65536 % {below})"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA synchronous = OFF")
        long_every = tasks // 24 | 1  # odd, so that all workers have some
        db.execute(f"""CREATE TEMP TABLE drawn AS
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
            SELECT i, i % {workers} AS worker, CASE WHEN i % {long_every} = {long_every // 2} THEN 3
                     ELSE 1 + (i / {workers} / ({tasks} / {workers} / 7 + 1)) % 2 END AS name,
                   CASE WHEN {draw(1, 50)} = 0 THEN 2000 + {draw(2, 4000)} ELSE {draw(3, 300)} END AS gap,
                   CASE WHEN i % {long_every} = {long_every // 2} THEN 30 * {tasks} + {draw(4, 1000)}
                        ELSE 20 + {draw(5, 900)} END AS length FROM n""", (tasks,))
        db.execute("""INSERT INTO tasks SELECT i + 1, NULL, name, NULL, 0, worker, ended - length, ended, 'done' FROM
            (SELECT *, sum(gap + length) OVER (PARTITION BY worker ORDER BY i) AS ended FROM drawn)""")
        db.execute("""INSERT INTO sleeps SELECT worker, began - gap + 100, began - 100 FROM
            (SELECT worker, gap, sum(gap + length) OVER (PARTITION BY worker ORDER BY i) - length AS began FROM drawn)
            WHERE gap > 1000""")
    db.close()
    return path
