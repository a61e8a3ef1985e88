// The page: what is typed is translated, and what comes back is shown, edited and confirmed.

import { reach, refusal, rerank, steps, translateFile } from "./files.js";
import { lineView, make, targetText } from "./view.js";

const $ = (id) => document.getElementById(id);
const state = { models: [], learns: false, pieces: [], lines: [], outputs: [], between: [], asked: 0, model: null, stop: null, timer: 0 };
const WAIT = 250; // milliseconds after the last key

function headers() {
  const key = $("key").value.trim();
  return key ? { "x-api-key": key } : {};
}

function trouble(text) {
  $("trouble").hidden = !text;
  $("trouble").textContent = text || "";
}

async function post(path, content) {
  const answer = await reach(path, { method: "POST", headers: { ...headers(), "content-type": "application/json" }, body: JSON.stringify(content) });
  if (!answer.ok) throw await refusal(answer);
  return answer.json();
}

const chosen = () => {
  const [source, target] = $("pair").value.split(" ");
  return { source, target };
};
const modelOf = ({ source, target }) => state.models.find((it) => (source === "auto" || it.source === source) && it.target === target) || state.models[0];

async function loadModels() {
  const answer = await reach("/api/models", { headers: headers() });
  if (!answer.ok) throw await refusal(answer);
  const told = await answer.json();
  state.models = told.models;
  state.learns = told.learns;
  $("key-field").hidden = !told.needs_key;
  if ($("pair").options.length) return;
  for (const model of told.models) {
    $("pair").append(make("option", { value: `${model.source} ${model.target}` }, `${model.source_name} → ${model.target_name}`));
  }
  const targets = new Set(told.models.map((it) => it.target));
  for (const target of targets) {
    $("pair").append(make("option", { value: `auto ${target}` }, `find out → ${told.models.find((it) => it.target === target).target_name}`));
  }
}

const nameOf = (code) => state.models.find((it) => it.source === code)?.source_name ?? code;

function terms() {
  return $("terms").value.split("\n").map((row) => row.split("=").map((cell) => cell.trim())).filter((row) => row[0])
    .map((row) => [row[0], row[1] || ""]);
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function showCurl() {
  const { source, target } = chosen();
  const body = JSON.stringify({ q: $("source").value, source, target, alternatives: 3 });
  const key = $("key").value ? " -H 'X-API-Key: YOUR-KEY'" : "";
  $("curl").textContent = `curl ${location.origin}/translate -H 'Content-Type: application/json'${key} \\\n  -d ${quoted(body)}`;
}

function showModel(model) {
  if (!model) return;
  state.model = model;
  const facts = { name: model.name, kind: model.kind, languages: `${model.source_name} → ${model.target_name}`, "added pairs": model.added,
    "takes terms": model.takes_terms ? "yes" : "no", "learns from you": state.learns && model.takes_pairs ? "yes" : "no" };
  $("model").replaceChildren(...Object.entries(facts).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, String(value))]));
  $("curves-place").hidden = !model.curves;
  $("curves").href = `/curves/${model.source}-to-${model.target}`;
  $("source").dir = model.source_rtl ? "rtl" : "auto";
  $("source").lang = model.source;
  $("output").dir = model.target_rtl ? "rtl" : "ltr";
  $("output").lang = model.target;
}

const acts = {
  take(piece, text) {
    piece.text = text;
    piece.places = [];
    render(piece);
    $("status").textContent = "taken; confirm it to let the model learn it";
    $("lines").querySelector(`[data-place="${piece.place}"] .confirm`)?.focus();
  },
  edit(piece, line) {
    const box = make("textarea", { rows: "2", "aria-label": "the translation, to be edited", lang: state.model.target, dir: $("output").dir });
    box.value = piece.text;
    const leave = () => { render(piece); $("source").focus(); };
    box.addEventListener("keydown", (event) => {
      if (event.key === "Escape") leave();
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.stopPropagation();
        keep();
      }
    });
    const keep = () => (acts.confirm ? acts.confirm(piece, box.value.trim()) : acts.take(piece, box.value.trim()));
    const save = make("button", { type: "button", class: "main", onclick: keep }, acts.confirm ? "Confirm" : "Take");
    line.querySelector(".row").replaceWith(make("div", {}, box, make("div", { class: "row" }, save, make("button", { type: "button", onclick: leave }, "Leave"))));
    box.focus();
  },
  confirm: null,
  forget: null,
};

