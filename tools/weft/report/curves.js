// Quantities over time, beside how busy the workers are: tasks that are submitted and not done, and those of them that
// are ready and not begun. Sorted moments, so that a count at a time is two searches.

function sortedMoments(of) {
  const all = [];
  for (let t = 0; t < taskCount; ++t) {
    const time = of(t);
    if (time !== null) all.push(time);
  }
  return Float64Array.from(all).sort();
}

const lastPiece = (t) => laterPieces.has(t) ? laterPieces.get(t).at(-1) : firstPiece[t];

class Curve {
  constructor(name, colour, begins, ends) {
    this.name = name;
    this.colour = colour;
    this.begins = sortedMoments(begins);
    this.ends = sortedMoments(ends);
  }

  // How many have begun by then and not ended.
  at(time) {
    return search(this.begins, 0, this.begins.length, time, false) - search(this.ends, 0, this.ends.length, time, false);
  }
}

let curves = null;
function allCurves() {
  if (curves) return curves;
  const ran = (value) => (t) => firstPiece[t] < 0 ? null : value(t);
  curves = [
    new Curve("in flight", "before", (t) => tasks.submitted[t], ran((t) => pieces.to[lastPiece(t)])),
    new Curve("ready", "after", ran((t) => tasks.submitted[t] + tasks.data[t]), ran((t) => pieces.from[firstPiece[t]])),
  ];
  return curves;
}

// The two bounds of the run: no schedule with these workers is done before.
function bounds() {
  const all = figures.work_ns + figures.main_program_ns;
  return [{ name: "critical path", time: run.begin + figures.span_ns },
          { name: "all work", time: run.begin + all / Math.max(1, workerCount) }];
}

// Across the strip of the curves: what the workers do below is theirs alone.
function drawBounds() {
  pen.save();
  pen.setLineDash([5, 4]);
  pen.lineWidth = 1.5;
  pen.font = "11px system-ui, sans-serif";
  const all = [];
  for (const [i, { name, time }] of bounds().entries()) {
    const x = xAt(time);
    if (x < layout.gutter || x > layout.width - layout.right) continue;
    pen.strokeStyle = i === 0 ? theme.critical : theme.text;
    pen.beginPath();
    pen.moveTo(x, layout.curve + 17);  // above are the names of the curves
    pen.lineTo(x, layout.curve + layout.strip);  // the names of times are below
    pen.stroke();
    all.push({ name, x, wide: pen.measureText(name).width });
  }
  pen.setLineDash([]);
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  const lines = [...drawn.paths, ...all.map(({ x }) => [[x, layout.curve], [x, layout.curve + layout.strip]])];
  drawn.names = [...drawn.heads];
  for (const { name, x, wide } of all) {
    const box = freeBox(x, wide, lines, drawn.names);
    drawn.names.push(box);
    if (!box.isFree) {  // on a ground of its own
      pen.fillStyle = theme.panel;
      pen.fillRect(box.left - 2, box.top, wide + 4, box.bottom - box.top);
    }
    pen.fillStyle = name === "critical path" ? theme.critical : theme.text;
    pen.fillText(name, box.left, box.bottom - 3);
  }
  pen.restore();
}

// What was drawn last: the curves as points, the boxes of their heads, and of all names in the strip.
const drawn = { paths: [], heads: [], names: [] };

// Whether a line of straight pieces meets a box; the curves have a point a pixel.
function meets(path, box) {
  return path.some(([x, y], i) => {
    if (x < box.left - 1 || x > box.right + 1) return false;
    const before = i > 0 && path[i - 1][0] >= box.left - 1 ? path[i - 1][1] : y;
    return Math.min(y, before) <= box.bottom && Math.max(y, before) >= box.top;
  });
}

// A place for a name of that width beside the line at x: the nearest that is on no line and no name, if there is any.
function freeBox(x, wide, lines, names) {
  const left = layout.gutter + 2, right = layout.width - layout.right - 2;
  const boxes = [];
  for (let aside = 4; aside < 260; aside += 16)
    for (const from of [x + aside, x - aside - wide])
      for (let y = layout.curve + 27; y <= layout.curve + layout.strip - 1; y += 3)
        if (from >= left && from + wide <= right) boxes.push({ left: from, right: from + wide, top: y - 10, bottom: y });
  const overlaps = (a, b) => a.left < b.right + 2 && b.left < a.right + 2 && a.top < b.bottom && b.top < a.bottom;
  const clear = boxes.filter((b) => !names.some((n) => overlaps(n, b)));
  const best = clear.find((b) => !lines.some((l) => meets(l, b)));
  const otherwise = clear[0] || boxes[0] || { left, right: left + wide, top: layout.curve + 17, bottom: layout.curve + 27 };
  return { ...(best || otherwise), isFree: best !== undefined };
}

// Each in its own scale: the most that the view has is the top.
function drawQuantities(width) {
  const bottom = layout.curve + layout.strip - 2, height = layout.strip - 18;
  const step = (view.to - view.from) / width;
  let left = layout.gutter;
  pen.save();
  pen.lineWidth = 1.5;
  pen.font = "11px system-ui, sans-serif";
  pen.textAlign = "left";
  const room = layout.width - layout.right - layout.gutter;
  drawn.paths = [], drawn.heads = [];
  for (const curve of allCurves()) {
    const values = Array.from({ length: width }, (_, c) => curve.at(view.from + (c + 0.5) * step));
    const most = values.reduce((a, b) => Math.max(a, b), 1);
    pen.strokeStyle = pen.fillStyle = theme[curve.colour];
    const path = values.map((v, c) => [layout.gutter + c + 0.5, bottom - height * v / most]);
    drawn.paths.push(path);
    pen.beginPath();
    for (const [x, y] of path) pen.lineTo(x, y);
    pen.stroke();
    const text = (room < 420 ? `${curve.name} \u2264 ` : `tasks ${curve.name}: at most `) + most.toLocaleString("en");
    pen.fillText(text, left + 4, layout.curve + 9);
    const wide = pen.measureText(text).width;
    drawn.heads.push({ left: left + 4, right: left + 4 + wide, top: layout.curve + 2, bottom: layout.curve + 16 });
    left += wide + 14;
  }
  pen.restore();
}
