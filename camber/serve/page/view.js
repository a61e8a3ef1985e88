// How a translation is shown: words, phrases with ribbons, features, terms, what is remembered.

const SVG = "http://www.w3.org/2000/svg";

export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

function draw(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const colour = (k) => `c${k % 8}`;
const signed = (value, digits = 2) => value.toFixed(digits).replace("-", "−");

// A feature has one colour for as long as the page is there; those that come after the twelfth share the last one.
const HUES = 12;
const hues = new Map([["others", HUES]]);
function hue(name) {
  if (!hues.has(name)) hues.set(name, Math.min(hues.size - 1, HUES));
  return hues.get(name) < HUES ? `c${hues.get(name)}` : "others";
}

// Which source and target positions belong together, by the word alignment.
export function partners(links, side, position) {
  const other = side === "source" ? 1 : 0;
  const own = 1 - other;
  return links.filter((link) => link[own] === position).map((link) => link[other]);
}

function light(line, side, position, on) {
  for (const element of line.querySelectorAll(".on")) element.classList.remove("on");
  line.told.textContent = on ? told(line.piece, side, position) : "";
  if (!on) return;
  const links = line.links;
  const mark = (which, at) => {
    for (const element of line.querySelectorAll(`[data-side="${which}"][data-at="${at}"]`)) element.classList.add("on");
    for (const part of line.querySelectorAll(".part")) {
      const [begin, end] = part.dataset[which].split(",").map(Number);
      if (begin <= at && at < end) part.classList.add("on");
    }
  };
  mark(side, position);
  const other = side === "source" ? "target" : "source";
  const found = partners(links, side, position);
  for (const at of found) mark(other, at);
  // the words that share a counterpart with this one
  for (const at of found) for (const back of partners(links, other, at)) mark(side, back);
}

// What there is to say of a word: what it stands for, how sure the engine is of it, of which term it is.
function told(piece, side, at) {
  const [own, others] = side === "source" ? [piece.tokens, piece.words] : [piece.words, piece.tokens];
  const found = [...new Set(partners(piece.links, side, at))].sort((a, b) => a - b).map((k) => others[k]);
  const pair = side === "source" ? `${own[at]} → ${found.join(" ") || "∅"}` : `${found.join(" ") || "∅"} → ${own[at]}`;
  return [pair, saying(piece, side, at)].filter(Boolean).join(" · ");
}

function word(line, side, at, text, classes, title) {
  const element = make("span", {
    class: `word ${classes}`, title, tabindex: at === 0 ? "0" : "-1", role: "listitem",
    "data-side": side, "data-at": at,
    onmouseenter: () => light(line, side, at, true),
    onmouseleave: () => light(line, side, at, false),
    onfocus: () => light(line, side, at, true),
    onblur: () => light(line, side, at, false),
  }, text);
  return element;
}

// Arrow keys walk along a row of words.
function walk(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step || !event.target.classList.contains("word")) return;
  const backwards = getComputedStyle(event.currentTarget).direction === "rtl" ? -1 : 1;
  const words = [...event.currentTarget.querySelectorAll(".word")];
  const next = words[words.indexOf(event.target) + step * backwards];
  if (next) {
    next.focus();
    event.preventDefault();
  }
}

function row(line, piece, side, texts, name, { code, rtl }) {
  const element = make("div", { class: "words", lang: code, dir: rtl ? "rtl" : "ltr", role: "list", "aria-label": name, onkeydown: walk });
  texts.forEach((text, at) => element.append(word(line, side, at, text, marks(piece, side, at), saying(piece, side, at))));
  return element;
}

// The term that a word of either side belongs to.
function termOf(piece, side, at) {
  return piece.terms.find(({ source: [begin, end], forbidden, obeyed }) => {
    const within = (place) => begin <= place && place < end;
    if (side === "source") return within(at);
    return !(forbidden && obeyed) && partners(piece.links, "target", at).some(within);
  });
}

// How a word is marked: as one of a term, or else, on the target side, by how sure the engine is of it.
function marks(piece, side, at) {
  const term = termOf(piece, side, at);
  if (term) return term.obeyed ? "term" : "violated";
  return side === "source" || piece.recalled ? "" : sureness(piece.word_confidences[at]);
}

