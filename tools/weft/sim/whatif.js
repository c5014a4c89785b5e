// The page of weft whatif. One curve a series (machine, policy, creation, grain, team), one point a row; both charts and the
// table choose the same row, and the tip has the values of all curves at its number of workers.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const rows = data.rows;
const varied = ['machine', 'policy', 'creation', 'grain', 'team'].filter(
  (key) => new Set(rows.map((r) => r[key])).size > 1);
// Colours that can be told apart without red, green or blue, too; and each has a mark of its own. When they are used up
// the lines are dashed, then dotted.
const palette = [[0, 30, 255], [239, 65, 147], [26, 127, 48], [174, 161, 8], [165, 80, 232], [114, 255, 140],
                 [244, 144, 255], [135, 23, 144]];
const marks = ['circle', 'square', 'triangle', 'diamond'];
const dashes = [{ line: [], border: 'solid' }, { line: [8, 4], border: 'dashed' }, { line: [2, 3], border: 'dotted' }];
const state = {chosen: null, hidden: new Set()};

function element(tag, text, className) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  return e;
}

function duration(ns) {
  const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']];
  const [size, unit] = units.find(([s]) => Math.abs(ns) >= s) || units[3];
  return `${(ns / size).toPrecision(3)} ${unit}`;
}

const keyOf = (r) => varied.map((k) => r[k]).join(', ') || 'this run';
const series = [];
for (const r of rows) {
  let s = series.find((x) => x.name === keyOf(r));
  if (!s) {
    const round = Math.floor(series.length / palette.length) % dashes.length;
    series.push(s = {name: keyOf(r), rows: [], colour: palette[series.length % palette.length], dash: dashes[round],
                    mark: marks[series.length % marks.length]});
  }
  s.rows.push(r);
}
for (const s of series) s.rows.sort((a, b) => a.workers - b.workers);
const shown = () => series.filter((s) => !state.hidden.has(s.name));

function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

const boundNames = ['critical path', 'creation'];
// The speed-ups that these would leave.
const boundsOf = (r) => boundNames.filter((n) => r.bounds_ns[n] > 0).map((n) => [n, r.speedup * r.makespan_ns / r.bounds_ns[n]]);

const edge = 10; // of a chart, for the marks there

const overlap = (a, b, by) => a.left < b.right + by && b.left < a.right + by && a.top < b.bottom + by && b.top < a.bottom + by;

// Whether a line of straight pieces comes within `by` of a box: a piece is cut where it enters and leaves (Liang, Barsky).
function crosses(path, box, by) {
  const inside = ([x1, y1], [x2, y2]) => {
    let from = 0, to = 1;
    for (const [d, room] of [[x1 - x2, x1 - box.left + by], [x2 - x1, box.right + by - x1], [y1 - y2, y1 - box.top + by],
                             [y2 - y1, box.bottom + by - y1]]) {
      if (d === 0 && room < 0) return false;
      if (d < 0) from = Math.max(from, room / d);
      if (d > 0) to = Math.min(to, room / d);
    }
    return from <= to;
  };
  if (path.length === 1) return inside(path[0], path[0]);
  return path.some((p, i) => i > 0 && inside(path[i - 1], p));
}

// A chart knows how to come from a row to a place on its canvas, and draws.
class Chart {
  constructor(id, value, ideal) {
    this.canvas = document.getElementById(id);
    this.value = value;
    this.ideal = ideal;
    this.canvas.addEventListener('pointermove', (e) => choose(this.near(e.offsetX, e.offsetY), e));
    this.canvas.addEventListener('pointerdown', (e) => choose(this.near(e.offsetX, e.offsetY), e));
    this.canvas.addEventListener('pointerleave', () => choose(null));
    this.canvas.addEventListener('keydown', (e) => {
      const all = shown().flatMap((s) => s.rows);
      const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
      if (!step || !all.length) return;
      choose(all[(all.indexOf(state.chosen) + step + all.length) % all.length]);
      e.preventDefault();
    });
  }

  range() {
    const workers = rows.map((r) => r.workers);
    this.low = Math.min(...workers);
    this.high = Math.max(...workers, this.low + 1);
    // What the bounds leave is of use as far as it is near.
    const most = Math.max(...rows.map(this.value), this.ideal ? 0 : 1);
    const near = this.ideal ? rows.flatMap((r) => boundsOf(r).map(([, v]) => v)).filter((v) => v <= 1.5 * most) : [];
    this.top = Math.max(most, ...near) * 1.08 || 1;
  }

