// The boundary viewer: a question, one or two cells.
(() => {
  "use strict";
  const { element } = chunkSweepDocument;
  const { index } = chunkSweepData;
  const { panel, fateChip } = chunkSweepPanel;
  const $ = (id) => document.getElementById(id);
  const { questions, cells, fates } = index;
  const state = { question: 0, a: 0, b: -1, flips: "", shown: [] };
  const LIST = 150;

  const failed = (question) => { const value = cells[state.a].values[0][question]; return value !== null && value < 1; };
  const flip = (question) => {
    if (state.b < 0) return "";
    const [one, other] = [cells[state.a].values[0][question], cells[state.b].values[0][question]];
    if (one === null || other === null || one === other) return "";
    return one > other ? "a" : "b";
  };

  // the list of questions
  const folded = questions.map((question) => `${question.id} ${question.text}`.toLowerCase());
  const filtered = () => {
    const words = $("v-search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const [fate, kind, only] = [$("v-fate").value, $("v-kind").value, $("v-failed").checked];
    const keep = [];
    for (let row = 0; row < questions.length; row++) {
      if (fate && cells[state.a].fates[row] !== fate) continue;
      if (kind && (questions[row].kind || "") !== kind) continue;
      if (only && !failed(row)) continue;
      if (state.flips && (state.flips === "any" ? !flip(row) : flip(row) !== state.flips)) continue;
      if (words.every((word) => folded[row].includes(word))) keep.push(row);
    }
    return keep;
  };
  const sideChip = (cell, row, letter) => {
    const value = cells[cell].values[0][row];
    if (value === null) return element("span", "fate", `${letter} -`);
    return element("span", `fate ${value === 1 ? "yes" : "no"}`, `${letter} ${value === 1 ? "✓" : value === 0 ? "✗" : value}`);
  };
  const listItem = (row) => {
    const item = element("li");
    item.id = `v-item-${row}`;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", String(row === state.question));
    const head = element("div");
    head.append(element("span", "id", questions[row].id));
    if (state.b < 0) head.append(fateChip(state.a, row));
    else head.append(sideChip(state.a, row, "A"), sideChip(state.b, row, "B"));
    const said = element("div", "said", questions[row].text);
    said.dir = "auto";
    item.append(head, said);
    item.addEventListener("click", () => choose(row));
    return item;
  };
  const showList = () => {
    const place = Math.max(0, state.shown.indexOf(state.question));
    const first = Math.max(0, Math.min(place - LIST / 2, state.shown.length - LIST));
    const part = state.shown.slice(first, first + LIST);
    $("v-list").replaceChildren(...part.map(listItem));
    const there = state.shown.includes(state.question);
    $("v-count").textContent = `${there ? `${(place + 1).toLocaleString("en")} of ` : ""}${state.shown.length.toLocaleString("en")}`;
    if (there) {
      $("v-list").setAttribute("aria-activedescendant", `v-item-${state.question}`);
      const item = $(`v-item-${state.question}`);
      $("v-list").scrollTop = Math.max(0, item.offsetTop - $("v-list").offsetTop - 80);
    } else {
      $("v-list").removeAttribute("aria-activedescendant");
    }
  };
  const refilter = () => {
    state.shown = filtered();
    if (state.shown.length && !state.shown.includes(state.question)) choose(state.shown[0]);
    else showList();
  };
  const step = (by) => {
    if (!state.shown.length) return;
    const place = state.shown.indexOf(state.question);
    choose(state.shown[place < 0 ? 0 : Math.max(0, Math.min(state.shown.length - 1, place + by))]);
  };

  // the whole
  const showQuestion = () => {
    const question = questions[state.question];
    const asked = element("p", "asked", question.text);
    asked.dir = "auto";
    const meta = [question.id, question.kind, question.filter && `only where ${question.filter}`, question.answers.length > 1 && `${question.answers.length} answers, any will do`];
    $("v-question").replaceChildren(asked, element("p", "meta", meta.filter(Boolean).join(" · ")));
    const shown = [panel(state.a, state.question, "A")];
    if (state.b >= 0) shown.push(panel(state.b, state.question, "B"));
    $("v-panels").classList.toggle("two", state.b >= 0);
    $("v-panels").replaceChildren(...shown);
  };
  const choose = (row) => {
    state.question = row;
    showList();
    showQuestion();
  };
  const showFlips = () => {
    const box = $("v-flips");
    if (state.b < 0) { state.flips = ""; box.replaceChildren(); return; }
    const counts = { a: 0, b: 0 };
    questions.forEach((_, row) => { const side = flip(row); if (side) counts[side]++; });
    const made = [["any", `${counts.a + counts.b} questions flip`], ["a", `${counts.a} better in A`], ["b", `${counts.b} better in B`]].map(([value, says]) => {
      const button = element("button", "", says);
      button.type = "button";
      button.dataset.flips = value;
      button.setAttribute("aria-pressed", String(state.flips === value));
      button.addEventListener("click", () => { state.flips = state.flips === value ? "" : value; showFlips(); refilter(); });
      return button;
    });
    box.replaceChildren(...made, element("span", "", `by ${index.metrics[0] || ""}`));
  };
  const setCells = (a, b, flips) => {
    state.a = a;
    state.b = b === a ? -1 : b;
    state.flips = state.b < 0 ? "" : flips;
    $("v-a").value = String(state.a);
    $("v-b").value = String(state.b);
    showFlips();
    state.shown = filtered();
    choose(state.shown.length && !state.shown.includes(state.question) ? state.shown[0] : state.question);
  };
  const options = (select, pairs) => {
    for (const [value, says] of pairs) {
      const option = element("option", "", says);
      option.value = value;
      select.append(option);
    }
  };
  const start = () => {
    const named = cells.map((cell, place) => [place, cell.badges.length ? `${cell.label}  (${cell.badges.join(", ")})` : cell.label]);
    options($("v-a"), named);
    options($("v-b"), [[-1, "none"], ...named]);
    const met = [...new Set(cells.flatMap((cell) => [...cell.fates]))].sort();
    options($("v-fate"), [["", "any"], ...met.map((code) => [code, fates[code]])]);
    const kinds = [...new Set(questions.map((question) => question.kind).filter(Boolean))].sort();
    options($("v-kind"), [["", "any"], ...kinds.map((kind) => [kind, kind])]);
    $("v-kind-box").hidden = !kinds.length;
    $("v-a").addEventListener("change", () => setCells(Number($("v-a").value), state.b, state.flips));
    $("v-b").addEventListener("change", () => setCells(state.a, Number($("v-b").value), state.flips));
    for (const id of ["v-search", "v-fate", "v-kind", "v-failed"]) $(id).addEventListener("input", refilter);
    $("v-previous").addEventListener("click", () => step(-1));
    $("v-next").addEventListener("click", () => step(1));
    $("v-list").addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 }[event.key];
      if (by) { event.preventDefault(); step(by); }
    });
    $("v-search").addEventListener("keydown", (event) => {
      if (event.key === "Escape") $("v-search").blur();
      if (event.key === "ArrowDown" || event.key === "Enter") { event.preventDefault(); $("v-list").focus(); }
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
      if (event.key === "n") step(1);
      else if (event.key === "p") step(-1);
      else if (event.key === "/") { event.preventDefault(); $("v-search").focus(); $("v-search").select(); }
      else return;
      if (event.key !== "/") $("viewer").scrollIntoView({ block: "nearest" });
    });
    for (const button of document.querySelectorAll(".compare, .open")) {
      button.addEventListener("click", () => {
        const b = button.dataset.b === undefined ? -1 : Number(button.dataset.b);
        setCells(Number(button.dataset.a), b, b < 0 ? "" : "any");
        $("viewer").scrollIntoView();
      });
    }
    $("v").hidden = false;
    state.shown = filtered();
    const first = state.shown.find(failed);
    choose(first === undefined ? 0 : first);
    showFlips();
  };
  start();
})();
