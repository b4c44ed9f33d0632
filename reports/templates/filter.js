// Things are hidden that are not what a form asks for; without a script all are there, and no form.
const filterBy = (form, things, fits, after) => {
  const apply = () => {
    const asked = [...new FormData(form)].filter(([, value]) => value.trim() !== "");
    let shown = 0;
    for (const thing of things) {
      thing.hidden = !asked.every(([name, value]) => fits(thing, name, value));
      shown += !thing.hidden;
    }
    form.querySelector("output").textContent = `${shown} of ${things.length} ${form.dataset.things || ""} shown`.replace("  ", " ");
    after(shown, asked.length > 0);
  };
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
};
