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
  for (const [i, { name, time }] of bounds().entries()) {
    const x = xAt(time);
    if (x < layout.gutter || x > layout.width - layout.right) continue;
    pen.strokeStyle = pen.fillStyle = i === 0 ? theme.critical : theme.text;
    pen.beginPath();
    pen.moveTo(x, layout.curve + 2);
    pen.lineTo(x, layout.top);
    pen.stroke();
    pen.textAlign = x > layout.width - 120 ? "right" : "left";
    pen.fillText(name, x + (pen.textAlign === "right" ? -4 : 4), layout.curve + 20 + 12 * i);
  }
  pen.restore();
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
  for (const curve of allCurves()) {
    const values = Float64Array.from({ length: width }, (_, c) => curve.at(view.from + (c + 0.5) * step));
    const most = values.reduce((a, b) => Math.max(a, b), 1);
    pen.strokeStyle = pen.fillStyle = theme[curve.colour];
    pen.beginPath();
    values.forEach((v, c) => pen.lineTo(layout.gutter + c + 0.5, bottom - height * v / most));
    pen.stroke();
    const text = (room < 420 ? `${curve.name} \u2264 ` : `tasks ${curve.name}: at most `) + most.toLocaleString("en");
    pen.fillText(text, left + 4, layout.curve + 9);
    left += pen.measureText(text).width + 14;
  }
  pen.restore();
}
