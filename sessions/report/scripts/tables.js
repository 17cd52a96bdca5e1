"use strict";
// Tables are sorted by their headings and filtered by a text (the WAI-ARIA pattern "sortable table").

const FILTERED_MIN = 6; // fewer rows are seen at a glance

const byText = new Intl.Collator("en", { numeric: true }).compare;

function valueOf(row, column) {
  const value = row.cells[column].dataset.value;
  return value === undefined ? (row.cells[column].textContent || null) : value;
}

function sortRows(table, column, order) {
  const body = table.tBodies[0];
  const isNumber = table.tHead.rows[0].cells[column].classList.contains("number");
  const rows = [...body.rows].map((row) => ({ row, value: valueOf(row, column) }));
  const known = (each) => each.value !== null && !(isNumber && Number.isNaN(Number(each.value)));
  const compared = isNumber ? (a, b) => Number(a.value) - Number(b.value) : (a, b) => byText(a.value, b.value);
  // what has no value comes last, whichever the order
  rows.sort((a, b) => known(b) - known(a) || (known(a) ? order * compared(a, b) : 0));
  body.append(...rows.map((each) => each.row));
}

function makeSortable(table) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = make("button", { type: "button", class: "sort" });
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      // numbers begin with the largest, which is what one looks for
      const first = heading.classList.contains("number") ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const next = heading.getAttribute("aria-sort") === first ? other : first;
      for (const each of headings) each.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", next);
      sortRows(table, column, next === "ascending" ? 1 : -1);
    });
  });
}

function makeFiltered(table, frame) {
  const rows = [...table.tBodies[0].rows];
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const state = make("span", { role: "status", class: "matches" });
  const input = make("input", { type: "search", autocomplete: "off" });
  const title = table.caption.textContent;
  input.setAttribute("aria-label", `filter rows of: ${title}`);
  input.setAttribute("placeholder", "filter rows");
  const tools = make("div", { class: "tools" }, input, state);
  tools.hidden = rows.length < FILTERED_MIN;
  frame.before(tools);
  const follow = () => {
    const words = wordsOf(input.value);
    let shown = 0;
    for (const row of rows) {
      row.hidden = !(isChosen(row) && isInTime(row) && words.every((word) => texts.get(row).includes(word)));
      shown += !row.hidden;
    }
    state.textContent = shown < rows.length ? `${shown} of ${rows.length} rows` : "";
    tools.hidden = rows.length < FILTERED_MIN && shown === rows.length;
  };
  input.addEventListener("input", follow);
  followers.push(follow);
}

for (const table of document.querySelectorAll(".scrolled table:not(.matrix)")) {
  makeSortable(table);
  makeFiltered(table, table.closest(".scrolled"));
}
