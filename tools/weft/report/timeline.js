// The timeline: one canvas, drawn anew for every change. What each pixel column of a row shows is a sum (coverage.js),
// so a run of a million tasks moves like a small one, and no piece is left out.

const canvas = document.getElementById("timeline");
const pen = canvas.getContext("2d");
const layout = { gutter: 54, right: 8, curve: 54, strip: 0, axis: 20, row: 20, gap: 2, width: 0, height: 0, top: 0 };
const view = { from: run.begin, to: Math.max(run.end, run.begin + 1), down: 0 };
const whole = { from: view.from, to: view.to };
const shortestView = 20;  // nanoseconds across the whole canvas
const state = { filter: "", dim: null, chosen: -1, before: new Map(), after: new Map(), path: true, curves: true, hover: -1 };
let theme = null;

// --- colours: the names with most time get the colours that are easiest to tell apart, the others go round the circle.
const distinct = ["#3b7dd8", "#e8833a", "#3aa676", "#d64f6b", "#8a63d2", "#c9a227", "#2aa5b8", "#a8603c", "#7c9a2e",
                  "#c45fb3", "#5f7fa8", "#e0719a"];
const nameColours = new Array(run.names.length + 2);
function hueColour(i) {
  const hue = (i * 137.508) % 360, light = 0.46 + 0.12 * ((i * 7) % 3) / 2;
  const part = (k) => {
    const x = (k + hue / 30) % 12;
    return Math.round(255 * (light - 0.42 * Math.min(light, 1 - light) * Math.max(-1, Math.min(x - 3, 9 - x, 1))));
  };
  return [part(0), part(8), part(4)];
}
function hexColour(text) {
  return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
}
const nameIndex = new Map();  // the first of equal texts, as in the columns
run.names.forEach((name, i) => nameIndex.has(name) || nameIndex.set(name, i));
figures.names.forEach((n, rank) => {
  const i = n.name === null ? run.names.length : nameIndex.get(n.name);
  nameColours[i] = rank < distinct.length ? hexColour(distinct[rank]) : hueColour(rank);
});
const mainSlot = run.names.length + 1;
for (let i = 0; i < nameColours.length; ++i) nameColours[i] = nameColours[i] || [140, 140, 140];

function slotOf(task) {
  return task === mainProgram ? mainSlot : tasks.name[task];
}
function css(colour, alpha = 1) {
  return `rgba(${colour[0]},${colour[1]},${colour[2]},${alpha})`;
}

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  theme = { text: get("--text"), faint: get("--faint"), panel: get("--panel"), row: hexColour(get("--row")),
            asleep: hexColour(get("--asleep")), critical: get("--critical"), grid: get("--grid"), curve: get("--curve"),
            before: get("--before"), after: get("--after"), chosen: get("--chosen") };
  nameColours[mainSlot] = hexColour(get("--main"));
  drawnPieces = null;
}

// --- geometry
function timeAt(x) {
  return view.from + (x - layout.gutter) / plotWidth() * (view.to - view.from);
}
function xAt(time) {
  return layout.gutter + (time - view.from) / (view.to - view.from) * plotWidth();
}
function plotWidth() {
  return layout.width - layout.gutter - layout.right;
}
function yAt(row) {
  return layout.top + row * layout.row - view.down;
}
function rowAt(y) {
  if (y < layout.top || y >= layout.height) return -1;
  const row = Math.floor((y - layout.top + view.down) / layout.row);
  return row < workerCount ? row : -1;
}

function resize() {
  layout.width = canvas.clientWidth;
  layout.strip = state.curves ? 48 : 0;
  layout.top = layout.curve + layout.strip + layout.axis;
  const room = Math.max(240, Math.min(560, window.innerHeight * 0.6));
  layout.row = Math.max(6, Math.min(26, Math.floor(room / Math.max(1, workerCount))));
  layout.gap = layout.row > 12 ? 3 : 1;
  layout.height = layout.top + Math.max(layout.row, Math.min(workerCount * layout.row, Math.floor(room / layout.row) * layout.row)) + 2;
  canvas.style.height = layout.height + "px";
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(layout.width * scale);
  canvas.height = Math.round(layout.height * scale);
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  draw();
}

function setView(from, to) {
  let length = Math.max(shortestView, Math.min(to - from, whole.to - whole.from));
  if (!(length > 0)) length = whole.to - whole.from;
  from = Math.max(whole.from, Math.min(from, whole.to - length));
  view.from = from;
  view.to = from + length;
  changed();
}

