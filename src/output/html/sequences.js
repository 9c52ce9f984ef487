// The heaviest path, and the call sequences that recur, by the rules of `prof hot`.
//
// A sequence ends at certain nodes of the tree of all prefixes. Each of these nodes is one context, the sum of their
// subtrees is its total. The search starts with the nodes of single functions and extends chains at the front, which splits
// their nodes by the preceding function. An extended chain has no more weight and no more contexts, so a chain with too
// little of either is dropped together with all its extensions.

import { absolute, sizes } from "./paths.js";

const LEAST_SHARE = 0.01;
/** A chain is left out if one that is longer by one function has this part of its total. */
const SAME = 0.9;
/** This part of the total must be outside the heaviest context. */
const OUTSIDE = 0.05;
const CONTEXTS = 2;
/** The search is given up after so many steps, which take some seconds. */
const MOST_STEPS = 2e7;
const MOST_NODES = 3e6;
/** After so many steps, which take some hundredths of a second, the search lets the page answer the reader. */
const SLICE = 1e5;

/** The stacks are too many or too deep to search here. */
export class TooLarge extends Error {}

const reaches = (part, whole, share) => Number(absolute(part)) >= Number(absolute(whole)) * share - 1e-9;

/** The tree of the prefixes of all stacks by name, in preorder. Node 0 is the root. */
class Prefixes {
  constructor() {
    this.key = [];
    this.parent = [];
    this.depth = [];
    this.total = [];
    this.weight = [];
    this.self = [];
    this.end = [];
  }

  add(parent, key, depth, total, weight) {
    const node = this.key.length;
    if (node > MOST_NODES) throw new TooLarge();
    this.key.push(key);
    this.parent.push(parent);
    this.depth.push(depth);
    this.total.push(total);
    this.weight.push(Number(weight));
    this.self.push(total);
    this.end.push(0);
    return node;
  }

  children(node) {
    const found = [];
    for (let child = node + 1; child < this.end[node]; child = this.end[child]) found.push(child);
    return found;
  }
}

/** The prefixes of some paths. Yields between slices of the work. */
function* prefixesOf(paths, values, zero) {
  const prefixes = new Prefixes();
  const { frames, end } = paths.nodes;
  const [total, weight] = [paths.below(values, zero), paths.below(sizes(values), zero)];
  // Nodes of the same name below the same prefix are one prefix.
  const work = [{ nodes: [0], key: -1, parent: 0, depth: 0 }];
  while (work.length) {
    const { nodes, key, parent, depth } = work.pop();
    const sum = (column, start) => nodes.reduce((sum, node) => sum + column[node], start);
    const prefix = prefixes.add(parent, key, depth, sum(total, zero), sum(weight, zero));
    const below = new Map();
    for (const above of nodes) {
      for (let node = above + 1; node < end[above]; node = end[node]) {
        if (weight[node] == 0) continue;
        prefixes.self[prefix] -= total[node];
        const name = frames[node];
        if (below.has(name)) below.get(name).push(node);
        else below.set(name, [node]);
      }
    }
    // In reverse order, because the work list is a stack.
    const names = [...below.keys()].sort((a, b) => b - a);
    for (const name of names) work.push({ nodes: below.get(name), key: name, parent: prefix, depth: depth + 1 });
    if (prefixes.key.length % SLICE === 0) yield;
  }
  for (let node = prefixes.key.length - 1; node > 0; node--) {
    const parent = prefixes.parent[node];
    prefixes.end[node] = Math.max(prefixes.end[node], node + 1);
    prefixes.end[parent] = Math.max(prefixes.end[parent], prefixes.end[node]);
  }
  return prefixes;
}

/** The heaviest root, its heaviest callee, and so on, while the callee has at least half of its caller's total. */
function heaviestPath(prefixes) {
  const { key, total, self } = prefixes;
  const path = [];
  for (let node = 0; ; ) {
    const size = (child) => Number(absolute(total[child]));
    const [best] = prefixes.children(node).sort((a, b) => size(b) - size(a) || Number(absolute(self[b])) - Number(absolute(self[a])) || key[a] - key[b]);
    if (best === undefined || (node > 0 && size(best) * 2 < size(node))) return path;
    path.push({ id: key[best], total: total[best], self: self[best] });
    node = best;
  }
}

