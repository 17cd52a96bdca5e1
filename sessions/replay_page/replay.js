"use strict";
// A recording, stepped through forwards and backwards. What is shown after each event comes as changes of keys' values,
// which are applied and taken back here; what they mean was decided when the page was made.

const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const ROWS_MAX = 100; // rows of partitions that are drawn
const OFFSETS_MAX = 200; // offsets of the tapes that are drawn
const EPOCHS = 6; // colours that epochs take in turn
const CHAIN_MAX = 8; // lines of a chain of causes
const ROW_HEIGHT = 26; // of an event, in pixels, as replay.css has it

let story = null;
let state = []; // the value of each key, at the cursor
let place = 0; // where the cursor is: after so many events
let times = []; // the time at each place
let selected = ""; // a partition
let shownEvents = []; // places of the events that the filter leaves
const placeOf = {}; // of a key, by its words
const history = new Map(); // of a partition: [place, state], .. from each place on

const read = (...key) => state[placeOf[key.join("\n")]] ?? null;
const seqAt = (at) => story.first_seq + at - 1;
const numberOf = (at) => `#${seqAt(at).toLocaleString("en-US")}`;

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// ---- moving

function apply(change) {
  const [key, ...rest] = change;
  const before = state[key];
  if (rest.length === 1) {
    change.undo = before;
    state[key] = rest[0];
    return;
  }
  const [front, back, added] = rest;
  change.undo = before;
  state[key] = [...before.slice(front, before.length - back), ...added];
}

function moveTo(target) {
  const wanted = Math.max(0, Math.min(story.changes.length - 1, target));
  while (place < wanted) story.changes[++place].forEach(apply);
  while (place > wanted) {
    const step = story.changes[place--];
    for (let at = step.length - 1; at >= 0; at--) state[step[at][0]] = step[at].undo;
  }
}

function placeAtTime(us) {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (times[middle] <= us) low = middle;
    else high = middle - 1;
  }
  return low;
}

function show(target) {
  moveTo(target);
  draw();
}

function stopAfter(direction) {
  if (direction > 0) return story.stops.find((stop) => stop > place) ?? story.changes.length - 1;
  return story.stops.findLast((stop) => stop < place) ?? 0;
}

// ---- the cluster

function drawTime() {
  byId("clock").textContent = `${clockText(times[place])}  ${place ? numberOf(place) : "before the first event"}`;
  const slider = byId("slider");
  slider.value = times[place];
  slider.setAttribute("aria-valuetext", byId("clock").textContent);
  byId("now").textContent = place ? eventText(place) : "";
  const verdict = byId("verdict");
  verdict.textContent = read("verdict") ?? "";
  verdict.classList.toggle("trouble", Boolean(read("trouble")));
  const controller = read("controller");
  const hosts = [];
  for (const [key, name] of [["controllers", "controller"], ["brokers", "broker"]])
    for (const [id, process] of read(key) ?? []) {
      const mark = controller === id ? " ★" : "";
      const word = process === "running" ? "" : ` ${process}`;
      hosts.push(make("span", { class: `host ${process === "running" ? "up" : "down"}` }, `${name} ${id}${mark}${word}`));
    }
  byId("brokers").replaceChildren(...hosts);
  const range = times[times.length - 1] - times[0] || 1;
  document.body.style.setProperty("--cursor", `${((times[place] - times[0]) / range) * 100}%`);
  byId("replay-command").textContent = place ? `${story.command} --paused --at '#${seqAt(place)}'` : story.command;
}

function eventText(at) {
  return `${story.words[story.events.words[at - 1]]} ${story.events.texts[at - 1]}`;
}

function strip(tp) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", "0 0 1000 10");
  drawing.setAttribute("preserveAspectRatio", "none");
  drawing.setAttribute("aria-hidden", "true");
  const begin = times[0];
  const range = times[times.length - 1] - begin || 1;
  const changes = history.get(tp);
  changes.forEach(([from, kind], index) => {
    if (kind === null) return;
    const to = index + 1 < changes.length ? changes[index + 1][0] : times.length - 1;
    const x = ((times[from] - begin) / range) * 1000;
    const rect = document.createElementNS(SVG, "rect");
    rect.setAttribute("class", `state-${kind}`);
    rect.setAttribute("x", x);
    rect.setAttribute("width", Math.max(2, ((times[to] - begin) / range) * 1000 - x));
    rect.setAttribute("height", 10);
    drawing.append(rect);
  });
  return drawing;
}

