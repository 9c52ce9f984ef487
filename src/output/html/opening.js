// The sentence at the top: what the profile says before anything is clicked. Each clause holds a number that the table
// or the callers of a function show too.

import { countMarked, countNeighbours, heaviest } from "./count.js";
import { absolute, sizes } from "./paths.js";
import { matching } from "./pattern.js";

const NOTABLE = 0.08;
const HEAVY = 0.1;
const ALL = 0.995;
/** With fewer samples, shares vary too much to be read without a warning. */
const FEW_SAMPLES = 100;
const MOST_FACTS = 3;
const MOST_KINDS = 2;

/** Kinds of work that cross packages: sets of the functions in which they begin. */
const KINDS_OF_WORK = [
  { name: "garbage collection", pattern: "@gc" },
  { name: "allocation", pattern: "@alloc" },
  { name: "waiting", pattern: "@idle" },
  { name: "locks", pattern: "@lock" },
  { name: "system calls", pattern: "@syscall" },
];

/** The parts of the sentence: texts, and names as `{ id }`, each a link. */
export function opening(model) {
  const { data, flat, metric } = model;
  const shown = Number(flat.shown);
  if (!shown) return [];
  const percent = (value) => `${Math.round((100 * Number(value)) / shown)}%`;
  const share = (value) => Math.abs(Number(value)) / shown;
  const ids = (test) => idsWhere(data.count, test);
  // The sentence has at most three facts, and each kind of work leaves out at most a few functions.
  const bySelf = heaviest(ids((id) => flat.self[id] != 0), 20, (a, b) => Number(absolute(flat.self[b])) - Number(absolute(flat.self[a])) || a - b);
  const [first] = bySelf;
  const facts = [];
  const what = model.isFiltered ? `the ${metric.name || "total"} shown` : metric.name || "the total";
  const is = metric.name.endsWith("s") ? "are" : "is";
  const start = () => (facts.length ? "" : ` of ${what} ${is}`);
  const itself = (id, ...more) => facts.push([`${percent(flat.self[id])}${start()} in `, { id }, " itself", ...more]);
  const kinds = notableKinds(model, share);
  // `(garbage collector)` is all of garbage collection.
  const inKinds = new Set(kinds.flatMap(({ marks }) => [...namesOf(data, marks)]));
  const alone = bySelf.filter((id) => share(flat.self[id]) >= HEAVY && !inKinds.has(id));
  if (alone[0] === first && alone.length) itself(first, ...caller(model, first));
  for (const { name, marks, value } of kinds) facts.push([`${percent(value)}${start()} in ${name}`, ...below(model, marks)]);
  for (const id of alone) if (id !== first && facts.length < MOST_FACTS) itself(id);
  if (facts.length < 2 && first !== undefined) {
    const half = ids((id) => share(flat.total[id]) >= 0.5 && isOwn(data, id));
    const inner = half.sort((a, b) => Number(absolute(flat.total[a])) - Number(absolute(flat.total[b])) || b - a)[0];
    // That all stacks of a filter pass through what it asks for is no news.
    const isNews = inner !== undefined && inner !== first && !(model.isFiltered && share(flat.total[inner]) > ALL);
    if (isNews) facts.push([`${percent(flat.total[inner])}${start()} in `, { id: inner }, " and what it calls"]);
    if (share(flat.self[first]) < HEAVY) facts.push([`spread wide: no function has more than ${percent(absolute(flat.self[first]))} itself`]);
  }
  const few = metric.samples ?? (/^samples?$/.test(metric.name) ? Number(metric.total) : null);
  if (few && few < FEW_SAMPLES && !model.isFiltered) facts.unshift([`Only ${few} sample${few === 1 ? "" : "s"}: shares may be off by ±${Math.ceil(70 / Math.sqrt(few))} percentage points`]);
  // A sentence begins with a capital.
  if (typeof facts[0]?.[0] === "string") facts[0][0] = facts[0][0].replace(/^[a-z]/, (letter) => letter.toUpperCase());
  return facts.slice(0, MOST_FACTS).flatMap((fact, index) => (index ? ["; ", ...fact] : fact)).concat(facts.length ? ["."] : []);
}

/** The numbers of the names for which `test` holds. */
function idsWhere(count, test) {
  const found = new Uint32Array(count);
  let length = 0;
  for (let id = 0; id < count; id++) if (test(id)) found[length++] = id;
  return found.subarray(0, length);
}

const isOwn = (data, id) => data.groups[data.facts.group[id]].tier === "own";

