"use strict";
// What of the page is looked at: sessions and partitions by a text, a stretch of virtual time, and
// kinds of series. Tables, bars and charts follow it; whoever changes it says so with viewChanged().

const view = {
  words: [],
  ranges: { time: null, latency: null }, // [from, to] on a chart's axis; null is all of it
  hidden: new Set(), // kinds of series
};
const followers = [];

function viewChanged() {
  for (const follow of followers) follow();
}

function wordsOf(text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

// Whether something is about a session and a partition that are looked at; what is about all
// sessions always is.
function isChosen(of) {
  if (of.dataset.session === undefined) return true;
  const about = `${of.dataset.session} ${of.dataset.tp ?? ""}`.toLowerCase();
  return view.words.every((word) => about.includes(word));
}

// Whether something happened in the time that is looked at; what has no time always did.
function isInTime(of) {
  const range = view.ranges.time;
  if (!range || of.dataset.from === undefined) return true;
  const to = of.dataset.to === undefined ? Infinity : Number(of.dataset.to);
  return Number(of.dataset.from) <= range[1] && to >= range[0];
}

const viewForm = make("form", { id: "view", role: "search", "aria-label": "filter of the page" });
const sessionInput = make("input", {
  type: "search", name: "filter", placeholder: "session or partition", size: "20", autocomplete: "off",
});
const fromInput = make("input", { name: "from", placeholder: "start", size: "12", autocomplete: "off" });
const toInput = make("input", { name: "to", placeholder: "end", size: "12", autocomplete: "off" });
const everything = make("button", { type: "button" }, "Show all");
const viewState = make("span", { role: "status" });
viewForm.append(
  make("label", {}, "Filter ", sessionInput),
  make("label", {}, "Time from ", fromInput),
  make("label", {}, "to ", toInput),
  everything,
  viewState,
);
document.querySelector("nav").append(viewForm);

function readTime() {
  const from = fromInput.value.trim() === "" ? 0 : parsedTime(fromInput.value);
  const to = toInput.value.trim() === "" ? Infinity : parsedTime(toInput.value);
  const wrong = from === null || to === null || to <= from;
  fromInput.setAttribute("aria-invalid", from === null);
  toInput.setAttribute("aria-invalid", to === null || (from !== null && to <= from));
  viewState.textContent = wrong ? "A time is 01:15, 1.5 s or 300 ms, and it ends after it begins." : "";
  if (wrong) return;
  view.ranges.time = from === 0 && to === Infinity ? null : [from, to];
  viewChanged();
}

sessionInput.addEventListener("input", () => { view.words = wordsOf(sessionInput.value); viewChanged(); });
for (const input of [fromInput, toInput]) input.addEventListener("change", readTime);
viewForm.addEventListener("submit", (event) => { event.preventDefault(); readTime(); });
everything.addEventListener("click", () => {
  sessionInput.value = "";
  view.words = [];
  view.ranges = { time: null, latency: null };
  view.hidden.clear();
  viewState.textContent = "";
  viewChanged();
});

followers.push(() => {
  const range = view.ranges.time;
  if (!viewForm.contains(document.activeElement) || !range) {
    fromInput.value = range && range[0] > 0 ? clockText(range[0]) : "";
    toInput.value = range && range[1] < Infinity ? clockText(range[1]) : "";
  }
  for (const item of document.querySelectorAll(".bars li, figure.chart"))
    item.hidden = !isChosen(item) || !isInTime(item);
  everything.disabled = !range && !view.ranges.latency && !view.words.length && !view.hidden.size;
});

// ---- legends: an entry shows and hides its kind in all figures

for (const entry of document.querySelectorAll(".legend li")) {
  const kind = entry.dataset.kind;
  const button = make("button", { type: "button", "aria-pressed": "true" });
  button.append(...entry.childNodes);
  entry.append(button);
  button.addEventListener("click", () => {
    if (!view.hidden.delete(kind)) view.hidden.add(kind);
    viewChanged();
  });
  followers.push(() => button.setAttribute("aria-pressed", String(!view.hidden.has(kind))));
}
followers.push(() => {
  for (const part of document.querySelectorAll(".bars .area"))
    part.classList.toggle("off", view.hidden.has(part.classList[1]));
});
