// A document with one cell's chunks drawn into it. Texts reach the page through textContent alone.
const chunkSweepDocument = (() => {
  "use strict";
  const WINDOW = 30000;

  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // Offsets count code points; JavaScript counts UTF-16 units, so texts with characters beyond U+FFFF get a map.
  const wrap = (data) => {
    const text = data.text;
    const wide = /[\ud800-\udbff][\udc00-\udfff]/.test(text);
    let map = null;
    if (wide) {
      const places = [0];
      for (let at = 0; at < text.length;) {
        at += text.codePointAt(at) > 0xffff ? 2 : 1;
        places.push(at);
      }
      map = Uint32Array.from(places);
    }
    const length = map ? map.length - 1 : text.length;
    const unit = (position) => (map ? map[Math.min(position, length)] : position);
    const point = (at) => {
      if (!map) return at;
      let [low, high] = [0, length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (map[middle] < at) low = middle + 1; else high = middle;
      }
      return low;
    };
    return { length, heads: data.heads, slice: (start, end) => text.slice(unit(start), unit(end)), point, unit };
  };

  // The headings above a position, outermost first.
  const section = (doc, position) => {
    const open = [];
    for (const [start, level, title] of doc.heads) {
      if (start > position) break;
      while (open.length && open[open.length - 1][0] >= level) open.pop();
      open.push([level, title]);
    }
    return open.map((pair) => pair[1]).filter(Boolean);
  };

  const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = (words) => {
    if (!words.length) return null;
    const joined = words.slice().sort((a, b) => b.length - a.length).map(escaped);
    const unspaced = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/;
    const [free, bound] = [joined.filter((word) => unspaced.test(word)), joined.filter((word) => !unspaced.test(word))];
    const parts = [];
    if (bound.length) parts.push(`(?<![\\p{L}\\p{N}\\p{M}])(?:${bound.join("|")})(?![\\p{L}\\p{N}\\p{M}])`);
    if (free.length) parts.push(free.join("|"));
    return new RegExp(parts.join("|"), "giu");
  };

  // Where the words stand in doc[start, end).
  const matches = (doc, start, end, words) => {
    const found = [];
    const wanted = pattern(words);
    if (!wanted) return found;
    const base = doc.unit(start);
    for (const match of doc.slice(start, end).matchAll(wanted)) {
      if (match[0]) found.push([doc.point(base + match.index), doc.point(base + match.index + match[0].length), match[0].toLowerCase()]);
    }
    return found;
  };

  const marker = (text, className, says, id) => {
    const made = element("span", className, text);
    made.title = says;
    if (id) made.dataset.chunk = id;
    return made;
  };

  // What covers each place: chunks (in two or more: overlap), retrieved spans, evidence, words.
  const layers = (doc, scene, from, to) => {
    const cuts = new Set([from, to]);
    const inside = (position) => position > from && position < to;
    const add = (start, end) => {
      if (inside(start)) cuts.add(start);
      if (inside(end)) cuts.add(end);
    };
    for (const chunk of scene.chunks) add(chunk.start, chunk.end);
    for (const hit of scene.hits) add(hit.start, hit.end);
    for (const piece of scene.evidence) add(piece.start, piece.end);
    for (const word of scene.words) add(word[0], word[1]);
    return [...cuts].sort((a, b) => a - b);
  };

  const covers = (spans) => {
    const sorted = spans.slice().sort((a, b) => a.start - b.start);
    let next = 0;
    let open = [];
    return (position) => {
      while (next < sorted.length && sorted[next].start <= position) open.push(sorted[next++]);
      open = open.filter((span) => span.end > position);
      return open;
    };
  };

  const draw = (box, doc, scene, focus) => {
    let from = 0;
    let to = doc.length;
    if (doc.length > 2 * WINDOW) {
      from = Math.max(0, focus - WINDOW);
      to = Math.min(doc.length, focus + WINDOW);
    }
    const chunks = scene.chunks.filter((chunk) => chunk.end > from && chunk.start < to);
    const seen = { ...scene, chunks };
    const starts = new Set(chunks.map((chunk) => chunk.start));
    const begins = new Map();
    const ends = new Map();
    const push = (map, key, item) => { if (map.has(key)) map.get(key).push(item); else map.set(key, [item]); };
    for (const chunk of chunks) {
      push(begins, Math.max(chunk.start, from), chunk);
      const rest = doc.slice(chunk.end, Math.min(chunk.end + 400, doc.length));
      const gap = [...rest].length - [...rest.trimStart()].length;
      if (!starts.has(chunk.end) && !starts.has(chunk.end + gap)) push(ends, chunk.end, chunk);
    }
    const tags = new Map();
    for (const piece of scene.evidence) push(tags, Math.max(piece.start, from), piece);
    const [inChunk, inHit, inEvidence] = [covers(chunks), covers(scene.hits), covers(scene.evidence)];
    const inWord = covers(scene.words.map((word) => ({ start: word[0], end: word[1] })));
    const parts = document.createDocumentFragment();
    if (from > 0) parts.append(more("Show earlier text", () => draw(box, doc, scene, Math.max(0, from - WINDOW / 2))));
    const places = layers(doc, seen, from, to);
    for (let row = 0; row + 1 < places.length; row++) {
      const [start, end] = [places[row], places[row + 1]];
      for (const chunk of ends.get(start) || []) parts.append(marker(`${chunk.number} ends`, "cut end", `chunk ${chunk.number} ends here`));
      for (const chunk of begins.get(start) || []) {
        const rank = scene.rankOf.get(chunk.number);
        const says = `chunk ${chunk.number} begins here, ${chunk.end - chunk.start} characters${rank ? `, ranked ${rank}` : ""}`;
        parts.append(marker(rank ? `${chunk.number} · rank ${rank}` : String(chunk.number), rank ? "cut ranked" : "cut", says, String(chunk.number)));
      }
      for (const piece of tags.get(start) || []) {
        const tag = marker(piece.label, "tag", `evidence: ${piece.label}`);
        tag.dataset.evidence = piece.start;
        parts.append(tag);
      }
      const cover = inChunk(start);
      const evidence = inEvidence(start);
      const names = ["seg"];
      if (cover.length && cover[cover.length - 1].number % 2) names.push("odd");
      if (cover.length > 1) names.push("lap");
      if (inHit(start).length) names.push("hit");
      for (const piece of evidence) names.push("ev", `ev-${piece.kind}`);
      if (inWord(start).length) names.push("word");
      parts.append(element("span", names.join(" "), doc.slice(start, end)));
    }
    for (const chunk of ends.get(to) || []) parts.append(marker(`${chunk.number} ends`, "cut end", `chunk ${chunk.number} ends here`));
    if (to < doc.length) parts.append(more("Show later text", () => draw(box, doc, scene, Math.min(doc.length, to + WINDOW / 2))));
    box.replaceChildren(parts);
    box.dataset.from = from;
    box.dataset.to = to;
  };

  const more = (says, act) => {
    const made = element("button", "more", says);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  };

  return { wrap, section, matches, draw, element };
})();
