// Rows of tables, cards and places of figures that are not of the locale, model or variant asked for; and what a
// place of a figure says: its row of the table, under the pointer, touched, or by the arrow keys.
{
  const tables = new Map();
  const things = [...document.querySelectorAll("[data-locale]")];
  for (const table of document.querySelectorAll("table[data-name]")) {
    const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    const rows = [...table.tBodies[0].rows]; // as the file has them; sorting moves the elements only
    tables.set(table.dataset.name, { heads, rows });
    if (heads.some((head) => ["locale", "model", "variant"].includes(head))) things.push(...rows);
    for (const row of rows) row.heads = heads;
  }
  const valueOf = (thing, name) => {
    if (!thing.heads) return thing.dataset[name];
    const at = thing.heads.indexOf(name);
    return at < 0 ? undefined : thing.cells[at].textContent;
  };
  const fits = (thing, name, value) => [undefined, value].includes(valueOf(thing, name));
  const figures = [...document.querySelectorAll("svg.figure")].filter((svg) => svg.querySelector(".marks"));
  const marksOf = (svg) => [...svg.querySelectorAll(".marks > *")];
  const rowOf = (mark) => tables.get(mark.parentNode.dataset.table).rows[mark.dataset.row];

  const form = document.getElementById("filters");
  if (form) filterBy(form, things, fits, (shown, asked) => {
    for (const svg of figures) for (const mark of marksOf(svg)) mark.classList.toggle("off", rowOf(mark).hidden);
    for (const summary of document.querySelectorAll("details > summary")) {
      const rows = [...summary.parentNode.querySelectorAll("tbody > tr")];
      const left = rows.filter((row) => !row.hidden).length;
      summary.dataset.shown = asked && left < rows.length ? ` · ${left} shown` : "";
    }
  });

  const tip = document.createElement("output");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  let current = null;
  const leave = () => {
    if (current) current.classList.remove("on");
    current = null;
    tip.hidden = true;
  };
  const tell = (mark) => {
    if (mark === current) return;
    leave();
    current = mark;
    const { heads, rows } = tables.get(mark.parentNode.dataset.table);
    tip.replaceChildren(...heads.map((head, at) => {
      const line = document.createElement(head === mark.parentNode.dataset.gap ? "strong" : "span");
      const value = document.createElement("bdi");
      value.textContent = rows[mark.dataset.row].cells[at].textContent;
      line.append(`${head} `, value);
      return line;
    }));
    tip.hidden = false;
    mark.classList.add("on");
    const place = mark.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const below = place.bottom + 8 + own.height < innerHeight;
    tip.style.top = `${Math.max(below ? place.bottom + 8 : place.top - 8 - own.height, 4)}px`;
    tip.style.left = `${Math.max(Math.min(place.left, document.documentElement.clientWidth - own.width - 8), 4)}px`;
  };
  for (const svg of figures) {
    for (const kind of ["pointermove", "pointerdown"]) svg.addEventListener(kind, (event) => {
      if (event.target.closest(".marks")) tell(event.target);
      else leave();
    });
    svg.addEventListener("pointerleave", leave);
    svg.addEventListener("blur", leave);
    svg.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return leave();
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const marks = marksOf(svg).filter((mark) => !mark.classList.contains("off"));
      if (!step || !marks.length) return;
      event.preventDefault();
      const at = marks.indexOf(current);
      tell(marks[at < 0 ? (step > 0 ? 0 : marks.length - 1) : (at + step + marks.length) % marks.length]);
    });
  }
  addEventListener("scroll", leave, { passive: true, capture: true });
}