/** The chains that extend a chain by one function, by that function. Occurrences come in preorder. */
class Extensions {
  constructor(prefixes, zero) {
    this.prefixes = prefixes;
    this.zero = zero;
    this.found = new Map();
  }
  count(key, place) {
    let extension = this.found.get(key);
    if (!extension) this.found.set(key, (extension = { key, total: this.zero, weight: 0, covered: 0, ends: [], aboves: [] }));
    // A stack in which the chain recurs counts once.
    if (place >= extension.covered) {
      extension.total += this.prefixes.total[place];
      extension.weight += this.prefixes.weight[place];
      extension.covered = this.prefixes.end[place];
    }
    return extension;
  }
  hasRival(total) {
    return [...this.found.values()].some((extension) => extension.key >= 0 && reaches(extension.total, total, SAME));
  }
}

/**
 * Returns the heaviest path and the sequences, the heaviest first. Throws `TooLarge` if they take too long to find. Yields
 * between slices of the search, so that the page can do something else.
 */
export function* hot(paths, values, zero, shown) {
  const prefixes = yield* prefixesOf(paths, values, zero);
  const least = Math.max(1, Math.ceil(Number(shown) * LEAST_SHARE));
  const sequences = [];
  let [steps, slice] = [0, 0];
  const work = [];
  const open = (extensions, length) => {
    for (const { key, weight, total, ends, aboves } of extensions.found.values()) {
      if (weight >= least && ends.length >= CONTEXTS && key >= 0) work.push({ ends, aboves, length, total });
    }
  };
  const single = new Extensions(prefixes, zero);
  for (let node = 1; node < prefixes.key.length; node++) {
    const extension = single.count(prefixes.key[node], node);
    extension.ends.push(node);
    extension.aboves.push(prefixes.parent[node]);
    if (node % SLICE === 0) yield;
  }
  open(single, 1);
  while (work.length) {
    const chain = work.pop();
    const front = new Extensions(prefixes, zero);
    steps += chain.ends.length;
    if (steps > MOST_STEPS) throw new TooLarge();
    if (steps - slice > SLICE) {
      slice = steps;
      yield;
    }
    chain.ends.forEach((end, index) => {
      const above = chain.aboves[index];
      const extension = front.count(prefixes.key[above], end);
      extension.ends.push(end);
      extension.aboves.push(prefixes.parent[above]);
    });
    const isLong = chain.length > 1 && Number(absolute(chain.total)) >= least;
    if (isLong && !front.hasRival(chain.total) && isSpread(prefixes, chain, zero) && !hasRivalAtEnd(prefixes, chain, zero)) sequences.push(sequence(prefixes, chain, front, zero));
    open(front, chain.length + 1);
  }
  sequences.sort((a, b) => Number(absolute(b.total)) - Number(absolute(a.total)) || b.ids.length - a.ids.length || compare(a.ids, b.ids));
  return { path: heaviestPath(prefixes), sequences };
}

function compare(a, b) {
  const at = a.findIndex((id, index) => id !== b[index]);
  return at < 0 ? 0 : a[at] - b[at];
}

/** Whether enough of the total lies outside the heaviest context. */
function isSpread(prefixes, chain, zero) {
  const { total, depth, end } = prefixes;
  const size = (place) => Number(absolute(total[place]));
  const first = (a, b) => size(b) - size(a) || depth[a] - depth[b] || byNames(prefixes, a, b);
  const heaviest = chain.ends.reduce((best, place) => (first(place, best) < 0 ? place : best));
  let [sum, covered] = [zero, 0];
  for (const place of chain.ends.filter((place) => place !== heaviest).sort((a, b) => a - b)) {
    if (place < covered) continue;
    sum += total[place];
    covered = end[place];
  }
  return reaches(sum, chain.total, OUTSIDE);
}

/** The order of two prefixes of equal length: by the first names that differ. Names are numbered in alphabetical order. */
function byNames({ key, parent }, a, b) {
  let order = 0;
  for (; a !== b; [a, b] = [parent[a], parent[b]]) order = key[a] - key[b] || order;
  return order;
}

/** Whether a chain with one more function at the end has nearly the same total. */
function hasRivalAtEnd(prefixes, chain, zero) {
  const back = new Extensions(prefixes, zero);
  const callees = chain.ends.flatMap((place) => prefixes.children(place)).sort((a, b) => a - b);
  for (const callee of callees) back.count(prefixes.key[callee], callee);
  return back.hasRival(chain.total);
}

function sequence(prefixes, chain, front, zero) {
  const ids = [];
  for (let node = chain.ends[0]; ids.length < chain.length; node = prefixes.parent[node]) ids.unshift(prefixes.key[node]);
  const callers = [...front.found.values()].map(({ key, total }) => ({ id: key, value: total }));
  callers.sort((a, b) => Number(absolute(b.value)) - Number(absolute(a.value)) || a.id - b.id);
  const self = chain.ends.reduce((sum, end) => sum + prefixes.self[end], zero);
  return { ids, total: chain.total, self, contexts: chain.ends.length, callers };
}
