// The page's keys. A decision shows the next sentence at once and is sent behind it; what is not saved yet is
// told, sent again, and never dropped while the page is open.
"use strict";
const base = document.body.dataset.base, view = document.body.dataset.view;
const tab = String(Math.random()), unsent = [];
// Items that are fetched before they are wanted: a save makes the server slow for some of them.
const AHEAD = 3;
const $ = (query, from = document) => from.querySelector(query);
let current = null, last = null, counts = null, greeted = false, ahead = [], skipped = new Set(), skipping = Promise.resolve(), since = 0, sending = null, edit = null, chord = false;

// Names stand in backticks, as on a terminal.
function write(at, text) {
  at.replaceChildren(...text.split("`").map((part, place) => {
    if (place % 2 === 0) return part;
    const name = document.createElement("code");
    name.textContent = part;
    return name;
  }));
}
function state(text, kind = "") { const at = $("#state"); write(at, text); at.className = "state " + kind; }

async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  let reply;
  try { reply = await fetch(base + "/" + path, options); } catch { throw Object.assign(new Error("the review has ended; start `fnstore review` again, which asks again for what is not saved"), { ended: true }); }
  const text = await reply.text();
  if (!reply.ok) {
    let said = { error: text.trim() };
    try { said = JSON.parse(text); } catch { /* plain text */ }
    throw Object.assign(new Error([said.error, said.hint].filter(Boolean).join(". ")), { status: reply.status });
  }
  const said = JSON.parse(text);
  // What any window decides counts: the last reply knows best.
  counts = said.counts ?? counts;
  return said;
}

// The next item. What was given back comes at the end, though its number is lower: `reach` says how far the queue was
// gone through with it.
async function fetchNext(after) {
  const item = await ask("item?tab=" + tab + (after === null ? "" : "&after=" + after));
  item.reach = Math.max(after ?? 0, item.n ?? 0);
  return item;
}
const reachOf = (item) => item.reach ?? item.n;

// Shows an item; `coming` is what was fetched of those after it.
function show(item, coming = []) {
  current = item.end ? null : item;
  // The first one says how many there are, as far as they are counted.
  if (!greeted) state(left(counts).slice(2));
  greeted = true;
  edit = null;
  $("#item").innerHTML = item.end
    ? "<p class='quiet'>" + ending() + " <kbd>u</kbd> undoes.</p>" : item.html;
  since = performance.now();
  document.body.dataset.item = item.end ? "end" : item.n;
  ahead = coming;
  while (current && ahead.length < AHEAD) {
    const one = Promise.resolve(ahead.at(-1) ?? item).then((last) => last.end ? last : fetchNext(reachOf(last)));
    one.catch(() => {});
    ahead.push(one);
  }
}

function ending() {
  return "All is decided, or shown in another tab." + (skipped.size ? " You skipped " + skipped.size + ": load the page again for them." : "");
}

function left(counts) { return counts === null || counts.left === null ? "" : ", " + counts.left + " to go"; }

function skip() {
  if (!current) return next(last);
  const item = current.n;
  skipped.add(item);
  const asked = ask("skip", { item, tab }).then(() => state("skipped no. " + (item + 1) + left(counts)));
  skipping = Promise.all([skipping, asked]).catch((error) => state(error.message, "bad"));
  next(reachOf(current));
}

// Shows what comes after an item. Until it is there no key decides: nobody has seen it.
async function next(after) {
  current = null;
  last = after;
  const one = ahead.shift() ?? fetchNext(after), coming = ahead;
  ahead = [];
  try { show(await one, coming); } catch (error) { state(error.message + "; s tries again", "bad"); }
}

function decide(score) {
  if (!current) return;
  const flags = [...document.querySelectorAll("input[name=flag]:checked")].map((flag) => flag.value);
  skipped.delete(current.n);
  unsent.push({ item: current.n, score, millis: Math.round(performance.now() - since), note: flags.join(", "), judges: current.judges });
  state("saving");
  flush();
  next(reachOf(current));
}

