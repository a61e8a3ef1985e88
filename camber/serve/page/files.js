// Files that are translated in place, and n-best lists that are re-ranked.

import { difference, make } from "./view.js";

const SILENT = "the server does not answer; what is shown may be old";

// Ask the server; where it cannot be reached, say so in words of ours.
export async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    throw error.name === "AbortError" ? error : new Error(SILENT);
  }
}

// What an answer refuses, which may be that of a proxy.
export async function refusal(answer) {
  const told = await answer.json().catch(() => null);
  return new Error(told?.error ?? `the server answers ${answer.status}`);
}

// Yield the objects of an answer that comes line by line.
export async function* steps(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read().catch((error) => { throw error.name === "AbortError" ? error : new Error(SILENT); });
    if (done) break;
    const rows = (rest + value).split("\n");
    rest = rows.pop();
    for (const text of rows) if (text) yield JSON.parse(text);
  }
}

export async function translateFile(file, model, headers, list) {
  const bar = make("progress", { max: "1", value: "0", "aria-label": `progress of ${file.name}` });
  const status = make("p", { class: "soft", role: "status" }, "…");
  const told = (text) => (text.startsWith(`${file.name}: `) ? text.slice(file.name.length + 2) : text); // it stands above
  list.prepend(make("li", {}, make("b", {}, file.name), bar, status));
  const query = new URLSearchParams({ name: file.name, source: model.source, target: model.target });
  try {
    const answer = await reach(`/api/files?${query}`, { method: "POST", headers, body: file });
    if (!answer.ok) throw await refusal(answer);
    for await (const step of steps(answer)) {
      if (step.error) throw new Error(step.error);
      if (step.total) {
        bar.max = step.total;
        bar.value = step.done;
        status.textContent = `${step.done} of ${step.total}`;
      }
      if (step.id) {
        bar.value = bar.max;
        status.replaceChildren(told(step.summary), " ", make("a", { href: `/api/files/${step.id}`, download: step.name, class: "fetch" }, `Save ${step.name}`));
      }
    }
  } catch (error) {
    bar.remove();
    status.className = "note";
    status.textContent = told(error.message);
  }
}

function table(title, rows) {
  const body = make("tbody");
  for (const row of rows) {
    body.append(make("tr", {}, make("td", { class: "n" }, String(row.sentence + 1)),
      make("td", {}, difference(row.pieces, "two", "one"), make("br"), make("span", { class: "soft" }, `reference: ${row.reference}`)),
      make("td", { class: "n" }, row.before.toFixed(1)), make("td", { class: "n" }, row.after.toFixed(1))));
  }
  const head = make("tr", {}, ...["Line", "First choice, with what re-ranking put in its place", "before", "after"].map((name, k) =>
    make("th", { scope: "col", class: k === 1 ? "" : "n" }, name)));
  return make("div", { class: "picture", tabindex: "0", role: "group", "aria-label": title }, make("table", {}, make("caption", {}, title), make("thead", {}, head), body));
}

export async function rerank(nbest, references, headers, place, status) {
  status.className = "soft";
  status.textContent = "fitting, five times without a fifth of the sentences …";
  place.replaceChildren();
  const body = JSON.stringify({ nbest: await nbest.text(), references: await references.text(), name: nbest.name });
  const answer = await reach("/api/rerank", { method: "POST", headers: { ...headers, "content-type": "application/json" }, body });
  if (!answer.ok) throw await refusal(answer);
  const told = await answer.json();
  status.className = "";
  status.textContent = `${told.metric} ${told.before} → ${told.after} on ${told.sentences} sentences that the weights had not seen; ` +
    `${told.changed} have another translation, ${told.won} a better one, ${told.lost} a worse one.`;
  if (told.wins.length) place.append(table("Wins", told.wins));
  if (told.losses.length) place.append(table("Losses", told.losses));
}
