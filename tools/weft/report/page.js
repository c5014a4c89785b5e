// What is around the timeline, what the mouse and the keys do, and the address: everything chosen is kept behind the
// "#", so a view can be linked to. Text from the run is only ever set as text.

const byId = (id) => document.getElementById(id);

// An element with text or children: make("td", {class: "x"}, "text", other).
function make(tag, attributes, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "on") element.addEventListener("click", value);
    else element.setAttribute(name, value);
  }
  element.append(...content);
  return element;
}

function swatch(slot) {
  return lookSwatch(nameLooks[slot]);
}

function lookSwatch(look) {
  const element = make("span", { class: "swatch" }), colour = css(lookColours[look]), hatch = css(hatchColour(lookColours[look]));
  element.style.background = isHatched(look)
    ? `repeating-linear-gradient(135deg, ${colour} 0 3px, ${hatch} 3px 4.5px)` : colour;
  return element;
}

function percent(part, all) {
  return all > 0 ? (100 * part / all).toFixed(part / all >= 0.0995 ? 0 : 1) + " %" : "-";
}

// --- the head of the page
function fillHead() {
  byId("program").textContent = shown(figures.program, 200) || "run";
  byId("setting").textContent = shown(`${figures.workers} workers of machine ${figures.machine}, policy ` +
    `${figures.policy}, seed ${figures.seed}; ${figures.tasks.toLocaleString("en")} tasks`, 300);
  const alerts = [];
  if (figures.lost > 0)
    alerts.push(`${figures.lost} records were lost: every figure is too low, and the critical path may be wrong.`);
  if (figures.contradictions > 0)
    alerts.push("The trace contradicts itself: tasks wait for each other in a circle. The critical path is a guess.");
  for (const what of ["failed", "skipped", "not_run"])
    if (figures[what] > 0)
      alerts.push(`${figures[what]} ${figures[what] === 1 ? "task" : "tasks"} ${what === "not_run" ? "did not run" : what}.`);
  byId("alerts").append(...alerts.map((text) => make("p", {}, text)));
  const room = figures.makespan_ns * figures.workers;
  const cards = [
    ["makespan", duration(figures.makespan_ns), "first submission to last end"],
    ["utilisation", percent(figures.utilisation, 1), `of ${figures.workers} workers' time`],
    ["work", duration(figures.work_ns + figures.main_program_ns), `${duration(figures.main_program_ns)} in main program`],
    ["critical path", duration(figures.span_ns), percent(figures.span_ns, figures.makespan_ns) + " of makespan"],
    ["parallelism", figures.parallelism.toPrecision(3), "workers the graph keeps busy"],
    ["overhead", duration(figures.overhead_per_task_ns), `a task; ${percent(figures.overhead_ns, room)} of all time`],
    ["searching", percent(figures.searching_ns, room), "nothing was ready"],
    ["asleep", percent(figures.asleep_ns, room), `${figures.sleeps} sleeps, ${figures.steals} steals`],
  ];
  const placing = figures.placing;
  if (placing?.hinted) cards.push(["near", percent(placing.at_near, placing.hinted), `of ${placing.hinted} tasks began at their memory node`]);
  if (placing?.calls) cards.push(["calls", placing.calls.toLocaleString("en"), "tasks called where they were submitted"]);
  if (placing?.stolen.branch) cards.push(["branches", placing.stolen.branch.toLocaleString("en"), "halves of forks that were stolen"]);
  byId("cards").append(...cards.map(([label, value, note]) => make("div", { class: "card" },
    make("div", { class: "label" }, label), make("div", { class: "value" }, value), make("div", { class: "note" }, note))));
  byId("advice").hidden = figures.advice.length === 0;
  byId("advice").append(make("ul", {}, ...figures.advice.map((a) => make("li", {}, shown(a.text, 400)))));
}

