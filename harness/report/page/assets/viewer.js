// The boundary viewer: a question, one or two cells.
(() => {
  "use strict";
  const { wrap, section, matches, draw, element } = chunkSweepDocument;
  const $ = (id) => document.getElementById(id);
  const read = (id) => JSON.parse($(id).textContent);
  const index = read("index");
  const { questions, cells, fates } = index;
  const inside = new Set(index.inside);
  const state = { question: 0, a: 0, b: -1, flips: "", shown: [] };
  const LIST = 150;

  // ---- data -------------------------------------------------------------------------------------------------------
  const documents = new Map();
  const documentOf = (number) => {
    if (!inside.has(number)) return null;
    if (!documents.has(number)) documents.set(number, wrap(read(`document-${number}`)));
    return documents.get(number);
  };
  const loaded = new Map();
  const cellData = (number) => {
    if (!loaded.has(number)) {
      const raw = read(`cell-${number}`);
      const chunks = { doc: [], start: [], end: [], first: [0] };
      let row = 0;
      raw.counts.forEach((count, doc) => {
        let start = 0;
        for (let place = 0; place < count; place++, row++) {
          start += raw.steps[row];
          chunks.doc.push(doc);
          chunks.start.push(start);
          chunks.end.push(start + raw.lengths[row]);
        }
        chunks.first.push(row);
      });
      chunks.before = raw.before || null;
      chunks.after = raw.after || null;
      loaded.set(number, { chunks, rows: raw.rows });
    }
    return loaded.get(number);
  };
  const chunkAt = (chunks, number) => ({ number, doc: chunks.doc[number], start: chunks.start[number], end: chunks.end[number] });
  const returned = (chunks, number) => {
    const chunk = chunkAt(chunks, number);
    return { ...chunk, start: chunk.start - (chunks.before ? chunks.before[number] : 0), end: chunk.end + (chunks.after ? chunks.after[number] : 0) };
  };
  const pieces = (question) => question.answers.flatMap((answer, number) => answer.map((piece, place) => {
    const name = piece.role || (answer.length > 1 ? `evidence ${place + 1}` : "answer");
    const label = question.answers.length > 1 ? `${name} (answer ${number + 1})` : name;
    return { label, kind: ["claim", "exception", "condition"].includes(piece.role) ? piece.role : "other", places: piece.places };
  }));
  const holds = (span, piece) => piece.places.some(([doc, start, end]) => doc === span.doc && start >= span.start && end <= span.end);
  const failed = (question) => { const value = cells[state.a].values[0][question]; return value !== null && value < 1; };
  const flip = (question) => {
    if (state.b < 0) return "";
    const [one, other] = [cells[state.a].values[0][question], cells[state.b].values[0][question]];
    if (one === null || other === null || one === other) return "";
    return one > other ? "a" : "b";
  };

  // ---- the list of questions --------------------------------------------------------------------------------------
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
  const fateChip = (cell, row) => {
    const code = cells[cell].fates[row];
    return element("span", `fate fate-${code}`, fates[code]);
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

  // ---- a panel ----------------------------------------------------------------------------------------------------
  const ranked = (cell, row) => {
    const { chunks, rows } = cellData(cell);
    const [, , numbers, scores] = rows[row];
    return numbers.map((number, place) => ({ ...returned(chunks, number), rank: place + 1, score: scores[place] === null ? null : scores[place] / 10000 }));
  };
  const ordinal = (number) => {
    const ending = number % 100 >= 10 && number % 100 <= 20 ? "th" : ["th", "st", "nd", "rd"][number % 10] || "th";
    return `${number.toLocaleString("en")}${ending}`;
  };
  const lexical = ([, , , , what, rank, chunk]) => {
    if (rank === null) return what ? "Search by words (BM25): no chunk holds any of the answer." : "Search by words (BM25): there is no answer to find.";
    return `Search by words (BM25) ranks chunk ${chunk}, its best that holds ${what}, ${ordinal(rank)}: ${rank <= 5 ? "it would have been found" : "not among its first 5"}.`;
  };
  const tokens = (read) => (read === null ? "" : read < 0 ? "never complete within the largest budget" : `complete after ${read.toLocaleString("en")} tokens`);
  const line = (...parts) => {
    const made = element("p", "facts-line");
    made.append(...parts);
    return made;
  };
  const citation = (span) => {
    const doc = documentOf(span.doc);
    const id = index.documents[span.doc][0];
    const path = doc ? section(doc, span.start) : [];
    return [id, ...(path.length > 1 ? path.slice(1) : path)].join(" › ");
  };
  const hitTable = (hits, evidence, go) => {
    const table = element("table", "v-hits");
    const columns = element("colgroup");
    for (const name of ["rank", "score", "chunk", "where", "holds"]) columns.append(element("col", name));
    const head = element("tr");
    for (const name of ["rank", "score", "chunk", "section", "holds"]) {
      const cell = element("th", "", name);
      cell.scope = "col";
      head.append(cell);
    }
    const body = element("tbody");
    for (const hit of hits) {
      const held = evidence.filter((piece) => holds(hit, piece)).map((piece) => piece.label);
      const row = element("tr", held.length ? "has" : "");
      const link = element("button", "", citation(hit));
      link.type = "button";
      link.dir = "auto";
      link.addEventListener("click", () => go(hit));
      const where = element("td");
      where.append(link);
      row.append(element("td", "", hit.rank), element("td", "", hit.score === null ? "-" : hit.score.toFixed(3)), element("td", "", hit.number), where, element("td", "", held.join(", ")));
      body.append(row);
    }
    const top = element("thead");
    top.append(head);
    table.append(columns, top, body);
    const frame = element("div", "v-found");
    frame.tabIndex = 0;
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", "Retrieved chunks");
    frame.append(table);
    return frame;
  };
  const sceneOf = (cell, question, hits, evidence, number) => {
    const { chunks } = cellData(cell);
    const own = [];
    for (let row = chunks.first[number]; row < chunks.first[number + 1]; row++) own.push(chunkAt(chunks, row));
    const doc = documentOf(number);
    const marked = evidence.flatMap((piece) => piece.places.filter((place) => place[0] === number).map(([, start, end]) => ({ start, end, label: piece.label, kind: piece.kind })));
    const answering = own.filter((chunk) => { const span = returned(chunks, chunk.number); return evidence.some((piece) => holds(span, piece)); });
    const looked = [...marked, ...answering].sort((a, b) => a.start - b.start);
    const words = [];
    let reached = 0;
    for (const span of looked) {
      const start = Math.max(span.start, reached);
      if (start < span.end) words.push(...matches(doc, start, span.end, question.words));
      reached = Math.max(reached, span.end);
    }
    const rankOf = new Map(hits.map((hit) => [hit.number, hit.rank]));
    return { chunks: own, hits: hits.filter((hit) => hit.doc === number), evidence: marked, words, rankOf };
  };
  const documentChoices = (hits, evidence) => {
    const notes = new Map();
    const note = (doc, words) => notes.set(doc, [...(notes.get(doc) || []), words]);
    for (const piece of evidence) for (const place of piece.places.slice(0, 1)) note(place[0], piece.label);
    for (const hit of hits) note(hit.doc, `rank ${hit.rank}`);
    return [...notes].map(([doc, words]) => [doc, `${index.documents[doc][0]}  (${[...new Set(words)].join(", ")})`]);
  };
  const scrollTo = (box, target) => {
    if (target) box.scrollTop += target.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
  };
  const panel = (cell, row, letter) => {
    const question = questions[row];
    const data = cellData(cell).rows[row];
    const hits = ranked(cell, row);
    const evidence = pieces(question);
    const made = element("article", "v-panel");
    const title = element("h3");
    title.append(element("span", "letter", letter), cells[cell].label, fateChip(cell, row));
    const sentence = element("p", "v-sentence", data[0]);
    sentence.dir = "auto";
    const marks = index.metrics.map((name, place) => { const value = cells[cell].values[place][row]; return value === null ? "" : `${name}: ${value === 1 ? "yes" : value === 0 ? "no" : value}`; });
    const box = element("div", "v-text");
    box.tabIndex = 0;
    box.dir = "auto";
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `Document with the chunks of ${cells[cell].label}`);
    const chooser = element("label", "", "Document ");
    const select = element("select");
    const shared = element("p", "facts-line");
    for (const [doc, says] of documentChoices(hits, evidence)) {
      const option = element("option", "", says);
      option.value = doc;
      select.append(option);
    }
    const jumps = element("span", "v-go");
    for (const piece of evidence) {
      const jump = element("button", "", piece.label);
      jump.type = "button";
      jump.addEventListener("click", () => go(piece));
      jumps.append(jump);
    }
    chooser.append(select);
    const controls = element("div", "v-document");
    controls.append(chooser, jumps);
    const go = (piece) => {
      const [doc, at] = piece.places[0];
      show(doc, at);
      const tag = [...box.querySelectorAll("[data-evidence]")].find((one) => Number(one.dataset.evidence) === at);
      requestAnimationFrame(() => scrollTo(box, tag));
    };
    const show = (number, focus, chunk) => {
      const doc = documentOf(number);
      select.value = String(number);
      if (!doc) {
        box.replaceChildren(element("p", "", "This document's text is not in this page, to keep the file small."));
        shared.textContent = "";
        return;
      }
      const scene = sceneOf(cell, question, hits, evidence, number);
      draw(box, doc, scene, focus);
      const common = [...new Set(scene.words.map((word) => word[2]))];
      shared.textContent = evidence.length ? `Words that the question shares with the answer's chunks here: ${common.join(", ") || "none"}` : "";
      for (const old of box.querySelectorAll(".shown")) old.classList.remove("shown");
      const target = chunk === undefined ? box.querySelector("[data-evidence]") : box.querySelector(`[data-chunk="${chunk}"]`);
      if (chunk !== undefined && target) target.classList.add("shown");
      requestAnimationFrame(() => scrollTo(box, target || box.querySelector(".hit")));
    };
    select.addEventListener("change", () => {
      const number = Number(select.value);
      const hit = hits.find((one) => one.doc === number);
      const place = evidence.flatMap((piece) => piece.places).find((one) => one[0] === number);
      show(number, place ? place[1] : hit ? hit.start : 0, place || !hit ? undefined : hit.number);
    });
    made.append(title, sentence, line([tokens(data[1]), ...marks].filter(Boolean).join("; ")), line(lexical(data)),
      hits.length ? hitTable(hits, evidence, (hit) => show(hit.doc, hit.start, hit.number)) : line("Nothing was retrieved."), controls, shared, box);
    const place = evidence.length ? evidence[0].places[0] : null;
    if (place) show(place[0], place[1]);
    else if (hits.length) show(hits[0].doc, hits[0].start, hits[0].number);
    return made;
  };

  // ---- the whole --------------------------------------------------------------------------------------------------
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