function saying(piece, side, at) {
  const term = termOf(piece, side, at);
  if (term) return term.forbidden ? `not ${term.forbidden}` : `term: ${term.targets.join(" or ")}`;
  const sure = side === "source" ? undefined : piece.word_confidences[at];
  return sure === undefined ? null : `confidence ${Math.round(100 * sure)} %`;
}

export const sureness = (value) => (value === undefined || value === null ? "" : value < 0.4 ? "sure-0" : value < 0.7 ? "sure-1" : "");

// The text of a translation, its words marked by how sure the engine is of them.
export function targetText(line, piece) {
  const fragment = document.createDocumentFragment();
  if (piece.recalled || !piece.places.length) {
    fragment.append(piece.text);
    return fragment;
  }
  let done = 0;
  piece.places.map((place, at) => [...place, at]).filter(([begin]) => begin >= 0).sort((a, b) => a[0] - b[0])
    .forEach(([begin, end, at]) => {
      if (begin < done) return;
      const letters = [...piece.text];
      fragment.append(letters.slice(done, begin).join(""));
      const element = make("span", {
        class: `target-word ${marks(piece, "target", at)}`, "data-side": "target", "data-at": at,
        title: saying(piece, "target", at),
        onmouseenter: () => light(line, "target", at, true), onmouseleave: () => light(line, "target", at, false),
      }, letters.slice(begin, end).join(""));
      fragment.append(element);
      done = end;
    });
  fragment.append([...piece.text].slice(done).join(""));
  return fragment;
}

// Widths are measured by a canvas, which needs no layout.
const ruler = document.createElement("canvas").getContext("2d");
function width(text) {
  ruler.font = '14px system-ui, "DejaVu Sans", sans-serif';
  return ruler.measureText(text).width;
}

// A text that is no wider than that, with an ellipsis if need be.
function cut(text, most) {
  if (width(text) <= most) return text;
  const letters = [...text];
  while (letters.length && width(`${letters.join("")}…`) > most) letters.pop();
  return `${letters.join("")}…`;
}

export function ribbons(piece, rtl) {
  const order = piece.parts.map((_, k) => k).sort((a, b) => piece.parts[a].source[0] - piece.parts[b].source[0]);
  const phrase = (words, [begin, end]) => words.slice(begin, end).join(" ") || "∅";
  const rows = [
    order.map((k) => [k, phrase(piece.tokens, piece.parts[k].source)]),
    piece.parts.map((part, k) => [k, phrase(piece.words, part.target)]),
  ];
  const places = rows.map((items, side) => {
    const found = {};
    let x = 1;
    for (const [k, text] of rtl[side] ? [...items].reverse() : items) {
      found[k] = [x, width(text) + 16];
      x += width(text) + 24;
    }
    found.end = x;
    return found;
  });
  const wide = Math.max(places[0].end, places[1].end);
  const svg = draw("svg", { width: wide, height: 132, viewBox: `0 0 ${wide} 132`, role: "img" });
  svg.append(draw("title", {}, piece.parts.map((part) =>
    `${phrase(piece.tokens, part.source)} → ${phrase(piece.words, part.target)}`).join("; ")));
  const number = {};
  order.forEach((k, place) => { number[k] = place; });
  piece.parts.forEach((part, k) => {
    const [x1, w1] = places[0][k];
    const [x2, w2] = places[1][k];
    const group = draw("g", { class: `part ${colour(number[k])}`, "data-source": part.source.join(","), "data-target": part.target.join(",") });
    group.append(
      draw("path", { class: "ribbon", d: `M${x1} 31C${x1} 66 ${x2} 66 ${x2} 101L${x2 + w2} 101C${x2 + w2} 66 ${x1 + w1} 66 ${x1 + w1} 31Z` }),
      draw("rect", { class: "box", x: x1, y: 3, width: w1, height: 28, rx: 6 }),
      draw("rect", { class: "box", x: x2, y: 101, width: w2, height: 28, rx: 6, "stroke-dasharray": part.known ? "none" : "4 3" }),
      draw("text", { class: "ink", x: x1 + w1 / 2, y: 22, "text-anchor": "middle" }, phrase(piece.tokens, part.source)),
      draw("text", { class: "ink", x: x2 + w2 / 2, y: 120, "text-anchor": "middle" }, phrase(piece.words, part.target)),
    );
    svg.append(group);
  });
  return svg;
}