// --- tables
const nameColumns = [
  ["name", (n) => n.name ?? "(unnamed)"], ["count", (n) => n.count], ["total", (n) => n.total_ns, duration],
  ["share", (n) => n.share], ["min", (n) => n.min_ns, duration], ["median", (n) => n.median_ns, duration],
  ["95 %", (n) => n.p95_ns, duration], ["max", (n) => n.max_ns, duration],
  ["waits for data", (n) => n.waited_for_data_ns / n.count, duration],
  ["for a worker", (n) => n.waited_for_worker_ns / n.count, duration],
  ["on path", (n) => n.critical_path_ns / Math.max(1, figures.span_ns)],
];
// Only where there are hints.
if (figures.placing?.hinted) nameColumns.push(["near", (n) => n.hinted > 0 ? n.at_near / n.hinted : -1,
  (x) => x < 0 ? "-" : percent(x, 1)]);
const namesShownMax = 500;
let sortedBy = 2, descending = true;

function share(value) {
  const inner = make("span");
  inner.style.width = Math.min(100, 100 * value) + "%";
  return [percent(value, 1), make("span", { class: "bar" }, inner)];
}

function nameRow(n) {
  const slot = n.name === null ? run.names.length : nameIndex.get(n.name);
  return make("tr", {}, ...nameColumns.map(([title, get, format]) => {
    if (title === "name") {
      const pick = () => setFilter(state.filter === (n.name ?? "") ? "" : n.name ?? "");
      const button = make("button", { type: "button", on: pick }, swatch(slot), " " + shown(get(n)));
      return make("td", { class: "name" }, button);
    }
    if (title === "share" || title === "on path") return make("td", {}, ...share(get(n)));
    return make("td", {}, format ? format(get(n)) : get(n).toLocaleString("en"));
  }));
}

function fillNames() {
  const get = nameColumns[sortedBy][1];
  const rows = [...figures.names].sort((a, b) => {
    const x = get(a), y = get(b);
    return (descending ? -1 : 1) * (typeof x === "string" ? x.localeCompare(y) : x - y);
  });
  const head = nameColumns.map(([title], i) => {
    const order = i !== sortedBy ? "none" : descending ? "descending" : "ascending";
    const sort = () => {
      descending = sortedBy === i ? !descending : i !== 0;
      sortedBy = i;
      fillNames();
    };
    const mark = i !== sortedBy ? "" : descending ? " \u2193" : " \u2191";
    return make("th", { "aria-sort": order, scope: "col" }, make("button", { type: "button", on: sort }, title + mark));
  });
  byId("names").replaceChildren(make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...rows.slice(0, namesShownMax).map(nameRow)));
}

function fillTable(id, titles, rows) {
  byId(id).replaceChildren(make("thead", {}, make("tr", {}, ...titles.map((t) => make("th", { scope: "col" }, t)))),
    make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map((c) => make("td", {}, ...[c].flat()))))));
}

function fillTables() {
  fillNames();
  fillTable("workers", ["worker", "tasks", "in bodies", "main program", "asleep", "rest", "busy"],
    figures.per_worker.map((w, i) => [shown(run.workers[i] ? `${i} (${run.workers[i]})` : String(i)),
      w.tasks.toLocaleString("en"), duration(w.bodies_ns), duration(w.main_program_ns), duration(w.asleep_ns),
      duration(w.rest_ns), share((w.bodies_ns + w.main_program_ns) / Math.max(1, figures.makespan_ns))]));
  const sections = figures.sections ?? [];
  byId("sections").closest("section").hidden = sections.length === 0;
  fillTable("sections", ["executor", "runs", "calls", "committed", "in order", "again", "in vain", "took", "one by one", "ahead paid"],
    sections.map((s) => [shown(s.executor, 40), ...[s.runs, s.calls, s.committed, s.in_order, s.again, s.in_vain].map((n) => n.toLocaleString("en")),
      duration(s.took_ns), s.serial_ns === null ? "-" : duration(s.serial_ns), s.text]));
  const waits = Object.entries(figures.waits).filter(([, w]) => w.count > 0);
  byId("waits").closest("section").hidden = waits.length === 0;
  fillTable("waits", ["a body or the main program waited", "times", "together"],
    waits.map(([why, w]) => [waitNames[1 + ["children", "all", "handle", "window", "event", "join", "barrier", "spawn"].indexOf(why)],
      w.count.toLocaleString("en"), duration(w.total_ns)]));
}