// Sends what is unsent, in order, in one request at a time; gives back when all is safe.
function flush() {
  sending ??= (async () => {
    while (unsent.length) {
      const batch = unsent.slice(0, 200);
      try {
        const saved = await ask("decide", batch.map(({ judges, ...decision }) => decision));
        unsent.splice(0, batch.length);
        if (saved.gone.length) state("deleted meanwhile: " + saved.gone.join(", "), "bad");
        else if (!unsent.length) state("saved, " + saved.counts.decided + " decided" + left(saved.counts), "good");
      } catch (error) {
        state("not saved yet (" + unsent.length + "): " + error.message, "bad");
        if (error.ended) offer();
        await new Promise((done) => setTimeout(done, 1500));
      }
    }
  })().finally(() => { sending = null; });
  return sending;
}

// What a review that has ended cannot take any more, as a file for the store.
function offer() {
  const lines = unsent.filter(({ judges }) => judges).map(({ judges, score, note }) => JSON.stringify({ ...judges, score, note }) + "\n");
  if (!lines.length) return;
  const link = document.createElement("a"), command = document.createElement("code");
  const href = "data:application/jsonl," + encodeURIComponent(lines.join(""));
  Object.assign(link, { id: "unsaved", href, download: "unsaved.jsonl", textContent: "unsaved.jsonl" });
  command.textContent = "fnstore judge --from unsaved.jsonl";
  $("#state").append("; or keep ", link, " and run ", command);
}

// One undo after another, however fast the key comes.
let undoing = Promise.resolve();
function undo() {
  undoing = undoing.then(async () => {
    await Promise.all([flush(), skipping]);
    try {
      const undone = await ask("undo", {});
      show(await ask("item?tab=" + tab + "&n=" + undone.n));
      state("undone: no. " + (undone.n + 1) + left(undone.counts), "good");
    } catch (error) { state(error.message, "bad"); }
  });
}

function startEdit() {
  if (!current || !current.targets.length || !$("[data-key=e]")) return;
  // The item counts code points, the page code units.
  const units = [0];
  for (const letter of current.text) units.push(units.at(-1) + letter.length);
  const inUnits = (spans) => spans.map((span) => span.map((at) => units[at]));
  // What can be moved: the target, then each frame element.
  const marks = [{ name: "the target", spans: inUnits(current.targets) },
    ...current.elements.map(({ name, span }) => ({ name, spans: inUnits([span]) }))];
  edit = { units, marks, mark: 0, spans: marks[0].spans, piece: 0, end: 1, letters: inUnits(current.letters), words: inUnits(current.words) };
  document.querySelectorAll(".answers button").forEach((button) => { button.disabled = true; });
  drawEdit();
}

// Another mark is edited; what was moved of this one and not saved goes back.
function nextMark() {
  const mark = (edit.mark + 1) % edit.marks.length;
  startEdit();
  Object.assign(edit, { mark, spans: edit.marks[mark].spans });
  drawEdit();
}

function drawEdit(stopped = false) {
  const at = $("#output"), text = current.text;
  at.textContent = "";
  at.classList.add("editing");
  let from = 0;
  edit.spans.forEach(([start, end], piece) => {
    const mark = document.createElement("mark");
    mark.className = "target" + (piece === edit.piece ? (edit.end ? " right" : " left") : "");
    mark.textContent = text.slice(start, end);
    at.append(text.slice(from, start), mark);
    from = end;
  });
  at.append(text.slice(from));
  const end = edit.end ? "end" : "start", pieces = edit.spans.length > 1 ? ", \u2191 \u2193 another piece" : "";
  const next = edit.marks.length > 1 ? ", f another element" : "";
  const keys = "\u2190 \u2192 by word, shift by letter, tab the other end" + pieces + next + ", enter saves, escape leaves";
  const name = edit.marks[edit.mark].name;
  state((stopped ? "the " + end + " stops here: " : end + " of " + name + ": ") + keys, stopped ? "bad" : "");
}

function moveEnd(direction, byLetter) {
  const span = edit.spans[edit.piece], at = span[edit.end];
  const places = (byLetter ? edit.letters : edit.words).map((unit) => unit[edit.end]);
  const to = direction > 0 ? places.find((place) => place > at) : places.findLast((place) => place < at);
  const low = edit.end ? span[0] + 1 : (edit.spans[edit.piece - 1]?.[1] ?? 0);
  const high = edit.end ? (edit.spans[edit.piece + 1]?.[0] ?? current.text.length) : span[1] - 1;
  const moves = to >= low && to <= high;
  if (moves) span[edit.end] = to;
  drawEdit(!moves);
}