// What each feature adds to the score, part by part: to the left what it takes away.
export function features(piece) {
  const box = make("div");
  if (!piece.features.length || !piece.parts.length) return box;
  const sums = piece.parts.map((part) => [
    part.features.filter((v) => v < 0).reduce((a, b) => a + b, 0), part.features.filter((v) => v > 0).reduce((a, b) => a + b, 0),
  ]);
  const low = Math.min(...sums.map((s) => s[0]), 0);
  const high = Math.max(...sums.map((s) => s[1]), 0.001);
  const names = piece.parts.map((part) => piece.words.slice(...part.target).join(" ") || "∅");
  const room = Math.min(650, document.documentElement.clientWidth - 60); // a phone has less
  const left = Math.min(0.34 * room, Math.max(...names.map(width)) + 14);
  const wide = room - left - 60; // behind a bar there is its sum
  const scale = wide / (high - low || 1);
  const zero = left - low * scale;
  const tall = 22 * piece.parts.length + 4;
  const svg = draw("svg", { width: room, height: tall, viewBox: `0 0 ${room} ${tall}`, role: "img" });
  svg.append(draw("title", {}, "What each feature adds to the score of every phrase"));
  piece.parts.forEach((part, k) => {
    const y = 22 * k + 4;
    svg.append(draw("text", { class: "ink", x: left - 8, y: y + 13, "text-anchor": "end" }, cut(names[k], left - 8)));
    let ends = [zero, zero];
    part.features.forEach((value, feature) => {
      if (!value) return;
      const side = value > 0 ? 1 : 0;
      const w = Math.abs(value) * scale;
      const x = side ? ends[1] : ends[0] - w;
      ends[side] += side ? w : -w;
      const bar = draw("rect", { class: `bar ${hue(piece.features[feature])}`, x, y, width: Math.max(w, 0.5), height: 16 });
      bar.append(draw("title", {}, `${piece.features[feature]}: ${signed(value)}`));
      svg.append(bar);
    });
    svg.append(draw("text", { class: "sum", x: room - 2, y: y + 13, "text-anchor": "end" }, signed(sums[k][0] + sums[k][1])));
  });
  svg.append(draw("line", { class: "axis", x1: zero, x2: zero, y1: 0, y2: tall }));
  const legend = make("p", { class: "legend" });
  for (const name of piece.features) legend.append(make("span", { class: hue(name) }, make("b", {}, name)));
  box.append(make("div", { class: "picture", tabindex: "0", role: "group", "aria-label": "Features of every phrase" }, svg), legend,
    numbers(piece, names));
  return box;
}

// The same as numbers.
function numbers(piece, names) {
  const cells = (kind, first, values) => make("tr", {}, make("th", { scope: kind === "th" ? "col" : "row" }, first),
    ...values.map((value) => make(kind, { class: "n", scope: kind === "th" ? "col" : null }, value)));
  const sum = (values) => signed(values.reduce((a, b) => a + b, 0));
  const body = make("tbody", {}, ...piece.parts.map((part, k) => cells("td", names[k], [...part.features.map((value) => signed(value)), sum(part.features)])));
  const head = make("thead", {}, cells("th", "phrase", [...piece.features, "sum"]));
  return make("details", {}, make("summary", {}, "As numbers"),
    make("div", { class: "picture", tabindex: "0", role: "group", "aria-label": "Features of every phrase, as numbers" }, make("table", { class: "numbers" }, head, body)));
}