function zoom(factor, x = layout.gutter + plotWidth() / 2) {
  const at = timeAt(x);
  const length = Math.max(shortestView, (view.to - view.from) * factor);
  const share = (at - view.from) / (view.to - view.from);
  setView(at - share * length, at - share * length + length);
}

function scrollDown(by) {
  const most = Math.max(0, workerCount * layout.row - (layout.height - layout.top - 2));
  view.down = Math.max(0, Math.min(most, view.down + by));
  changed();
}

// The pieces of a row that can be seen: the first that ends after the view begins, to the first that begins after it.
function visible(lists, row, from = view.from, to = view.to) {
  const low = search(lists.to, lists.first[row], lists.first[row + 1], from, true);
  return [low, search(lists.from, low, lists.first[row + 1], to, false)];
}

// --- drawing
const dimmedStrength = 0.13;
const whatPiecesShow = { all: 0, matching: 1, red: 2, green: 3, blue: 4 };  // channels of `drawnPieces`
let drawnPieces = null, drawnSleeps = null;
let sums = null;                   // of one row, by pixel column: the channels of its pieces, and how long it slept
let used = null, matching = null;  // of all rows: what the curve shows

// Anew whenever a colour or the filter changes.
function weighPieces() {
  const { all, matching, red, green, blue } = whatPiecesShow;
  drawnPieces = new Coverage(pieces, 5, (i, out) => {
    const slot = slotOf(pieces.task[i]), colour = nameColours[slot];
    const strength = state.dim && state.dim[slot] ? dimmedStrength : 1;
    out[all] = 1;
    out[matching] = strength === 1 ? 1 : 0;
    out[red] = strength * colour[0];
    out[green] = strength * colour[1];
    out[blue] = strength * colour[2];
  });
  drawnSleeps = drawnSleeps || new Coverage(sleeps, 1, (i, out) => { out[0] = 1; });
}

function sumRow(row, width) {
  drawnPieces.columns(row, view.from, view.to, width, sums.pieces);
  drawnSleeps.columns(row, view.from, view.to, width, sums.sleeps);
  for (let c = 0; c < width; ++c) {
    used[c] += sums.pieces[whatPiecesShow.all][c];
    matching[c] += sums.pieces[whatPiecesShow.matching][c];
  }
}

function draw() {
  if (!theme) readTheme();
  const width = Math.max(1, Math.floor(plotWidth()));
  if (!drawnPieces) weighPieces();
  if (!used || used.length !== width) {
    const channels = (count) => Array.from({ length: count }, () => new Float64Array(width));
    sums = { pieces: channels(5), sleeps: channels(1) };
    [used, matching] = channels(2);
  }
  used.fill(0), matching.fill(0);
  pen.fillStyle = theme.panel;
  pen.fillRect(0, 0, layout.width, layout.height);
  drawGrid();
  pen.save();
  pen.beginPath();
  pen.rect(0, layout.top, layout.width, layout.height - layout.top);
  pen.clip();
  for (let row = 0; row < workerCount; ++row) drawRow(row, width);
  if (state.path) drawPath();
  drawChosen();
  pen.restore();
  drawCurve(width);
  if (layout.strip > 0) drawQuantities(width), drawBounds();
  drawSelection();
}

function drawGrid() {
  const length = view.to - view.from;
  const rough = length / Math.max(2, plotWidth() / 110);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].find((k) => k * power >= rough) * power);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  for (let k = Math.ceil((view.from - run.begin) / step); k * step <= view.to - run.begin; ++k) {
    const x = Math.round(xAt(run.begin + k * step)) + 0.5;
    pen.fillStyle = theme.grid;
    pen.fillRect(x - 0.5, layout.top - layout.axis, 1, layout.height - layout.top + layout.axis);
    pen.fillStyle = theme.faint;
    pen.fillText(axisLabel(k * step, step), x + 4, layout.top - layout.axis / 2);
  }
}

// Enough digits to tell a label from its neighbour, in the unit of the whole view.
function axisLabel(time, step) {
  const largest = view.to - run.begin;
  const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]].find(([s]) => largest >= s) || [1, "ns"];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return (time / size).toFixed(digits) + " " + unit;
}