async function editKey(event) {
  const { key } = event;
  if (key === "ArrowLeft" || key === "ArrowRight") moveEnd(key === "ArrowRight" ? 1 : -1, event.shiftKey);
  else if (key === "ArrowUp" || key === "ArrowDown") { const n = edit.spans.length; edit.piece = (edit.piece + (key === "ArrowUp" ? n - 1 : 1)) % n; drawEdit(); }
  else if (key === "Tab") { edit.end = 1 - edit.end; drawEdit(); }
  else if (key === "Escape") { show(current, ahead); state("the span stays as it was"); }
  else if (key === "Enter") {
    if (edit.saving) return;
    edit.saving = true;
    const targets = edit.spans.map((span) => span.map((at) => edit.units.indexOf(at)));
    await flush();
    const element = edit.mark ? edit.mark - 1 : null;
    try { const item = await ask("edit", { item: current.n, targets, element }); item.reach = current.reach; show(item, ahead); state(item.moved ? "span saved" : "the span stays as it was", "good"); }
    catch (error) { edit.saving = false; state(error.message, "bad"); }
  } else return;
}

// Lists: j and k move, x selects, and a, r or a digit decides over the selection, or on the entry that has the focus.
function entries() { return [...document.querySelectorAll("li.entry")]; }
function focused() { return document.activeElement?.closest("li.entry"); }
function counted() {
  const picked = entries().filter((entry) => $("input[type=checkbox]", entry)?.checked).length, at = $("#picked");
  if (at) at.textContent = (picked || "none") + " selected";
}
function given(entry, score) {
  entry.classList.toggle("decided", score !== null);
  const at = $(".given", entry);
  if (at) at.textContent = score === null ? "" : " \u00b7 you gave it " + score;
}
function step(by) { const all = entries(), at = all.indexOf(focused()); all[Math.min(Math.max(at + by, 0), all.length - 1)]?.focus(); }

async function bulk(score) {
  const picked = entries().filter((entry) => $("input[type=checkbox]", entry)?.checked);
  const of = picked.length ? picked : [focused()].filter((entry) => entry?.dataset.set);
  if (!of.length) return state("select sets first: x, or shift x for all", "bad");
  try {
    const saved = await ask("bulk", { sets: of.map((entry) => [entry.dataset.release, entry.dataset.set]), score });
    of.forEach((entry) => { if (!saved.gone.includes(entry.dataset.set)) given(entry, score); $("input", entry).checked = false; });
    counted();
    state("saved, " + saved.saved + " decided together" + left(saved.counts), "good");
  } catch (error) { state(error.message, "bad"); }
}

// Proposals that were decided on here, the last one at the end.
const settled = [];

async function proposal(entry, verdict, to = "") {
  if (!entry) return state("go to a proposal first: j", "bad");
  const { release, frame, lu } = entry.dataset;
  try {
    const done = await ask("proposal", { release, frame, lu, verdict, to });
    write($(".said", entry), done.said);
    entry.classList.toggle("decided", verdict !== "undo");
    state(done.said, "good");
    entry.focus();
    if (verdict !== "undo") { settled.push(entry); step(1); }
  } catch (error) { state(error.message, "bad"); }
}

function act(key) {
  const score = key === "a" ? 100 : key === "r" ? 0 : /^[1-9]$/.test(key) ? key * 10 : null;
  if (key === "?") return $("#keys").showModal();
  if (key === "/") { const query = $("#query"); if (query) query.focus(); else location = base + "/search"; return; }
  if (view === "proposals") {
    if (key === "a" || key === "r") return proposal(focused(), key === "a" ? "accept" : "reject");
    if (key === "u") return proposal(settled.pop() ?? focused(), "undo");
    const field = focused() && { m: "move", M: "merge" }[key];
    if (field) return $("form[data-verdict=" + field + "] input", focused()).focus();
  } else if (view === "search") {
    if (score !== null) return bulk(score);
    if (key === "u") return undoQuietly();
  } else if (view === "sentences") {
    if (score !== null) return decide(score);
    if (key === "s") return skip();
    if (key === "u") return undo();
    if (key === "e") return startEdit();
    if (key === "n") return $("input[name=score]")?.focus();
    const flag = { f: 0, m: 1 }[key], box = document.querySelectorAll("input[name=flag]")[flag];
    if (box) { box.checked = !box.checked; return; }
  }
  if (key === "j") return step(1);
  if (key === "k") return step(-1);
  const boxes = key === "x" ? [focused()] : key === "X" ? entries() : null;
  if (!boxes) return key.length === 1 && key !== " " ? state("`" + key + "` does nothing here; ? lists the keys") : undefined;
  boxes.forEach((entry) => { const box = entry && $("input[type=checkbox]", entry); if (box) box.checked = key === "X" || !box.checked; });
  counted();
}