export function difference(pieces, one, two) {
  const fragment = document.createDocumentFragment();
  for (const piece of pieces) {
    if (piece.same) fragment.append(piece[two]);
    else {
      // the space before words that differ is not marked
      if (/^\s/.test(piece[two] || piece[one])) fragment.append(" ");
      if (piece[two].trim()) fragment.append(make("del", {}, piece[two].trim()));
      if (piece[one].trim()) fragment.append(make("ins", {}, piece[one].trim()));
    }
  }
  return fragment;
}

// What is seen of a line when it is unfolded: other translations, phrases, features.
function inside(piece, model, acts) {
  const rtl = [model.source_rtl, model.target_rtl];
  const found = [];
  if (piece.alternatives.length) {
    const list = make("ol", { class: "alternatives", "aria-label": "Alternatives" });
    piece.alternatives.forEach((item, k) => list.append(make("li", {},
      make("button", { type: "button", lang: model.target, dir: rtl[1] ? "rtl" : "ltr", onclick: () => acts.take(piece, item.text) },
        make("kbd", {}, `${k + 1}`), " ", item.text))));
    found.push(make("h3", {}, "Alternatives"), list);
  }
  if (piece.parts.length) {
    found.push(make("h3", {}, piece.recalled ? "Phrases of the decoder's own translation" : "Phrases"),
      make("div", { class: "picture", tabindex: "0", role: "group", "aria-label": "Phrases" }, ribbons(piece, rtl)));
    if (piece.features.length) found.push(make("h3", {}, `Features: what each adds to the score of ${signed(piece.score)}`), features(piece));
  }
  return found;
}

// One line of the text with all that there is to see of it; `acts` are what buttons do, and what is not seen at once is
// `open` or folded.
export function lineView(piece, model, acts, open) {
  const line = make("article", { class: "line", "aria-label": `line ${piece.place + 1}` });
  line.links = piece.links;
  line.piece = piece;
  line.told = make("span", { class: "soft told" });
  const [source, target] = [{ code: model.source, rtl: model.source_rtl }, { code: model.target, rtl: model.target_rtl }];
  line.append(row(line, piece, "source", piece.tokens, "Words of the text", source),
    row(line, piece, "target", piece.words, "Words of the translation", target));
  if (piece.confirmed) line.append(make("p", { class: "good" }, "This line was confirmed before: its translation comes from the memory."));
  for (const term of piece.terms) {
    const said = piece.tokens.slice(...term.source).join(" ");
    const wanted = term.forbidden ? `not “${term.forbidden}”` : `“${term.targets.join("” or “")}”`;
    line.append(make("p", { class: term.obeyed ? "good" : "note" }, `${term.obeyed ? "✓ term" : "✗ term violated"}: ${said} → ${wanted}`));
  }
  for (const note of piece.notes) line.append(make("p", { class: "note" }, note));
  const buttons = make("div", { class: "row" });
  if (acts.edit) buttons.append(make("button", { type: "button", class: "edit", onclick: () => acts.edit(piece, line) }, "Edit"));
  if (acts.confirm) buttons.append(make("button", { type: "button", class: "confirm", onclick: () => acts.confirm(piece, piece.text) }, "Confirm"));
  buttons.append(line.told);
  line.append(buttons);
  if (piece.matches.length) {
    line.append(make("h3", {}, "In the memory"));
    for (const match of piece.matches) {
      line.append(make("p", { class: "match" }, make("b", {}, `${match.percent} % `), make("bdi", { lang: source.code }, difference(match.difference, "line", "memory")), " → ",
        make("button", { type: "button", lang: target.code, dir: target.rtl ? "rtl" : "ltr", title: "take this translation", onclick: () => acts.take(piece, match.target) }, match.target), " ",
        acts.forget ? make("button", { type: "button", class: "forget", title: "take this pair out of the memory",
          "aria-label": `Forget: ${match.source} → ${match.target}`, onclick: () => acts.forget(match) }, "Forget") : ""));
    }
  }
  if (piece.alternatives.length || piece.parts.length) {
    const more = make("details", { class: "more", open }, make("summary", {}, "Alternatives, phrases, features"));
    const fill = () => { if (more.open && more.childElementCount === 1) more.append(...inside(piece, model, acts)); };
    more.addEventListener("toggle", fill);
    fill();
    line.append(more);
  }
  return line;
}
