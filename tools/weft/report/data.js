"use strict";
// The run, from the packed columns of the page (columns.hpp), as typed arrays. Times are nanoseconds since the runtime
// was made; a double holds them exactly up to 104 days.

const run = JSON.parse(document.getElementById("run").textContent);
const figures = run.figures;

function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// A column as Int32Array where all values fit, else as Float64Array. Its text is given back to the browser.
function column(name) {
  const { base, width, count } = run.columns[name];
  const element = document.getElementById("column-" + name);
  const bytes = decodeBase64(element.textContent);
  element.remove();
  const small = base >= 0 && base < 2 ** 30 && width < 4;
  const out = small ? new Int32Array(count) : new Float64Array(count);
  if (width === 0) return out.fill(base);
  if (width === 6) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let i = 0, at = 0; i < count; ++i, at += 6)
      out[i] = base + view.getUint32(at, true) + view.getUint16(at + 4, true) * 4294967296;
    return out;
  }
  for (let i = 0, at = 0; i < count; ++i) {
    let x = 0;
    for (let k = 0, unit = 1; k < width; ++k, unit *= 256) x += bytes[at++] * unit;
    out[i] = base + x;
  }
  return out;
}

// Rows of intervals, one row per worker, each in the order of time: of row w, first[w] to before first[w + 1].
function intervals(counts, gap, length) {
  const first = new Int32Array(counts.length + 1);
  const from = new Float64Array(gap.length);
  const to = new Float64Array(gap.length);
  for (let w = 0, i = 0; w < counts.length; ++w) {
    first[w] = i;
    let last = run.begin;
    for (const end = i + counts[w]; i < end; ++i) {
      from[i] = last + gap[i];
      last = to[i] = from[i] + length[i];
    }
    first[w + 1] = i;
  }
  return { first, from, to };
}

function runningSum(column) {
  const out = new Float64Array(column.length);
  let sum = 0;
  for (let i = 0; i < column.length; ++i) out[i] = sum += column[i];
  return out;
}

const taskCount = run.columns.task_id.count;
const mainProgram = taskCount;  // its pieces name this instead of a task
const pieces = intervals(run.rows.pieces, column("piece_gap"), column("piece_length"));
pieces.task = column("piece_task");
pieces.after = column("piece_after");
pieces.path = column("path");
const sleeps = intervals(run.rows.sleeps, column("sleep_gap"), column("sleep_length"));
const tasks = {
  id: runningSum(column("task_id")),
  name: column("task_name"),
  parent: column("task_parent"),
  submitted: runningSum(column("task_submitted")),
  data: column("task_data"),
  queue: column("task_queue"),
  result: column("task_result"),
  near: column("task_near"),  // 0: no hint, 1: the data span nodes, else the memory node and 2
  placed: column("task_placed"),  // 1: called where it was submitted; and 2: it wanted a node, 4: and began there
};
const outcomeNames = ["done", "failed", "skipped", "not run"];
const waitNames = ["", "for its children", "for everything", "for a handle", "for room in the window", "for an event",
  "for a branch that runs elsewhere", "in a barrier of its team", "while what it submitted ran first"];
const workerCount = run.rows.pieces.length;

// Of each task: the piece it began with; the others, of the few that have them, in `laterPieces`.
const firstPiece = new Int32Array(taskCount + 1).fill(-1);
const laterPieces = new Map();
for (let i = 0; i < pieces.task.length; ++i) {
  const t = pieces.task[i];
  if (t === mainProgram) continue;
  if (firstPiece[t] < 0 && pieces.after[i] === 0) firstPiece[t] = i;
  else if (laterPieces.has(t)) laterPieces.get(t).push(i);
  else laterPieces.set(t, [i]);
}
for (const list of laterPieces.values()) list.sort((a, b) => pieces.from[a] - pieces.from[b]);

function piecesOf(task) {
  const list = firstPiece[task] < 0 ? [] : [firstPiece[task]];
  return list.concat(laterPieces.get(task) || []);
}

