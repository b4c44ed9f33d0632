// Items that are not what the form asks for.
{
  const fold = (text) => text.normalize("NFKC").toLocaleLowerCase();
  const texts = new Map();
  const textOf = (item) => {
    if (!texts.has(item)) texts.set(item, fold(item.textContent));
    return texts.get(item);
  };
  const fits = (item, name, value) => {
    if (name === "text") return textOf(item).includes(fold(value.trim()));
    const own = item.dataset[name];
    if (name !== "flags") return own === value;
    return value === "any" ? own !== "" : value === "none" ? own === "" : own.split("|").includes(value);
  };
  filterBy(document.getElementById("filters"), [...document.querySelectorAll("article.item")], fits, (shown) => {
    document.getElementById("nothing").hidden = shown > 0;
  });
}
