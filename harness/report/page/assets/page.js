// Theme and tables. Works without the viewer.
(() => {
  "use strict";
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const kept = (() => { try { return localStorage.getItem("chunk-sweep-theme"); } catch { return null; } })();
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const say = () => { button.textContent = dark() ? "Light" : "Dark"; };
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  say();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", say);
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    say();
    try { localStorage.setItem("chunk-sweep-theme", root.dataset.theme); } catch { /* a page in a frame may not keep anything */ }
  });

  const value = (row, column) => {
    const field = row.cells[column];
    return field.dataset.sort === undefined ? null : Number(field.dataset.sort);
  };
  const sort = (table, column) => {
    const heads = [...table.tHead.rows[0].cells];
    const head = heads[column];
    const rows = [...table.tBodies[0].rows];
    const numeric = rows.some((row) => value(row, column) !== null);
    const was = head.getAttribute("aria-sort");
    const up = was ? was === "descending" : !numeric || column < 2;
    const compare = (one, other) => {
      if (!numeric) return one.cells[column].textContent.localeCompare(other.cells[column].textContent) * (up ? 1 : -1);
      const [a, b] = [value(one, column), value(other, column)];
      if (a === null || b === null) return (a === null) - (b === null);
      return (a - b) * (up ? 1 : -1);
    };
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    table.tBodies[0].append(...rows.sort(compare));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const press = head.querySelector("button");
      if (press) press.addEventListener("click", () => sort(table, column));
    });
  }
})();