// The row of a piece: the last that begins at or before it.
function rowOf(piece) {
  let low = 0, high = workerCount;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (pieces.first[middle] <= piece) low = middle; else high = middle;
  }
  while (pieces.first[low + 1] <= piece) ++low;  // rows without pieces
  return low;
}

function taskName(task) {
  if (task === mainProgram) return "main program";
  const n = tasks.name[task];
  return n < run.names.length ? run.names[n] : "(unnamed)";
}

// Names may be very long or hold line breaks and marks that turn the writing direction: shown short and visible.
function shown(name, most = 80) {
  const clean = name.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
  const characters = Array.from(clean.length > 4 * most ? clean.slice(0, 4 * most) : clean);
  return characters.length > most ? characters.slice(0, most - 1).join("") + "\u2026" : characters.join("");
}

// --- counters, as pairs of a name's number and a value
const counters = { task: runningSum(column("counter_task")), name: column("counter_name"), value: column("counter_value") };
function countersOf(task) {
  const found = [];
  for (let i = search(counters.task, 0, counters.task.length, task, true); counters.task[i] === task; ++i)
    found.push([counters.name[i], counters.value[i]]);
  return found;
}

// --- accesses: who came before and after a task. Decoded when the first task is chosen.
let accesses = null;
function accessTable() {
  if (accesses) return accesses;
  const perTask = column("task_accesses");
  const first = new Int32Array(taskCount + 1);
  for (let t = 0; t < taskCount; ++t) first[t + 1] = first[t] + perTask[t];
  const a = {
    first,
    handle: column("access_handle"),
    kind: column("access_kind"),
    version: column("access_version"),
    step: column("access_step"),
  };
  const count = a.handle.length;
  a.task = new Int32Array(count);
  for (let t = 0; t < taskCount; ++t) a.task.fill(t, first[t], first[t + 1]);
  a.handleFirst = new Int32Array(run.handles.length + 2);
  for (let i = 0; i < count; ++i) ++a.handleFirst[a.handle[i] + 2];
  for (let h = 2; h < a.handleFirst.length; ++h) a.handleFirst[h] += a.handleFirst[h - 1];
  a.byHandle = new Int32Array(count);
  for (let i = 0; i < count; ++i) a.byHandle[a.handleFirst[a.handle[i] + 1]++] = i;
  accesses = a;
  return a;
}

const neighboursMax = 2000;

// Tasks that had to be done before `task` (direction -1), or that had to wait for it (1), with the handle that says so.
function neighbours(task, direction) {
  const a = accessTable();
  const found = new Map();
  for (let i = a.first[task]; i < a.first[task + 1]; ++i) {
    if (a.step[i] === 0) continue;
    const h = a.handle[i];
    const wanted = direction < 0 ? a.version[i] : a.version[i] + a.step[i];
    for (let k = a.handleFirst[h]; k < a.handleFirst[h + 1] && found.size < neighboursMax; ++k) {
      const b = a.byHandle[k];
      if (a.step[b] === 0 || a.task[b] === task) continue;
      const has = direction < 0 ? a.version[b] + a.step[b] : a.version[b];
      if (has === wanted && !found.has(a.task[b])) found.set(a.task[b], h);
    }
  }
  return found;
}

function accessesOf(task) {
  const a = accessTable();
  const list = [];
  for (let i = a.first[task]; i < a.first[task + 1]; ++i) list.push({ kind: run.kinds[a.kind[i]], handle: a.handle[i] });
  return list;
}

function duration(ns) {
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]];
  for (const [size, unit] of units) {
    if (Math.abs(ns) < size * 0.9995) continue;
    return (ns / size).toPrecision(3).replace(/e\+.*/, "") + " " + unit;
  }
  return (Number.isInteger(ns) ? ns : ns.toFixed(1)) + " ns";
}

// A time of day: with as many digits as tell it from one that is `step` later, in the unit that fits `largest`.
function moment(time, step, largest = time) {
  const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]].find(([s]) => Math.abs(largest) >= s) || [1, "ns"];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(Math.max(step, 1) / size) - 1e-9)));
  return (time / size).toFixed(digits) + " " + unit;
}
