"use strict";
// Values as people read them: the same texts that units.py writes.

const NOTHING = "-";
const US = { s: 1e6, min: 60e6, h: 3600e6 };

function digits(value) {
  const decimals = value > 0 ? Math.max(0, 2 - Math.floor(Math.log10(value))) : 0;
  return value.toLocaleString("en-US", { maximumFractionDigits: Math.min(decimals, 20) });
}

function timeText(us) {
  if (us === null) return NOTHING;
  for (const unit of ["h", "min", "s"]) if (us >= US[unit]) return `${digits(us / US[unit])} ${unit}`;
  if (us >= 1000) return `${digits(us / 1000)} ms`;
  return us ? `${digits(us)} µs` : "0";
}

function numberText(value) {
  if (value === null || value === undefined) return NOTHING;
  return Number.isInteger(value) ? value.toLocaleString("en-US") : digits(value);
}

// A point in virtual time, as the console's clock has it.
function clockText(us) {
  const whole = Math.round(us);
  const pad = (value, length = 2) => String(value).padStart(length, "0");
  const seconds = Math.floor(whole / US.s);
  const rest = whole % US.s;
  const hours = Math.floor(seconds / 3600);
  const text = `${hours ? `${pad(hours)}:` : ""}${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
  if (!rest) return text;
  return rest % 1000 ? `${text}.${pad(rest, 6)}` : `${text}.${pad(rest / 1000, 3)}`;
}

// What somebody typed as a time, "01:19.25", "1.5 s", "300ms" or "12" (seconds), in us; null if it is none.
function parsedTime(text) {
  const clock = /^\s*(?:(\d+):)?(\d+):(\d+(?:\.\d*)?)\s*$/.exec(text);
  if (clock) return Number(clock[1] ?? 0) * US.h + Number(clock[2]) * US.min + Number(clock[3]) * US.s;
  const found = /^\s*([\d,]+(?:\.\d*)?|\.\d+)\s*(us|µs|ms|s|min|m|h)?\s*$/.exec(text);
  if (!found) return null;
  const unit = { us: 1, "µs": 1, ms: 1000, s: US.s, min: US.min, m: US.min, h: US.h }[found[2] || "s"];
  return Number(found[1].replaceAll(",", "")) * unit;
}

function make(tag, attributes = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}