  // Where curves are: marks at its edges are whole.
  plot() {
    return {left: 48, right: this.width - 8, top: this.y(this.top), bottom: this.y(0) + 8};
  }

  x(workers) {
    const share = Math.log(workers / this.low) / Math.log(this.high / this.low);
    return 48 + edge + share * (this.width - 64 - edge);
  }

  y(value) { return this.height - 34 - value / this.top * (this.height - 48); }

  near(x, y) {
    // The nearest number of workers first, so that there are values wherever one points.
    let best = null, distance = Infinity;
    for (const r of shown().flatMap((s) => s.rows)) {
      const d = 1000 * Math.abs(this.x(r.workers) - x) + Math.abs(this.y(this.value(r)) - y);
      if (d < distance) [best, distance] = [r, d];
    }
    return best;
  }

  draw() {
    const scale = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = this.width * scale;
    this.canvas.height = this.height * scale;
    this.range();
    const c = this.canvas.getContext('2d');
    c.scale(scale, scale);
    c.font = '12px system-ui, sans-serif';
    this.axes(c);
    if (state.chosen) {
      c.strokeStyle = css('--faint');
      this.segment(c, this.x(state.chosen.workers), this.y(this.top), this.x(state.chosen.workers), this.y(0));
    }
    c.save();
    c.beginPath();
    const {left, right, top, bottom} = this.plot();
    c.rect(left, top, right - left, bottom - top);
    c.clip();
    if (this.ideal) this.limits(c);
    for (const s of shown()) this.curve(c, s);
    c.restore();
    if (this.ideal) this.names(c);
  }

  // What no schedule can exceed, for the series of the chosen row, else the first: as many times faster as there are
  // workers, to the end of the chart, and what the critical path and the main program leave.
  limits(c) {
    this.line(c, this.sampled((w) => w), css('--ideal'), [4, 4]);
    for (const { points, colour } of this.bounds()) this.line(c, points, colour, [2, 4]);
  }

  sampled(value) {
    return Array.from({length: 65}, (_, i) => this.low * (this.high / this.low) ** (i / 64)).map((w) => [w, value(w)]);
  }

  bounds() {
    const of = series.find((s) => s.rows.includes(state.chosen)) || shown()[0];
    if (!of) return [];
    return boundNames.map((name) => ({name, colour: `rgb(${of.colour})`, points: of.rows.flatMap(
      (r) => boundsOf(r).filter(([n]) => n === name).map(([, v]) => [r.workers, v]))})).filter((b) => b.points.length > 0);
  }

  // All lines as they are drawn, in pixels.
  lines() {
    const path = (points) => points.map(([w, v]) => [this.x(w), this.y(v)]);
    return [path(this.sampled((w) => w)), ...this.bounds().map((b) => path(b.points)),
            ...shown().map((s) => path(s.rows.map((r) => [r.workers, this.value(r)])))];
  }

  // Where a line ends, or leaves the chart at its top.
  end(points) {
    const path = points.map(([w, v]) => [this.x(w), this.y(v)]), {top} = this.plot();
    const last = path.findLastIndex(([, y]) => y >= top);
    if (last < 0 || last === path.length - 1) return path.at(last);
    const [[x1, y1], [x2, y2]] = [path[last], path[last + 1]], share = (y1 - top) / (y1 - y2);
    return [x1 + share * (x2 - x1), top];
  }

