// The sentence at the top: what the profile says before anything is clicked. Each clause holds a number that the table
// or the callers of a function show too.

import { countMarked, countNeighbours, heaviest } from "./count.js";
import { absolute } from "./paths.js";
import { matching } from "./pattern.js";

const NOTABLE = 0.08;
const HEAVY = 0.1;
const ALL = 0.995;
/** With fewer samples, shares vary too much to be read without a warning. */
const FEW_SAMPLES = 100;

/** Kinds of work that cross packages, with the functions in which they begin. */
const KINDS_OF_WORK = [
  { name: "garbage collection", pattern: "@gc" },
  { name: "allocation", pattern: String.raw`^(runtime\.mallocgc|malloc|calloc|realloc|_int_malloc|__libc_malloc|operator new|__rust_alloc|g_malloc|je_malloc|mi_malloc)` },
  { name: "waiting", pattern: "@idle" },
];

/** The parts of the sentence: texts, and names as `{ id }`, each a link. */
export function opening(model) {
  const { data, flat, paths, values, metric } = model;
  const shown = Number(flat.shown);
  if (!shown) return [];
  const percent = (value) => `${Math.round((100 * Math.abs(Number(value))) / shown)}%`;
  const share = (value) => Math.abs(Number(value)) / shown;
  const ids = (test) => idsWhere(data.names.length, test);
  // The sentence has at most three facts, and each kind of work leaves out at most a few functions.
  const bySelf = heaviest(ids((id) => flat.self[id] != 0), 20, (a, b) => Number(absolute(flat.self[b])) - Number(absolute(flat.self[a])) || a - b);
  const facts = [];
  const [first, ...others] = bySelf;
  const isRuntime = (id) => id !== undefined && data.groups[data.facts.group[id]].tier === "runtime";
  const what = model.isFiltered ? `the ${metric.name || "total"} shown` : metric.name || "the total";
  const is = metric.name.endsWith("s") ? "are" : "is";
  const start = () => (facts.length ? "" : ` of ${what} ${is}`);
  if (first !== undefined && share(flat.self[first]) >= HEAVY && !isRuntime(first)) {
    facts.push([`${percent(flat.self[first])}${start()} in `, { id: first }, " itself", ...caller(model, first)]);
  }
  // Paths that are approximated tell nothing about kinds of work.
  const kinds = (data.calls ? [] : kindsOfWork(data)).map(({ name, marks }) => {
    return { name, marks, value: model.side(countMarked(paths, values, marks, metric.zero), model.state.side === "old") };
  });
  kinds.sort((a, b) => share(b.value) - share(a.value));
  const said = new Set();
  for (const { name, marks, value } of kinds) {
    // That all stacks through `malloc` allocate is no news.
    if (facts.length > 2 || share(value) < NOTABLE || (model.isFiltered && share(value) > ALL)) continue;
    facts.push([`${percent(value)}${start()} in ${name}`]);
    for (let place = 0; place < marks.length; place++) if (marks[place]) said.add(data.places.name[place]);
  }
  for (const id of isRuntime(first) ? [first, ...others] : others) {
    if (facts.length > 2 || share(flat.self[id]) < HEAVY) break;
    // `(garbage collector)` is all of garbage collection.
    if (said.has(id)) continue;
    facts.push([`${percent(flat.self[id])}${start()} in `, { id }, " itself"]);
  }
  if (facts.length < 2 && first !== undefined) {
    if (share(flat.self[first]) < HEAVY) facts.push([`spread wide: no function has more than ${percent(flat.self[first])} itself`]);
    const half = ids((id) => share(flat.total[id]) >= 0.5 && data.groups[data.facts.group[id]].tier === "own");
    const inner = half.sort((a, b) => Number(absolute(flat.total[a])) - Number(absolute(flat.total[b])) || b - a)[0];
    // That all stacks of a filter pass through what it asks for is no news either.
    const isNews = inner !== undefined && inner !== first && !(model.isFiltered && share(flat.total[inner]) > ALL);
    if (isNews) facts.push([`${percent(flat.total[inner])}${start()} in `, { id: inner }, " and what it calls"]);
  }
  const few = metric.samples;
  if (few && few < FEW_SAMPLES && !model.isFiltered) facts.unshift([`Only ${few} samples: shares may be off by ±${Math.ceil(70 / Math.sqrt(few))} percentage points`]);
  // A sentence begins with a capital.
  if (typeof facts[0]?.[0] === "string") facts[0][0] = facts[0][0].replace(/^[a-z]/, (letter) => letter.toUpperCase());
  return facts.slice(0, 3).flatMap((fact, index) => (index ? ["; ", ...fact] : fact)).concat(facts.length ? ["."] : []);
}

/** The numbers of the names for which `test` holds. */
function idsWhere(count, test) {
  const found = [];
  for (let id = 0; id < count; id++) if (test(id)) found.push(id);
  return found;
}

/** The places of each kind of work, which no filter changes. */
function kindsOfWork(data) {
  return (data.kindsOfWork ??= KINDS_OF_WORK.map(({ name, pattern }) => ({ name, marks: matching(data, [{ text: pattern, exact: false }]) })));
}

/** Who calls a function: the only caller, or the one from which half of it comes. */
function caller(model, id) {
  const { data, paths, values, metric } = model;
  const found = Uint8Array.from(data.places.name, (name) => (name === id ? 1 : 0));
  const { callers, total, itself, root } = model.exactNeighbours(found) ?? countNeighbours(data, paths, values, found, metric.zero);
  const outside = Number(absolute(total)) || 1;
  const ids = idsWhere(callers.length, (name) => callers[name] != 0);
  const [most] = ids.sort((a, b) => Number(absolute(callers[b])) - Number(absolute(callers[a])) || a - b);
  if (most === undefined || root != 0) return [];
  const part = Number(absolute(callers[most])) / outside;
  if (part < 0.5) return ids.length > 3 ? [`, which ${ids.length} functions call`] : [];
  const word = ids.length === 1 && itself == 0 ? "only " : part >= 0.9 ? "almost always " : "mostly ";
  return [`, called ${word}by `, { id: most }];
}