function rankOf(kind) {
  const rank = story.states.findIndex(([name]) => name === kind);
  return rank < 0 ? story.states.length : rank;
}

// Those that were worst at any time come first, so that rows stay where they are while time moves; internal topics last.
function partitionsInOrder() {
  const collator = new Intl.Collator("en", { numeric: true });
  return [...history.keys()]
    .map((tp) => [Math.min(...history.get(tp).map(([, kind]) => rankOf(kind))), Number(tp.startsWith("__")), tp])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1] || collator.compare(a[2], b[2]))
    .map(([, , tp]) => tp);
}

// The one that is worst at the cursor.
function worstPartition() {
  const rank = (tp) => rankOf(read("partition", tp)?.[0]);
  return partitionsInOrder().reduce((worst, tp) => (rank(tp) < rank(worst) ? tp : worst));
}

let rows = new Map(); // of a partition: its row

function buildPartitions() {
  const titles = story.columns.filter(Boolean);
  const heading = ["PARTITION", "OVER TIME", ...titles].map((title) => make("th", { scope: "col" }, title));
  byId("partitions").tHead.replaceChildren(make("tr", {}, ...heading));
  const words = byId("partition-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = partitionsInOrder().filter((tp) => words.every((word) => tp.toLowerCase().includes(word)));
  rows = new Map();
  for (const tp of chosen.slice(0, ROWS_MAX)) {
    const button = make("button", { type: "button", class: "name", "aria-pressed": "false" }, tp);
    button.addEventListener("click", () => { selected = tp; draw(); });
    const row = make("tr", {}, make("th", { scope: "row" }, button), make("td", { class: "strip" }, strip(tp)));
    row.append(...titles.map(() => make("td")));
    rows.set(tp, row);
  }
  byId("partitions").tBodies[0].replaceChildren(...rows.values());
  const left = chosen.length - rows.size;
  const legend = [];
  const seen = new Set([...history.values()].flat().map(([, kind]) => kind));
  for (const [name, label, meaning] of story.states)
    if (seen.has(name)) legend.push(make("span", {}, make("i", { class: `key state-${name}` }), `${label}: ${meaning}`));
  byId("legend").replaceChildren(...legend, left ? `and ${left.toLocaleString("en-US")} more partitions: filter them` : "");
}

function drawPartitions() {
  const labels = Object.fromEntries(story.states.map(([name, label]) => [name, label]));
  for (const [tp, row] of rows) {
    const values = read("partition", tp);
    row.classList.toggle("absent", values === null);
    row.cells[0].firstChild.setAttribute("aria-pressed", String(tp === selected));
    let cell = 2;
    story.columns.forEach((title, index) => {
      if (!title) return;
      const value = values === null ? "" : String(index ? values[index] : labels[values[0]]);
      row.cells[cell].className = index === 0 && values ? `word state-${values[0]}` : "";
      row.cells[cell++].textContent = value;
    });
  }
}

// ---- one partition

function valueOf(record) {
  const batches = story.batches;
  let low = 0;
  let high = batches.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first, values] = batches[middle];
    if (record < first) high = middle - 1;
    else if (record >= first + values.length) low = middle + 1;
    else return values[record - first];
  }
  return `#${record}`;
}

function drawSelected() {
  const row = read("partition", selected);
  const label = row ? story.states.find(([name]) => name === row[0])[1] : "not there";
  byId("selected").textContent = selected ? `${selected}: ${label}` : "No partition";
  const [sentence, links] = read("why", selected) ?? ["", []];
  byId("why").textContent = sentence;
  drawChain(byId("why-chain"), links);
  drawTapes();
}