  // Beside the end of its line, but on no line and no other name: the nearest place that is free.
  names(c) {
    const {left, right, top, bottom} = this.plot(), lines = this.lines();
    this.written = [];
    const write = (text, points, colour) => {
      if (!points.some(([, v]) => v <= this.top)) return;
      const [x, y] = this.end(points), wide = c.measureText(text).width;
      const places = [];
      for (let down = -bottom; down <= bottom; down += 3)
        for (const aside of [-wide - 6, 6, -wide - 40, 40, -wide / 2, -wide - 90, 90]) {
          const at = Math.min(Math.max(x + aside, left + 2), right - 10 - wide);
          const box = {left: at, right: at + wide, top: y + down - 10, bottom: y + down + 3, y: y + down};
          if (box.top >= top && box.bottom <= bottom - 8) places.push([Math.abs(down) + Math.abs(at + wide / 2 - x) / 3, box]);
        }
      places.sort(([a], [b]) => a - b);
      const free = (b) => !this.written.some((o) => overlap(o, b, 2)) && !lines.some((l) => crosses(l, b, 4));
      const box = (places.find(([, b]) => free(b)) || places.find(([, b]) => !this.written.some((o) => overlap(o, b, 0))) ||
                   places[0] || [])[1];
      if (!box) return;
      this.written.push(box);
      c.textAlign = 'left';
      c.fillStyle = colour;
      c.fillText(text, box.left, box.y);
    };
    write('ideal', this.sampled((w) => w), css('--faint'));
    for (const { name, points, colour } of this.bounds()) write(name, points, colour);
  }

  axes(c) {
    c.strokeStyle = css('--grid');
    c.fillStyle = css('--faint');
    c.lineWidth = 1;
    const power = 10 ** Math.floor(Math.log10(this.top / 2));
    const step = [1, 2, 5].map((f) => f * power).find((s) => this.top / s <= 6) || 10 * power;
    c.textAlign = 'right';
    for (let v = 0; v <= this.top; v += step) {
      this.segment(c, 48, this.y(v), this.width - 8, this.y(v));
      c.fillText(String(Math.round(v * 1000) / 1000), 42, this.y(v) + 4);
    }
    c.textAlign = 'center';
    let last = -100;
    for (const w of [...new Set(rows.map((r) => r.workers))].sort((a, b) => a - b)) {
      if (this.x(w) - last < 26) continue;
      last = this.x(w);
      c.fillText(String(w), last, this.height - 16);
    }
    c.fillText('workers', this.width / 2, this.height - 2);
  }

  segment(c, x1, y1, x2, y2) {
    c.beginPath();
    c.moveTo(x1, y1);
    c.lineTo(x2, y2);
    c.stroke();
  }

  line(c, points, colour, dash) {
    c.strokeStyle = colour;
    c.lineWidth = 2;
    c.setLineDash(dash || []);
    c.beginPath();
    points.forEach(([w, v], i) => c[i ? 'lineTo' : 'moveTo'](this.x(w), this.y(v)));
    c.stroke();
    c.setLineDash([]);
  }

  curve(c, s) {
    const colour = `rgb(${s.colour})`;
    this.line(c, s.rows.map((r) => [r.workers, this.value(r)]), colour, s.dash.line);
    for (const r of s.rows) {
      c.fillStyle = colour;
      this.mark(c, s.mark, this.x(r.workers), this.y(this.value(r)), r === state.chosen ? 7 : 4);
    }
  }

  mark(c, kind, x, y, size) {
    const corners = {square: [[-1, -1], [1, -1], [1, 1], [-1, 1]], triangle: [[0, -1.3], [1.2, 1], [-1.2, 1]],
                     diamond: [[0, -1.4], [1.4, 0], [0, 1.4], [-1.4, 0]]}[kind];
    c.beginPath();
    if (corners) corners.forEach(([dx, dy], i) => c[i ? 'lineTo' : 'moveTo'](x + size * dx, y + size * dy));
    else c.arc(x, y, size, 0, 7);
    c.fill();
  }
}

const charts = [new Chart('speedup', (r) => r.speedup, true), new Chart('efficiency', (r) => r.efficiency, false)];
const drawAll = () => charts.forEach((c) => c.draw());

function choose(row, event) {
  if (row !== state.chosen) {
    state.chosen = row;
    drawAll();
    for (const tr of document.querySelectorAll('#table tbody tr')) tr.className = rows[tr.dataset.row] === row ? 'chosen' : '';
  }
  const tip = document.getElementById('tip');
  tip.hidden = row === null;
  if (row === null) return;
  tip.replaceChildren(element('strong', `${keyOf(row)}: ${row.workers} workers, ${duration(row.makespan_ns)}, speed-up ` +
    `${row.speedup.toPrecision(3)}, efficiency ${Math.round(100 * row.efficiency)} %; ${row.binds} binds`));
  const others = shown().flatMap((s) => s.rows.filter((r) => r.workers === row.workers && r !== row).map((r) => [s, r]));
  others.sort(([, a], [, b]) => a.makespan_ns - b.makespan_ns);
  for (const [s, r] of others.slice(0, 12)) {
    const line = element('div');
    line.append(patch(s), `${s.name}: ${duration(r.makespan_ns)}, ${r.speedup.toPrecision(3)}`);
    tip.append(line);
  }
  const at = event ? [event.clientX, event.clientY]
    : [charts[0].canvas.getBoundingClientRect().x + charts[0].x(row.workers),
       charts[0].canvas.getBoundingClientRect().y + charts[0].y(row.speedup)];
  tip.style.left = `${Math.max(4, Math.min(at[0] + 14, window.innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(4, Math.min(at[1] + 14, window.innerHeight - tip.offsetHeight - 8))}px`;
}