let rowImage = null;
function drawRow(row, width) {
  const y = yAt(row);
  sumRow(row, width);
  if (y + layout.row < layout.top || y > layout.height) return;
  const height = layout.row - layout.gap;
  if (!rowImage || rowImage.pixels.width !== width) {
    rowImage = { surface: document.createElement("canvas"), pixels: new ImageData(width, 1) };
    rowImage.surface.width = width;
    rowImage.surface.height = 1;
    rowImage.pen = rowImage.surface.getContext("2d");
  }
  for (let c = 0; c < width; ++c) paintColumn(c, rowImage.pixels.data);
  rowImage.pen.putImageData(rowImage.pixels, 0, 0);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(rowImage.surface, layout.gutter, y, width, height);
  const [low, high] = visible(pieces, row);
  if (high - low < width) drawLabels(low, high, y, height);
  pen.fillStyle = theme.faint;
  pen.textAlign = "right";
  if (layout.row >= 11 || row % Math.ceil(11 / layout.row) === 0)
    pen.fillText(String(row), layout.gutter - 8, y + height / 2);
  pen.textAlign = "left";
}

// Nothing, sleep and pieces, blended by their shares of the column. Whatever ran is seen, if it was ever so short.
const visibleShare = 24 / 255;
function paintColumn(c, out) {
  const { all, matching, red, blue } = whatPiecesShow, of = sums.pieces;
  const asleep = Math.min(1, sums.sleeps[0][c]);
  const strong = of[matching][c], share = strong + dimmedStrength * (of[all][c] - strong);
  const drawn = share < 1e-9 ? 0 : Math.min(1, Math.max(visibleShare, share));
  for (let k = red; k <= blue; ++k) {
    const ground = theme.row[k - red] + asleep * (theme.asleep[k - red] - theme.row[k - red]);
    out[4 * c + k - red] = drawn === 0 ? ground : ground + drawn * (of[k][c] / share - ground);
  }
  out[4 * c + 3] = 255;
}

function drawLabels(low, high, y, height) {
  for (let i = low; i < high; ++i) {
    const a = Math.max(layout.gutter, xAt(pieces.from[i])), b = Math.min(layout.width - layout.right, xAt(pieces.to[i]));
    if (b - a < 4) continue;
    pen.fillStyle = theme.panel;
    if (pieces.from[i] > view.from) pen.fillRect(a, y, 0.75, height);
    if (b - a < 26 || height < 12) continue;
    const dimmed = state.dim && state.dim[slotOf(pieces.task[i])];
    pen.fillStyle = dimmed ? theme.faint : "#fff";
    const most = Math.floor((b - a - 8) / 6.2);
    if (most > 1) pen.fillText(shown(taskName(pieces.task[i]), most), a + 4, y + height / 2 + 0.5, b - a - 6);
  }
}

function drawPath() {
  const path = pieces.path;
  // Steps begin in the order of time. One that began before the view may still reach into it; on a path too long to
  // look at each step, only if it is among the last before the view.
  let low = 0, high = path.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pieces.from[path[middle]] >= view.from) high = middle; else low = middle + 1;
  }
  low = Math.max(0, low - 20000);
  pen.fillStyle = pen.strokeStyle = theme.critical;
  pen.lineWidth = 1.25;
  const thick = layout.row > 12 ? 3 : 2;
  const drawn = new Map();
  let last = null, lines = 0;
  pen.beginPath();
  for (let k = low; k < path.length && pieces.from[path[k]] <= view.to; ++k) {
    const i = path[k], row = rowOf(i);
    const a = Math.max(layout.gutter, xAt(pieces.from[i])), b = Math.min(layout.width - layout.right, xAt(pieces.to[i]));
    const y = yAt(row) + layout.row - layout.gap - thick;
    if (b < layout.gutter) {
      last = null;
      continue;
    }
    if (last && last.row !== row && lines < 600) {
      pen.moveTo(last.x, last.y), pen.lineTo(a, y + thick / 2);
      ++lines;
    }
    last = { row, x: Math.max(b, layout.gutter), y: y + thick / 2 };
    if ((drawn.get(row) || 0) >= b) continue;
    pen.fillRect(a, y, Math.max(1, b - a), thick);
    drawn.set(row, b - 0.5);
  }
  if (lines < 600) pen.stroke();
}