function fillLegend() {
  if (!theme) readTheme();
  const items = figures.names.slice(0, namedLooks).map((n) => {
    const slot = n.name === null ? run.names.length : nameIndex.get(n.name);
    const pick = () => setFilter(state.filter === (n.name ?? "") ? "" : n.name ?? "");
    return make("button", { type: "button", on: pick }, swatch(slot),
      make("span", { class: "name" }, shown(n.name ?? "(unnamed)", 40)));
  });
  const plain = (colour, text) => {
    const mark = make("span", { class: "swatch" });
    mark.style.background = `var(${colour})`;
    return make("span", { class: "plain" }, mark, text);
  };
  if (otherNames > 0)
    items.push(make("span", { class: "plain" }, lookSwatch(otherLook), `${otherNames} other ${otherNames === 1 ? "name" : "names"}`));
  if (figures.main_program_ns > 0) items.push(plain("--main", "main program"));
  items.push(plain("--row", "searching, overhead"), plain("--asleep", "asleep"));
  byId("legend").replaceChildren(...items);
}

// --- one task
function facts(task, all) {
  if (task === mainProgram) return [["", "the thread that made the runtime, between its waits"]];
  const list = piecesOf(task);
  const rows = [["task", String(tasks.id[task]) + (tasks.result[task] ? ", " + outcomeNames[tasks.result[task]] : "")]];
  if (list.length > 0) {
    const body = list.reduce((sum, i) => sum + pieces.to[i] - pieces.from[i], 0);
    rows.push(["worker", [...new Set(list.map(rowOf))].join(", ")], ["body", duration(body)],
      ["began", moment(pieces.from[list[0]] - run.begin, body / 100)]);
    const aside = pieces.to[list.at(-1)] - pieces.from[list[0]] - body;
    if (list.length > 1)
      rows.push(["set aside", duration(aside) + ", " + [...new Set(list.slice(1).map((i) => waitNames[pieces.after[i]]))].join(", ")]);
  }
  rows.push(["submitted", moment(tasks.submitted[task] - run.begin, tasks.data[task] + tasks.queue[task] || 1) + (tasks.placed[task] & 1 ? ", and called there" : "")]);
  const near = tasks.near[task], at = tasks.placed[task] >> 1;
  if (near > 0) rows.push(["near", near === 1 ? "several memory nodes" : `memory node ${near - 2}` + ["", ", ran elsewhere", "", ", ran there"][at]]);
  if (list.length > 0) rows.push(["waited", `${duration(tasks.data[task])} for data, ${duration(tasks.queue[task])} for a worker`]);
  for (const [name, value] of countersOf(task)) rows.push([shown(run.counters[name], 40), value.toLocaleString("en")]);
  const used = accessesOf(task);
  const most = all ? 200 : 6;
  for (const { kind, handle } of used.slice(0, most)) rows.push([kind, shown(run.handles[handle], 60)]);
  if (used.length > most) rows.push(["", `and ${used.length - most} more`]);
  return rows;
}

function factList(task, all) {
  return make("dl", {}, ...facts(task, all).flatMap(([k, v]) => [make("dt", {}, k), make("dd", {}, v)]));
}

function taskTitle(task, most) {
  return [swatch(slotOf(task)), " ", make("strong", {}, shown(taskName(task), most))];
}

const listedMax = 100;
function taskList(title, found) {
  if (found.size === 0) return [];
  const items = [...found].slice(0, listedMax).map(([task, handle]) => make("li", {},
    make("button", { type: "button", on: () => choose(task, true) }, swatch(slotOf(task)),
      make("span", {}, shown(taskName(task), 30) + " "),
      make("span", { class: "where" }, `${tasks.id[task]}${handle === null ? "" : ", " + shown(run.handles[handle], 24)}`))));
  const count = found.size >= neighboursMax ? `${neighboursMax} or more` : found.size;
  return [make("h3", {}, `${title} (${count})`), make("ul", {}, ...items)];
}

function fillDetails() {
  const task = state.chosen;
  if (task < 0) {
    byId("details").replaceChildren(make("h2", {}, "Task"),
      make("p", { class: "hint" }, "Click a task, or press . in the timeline: here is what it waited for and who waited for it."));
    return;
  }
  const parts = [make("h2", {}, ...taskTitle(task, 400)), factList(task, true)];
  if (task < taskCount) {
    if (tasks.parent[task] > 0) parts.push(...taskList("Submitted by", new Map([[tasks.parent[task] - 1, null]])));
    parts.push(...taskList("Had to wait for", state.before), ...taskList("Waited for it", state.after));
  }
  byId("details").replaceChildren(...parts);
}

