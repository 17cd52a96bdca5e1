"use strict";
// The number of an event, wherever it stands, gives the command that opens its session there.

const openings = JSON.parse(document.getElementById("commands").textContent);

const commandBar = make("section", { id: "command", "aria-label": "command", hidden: "" });
const commandText = make("code", { tabindex: "0" });
const commandState = make("span", { role: "status" });
const copyButton = make("button", { type: "button" }, "Copy");
const closeButton = make("button", { type: "button", "aria-label": "Close the command" }, "Close");
commandBar.append(commandText, copyButton, closeButton, commandState);
document.body.append(commandBar);
let cameFrom = null;

function showCommand(session, seq, from) {
  cameFrom = from;
  commandText.textContent = `${openings[session]} --at '#${seq}'`;
  commandBar.hidden = false;
  commandState.textContent = `opens ${session} at event ${seq.toLocaleString("en-US")}`;
}

function hideCommand() {
  if (commandBar.hidden) return;
  const back = commandBar.contains(document.activeElement) ? cameFrom : null;
  commandBar.hidden = true;
  if (back) back.focus();
}

function selectCommand() {
  const range = document.createRange();
  range.selectNodeContents(commandText);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}

copyButton.addEventListener("click", () => {
  selectCommand();
  const said = (text) => () => { commandState.textContent = text; };
  if (!navigator.clipboard) return said("selected; press Ctrl+C")();
  navigator.clipboard.writeText(commandText.textContent)
    .then(said("copied"), said("selected; press Ctrl+C"));
});
closeButton.addEventListener("click", hideCommand);
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideCommand(); });
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.event");
  if (!button) return;
  showCommand(button.closest("[data-session]").dataset.session, Number(button.dataset.seq), button);
});