function outline(task, colour, thickness) {
  for (const i of piecesOf(task)) {
    const a = xAt(pieces.from[i]), b = xAt(pieces.to[i]);
    if (b < layout.gutter || a > layout.width) continue;
    pen.strokeStyle = colour;
    pen.lineWidth = thickness;
    pen.strokeRect(Math.max(layout.gutter, a), yAt(rowOf(i)) - 0.5, Math.max(2.5, b - a), layout.row - layout.gap + 1);
  }
}

function link(first, second, colour) {
  const a = piecesOf(first).at(-1), b = piecesOf(second)[0];
  if (a === undefined || b === undefined) return;
  const x1 = xAt(pieces.to[a]), x2 = xAt(pieces.from[b]);
  const y1 = yAt(rowOf(a)) + (layout.row - layout.gap) / 2, y2 = yAt(rowOf(b)) + (layout.row - layout.gap) / 2;
  const bend = Math.min(60, Math.max(12, Math.abs(x2 - x1) / 2));
  pen.strokeStyle = colour;
  pen.lineWidth = 1.25;
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
  pen.stroke();
}

const linksMax = 200;
function drawChosen() {
  pen.save();
  pen.beginPath();
  pen.rect(layout.gutter - 1, 0, plotWidth() + 2, layout.height);
  pen.clip();
  if (state.chosen >= 0) {
    let n = 0;
    for (const task of state.before.keys()) {
      outline(task, theme.before, 1.5);
      if (n++ < linksMax) link(task, state.chosen, theme.before);
    }
    n = 0;
    for (const task of state.after.keys()) {
      outline(task, theme.after, 1.5);
      if (n++ < linksMax) link(state.chosen, task, theme.after);
    }
    const list = piecesOf(state.chosen);  // between the pieces its stack was set aside
    pen.setLineDash([3, 3]);
    for (let k = 1; k < list.length; ++k) {
      pen.strokeStyle = theme.chosen;
      pen.beginPath();
      pen.moveTo(xAt(pieces.to[list[k - 1]]), yAt(rowOf(list[k - 1])) + layout.row / 2);
      pen.lineTo(xAt(pieces.from[list[k]]), yAt(rowOf(list[k])) + layout.row / 2);
      pen.stroke();
    }
    pen.setLineDash([]);
    outline(state.chosen, theme.chosen, 2.5);
  }
  if (state.hover >= 0 && state.hover < taskCount) outline(state.hover, theme.chosen, 1);
  pen.restore();
}

// How many workers were in a body or in the main program: of all, and, if there is a filter, of what it lets through.
function drawCurve(width) {
  const height = layout.curve - 8;
  const fill = (values, colour) => {
    pen.fillStyle = colour;
    pen.beginPath();
    pen.moveTo(layout.gutter, layout.curve);
    for (let c = 0; c < width; ++c) {
      const y = layout.curve - height * Math.min(1, values[c] / Math.max(1, workerCount));
      pen.lineTo(layout.gutter + c, y), pen.lineTo(layout.gutter + c + 1, y);
    }
    pen.lineTo(layout.gutter + width, layout.curve);
    pen.fill();
  };
  pen.fillStyle = css(theme.row);
  pen.fillRect(layout.gutter, layout.curve - height, width, height);
  pen.globalAlpha = state.dim ? 0.35 : 0.85;
  fill(used, theme.curve);
  pen.globalAlpha = 1;
  if (state.dim) fill(matching, theme.curve);
  pen.fillStyle = theme.faint;
  pen.textAlign = "right";
  pen.fillText("100 %", layout.gutter - 6, layout.curve - height + 5);
  pen.fillText("busy", layout.gutter - 6, layout.curve - height / 2 + 3);
  pen.textAlign = "left";
}

// The piece under a point, with two pixels of mercy for short ones.
function pieceAt(x, y) {
  const row = rowAt(y);
  if (row < 0 || x < layout.gutter || x > layout.width - layout.right) return -1;
  const time = timeAt(x), near = 2 * (view.to - view.from) / plotWidth();
  const [low, high] = visible(pieces, row, time - near, time + near);
  let best = -1, distance = Infinity;
  for (let i = low; i < Math.min(high, low + 1000); ++i) {
    const d = time < pieces.from[i] ? pieces.from[i] - time : time > pieces.to[i] ? time - pieces.to[i] : 0;
    if (d < distance) best = i, distance = d;
  }
  return best;
}