// Change the memory, say so, and show what the model makes of the text now.
async function remember(path, text, translation, ...said) {
  try {
    await post(path, { text, translation, source: state.model.source, target: state.model.target });
    trouble("");
    $("status").replaceChildren(...said);
    await loadModels();
    await translate();
    $("source").focus();
  } catch (error) {
    trouble(error.message);
  }
}

const confirm = (piece, text) => remember("/api/confirm", piece.source, text, "learnt");

function forget(match) {
  const back = () => remember("/api/confirm", match.source, match.target, "learnt again");
  const undo = make("button", { type: "button", id: "undo", onclick: back }, "Bring it back");
  return remember("/api/forget", match.source, match.target, "forgotten ", undo);
}

// Lines beyond these are folded: of a long text, its words and its buttons are enough to begin with.
const UNFOLDED = 3;

// Make room for the lines of a text, which are shown as they come; until then, what was there before stays.
function prepare(between, count) {
  state.between = between;
  state.pieces = new Array(count).fill(null);
  state.lines = state.pieces.map((_, place) => state.lines[place] ?? make("div"));
  state.outputs = state.pieces.map((_, place) => state.outputs[place] ?? make("span", {}, "…"));
  $("lines").replaceChildren(...state.lines);
  $("output").replaceChildren(between[0] || "", ...state.outputs.flatMap((element, place) => [element, between[place + 1] || ""]));
  const able = state.learns && state.model.takes_pairs;
  acts.confirm = able ? confirm : null;
  acts.forget = able ? forget : null;
}

// Show a line, for the first time or anew.
function render(piece) {
  const { model } = state;
  const line = lineView(piece, model, acts, state.pieces.length <= UNFOLDED);
  const output = make("span", {}, targetText(line, piece));
  line.dataset.place = piece.place;
  state.pieces[piece.place] = piece;
  state.lines[piece.place].replaceWith(line);
  state.lines[piece.place] = line;
  state.outputs[piece.place].replaceWith(output);
  state.outputs[piece.place] = output;
  const sure = state.pieces.filter((it) => it && it.confidence !== null);
  const words = sure.reduce((sum, it) => sum + it.words.length, 0);
  const share = sure.reduce((sum, it) => sum + it.confidence * it.words.length, 0) / words;
  $("unsure").hidden = !$("output").querySelector(".sure-0, .sure-1");
  $("sure").textContent = words ? `confidence ${Math.round(100 * share)} %${model.calibrated ? "" : ", not calibrated"}` : "";
}

async function translate() {
  const text = $("source").value;
  const number = ++state.asked;
  showCurl();
  if (state.stop) state.stop.abort();
  if (!text.trim()) {
    prepare([], 0);
    for (const id of ["sure", "detected", "status"]) $(id).textContent = "";
    $("unsure").hidden = true;
    trouble("");
    return;
  }
  state.stop = new AbortController();
  try {
    const answer = await reach("/api/translate", {
      method: "POST", signal: state.stop.signal, headers: { ...headers(), "content-type": "application/json" },
      body: JSON.stringify({ text, ...chosen(), terms: terms(), stream: true }),
    });
    if (!answer.ok) throw await refusal(answer);
    let first = true;
    for await (const step of steps(answer)) {
      if (number !== state.asked) return;
      if (step.error) throw new Error(step.error);
      if (first) {
        const [source, target] = step.model.split("-").length === 2 ? step.model.split("-") : [chosen().source, chosen().target];
        showModel(modelOf({ source, target }));
        $("detected").textContent = step.detected ? `${nameOf(step.detected.language)}, ${Math.round(step.detected.confidence)} % sure` : "";
        prepare(step.between, step.count);
        trouble("");
        first = false;
      } else {
        render(step);
      }
    }
  } catch (error) {
    if (error.name !== "AbortError") trouble(error.message);
  }
}

