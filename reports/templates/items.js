// Items are hidden that are not what the form asks for; without a script, all are there.
{
  const form = document.getElementById("filters");
  const items = [...document.querySelectorAll("article.item")];
  const fold = (text) => text.normalize("NFKC").toLocaleLowerCase();
  const texts = new Map();
  const textOf = (item) => {
    if (!texts.has(item)) texts.set(item, fold(item.textContent));
    return texts.get(item);
  };
  const fits = (item, name, value) => {
    if (value === "") return true;
    if (name === "text") return textOf(item).includes(fold(value));
    const own = item.dataset[name];
    if (name !== "flags") return own === value;
    return value === "any" ? own !== "" : value === "none" ? own === "" : own.split("|").includes(value);
  };
  const apply = () => {
    const asked = [...new FormData(form)];
    let shown = 0;
    for (const item of items) {
      item.hidden = !asked.every(([name, value]) => fits(item, name, value.trim()));
      shown += !item.hidden;
    }
    document.getElementById("shown").textContent = `${shown} of ${items.length} shown`;
    document.getElementById("nothing").hidden = shown > 0;
  };
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
}
