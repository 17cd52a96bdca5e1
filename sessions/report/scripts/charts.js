"use strict";
// Charts: drawn by uPlot from the data in their figures, and moved through by pointer and keyboard.
// A chart is a slider for assistive technology: its value is a step, told in words.

const HEIGHT = 220;
const STEPS_A_PAGE = 10;
const CLICK_MAX = 4; // pixels; further is a drag
const ZOOM = 2;
const LEAST = 4; // pixels: the least height and width of what is above 0
const TIME_STEPS = [];
for (let unit = 1; unit < 1e6; unit *= 10) TIME_STEPS.push(unit, 2 * unit, 5 * unit);
for (const seconds of [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800]) TIME_STEPS.push(seconds * US.s);
for (const hours of [1, 2, 3, 6, 12, 24, 48, 120, 240, 480, 1200, 2400, 24000, 240000]) TIME_STEPS.push(hours * US.h);

const LATENCY_MARKS = [0];
for (let unit = 1; unit < 1e6; unit *= 10) LATENCY_MARKS.push(unit, 2 * unit, 5 * unit);
for (const seconds of [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 3600, 7200, 18000, 36000, 86400])
  LATENCY_MARKS.push(seconds * US.s);

// Latencies are drawn by their logarithm; 0 has a place of its own at the left.
const AXES = {
  time: {
    title: "virtual time since the session began",
    place: (us) => us,
    time: (place) => place,
    axis: { incrs: TIME_STEPS, space: 84, values: (u, marks) => marks.map(clockText) },
    text: clockText,
  },
  latency: {
    title: "time that a record took (logarithmic)",
    place: (us) => Math.log2(Math.max(us, 0.5)),
    time: (place) => 2 ** place,
    text: timeText,
    axis: {
      splits: (u, _axis, from, to) => {
        const room = (84 / u.bbox.width) * devicePixelRatio * (to - from);
        let last = -Infinity;
        return LATENCY_MARKS.map(AXES.latency.place).filter((place) => {
          const kept = place >= from && place <= to && place - last >= room;
          if (kept) last = place;
          return kept;
        });
      },
      values: (u, marks) => marks.map((place) => (place < 0 ? "0" : timeText(Math.round(2 ** place)))),
    },
  },
};
const DASHES = { under_min_isr: [8, 4], under_replicated: [2, 3], mean: [6, 3] };

function niceCeiling(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 3, 4, 5, 6, 8, 10].map((factor) => factor * power).find((each) => each >= value);
}

// A stretch of time in numbers that are short to read, to about a hundredth of it.
function roundedRange([from, to]) {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10((to - from) / 100)));
  const [first, last] = [Math.round(from / unit) * unit, Math.round(to / unit) * unit];
  return last > first ? [first, last] : [first, first + unit];
}

class StepChart {
  constructor(figure) {
    this.figure = figure;
    this.data = JSON.parse(figure.querySelector("script").textContent);
    this.axis = AXES[this.data.axis];
    this.host = figure.querySelector(".plot");
    this.places = [...this.data.begins, this.data.end].map(this.axis.place);
    this.whole = [this.places[0], this.places.at(-1)];
    if (this.data.axis === "time") this.whole[0] = 0;
    this.at = this.worst();
    this.swatches = new Map(
      [...figure.querySelectorAll("[data-kind]")].map((entry) => [entry.dataset.kind, entry.querySelector(".key")]),
    );
    this.readout = make("p", { class: "readout", "aria-hidden": "true" });
    this.makeTools();
    this.makeTable();
    this.plot = new uPlot(this.options(), this.columns(), this.host);
    this.describe();
    this.listen();
  }

  columns() {
    const held = (values) => [...values, values.at(-1)];
    return [this.places, ...this.data.series.map((each) => held(each.values))];
  }

  colour(kind, alpha = 1) {
    const [red, green, blue] = getComputedStyle(this.swatches.get(kind)).backgroundColor.match(/[\d.]+/g);
    return `rgba(${red}, ${green}, ${blue}, ${alpha})`;
  }