function drawTapes() {
  const order = read("tapes", selected) ?? [];
  const replicas = order.map((broker) => [broker, read("replica", selected, broker), read("log", selected, broker) ?? []]);
  const held = replicas.filter(([, replica]) => replica);
  const end = Math.max(0, ...held.map(([, replica]) => replica[3]));
  const start = Math.max(end - OFFSETS_MAX, Math.min(end, ...held.map(([, replica]) => replica[4])));
  const leader = held.find(([, replica]) => replica[1] === "leader");
  const heading = make("tr", {}, ...["BROKER", "HW", "LEO"].map((title) => make("th", { scope: "col" }, title)));
  for (let offset = start; offset < end; offset++)
    heading.append(make("td", { class: "offset" }, offset % 5 === 0 ? String(offset) : ""));
  const lines = [make("thead", {}, heading)];
  const body = make("tbody");
  for (const [broker, replica, log] of replicas) body.append(tape(broker, replica, log, start, end, leader));
  lines.push(body);
  byId("tapes").replaceChildren(...lines);
  const scrolled = byId("tapes").parentElement;
  scrolled.scrollLeft = scrolled.scrollWidth;
  byId("tape-legend").textContent = held.length && end
    ? "Each cell is a record, with the leader epoch that it carries. Thick line: the replica's own high watermark; broken line: the " +
      "leader's. Pale: not committed as far as the replica knows. Crossed out: another record than the leader's at this offset."
    : "";
}

function tape(broker, replica, log, start, end, leader) {
  const line = make("tr");
  const head = make("th", { scope: "row" }, `${broker} ${replica ? replica[0] : "no log"}`);
  line.append(head);
  if (!replica) return line;
  const [role, where, watermark, logEnd, , foreign] = replica;
  line.classList.toggle("down", role === "offline");
  if (where && where !== role) head.append(` ${where}`);
  line.append(make("td", {}, watermark.toLocaleString("en-US")), make("td", {}, logEnd.toLocaleString("en-US")));
  const others = new Set(foreign);
  const cells = new Map();
  for (const [base, count, epoch, first] of log)
    for (let offset = Math.max(base, start); offset < Math.min(base + count, end); offset++)
      cells.set(offset, [epoch, first + offset - base]);
  const leaderWatermark = leader ? leader[1][2] : -1;
  for (let offset = start; offset < end; offset++) {
    const classes = ["cell"];
    if (offset === watermark - 1) classes.push("hw");
    else if (offset === leaderWatermark - 1) classes.push("leader-hw");
    const record = cells.get(offset);
    if (!record) {
      line.append(make("td", { class: classes.join(" ") }, offset < logEnd ? "" : "·"));
      continue;
    }
    classes.push(`epoch${Math.max(0, record[0]) % EPOCHS}`);
    if (offset >= watermark) classes.push("pending");
    if (others.has(offset)) classes.push("foreign");
    const text = record[0] < 0 ? "■" : String(record[0]);
    const told = `offset ${offset}, epoch ${record[0] < 0 ? "none" : record[0]}: ${valueOf(record[1])}`;
    line.append(make("td", { class: classes.join(" "), title: told }, text));
  }
  return line;
}

// ---- events

function eventButton(at) {
  const level = story.events.levels[at - 1];
  const button = make("button", { type: "button", class: `event-row level${level}`, title: eventText(at) });
  button.append(
    make("span", { class: "number" }, numberOf(at)), make("span", { class: "when" }, clockText(times[at])),
    make("b", {}, story.words[story.events.words[at - 1]]), make("span", { class: "what" }, story.events.texts[at - 1]),
  );
  button.addEventListener("click", () => show(at));
  return button;
}

// A chain of causes, the root first; a link is the number of an event, or words about events that are left out.
function drawChain(list, links) {
  list.replaceChildren(...links.map((link) => {
    const at = typeof link === "number" ? link - story.first_seq + 1 : 0;
    if (at > 0) return make("li", {}, eventButton(at));
    return make("li", {}, typeof link === "number" ? `#${link.toLocaleString("en-US")} (not in this page)` : link);
  }));
}

function drawCauses() {
  const links = [];
  for (let at = place; at > 0; ) {
    links.unshift(seqAt(at));
    const back = story.events.causes[at - 1];
    if (!back) break;
    at -= back;
    if (at <= 0) links.unshift(seqAt(at));
  }
  const hidden = links.length - CHAIN_MAX;
  if (hidden > 1) links.splice(1, hidden + 1, `${hidden + 1} more events`);
  drawChain(byId("causes"), links);
}

