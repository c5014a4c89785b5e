// A stretch of time that is chosen, and what the workers did in it: exact, from the pieces that reach into it.

const selection = { from: 0, to: 0, on: false };

function sumsBetween(from, to) {
  const names = new Map();  // by slot: time in bodies, and tasks that began
  const counters = new Float64Array(run.counters.length);
  let asleep = 0;
  for (let row = 0; row < workerCount; ++row) {
    const end = pieces.first[row + 1];
    for (let i = search(pieces.to, pieces.first[row], end, from, false); i < end && pieces.from[i] < to; ++i) {
      const slot = slotOf(pieces.task[i]);
      if (!names.has(slot)) names.set(slot, { slot, time: 0, begun: 0 });
      const sums = names.get(slot);
      sums.time += Math.min(to, pieces.to[i]) - Math.max(from, pieces.from[i]);
      if (pieces.after[i] !== 0 || pieces.from[i] < from || slot === mainSlot) continue;
      ++sums.begun;
      for (const [name, value] of countersOf(pieces.task[i])) counters[name] += value;
    }
    const end2 = sleeps.first[row + 1];
    for (let i = search(sleeps.to, sleeps.first[row], end2, from, false); i < end2 && sleeps.from[i] < to; ++i)
      asleep += Math.min(to, sleeps.to[i]) - Math.max(from, sleeps.from[i]);
  }
  const all = [...names.values()].sort((a, b) => b.time - a.time);
  const room = (to - from) * workerCount, busy = all.reduce((sum, n) => sum + n.time, 0);
  return { names: all, asleep, room, rest: Math.max(0, room - busy - asleep), counters };
}

function select(from, to) {
  selection.from = Math.max(whole.from, Math.min(from, to));
  selection.to = Math.min(whole.to, Math.max(from, to));
  selection.on = selection.to > selection.from;
  fillSelection();
  changed();
}

function slotName(slot) {
  return slot === mainSlot ? "main program" : slot < run.names.length ? run.names[slot] : "(unnamed)";
}

function fillSelection() {
  const panel = byId("selection");
  panel.hidden = !selection.on;
  if (!selection.on) return;
  const { from, to } = selection, sums = sumsBetween(from, to);
  const line = (mark, name, begun, time) => make("tr", {}, make("td", { class: "name" }, ...mark, shown(name)),
    make("td", {}, begun), make("td", {}, duration(Math.round(time))), make("td", {}, ...share(time / sums.room)));
  const rows = sums.names.slice(0, namesShownMax).map((n) => line([swatch(n.slot), " "], slotName(n.slot),
    n.slot === mainSlot ? "" : n.begun.toLocaleString("en"), n.time));
  rows.push(line([], "asleep", "", sums.asleep), line([], "searching, overhead", "", sums.rest));
  const head = make("tr", {}, ...["name", "begun", "time", "share"].map((t) => make("th", { scope: "col" }, t)));
  const counted = [...sums.counters].map((value, i) => `${shown(run.counters[i], 40)} ${value.toLocaleString("en")}`);
  panel.replaceChildren(
    make("h2", {}, `From ${stretch(from, to)} `,
      make("button", { type: "button", on: () => select(0, 0), title: "No selection (Esc)" }, "\u00d7")),
    make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows))),
    ...(counted.length ? [make("p", { class: "hint" }, "Counters of tasks that began: " + counted.join(", "))] : []));
}

function drawSelection() {
  if (!selection.on) return;
  const a = Math.max(layout.gutter, xAt(selection.from)), b = Math.min(layout.width - layout.right, xAt(selection.to));
  if (b <= a) return;
  pen.save();
  pen.globalAlpha = 0.16;
  pen.fillStyle = theme.before;
  pen.fillRect(a, 0, b - a, layout.height);
  pen.globalAlpha = 1;
  pen.fillRect(a, 0, 1, layout.height);
  pen.fillRect(b - 1, 0, 1, layout.height);
  pen.restore();
}
