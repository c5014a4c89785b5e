// The mouse and the keys, and the start of the page.

let pointer = null;  // where it was last on the timeline

function hideTooltip() {
  pointer = null;
  byId("tooltip").hidden = true;
  if (state.hover >= 0) state.hover = -1, changed();
}

// The view has changed below the pointer: so has what it points at.
function hoverAgain() {
  if (pointer && !byId("tooltip").hidden) hover(pointer);
}

function hover(event) {
  const piece = pieceAt(event.offsetX, event.offsetY);
  if (piece < 0) return hideTooltip();
  pointer = { offsetX: event.offsetX, offsetY: event.offsetY, clientX: event.clientX, clientY: event.clientY };
  const task = pieces.task[piece], tooltip = byId("tooltip");
  if (state.hover !== task || tooltip.hidden) {
    state.hover = task;
    tooltip.replaceChildren(...taskTitle(task, 160), factList(task, false));
    tooltip.hidden = false;
    changed();
  }
  const box = tooltip.getBoundingClientRect(), away = 14;
  const right = event.clientX + away + box.width < window.innerWidth;
  const below = event.clientY + away + box.height < window.innerHeight;
  tooltip.style.left = Math.max(0, right ? event.clientX + away : event.clientX - away - box.width) + "px";
  tooltip.style.top = Math.max(0, below ? event.clientY + away : event.clientY - away - box.height) + "px";
}

function listenToMouse() {
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    if (event.shiftKey) hideTooltip();
    drag = { select: event.shiftKey ? timeAt(event.offsetX) : null, x: event.clientX, y: event.clientY, from: view.from, down: view.down, moved: false };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return hover(event);
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    if (!drag.moved) hideTooltip();
    drag.moved = true;
    if (drag.select !== null) return select(drag.select, timeAt(event.offsetX));
    canvas.classList.add("dragging");
    const length = view.to - view.from;
    setView(drag.from - dx / plotWidth() * length, drag.from - dx / plotWidth() * length + length);
    scrollDown(drag.down - dy - view.down);
  });
  const release = (event) => {
    canvas.classList.remove("dragging");
    if (drag && !drag.moved && event.type === "pointerup") {
      const piece = pieceAt(event.offsetX, event.offsetY);
      choose(piece < 0 ? -1 : pieces.task[piece], false);
    }
    drag = null;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", hideTooltip);
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey) return scrollDown((event.deltaY || event.deltaX) * lines);
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = event.deltaX * lines / plotWidth() * (view.to - view.from);
      return setView(view.from + by, view.to + by);
    }
    zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * lines * 0.002))), event.offsetX);
  }, { passive: false });
}

// The task next to the chosen one: along its worker by `along`, or at the same time `across` workers further.
function step(along, across) {
  const [mine] = state.chosen >= 0 && state.chosen < taskCount ? piecesOf(state.chosen) : [];
  let row = mine === undefined ? 0 : rowOf(mine);
  let i = mine === undefined ? visible(pieces, row)[0] - (along > 0 ? 1 : 0) : mine;
  for (let tries = 0; across !== 0 && tries < workerCount; ++tries) {
    row = (row + across + workerCount) % workerCount;
    const middle = mine === undefined ? (view.from + view.to) / 2 : pieces.from[mine];
    i = Math.min(search(pieces.to, pieces.first[row], pieces.first[row + 1], middle, false), pieces.first[row + 1] - 1);
    if (i >= pieces.first[row] && pieces.task[i] !== mainProgram) return choose(pieces.task[i], true);
  }
  for (i += along; along !== 0 && i >= pieces.first[row] && i < pieces.first[row + 1]; i += along)
    if (pieces.task[i] !== mainProgram) return choose(pieces.task[i], true);
}

function focusChosen() {
  const list = state.chosen >= 0 ? piecesOf(state.chosen) : [];
  if (list.length === 0) return;
  const from = pieces.from[list[0]], to = pieces.to[list.at(-1)], margin = Math.max((to - from) / 2, shortestView);
  setView(from - margin, to + margin);
}

function showHelp() {
  const help = byId("help");
  help.hidden = !help.hidden;
  byId("help-button").setAttribute("aria-expanded", String(!help.hidden));
}

const keys = {
  "+": () => zoom(1 / 1.5), "=": () => zoom(1 / 1.5), "-": () => zoom(1.5), "0": () => setView(whole.from, whole.to),
  Home: () => setView(whole.from, whole.from + view.to - view.from),
  End: () => setView(whole.to - (view.to - view.from), whole.to),
  ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2),
  ArrowUp: () => scrollDown(-layout.row), ArrowDown: () => scrollDown(layout.row),
  ".": () => step(1, 0), ",": () => step(-1, 0), "[": () => step(0, -1), "]": () => step(0, 1),
  f: focusChosen, c: () => setPath(!state.path), q: () => setCurves(!state.curves), "?": showHelp,
  s: () => select(view.from, view.to),
  "/": () => byId("filter").focus(),
  Escape: () => {
    if (!byId("help").hidden) return showHelp();
    setFilter(""), choose(-1, false), select(0, 0), hideTooltip();
  },
};

function move(share) {
  const by = share * (view.to - view.from);
  setView(view.from + by, view.to + by);
}

function setPath(on) {
  state.path = on;
  byId("path").checked = on;
  changed();
}

function setCurves(on) {
  state.curves = on;
  byId("curves").checked = on;
  resize();
  changed();
}

function listenToKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target instanceof HTMLInputElement && event.target.type === "search";
    if (typing && event.key !== "Escape") return;
    // Arrows, Home and End scroll the page unless the timeline has the focus.
    if (/^(Arrow|Home|End)/.test(event.key) && document.activeElement !== canvas) return;
    const action = Object.hasOwn(keys, event.key) ? keys[event.key] : null;
    if (!action) return;
    event.preventDefault();
    if (typing) canvas.focus();
    action();
  });
}

function listen() {
  listenToMouse();
  listenToKeys();
  byId("filter").addEventListener("input", (event) => setFilter(event.target.value));
  byId("path").addEventListener("change", (event) => setPath(event.target.checked));
  byId("curves").addEventListener("change", (event) => setCurves(event.target.checked));
  byId("sums").addEventListener("click", () => select(view.from, view.to));
  byId("zoom-in").addEventListener("click", () => zoom(1 / 2));
  byId("zoom-out").addEventListener("click", () => zoom(2));
  byId("zoom-all").addEventListener("click", () => setView(whole.from, whole.to));
  byId("help-button").addEventListener("click", showHelp);
  byId("theme").addEventListener("click", () => {
    state.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    applyTheme();
    fillLegend();
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { applyTheme(); fillLegend(); changed(); });
  window.addEventListener("hashchange", readAddress);
  window.addEventListener("resize", resize);
  for (const gone of ["scroll", "blur", "resize"]) window.addEventListener(gone, hideTooltip, { passive: true });
}

applyTheme();
fillHead();
fillTables();
fillLegend();
fillDetails();
listen();
resize();
readAddress();
document.documentElement.dataset.ready = "1";
