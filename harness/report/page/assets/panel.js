// One cell's side of the viewer: the sentence, what was retrieved, the document.
const chunkSweepPanel = (() => {
  "use strict";
  const { section, matches, draw, element } = chunkSweepDocument;
  const { index, documentOf, cellData, chunkAt, returned, pieces, holds } = chunkSweepData;
  const { questions, cells, fates } = index;

  const fateChip = (cell, row) => {
    const code = cells[cell].fates[row];
    return element("span", `fate fate-${code}`, fates[code]);
  };
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
    if (rank === null) return what ? "Search by words (BM25): no chunk holds any piece of the answer whole." : "Search by words (BM25): there is no answer to find.";
    return `Search by words (BM25) ranks chunk ${chunk}, its best that holds ${what}, ${ordinal(rank)}: ${rank <= 5 ? "among its first 5" : "not among its first 5"}.`;
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

  return { panel, fateChip };
})();