function filterEvents() {
  const words = byId("event-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const traffic = byId("traffic").checked;
  shownEvents = [];
  for (let at = 1; at < story.changes.length; at++) {
    if (!traffic && story.events.levels[at - 1] === 0) continue;
    const text = words.length ? `${numberOf(at)} ${eventText(at)}`.toLowerCase() : "";
    if (words.every((word) => text.includes(word))) shownEvents.push(at);
  }
  byId("rows").style.height = `${shownEvents.length * ROW_HEIGHT}px`;
}

// The row of the last event at or before the cursor that the filter leaves.
function currentRow() {
  let low = 0;
  let high = shownEvents.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (shownEvents[middle] <= place) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function drawRows() {
  const list = byId("events");
  const from = Math.max(0, Math.floor(list.scrollTop / ROW_HEIGHT) - 4);
  const to = Math.min(shownEvents.length, from + Math.ceil(list.clientHeight / ROW_HEIGHT) + 8);
  const current = currentRow();
  const made = [];
  for (let row = from; row < to; row++) {
    const button = eventButton(shownEvents[row]);
    button.style.top = `${row * ROW_HEIGHT}px`;
    if (row === current) button.setAttribute("aria-current", shownEvents[row] === place ? "true" : "time");
    made.push(button);
  }
  byId("rows").replaceChildren(...made);
}

function drawEvents() {
  const list = byId("events");
  const top = currentRow() * ROW_HEIGHT;
  if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 2 * ROW_HEIGHT)
    list.scrollTop = top - list.clientHeight / 2;
  drawRows();
  drawCauses();
}

function draw() {
  drawTime();
  drawPartitions();
  drawSelected();
  drawEvents();
  window.history.replaceState(null, "", `#${place ? seqAt(place) : 0}`);
}

// ---- the beginning

function remember() {
  story.keys.forEach((key, index) => { placeOf[key.join("\n")] = index; });
  times = [story.begins_us];
  for (const step of story.events.times) times.push(times[times.length - 1] + step);
  place = -1;
  story.changes.forEach((step, at) => {
    moveTo(at);
    for (const [key] of step) {
      const [kind, tp] = story.keys[key];
      if (kind !== "partition") continue;
      const found = history.get(tp) ?? [];
      const now = state[key] === null ? null : state[key][0];
      if (!found.length || found[found.length - 1][1] !== now) found.push([at, now]);
      history.set(tp, found);
    }
  });
}

function addTicks() {
  const begin = times[0];
  const range = times[times.length - 1] - begin || 1;
  const statements = story.words.indexOf("INPUT");
  story.events.words.forEach((word, index) => {
    if (word !== statements) return;
    const tick = make("i", { title: story.events.texts[index] });
    tick.style.left = `${((times[index + 1] - begin) / range) * 100}%`;
    byId("ticks").append(tick);
  });
}

function fromAddress() {
  const seq = /^#(\d+)$/.exec(location.hash);
  return seq ? Number(seq[1]) - story.first_seq + 1 : null;
}

const MOVES = {
  ArrowLeft: () => place - 1,
  ArrowRight: () => place + 1,
  PageUp: () => stopAfter(-1),
  PageDown: () => stopAfter(1),
  Home: () => 0,
  End: () => story.changes.length - 1,
};

function listen() {
  for (const [id, key] of [
    ["previous-stop", "PageUp"], ["previous-event", "ArrowLeft"], ["next-event", "ArrowRight"], ["next-stop", "PageDown"],
  ]) byId(id).addEventListener("click", () => show(MOVES[key]()));
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input[type=search]");
    if (!(event.key in MOVES) || typing || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    show(MOVES[event.key]());
  });
  byId("slider").addEventListener("input", () => show(placeAtTime(Number(byId("slider").value))));
  byId("partition-filter").addEventListener("input", () => { buildPartitions(); drawPartitions(); });
  for (const id of ["event-filter", "traffic"]) byId(id).addEventListener("input", () => { filterEvents(); drawEvents(); });
  byId("events").addEventListener("scroll", drawRows);
  window.addEventListener("hashchange", () => { const at = fromAddress(); if (at !== null && at !== place) show(at); });
}

async function begin() {
  story = await unpacked(byId("recording").textContent);
  remember();
  const slider = byId("slider");
  slider.min = times[0];
  slider.max = times[times.length - 1];
  addTicks();
  moveTo(fromAddress() ?? story.opens_at);
  selected = history.size ? worstPartition() : "";
  for (const id of ["controls", "main"]) byId(id).hidden = false;
  buildPartitions();
  filterEvents();
  listen();
  draw();
}

begin().catch((error) => {
  byId("trouble").textContent = `The recording cannot be shown (${error.message}): a browser of 2023 or newer is needed.`;
  byId("trouble").hidden = false;
});
