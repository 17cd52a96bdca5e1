"use strict";
const bar = document.getElementById("command");
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.event");
  if (!button) return;
  bar.querySelector("code").textContent = button.dataset.command;
  const said = bar.querySelector("span");
  said.textContent = "opens it";
  bar.hidden = false;
  if (navigator.clipboard) {
    navigator.clipboard.writeText(button.dataset.command).then(
      () => { said.textContent = "opens it; copied"; },
      () => {},
    );
  }
});
