// What the page carries: documents, questions, cells; each block is read when it is first needed.
const chunkSweepData = (() => {
  "use strict";
  const { wrap } = chunkSweepDocument;
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const index = read("index");
  const inside = new Set(index.inside);

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

  return { index, documentOf, cellData, chunkAt, returned, pieces, holds };
})();