/** The names of the marked places. */
function namesOf(data, marks) {
  return new Set(data.places.name.filter((_, place) => marks[place]));
}

/** The places of each kind of work, which no filter changes. */
function kindsOfWork(data) {
  return (data.kindsOfWork ??= KINDS_OF_WORK.map(({ name, pattern }) => ({ name, marks: matching(data, [{ text: pattern, exact: false }]) })));
}

/** The kinds of work that take much, the largest first. That all stacks are of one kind is no news. */
function notableKinds(model, share) {
  const { data, paths, values, metric, state } = model;
  // Paths that are approximated tell nothing about kinds of work.
  if (data.calls) return [];
  const count = (marks) => model.side(countMarked(paths, values, marks, metric.zero), state.side === "old");
  const kinds = kindsOfWork(data).map(({ name, marks }) => ({ name, marks, value: count(marks), part: 0 }));
  for (const kind of kinds) kind.part = share(kind.value);
  const notable = kinds.filter(({ part }) => part >= NOTABLE && part <= ALL).sort((a, b) => b.part - a.part);
  // Waiting for a lock is also a system call: what is mostly said already is left out.
  const isNew = (kind, at) => {
    const before = notable.slice(0, at);
    return before.every((other) => share(count(other.marks.map((is, place) => is | kind.marks[place]))) >= other.part + kind.part / 2);
  };
  return notable.filter(isNew).slice(0, MOST_KINDS);
}

/** Calls `act` for the outermost marked node of each stack: the nearest own call above it, or 0, what that calls, and the value. */
function eachOutermost(model, marks, act) {
  const { data, paths, values, metric } = model;
  const { places, frames, parent, end, length } = paths.nodes;
  const size = paths.below(sizes(values), metric.zero);
  for (let node = 1; node < length; ) {
    const isMarked = size[node] != 0 && marks[places[node]];
    if (isMarked) {
      let [own, called] = [parent[node], node];
      while (own > 0 && !isOwn(data, frames[own])) {
        called = own;
        own = parent[own];
      }
      act(own, called, Number(size[node]));
    }
    node = isMarked || size[node] == 0 ? end[node] : node + 1;
  }
}

/** The name with the largest sum, and its part of all. */
function largest(sums, all) {
  const [most] = [...sums].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  return most ? { id: most[0], part: most[1] / (all || 1) } : { id: -1, part: 0 };
}

/** Below which library call a kind of work happens: the one that own code calls. */
function below(model, marks) {
  const { places, frames } = model.paths.nodes;
  const sums = new Map();
  let all = 0;
  eachOutermost(model, marks, (own, called, value) => {
    all += value;
    if (own > 0 && !marks[places[called]]) sums.set(frames[called], (sums.get(frames[called]) ?? 0) + value);
  });
  const { id, part } = largest(sums, all);
  return part < 1 / 3 ? [] : [part >= 0.5 ? ", mostly below " : ", most of all below ", { id }];
}

/** How much of a function comes from one caller: `only `, or nothing if it is less than half. */
function often(part) {
  return part >= ALL ? "only " : part >= 0.9 ? "almost always " : part >= 0.5 ? "mostly " : "";
}

/** Who calls a function: the direct caller from which half of it comes, or the nearest own function. Recursion is looked through. */
function caller(model, id) {
  const { data, paths, values, metric } = model;
  const found = Uint8Array.from(data.places.name, (name) => (name === id ? 1 : 0));
  const { callers, total } = model.exactNeighbours(found) ?? countNeighbours(data, paths, values, found, metric.zero);
  const ids = Array.from(idsWhere(callers.length, (name) => callers[name] != 0));
  const direct = largest(ids.map((name) => [name, Number(absolute(callers[name]))]), Number(absolute(total)));
  if (direct.id >= 0 && !isOwn(data, direct.id) && !data.calls) {
    const sums = new Map();
    let all = 0;
    eachOutermost(model, found, (own, _, value) => {
      all += value;
      const name = own > 0 ? paths.nodes.frames[own] : -1;
      if (name >= 0) sums.set(name, (sums.get(name) ?? 0) + value);
    });
    const reached = largest(sums, all);
    if (reached.part >= 0.5) return [`, reached ${often(reached.part)}from `, { id: reached.id }];
  }
  if (direct.part >= 0.5) return [`, called ${often(direct.part)}by `, { id: direct.id }];
  return ids.length > 3 ? [`, which ${ids.length} functions call`] : [];
}
