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

// --- colours: each is that of one entry of the legend and of nothing else. Eight that can be told apart without red,
// green or blue, too, and beside them the same eight hatched, go to the names with most time; all others share one.
const distinct = ["#4398f1", "#ffaf59", "#39db94", "#a64c3d", "#7a67ff", "#eddd0c", "#08557f", "#0906a9"];
const namedLooks = 2 * distinct.length, otherLook = namedLooks, mainLook = namedLooks + 1, lookCount = namedLooks + 2;
function hexColour(text) {
  return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
}
const lookColours = Array.from({ length: lookCount }, (_, k) => k < namedLooks ? hexColour(distinct[k % distinct.length]) : [0, 0, 0]);
const isHatched = (look) => look >= distinct.length && look <= otherLook;
// White or black, whichever is read better on it.
function inkOn(colour) {
  const [r, g, b] = colour.map((c) => (c / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000" : "#fff";
}
const hatchColour = (colour) => inkOn(colour) === "#000" ? colour.map((c) => Math.round(0.55 * c)) : colour.map((c) => Math.round(c + 0.45 * (255 - c)));

const nameIndex = new Map();  // the first of equal texts, as in the columns
run.names.forEach((name, i) => nameIndex.has(name) || nameIndex.set(name, i));
const mainSlot = run.names.length + 1;
const nameLooks = new Uint8Array(run.names.length + 2).fill(otherLook);
figures.names.forEach((n, rank) => {
  if (rank < namedLooks) nameLooks[n.name === null ? run.names.length : nameIndex.get(n.name)] = rank;
});
nameLooks[mainSlot] = mainLook;
const otherNames = Math.max(0, figures.names.length - namedLooks);
const colourOf = (slot) => lookColours[nameLooks[slot]];

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
  lookColours[mainLook] = hexColour(get("--main"));
  lookColours[otherLook] = hexColour(get("--other"));
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
const whatPiecesShow = { all: 0, matching: 1, looks: 2 };  // channels of `drawnPieces`; of each look what matches,
const dimmedFrom = whatPiecesShow.looks + lookCount;           // and, if there is a filter, what does not
let drawnPieces = null, drawnSleeps = null;
let sums = null;                   // of one row, by pixel column: the channels of its pieces, and how long it slept
let used = null, matching = null;  // of all rows: what the curve shows

const channelCount = () => dimmedFrom + (state.dim ? lookCount : 0);

// Anew whenever the filter changes.
function weighPieces() {
  const { all, matching, looks } = whatPiecesShow;
  drawnPieces = new Coverage(pieces, channelCount(), (i, out) => {
    const slot = slotOf(pieces.task[i]), dimmed = state.dim !== null && state.dim[slot] === 1;
    out.fill(0);
    out[all] = 1;
    out[matching] = dimmed ? 0 : 1;
    out[(dimmed ? dimmedFrom : looks) + nameLooks[slot]] = 1;
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
  if (!used || used.length !== width || sums.pieces.length !== channelCount()) {
    const channels = (count) => Array.from({ length: count }, () => new Float64Array(width));
    sums = { pieces: channels(channelCount()), sleeps: channels(1) };
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
  pen.font = "11px system-ui, sans-serif";
  const step = axisStep(length);
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

// Between two lines there is room for a label.
function axisStep(length) {
  for (let wide = 110;; wide += 30) {
    const rough = length / Math.max(2, plotWidth() / wide), power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, [1, 2, 5, 10].find((k) => k * power >= rough) * power);
    const last = Math.floor((view.to - run.begin) / step) * step;
    if (wide > 400 || pen.measureText(axisLabel(last, step)).width + 10 < step / length * plotWidth()) return step;
  }
}

// Enough digits to tell a label from its neighbour, in the unit of the whole view.
function axisLabel(time, step) {
  return moment(time, step, view.to - run.begin);
}

let rowImage = null;
function drawRow(row, width) {
  const y = yAt(row);
  sumRow(row, width);
  if (y + layout.row < layout.top || y > layout.height) return;
  const height = layout.row - layout.gap, lines = Math.max(1, Math.round(height * (window.devicePixelRatio || 1)));
  if (!rowImage || rowImage.pixels.width !== width || rowImage.pixels.height !== lines) {
    rowImage = { surface: document.createElement("canvas"), pixels: new ImageData(width, lines) };
    rowImage.surface.width = width;
    rowImage.surface.height = lines;
    rowImage.pen = rowImage.surface.getContext("2d");
  }
  const looks = allLooks();
  for (let c = 0; c < width; ++c) paintColumn(c, looks, rowImage.pixels);
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

// What a column may show, from its top: what ran, by rank, then what the filter dims, then sleep; below is nothing.
function allLooks() {
  const all = [];
  for (let k = 0; k < channelCount() - whatPiecesShow.looks; ++k) {
    const look = k % lookCount, strength = k < lookCount ? 1 : dimmedStrength;
    const on = (colour) => colour.map((v, i) => Math.round(theme.row[i] + strength * (v - theme.row[i])));
    all.push({ share: sums.pieces[whatPiecesShow.looks + k], colour: on(lookColours[look]),
               hatch: isHatched(look) ? on(hatchColour(lookColours[look])) : null });
  }
  all.push({ share: sums.sleeps[0], colour: theme.asleep, hatch: null });
  return all;
}

// Stripes, as many pixels high as the share of the column says, and no colour that the legend has not. Where a share is no
// whole number of pixels, neighbouring columns round it up and down in turns, so that together they have it. Whatever
// ran is seen, if it was ever so short.
function paintColumn(c, looks, pixels) {
  const lines = pixels.height, turn = (c * 0.6180339887498949) % 1;
  let sum = 0, line = 0;
  for (let k = 0; k < looks.length; ++k) {
    sum += looks[k].share[c];
    const until = Math.min(lines, Math.floor(lines * sum + turn + 1e-6));
    for (; line < until; ++line) paintPixel(pixels, c, line, looks[k]);
    if (line === 0 && k === looks.length - 2 && sum > 0) {
      const largest = looks.slice(0, -1).reduce((a, b) => a.share[c] >= b.share[c] ? a : b);
      paintPixel(pixels, c, line++, largest);
    }
  }
  for (; line < lines; ++line) paintPixel(pixels, c, line, { colour: theme.row, hatch: null });
}

function paintPixel(pixels, c, line, look) {
  const colour = look.hatch !== null && (c + line) % 6 < 2 ? look.hatch : look.colour;
  const at = 4 * (line * pixels.width + c);
  pixels.data[at] = colour[0], pixels.data[at + 1] = colour[1], pixels.data[at + 2] = colour[2], pixels.data[at + 3] = 255;
}

function drawLabels(low, high, y, height) {
  for (let i = low; i < high; ++i) {
    const a = Math.max(layout.gutter, xAt(pieces.from[i])), b = Math.min(layout.width - layout.right, xAt(pieces.to[i]));
    if (b - a < 4) continue;
    pen.fillStyle = theme.panel;
    if (pieces.from[i] > view.from) pen.fillRect(a, y, 0.75, height);
    if (b - a < 26 || height < 12) continue;
    const dimmed = state.dim && state.dim[slotOf(pieces.task[i])];
    pen.fillStyle = dimmed ? theme.faint : inkOn(colourOf(slotOf(pieces.task[i])));
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
