"use strict";
// Tables sort by a heading: numbers by data-sort, what is not known last, text by the reader's language.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const key = (row) => {
        const cell = row.cells[column];
        return cell.dataset.sort === undefined ? cell.textContent : Number(cell.dataset.sort);
      };
      const compare = (a, b) => {
        const x = key(a), y = key(b);
        if (typeof x === "string" || typeof y === "string") {
          return (down ? -1 : 1) * String(x).localeCompare(String(y), undefined, { numeric: true });
        }
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
        return (down ? -1 : 1) * (x - y);
      };
      body.append(...[...body.rows].sort(compare));
    });
  });
}