function soon() {
  clearTimeout(state.timer);
  if (!$("undo")) $("status").textContent = ""; // what was said of the text before
  state.timer = setTimeout(translate, WAIT);
}

function show(view) {
  for (const name of ["text", "files", "rerank"]) {
    $(`view-${name}`).hidden = name !== view;
    $(`tab-${name}`).setAttribute("aria-pressed", String(name === view));
  }
}

function dropped(files) {
  for (const file of files) translateFile(file, modelOf(chosen()), headers(), $("files"));
}

for (const name of ["text", "files", "rerank"]) $(`tab-${name}`).addEventListener("click", () => show(name));
$("source").addEventListener("input", soon);
$("terms").addEventListener("input", soon);
$("pair").addEventListener("change", () => { showModel(modelOf(chosen())); translate(); });
$("key").addEventListener("change", async () => { await loadModels(); translate(); });
$("key-field").addEventListener("submit", (event) => event.preventDefault());
$("copy-curl").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText($("curl").textContent);
    $("copied").textContent = "copied";
  } catch { // no clipboard for pages without TLS, or none for us
    getSelection().selectAllChildren($("curl"));
    $("copied").textContent = "selected; copy it by the keys of your system";
  }
});
$("file").addEventListener("change", () => {
  dropped($("file").files);
  $("file").value = ""; // the same file may be chosen again
});
for (const name of ["dragover", "dragleave", "drop"]) {
  $("drop").addEventListener(name, (event) => {
    event.preventDefault();
    $("drop").classList.toggle("over", name === "dragover");
    if (name === "drop") dropped(event.dataTransfer.files);
  });
}
$("rerank").addEventListener("click", async () => {
  const [nbest, references] = [$("nbest").files[0], $("references").files[0]];
  $("rerank").disabled = true;
  try {
    if (!nbest || !references) throw new Error("choose a list and its references");
    await rerank(nbest, references, headers(), $("rerank-result"), $("rerank-status"));
  } catch (error) {
    $("rerank-status").className = "note";
    $("rerank-status").textContent = error.message;
  }
  $("rerank").disabled = false;
});
// The line that has the focus, or else the one that the caret is in.
function current() {
  const line = document.activeElement?.closest(".line");
  if (line) return state.pieces[line.dataset.place];
  let end = 0;
  return state.pieces.find((piece, place) => {
    end += state.between[place].length + (piece?.source.length ?? 0);
    return $("source").selectionStart <= end;
  }) ?? state.pieces.at(-1);
}

document.addEventListener("keydown", (event) => {
  if ($("view-text").hidden) return;
  const piece = current();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    if (piece) state.lines[piece.place].querySelector(".edit")?.click();
    event.preventDefault();
  }
  if (event.altKey && /^[1-9]$/.test(event.key)) {
    const other = piece?.alternatives[Number(event.key) - 1];
    if (other) acts.take(piece, other.text);
    event.preventDefault();
  }
});

// Curves are a page of their own; with keys it is drawn for who has one, and stays for a while under a name nobody guesses.
$("curves").addEventListener("click", async (event) => {
  if ($("key-field").hidden) return;
  event.preventDefault();
  const page = window.open("", "_blank");
  try {
    const { source, target } = state.model;
    const { id } = await post("/api/curves", { source, target });
    page.location = `/curves/${id}`;
  } catch (error) {
    page?.close();
    trouble(error.message);
  }
});

try {
  await loadModels();
  showModel(modelOf(chosen()));
  if (!$("key-field").hidden) $("key").focus();
} catch (error) {
  trouble(error.message);
}
showCurl();
if ($("source").value) translate();