  width() {
    return Math.max(200, this.host.clientWidth);
  }

  options() {
    const peaks = this.data.series.map((each) => [each.kind, Math.max(...each.values.map((value) => value ?? 0))]);
    // as high as the kinds that are shown
    const top = () => niceCeiling(Math.max(1, ...peaks.map(([kind, peak]) => (view.hidden.has(kind) ? 0 : peak))));
    const font = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
    const ink = () => getComputedStyle(this.readout).color;
    const line = () => getComputedStyle(this.readout).borderTopColor;
    const shared = { stroke: ink, font, labelFont: font, labelSize: 18, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    return {
      width: this.width(),
      height: HEIGHT,
      padding: [8, 28, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false, dist: CLICK_MAX },
        points: { show: false },
        bind: { dblclick: () => () => { this.zoomTo(null); return null; } },
        dataIdx: (u, _series, _near, place) => this.stepAt(place),
        sync: { key: this.data.axis, scales: ["x", null], setSeries: false, filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
      },
      scales: {
        x: { time: false, min: this.whole[0], max: this.whole[1], range: (u, from, to) => [from, to] },
        y: { range: () => [0, top()] },
      },
      axes: [
        { scale: "x", label: this.axis.title, size: 34, ...shared, ...this.axis.axis },
        {
          scale: "y", label: this.data.yTitle, ...shared,
          incrs: [1, 2, 5].flatMap((each) => Array.from({ length: 14 }, (_, power) => each * 10 ** power)).sort((a, b) => a - b),
          values: (u, marks) => marks.map(numberText),
          size: (u, texts) => 16 + 7.5 * Math.max(1, ...(texts ?? []).map((text) => text.length)),
        },
      ],
      series: [
        {},
        ...this.data.series.map((each) => ({
          label: each.name,
          paths: uPlot.paths.stepped({ align: 1 }),
          points: { show: false },
          width: 2,
          dash: DASHES[each.kind],
          stroke: () => this.colour(each.kind),
          fill: () => this.colour(each.kind, 0.22),
        })),
      ],
      hooks: {
        draw: [() => this.drawLeast()],
        setCursor: [(u) => { if (u.cursor.idx !== null && u.cursor.left >= 0) this.point(u.cursor.idx); }],
        setSelect: [(u) => {
          if (u.select.width <= 0) return;
          const from = u.posToVal(u.select.left, "x");
          const to = u.posToVal(u.select.left + u.select.width, "x");
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          this.zoomTo([from, to]);
        }],
      },
    };
  }

  // What is above 0 is seen, however little it is beside the rest and however short: one partition
  // of a hundred thousand that is offline for a moment is at least a dot on the axis.
  drawLeast() {
    const { ctx, bbox } = this.plot;
    const least = LEAST * devicePixelRatio;
    const bottom = this.plot.valToPos(0, "y", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const { kind, values } of this.data.series) {
      if (view.hidden.has(kind)) continue;
      ctx.fillStyle = this.colour(kind);
      values.forEach((value, at) => {
        if (!value || bottom - this.plot.valToPos(value, "y", true) >= least) return;
        const left = this.plot.valToPos(this.places[at], "x", true);
        const width = this.plot.valToPos(this.places[at + 1], "x", true) - left;
        ctx.fillRect(left, bottom - least, Math.max(width, least), least);
      });
    }
    ctx.restore();
  }

  // ---- steps

  stepAt(place) {
    let low = 0;
    let high = this.data.begins.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.places[middle] <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // Where the gravest of what happened was at its most; the last series is the gravest.
  worst() {
    for (const { values } of this.data.series.toReversed()) {
      const highest = Math.max(...values.map((value) => value ?? 0));
      if (highest > 0) return values.indexOf(highest);
    }
    return 0;
  }

  session(at) {
    const { sessions } = this.data;
    return sessions.length === 1 ? sessions[0] : sessions[at];
  }

  words(at) {
    const { begins, end, series, events } = this.data;
    const to = begins[at + 1] ?? end;
    const values = series
      .filter((each) => !view.hidden.has(each.kind))
      .map((each) => `${each.name} ${numberText(each.values[at])}`);
    const event = events[at] === null ? "" : `, event #${events[at].toLocaleString("en-US")}`;
    return `${this.axis.text(begins[at])} to ${this.axis.text(to)}: ${values.join(", ")}${event}`;
  }

  point(at) {
    this.at = Math.min(at, this.data.begins.length - 1);
    this.describe();
  }

  describe() {
    const words = this.words(this.at);
    this.readout.textContent = words;
    this.host.setAttribute("aria-valuenow", this.at + 1);
    this.host.setAttribute("aria-valuetext", words);
    this.opener.disabled = this.data.events[this.at] === null;
  }

  // Goes to a step by keyboard: the cursor stands at its beginning, and what is shown moves along.
  goTo(at) {
    at = Math.min(Math.max(at, 0), this.data.begins.length - 1);
    const { min, max } = this.plot.scales.x;
    const place = Math.max(this.places[at], this.whole[0]);
    if (place < min || place > max) {
      const begin = Math.min(Math.max(place - (max - min) / 2, this.whole[0]), this.whole[1] - (max - min));
      this.zoomTo([begin, begin + max - min]);
    }
    this.plot.setCursor({ left: Math.max(0, this.plot.valToPos(place, "x")), top: 10 });
    this.point(at);
  }

  open() {
    const seq = this.data.events[this.at];
    if (seq !== null) showCommand(this.session(this.at), seq, this.host);
  }

  // ---- zoom, which all charts of an axis share

  zoomTo(range) {
    const times = range && roundedRange(range.map((place) => Math.max(0, this.axis.time(place))));
    const isWhole = range && range[0] <= this.whole[0] && range[1] >= this.whole[1];
    view.ranges[this.data.axis] = isWhole ? null : times;
    viewChanged();
  }

  zoomBy(factor) {
    const { min, max } = this.plot.scales.x;
    const middle = Math.min(Math.max(this.places[this.at], min), max);
    const share = (middle - min) / (max - min);
    const width = Math.min((max - min) / factor, this.whole[1] - this.whole[0]);
    const begin = Math.min(Math.max(middle - share * width, this.whole[0]), this.whole[1] - width);
    this.zoomTo([begin, begin + width]);
  }

  follow() {
    if (this.figure.hidden) return;
    if (this.plot.width !== this.width()) this.plot.setSize({ width: this.width(), height: HEIGHT });
    const range = view.ranges[this.data.axis];
    const [min, max] = range ? range.map(this.axis.place) : this.whole;
    this.plot.batch(() => {
      this.data.series.forEach((each, at) => {
        const show = !view.hidden.has(each.kind);
        if (this.plot.series[at + 1].show !== show) this.plot.setSeries(at + 1, { show }, false);
      });
      // a range that ends before this chart begins, or begins after its end, shows it empty
      const end = Math.min(max, Math.max(this.whole[1], min + 1));
      this.plot.setScale("x", { min: Math.max(min, this.whole[0]), max: end });
    });
    this.describe();
    if (this.details.open) this.fillTable();
  }

  // ---- what stands around the plot

  makeTools() {
    const title = this.figure.querySelector("figcaption strong").textContent;
    const last = this.data.begins.length;
    for (const [name, value] of Object.entries({
      tabindex: 0, role: "slider", "aria-label": title, "aria-valuemin": 1, "aria-valuemax": last,
      "aria-describedby": "chart-keys",
    })) this.host.setAttribute(name, value);
    const button = (text, name, action) => {
      const made = make("button", { type: "button", "aria-label": `${name}: ${title}`, title: name }, text);
      made.addEventListener("click", action);
      return made;
    };
    this.opener = button("Command", "Command that opens this moment", () => this.open());
    const tools = make("div", { class: "tools" },
      button("+", "Zoom in", () => this.zoomBy(ZOOM)),
      button("−", "Zoom out", () => this.zoomBy(1 / ZOOM)),
      button("‹", "Step before", () => this.goTo(this.at - 1)),
      button("›", "Next step", () => this.goTo(this.at + 1)),
      button("All", "Show all of it", () => this.zoomTo(null)),
      this.opener,
    );
    this.host.after(this.readout, tools);
  }

  makeTable() {
    this.details = make("details", { class: "data" }, make("summary", {}, "The chart as a table"));
    this.details.addEventListener("toggle", () => { if (this.details.open) this.fillTable(); });
    this.figure.append(this.details);
  }

  fillTable() {
    const { begins, end, series, events } = this.data;
    const { min, max } = this.plot.scales.x;
    const heading = make("tr", {}, ...["from", "to", ...series.map((each) => each.name), "event"]
      .map((name) => make("th", { scope: "col" }, name)));
    const rows = [];
    begins.forEach((begin, at) => {
      if (this.places[at] > max || this.places[at + 1] < min) return;
      const row = make("tr", { "data-session": this.session(at) ?? "" },
        ...[this.axis.text(begin), this.axis.text(begins[at + 1] ?? end), ...series.map((each) => numberText(each.values[at]))]
          .map((text) => make("td", { class: "number" }, text)));
      const cell = make("td");
      if (events[at] !== null)
        cell.append(make("button", { type: "button", class: "event", "data-seq": events[at] }, `#${events[at].toLocaleString("en-US")}`));
      row.append(cell);
      rows.push(row);
    });
    const table = make("table", {}, make("thead", {}, heading), make("tbody", {}, ...rows));
    const scrolled = make("div", { class: "scrolled", tabindex: 0, role: "region", "aria-label": "the chart as a table" }, table);
    this.details.replaceChildren(this.details.firstElementChild, scrolled);
  }

  listen() {
    this.host.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const actions = {
        ArrowRight: () => this.goTo(this.at + 1),
        ArrowUp: () => this.goTo(this.at + 1),
        ArrowLeft: () => this.goTo(this.at - 1),
        ArrowDown: () => this.goTo(this.at - 1),
        PageUp: () => this.goTo(this.at + STEPS_A_PAGE),
        PageDown: () => this.goTo(this.at - STEPS_A_PAGE),
        Home: () => this.goTo(0),
        End: () => this.goTo(this.data.begins.length - 1),
        "+": () => this.zoomBy(ZOOM),
        "=": () => this.zoomBy(ZOOM),
        "-": () => this.zoomBy(1 / ZOOM),
        0: () => this.zoomTo(null),
        Enter: () => this.open(),
        " ": () => this.open(),
      };
      if (!actions[event.key]) return;
      event.preventDefault();
      actions[event.key]();
    });
    let pressed = null;
    this.plot.over.addEventListener("mousedown", (event) => { pressed = event.clientX; });
    this.plot.over.addEventListener("mouseup", (event) => {
      if (pressed !== null && Math.abs(event.clientX - pressed) <= CLICK_MAX && event.button === 0) this.open();
      pressed = null;
    });
    new ResizeObserver(() => this.follow()).observe(this.host);
  }
}

document.querySelector("main").prepend(make("p", { id: "chart-keys", class: "hidden" },
  "Arrow keys move through the steps, Page Up and Page Down by ten, plus and minus zoom, 0 shows all, "
  + "Enter gives the command that opens the moment."));

const charts = [...document.querySelectorAll("figure.chart")].map((figure) => new StepChart(figure));
followers.push(() => { for (const chart of charts) chart.follow(); });
for (const query of ["(prefers-color-scheme: dark)", "print"])
  matchMedia(query).addEventListener("change", () => { for (const chart of charts) chart.plot.redraw(false); });
viewChanged();