async function undoQuietly() {
  try {
    const { sets, counts: after } = await ask("undo", {});
    for (const [release, set, score] of sets) {
      entries().filter(({ dataset }) => dataset.release === release && dataset.set === set).forEach((entry) => given(entry, score));
    }
    state("undone: " + (sets.length === 1 ? sets[0][1] : sets.length + " sets") + left(after), "good");
  } catch (error) { state(error.message, "bad"); }
}

// The sign that a key stands for on any keyboard. Shift makes a letter a capital, Caps Lock does not. A keyboard of
// another script is read by the places of its keys, and so is a row of digits that needs shift for them.
function sign({ key, code, shiftKey }) {
  const cased = (letter) => (shiftKey ? letter.toUpperCase() : letter.toLowerCase());
  if (/^[a-z]$/i.test(key)) return cased(key);
  const [, digit] = /^Digit([1-9])$/.exec(code) ?? [];
  if (digit && !shiftKey && key !== "/" && key !== "?") return digit;
  const isForeign = key.length === 1 && /\p{L}/u.test(key);
  const [, letter] = /^Key([A-Z])$/.exec(code) ?? [];
  if (letter && isForeign) return cased(letter);
  return code === "Slash" && /^[.,]$/.test(key) ? (shiftKey ? "?" : "/") : key;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const key = sign(event);
  if ($("dialog[open]")) { if (key === "?") { event.preventDefault(); $("#keys").close(); } return; }
  if (edit && key !== "?") {
    if (/^(Arrow|Tab|Enter|Escape)/.test(event.key)) { event.preventDefault(); editKey(event); }
    else if (key === "f" && !edit.saving) nextMark();
    return;
  }
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "checkbox") {
    if (event.key === "Enter" && event.target.name === "score" && event.target.value !== "") {
      event.preventDefault();
      if (event.target.checkValidity() && /^\d+$/.test(event.target.value)) { event.target.blur(); decide(Number(event.target.value)); }
      else state("a score is a whole number from 0 to 100", "bad");
    }
    if (event.key === "Escape") { const entry = focused(); event.target.blur(); entry?.focus(); }
    return;
  }
  if (chord) {
    chord = false;
    const to = { s: "sentences", p: "proposals", f: "frame", "/": "search", g: "agreement" }[key];
    if (to) { event.preventDefault(); location = base + "/" + to; }
    return;
  }
  if (key === "g") { chord = true; return; }
  if ("/?'mMn".includes(key)) event.preventDefault();
  act(key);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-key], button[data-verdict]");
  if (!button) return;
  if (button.dataset.verdict) proposal(button.closest("li.entry"), button.dataset.verdict);
  else { button.blur(); act(button.dataset.key); }
});

document.addEventListener("submit", (event) => {
  const verdict = event.target.dataset.verdict;
  if (!verdict) return;
  event.preventDefault();
  proposal(event.target.closest("li.entry"), verdict, $("input", event.target).value.trim());
});

// Completion: whole values for the list under the field.
document.addEventListener("input", async (event) => {
  const lead = event.target.dataset.complete;
  if (lead === undefined) return;
  const typed = event.target.value;
  try {
    const names = lead ? "&names=1" : "";
    const offered = await ask("complete?q=" + encodeURIComponent(lead + typed) + names);
    if (event.target.value !== typed) return;
    $("#offered").replaceChildren(...offered.map((query) => {
      const option = document.createElement("option");
      option.value = query;
      return option;
    }));
  } catch { /* completion is a convenience */ }
});

// What this page shows or has fetched is open to the next one at once.
window.addEventListener("pagehide", () => navigator.sendBeacon(base + "/leave", new Blob([JSON.stringify({ tab })], { type: "application/json" })));
window.addEventListener("beforeunload", (event) => { if (unsent.length) event.preventDefault(); });
if (view === "sentences") next(null);
else if (entries().length) step(0);
else if (view === "search" && $("#query").value === "") $("#query").focus();
document.addEventListener("change", counted);
counted();