// Shows the task, too, if it lies outside of what can be seen.
function choose(task, show) {
  state.chosen = task;
  const isTask = task >= 0 && task < taskCount;
  state.before = isTask ? neighbours(task, -1) : new Map();
  state.after = isTask ? neighbours(task, 1) : new Map();
  fillDetails();
  if (show && isTask) {
    const [first] = piecesOf(task);
    if (first !== undefined) {
      const y = yAt(rowOf(first));
      if (y < layout.top || y + layout.row > layout.height) scrollDown(y - layout.top);
      if (pieces.to[first] < view.from || pieces.from[first] > view.to) {
        const half = (view.to - view.from) / 2, middle = (pieces.from[first] + pieces.to[first]) / 2;
        return setView(middle - half, middle + half);
      }
    }
  }
  changed();
}

function setFilter(text) {
  state.filter = text;
  if (byId("filter").value !== text) byId("filter").value = text;
  const wanted = text.toLowerCase();
  state.dim = wanted === "" ? null : new Uint8Array(nameLooks.length);
  if (state.dim) {
    for (let i = 0; i < run.names.length; ++i) state.dim[i] = run.names[i].toLowerCase().includes(wanted) ? 0 : 1;
    state.dim[run.names.length] = "(unnamed)".includes(wanted) ? 0 : 1;
    state.dim[mainSlot] = "main program".includes(wanted) ? 0 : 1;
  }
  drawnPieces = null;
  const match = figures.names.filter((n) => !state.dim || (n.name ?? "(unnamed)").toLowerCase().includes(wanted));
  byId("matches").textContent = state.dim ? `${match.length} of ${figures.names.length} names, ` +
    `${match.reduce((sum, n) => sum + n.count, 0).toLocaleString("en")} tasks` : "";
  changed();
}

// --- the address
let writing = 0;
function writeAddress() {
  const parts = new URLSearchParams();
  if (view.from > whole.from || view.to < whole.to) {
    parts.set("from", Math.round(view.from - run.begin));
    parts.set("to", Math.round(view.to - run.begin));
  }
  if (state.filter) parts.set("filter", state.filter);
  if (state.chosen >= 0 && state.chosen < taskCount) parts.set("task", tasks.id[state.chosen]);
  if (!state.path) parts.set("path", "0");
  if (!state.curves) parts.set("curves", "0");
  if (selection.on)
    parts.set("sums", `${Math.round(selection.from - run.begin)}-${Math.round(selection.to - run.begin)}`);
  if (state.theme) parts.set("theme", state.theme);
  const text = parts.toString();
  if (text !== location.hash.slice(1)) history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
}

function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  state.theme = ["light", "dark"].includes(parts.get("theme")) ? parts.get("theme") : null;
  applyTheme();
  state.path = parts.get("path") !== "0";
  byId("path").checked = state.path;
  setCurves(parts.get("curves") !== "0");
  const chosen = /^(\d+)-(\d+)$/.exec(parts.get("sums") || "");
  if (chosen) select(run.begin + Number(chosen[1]), run.begin + Number(chosen[2]));
  setFilter(parts.get("filter") || "");
  const from = Number(parts.get("from")), to = Number(parts.get("to"));
  if (parts.has("from") && parts.has("to") && to > from) setView(run.begin + from, run.begin + to);
  if (parts.has("task")) choose(tasks.id.indexOf(Number(parts.get("task"))), !parts.has("from"));
}

function applyTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = state.theme || (dark ? "dark" : "light");
  theme = null;
}

// Two times that can be told apart, and what lies between them.
function stretch(from, to) {
  const step = (to - from) / 1000, largest = to - run.begin;
  return `${moment(from - run.begin, step, largest)} to ${moment(to - run.begin, step, largest)}: ${duration(Math.round(to - from))}`;
}

// One frame, however many changes.
let pending = false;
function changed() {
  byId("range").textContent = stretch(view.from, view.to);
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    draw();
    hoverAgain();
    clearTimeout(writing);
    writing = setTimeout(writeAddress, 150);
  });
}