function patch(s) {
  const line = element('span', undefined, 'patch');
  line.style.borderTop = `4px ${s.dash.border} rgb(${s.colour})`;
  line.dataset.mark = s.mark;
  line.style.color = `rgb(${s.colour})`;
  line.append({circle: '\u25cf', square: '\u25a0', triangle: '\u25b2', diamond: '\u25c6'}[s.mark]);
  return line;
}

function fillTable() {
  const columns = [...varied.map((k) => [k, (r) => r[k], true]), ['workers', (r) => r.workers],
                   ['makespan', (r) => duration(r.makespan_ns)], ['speed-up', (r) => r.speedup.toPrecision(3)],
                   ['efficiency', (r) => `${Math.round(100 * r.efficiency)} %`],
                   ['utilisation', (r) => `${Math.round(100 * r.utilisation)} %`], ['binds', (r) => r.binds, true]];
  const table = document.getElementById('table');
  const head = table.createTHead().insertRow();
  for (const [title, , word] of columns) head.append(element('th', title, word ? 'word' : ''));
  const body = table.createTBody();
  rows.forEach((r, i) => {
    const tr = body.insertRow();
    tr.dataset.row = i;
    for (const [, value, word] of columns) tr.append(element('td', String(value(r)), word ? 'word' : ''));
    tr.addEventListener('mouseenter', () => choose(r));
    tr.addEventListener('mouseleave', () => choose(null));
  });
}

function fillLegend() {
  const legend = document.getElementById('legend');
  legend.hidden = series.length < 2;
  for (const s of series) {
    const b = element('button');
    b.type = 'button';
    b.setAttribute('aria-pressed', 'true');
    b.append(patch(s), s.name);
    b.addEventListener('click', () => {
      state.hidden.has(s.name) ? state.hidden.delete(s.name) : state.hidden.add(s.name);
      b.setAttribute('aria-pressed', String(!state.hidden.has(s.name)));
      if (state.chosen && !shown().some((x) => x.rows.includes(state.chosen))) choose(null);
      drawAll();
    });
    legend.append(b);
  }
}

function fillWords() {
  document.getElementById('target').textContent = data.target;
  document.title = `weft whatif: ${data.target}`;
  const fixed = ['machine', 'policy', 'creation', 'grain', 'team'].filter((k) => !varied.includes(k));
  document.getElementById('setting').textContent = fixed.map((k) => `${k} ${rows[0][k]}`).join(', ');
  const advice = document.getElementById('advice');
  advice.hidden = !data.advice.length && !data.fidelity;
  const list = element('ul');
  for (const a of data.advice) list.append(element('li', a.text));
  advice.append(element('h2', 'What binds, and what to do'));
  if (data.fidelity) advice.append(element('p', data.fidelity.text));
  advice.append(list);
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  drawAll();
}

fillWords();
fillLegend();
fillTable();
const dark = window.matchMedia('(prefers-color-scheme: dark)');
setTheme(new URLSearchParams(location.hash.slice(1)).get('theme') || (dark.matches ? 'dark' : 'light'));
document.getElementById('theme').addEventListener(
  'click', () => setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
window.addEventListener('resize', () => { choose(null); drawAll(); });
// The tip stays where it is while the page moves below it: then it would be of something else.
for (const gone of ['scroll', 'blur']) window.addEventListener(gone, () => choose(null), {passive: true});
for (const {canvas} of charts) canvas.addEventListener('blur', () => choose(null));
document.addEventListener('keydown', (e) => { if (e.key === 'Escape') choose(null); });
document.documentElement.dataset.ready = '1';
