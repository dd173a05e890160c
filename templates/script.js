"use strict";
// Search, filter and sort of tables, and opening what a link leads into. Without it every page says the same.

function shown(table) {
  const query = (document.querySelector(`[data-search="${table.id}"]`)?.value ?? "").trim().toLowerCase();
  const word = document.querySelector(`[data-filter="${table.id}"]`)?.value ?? "";
  let count = 0;
  for (const row of table.tBodies[0].rows) {
    const words = row.dataset.words;
    const fits = word === "" || (words ? words.split("|").includes(word) : row.textContent.includes(word));
    row.hidden = !(fits && row.textContent.toLowerCase().includes(query));
    count += row.hidden ? 0 : 1;
  }
  const told = document.querySelector(`[data-count="${table.id}"]`);
  if (told) told.textContent = `${count} of ${table.tBodies[0].rows.length}`;
}

function sort(table, column, button) {
  const down = button.dataset.way === "up";
  for (const other of table.tHead.querySelectorAll("button")) {
    delete other.dataset.way;
    other.closest("th").removeAttribute("aria-sort");
  }
  button.dataset.way = down ? "down" : "up";
  button.closest("th").setAttribute("aria-sort", down ? "descending" : "ascending");
  const text = (row) => row.cells[column].textContent.trim();
  const order = new Intl.Collator("en", { numeric: true });
  const rows = [...table.tBodies[0].rows].sort((a, b) => order.compare(text(a), text(b)) * (down ? -1 : 1));
  table.tBodies[0].append(...rows);
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
}

for (const control of document.querySelectorAll("[data-search], [data-filter]")) {
  const table = document.getElementById(control.dataset.search ?? control.dataset.filter);
  control.addEventListener("input", () => shown(table));
}
for (const table of document.querySelectorAll("table[data-sortable]")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, column, button));
    head.append(button);
  });
}
addEventListener("hashchange", openTarget);
openTarget();
