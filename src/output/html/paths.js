// Filters stacks.
//
// Stacks are kept as the tree of their common beginnings: a node is one frame below its caller, and a stack is the node at
// which it ends. So a filter is one pass over the nodes instead of one over all frames of all stacks, of which there are
// several times as many. The rules are those of the command line: filters are always applied in the order of KINDS,
// however they were added, and several filters of one kind are combined with "or".

import { LABEL_KINDS, hasLabelFilter, keptSets } from "./labels.js";
import { matching } from "./pattern.js";

export const TIME_KINDS = { from: "From", to: "To" };

/** The kinds of filters, and their names: those of the options of the command line, so that a filter has one name everywhere. */
export const KINDS = {
  ...LABEL_KINDS,
  ...TIME_KINDS,
  "show-stacks": "Show stacks",
  "hide-stacks": "Hide stacks",
  "hide-frames": "Hide frames",
  "show-frames": "Show frames",
  "show-from": "Show from",
  "prune-from": "Prune from",
  focus: "Focus",
  highlight: "Highlight",
};

/** The leaf of a stack that a filter dropped. */
const DROPPED = -1;
/** With so many nodes for each one that a filter hides, the hidden ones stay, without a value. */
const MANY_NODES = 8;
/** With so many nodes for each stack that is left, or taken away, only the nodes above these stacks are looked at. */
const FEW_STACKS = 128;

export const absolute = (value) => (value < 0 ? -value : value);

/** An array for sums of a metric's values, filled with zeros. */
export function sums(length, zero) {
  return typeof zero === "bigint" ? new BigInt64Array(length) : new Float64Array(length);
}

/** An array for sums of these values. Those of small values are small too: a sum counts each of them at most once. */
export function sumsOf(values, length, zero) {
  return values instanceof Int32Array ? new Int32Array(length) : sums(length, zero);
}

/** Values without their signs. Most columns have none, and are returned as they are. */
export function sizes(values) {
  if (!unsigned.has(values)) unsigned.set(values, values.some((value) => value < 0) ? values.map(absolute) : values);
  return unsigned.get(values);
}
const unsigned = new WeakMap();

/**
 * The nodes of a tree of stacks in preorder: a node comes after its caller, and all nodes below it follow it directly. Node 0
 * is the root, which is no frame. Siblings may have the same name, for example after frames between them were hidden.
 */
export class Nodes {
  /**
   * `places` and `parent` have an item for each node; `nameOf` maps places to names, if they differ. What is null is made of the
   * other columns, or of `stacks`, when it is first asked for.
   */
  constructor(places, parent, nameOf, names, repeats = null, end = null, stacks = null) {
    this.length = stacks ? stacks.length : places.length;
    this.knownPlaces = places;
    this.knownParent = parent;
    this.stacks = stacks;
    this.nameOf = nameOf;
    this.names = names;
    this.knownRepeats = repeats;
    this.knownFrames = null;
    this.knownEnd = end;
  }

  /** The place of each node. @returns {Uint32Array} */
  get places() {
    return (this.knownPlaces ??= this.stacks.unpack());
  }

  /** The caller of each node. @returns {Uint32Array} */
  get parent() {
    if (!this.knownParent) this.link();
    return this.knownParent;
  }

  /** The name of each node. */
  get frames() {
    return (this.knownFrames ??= this.nameOf ? this.places.map((place) => this.nameOf[place]) : this.places);
  }

  /** For each node, the node after the last one below it. */
  get end() {
    if (this.knownEnd) return this.knownEnd;
    if (this.stacks) return this.link();
    const { parent, length } = this;
    const end = new Uint32Array(length);
    // The calls that lead to the current node.
    const path = [0];
    let depth = 0;
    for (let node = 1; node < length; node++) {
      const caller = parent[node];
      while (path[depth] !== caller) end[path[depth--]] = node;
      path[++depth] = node;
    }
    for (; depth >= 0; depth--) end[path[depth]] = length;
    return (this.knownEnd = end);
  }

  /** Connects the nodes of stacks. */
  link() {
    const { parent, end } = this.stacks.links();
    this.knownParent = parent;
    return (this.knownEnd = end);
  }

  /** For each node, whether its name occurs above it too: recursion counts once. */
  get repeats() {
    if (this.knownRepeats) return this.knownRepeats;
    const { frames, parent, length } = this;
    const repeats = new Uint8Array(length);
    const isOpen = new Uint8Array(this.names);
    const path = [0];
    let depth = 0;
    for (let node = 1; node < length; node++) {
      while (path[depth] !== parent[node]) {
        const closed = path[depth--];
        if (!repeats[closed]) isOpen[frames[closed]] = 0;
      }
      path[++depth] = node;
      const name = frames[node];
      if (isOpen[name]) repeats[node] = 1;
      else isOpen[name] = 1;
    }
    return (this.knownRepeats = repeats);
  }
}

/** The leaves of stacks after a filter; those of stacks that were dropped before stay so. */
function movedLeaves(before, leafOf) {
  const leaves = new Int32Array(before.length);
  for (let stack = 0; stack < before.length; stack++) leaves[stack] = before[stack] < 0 ? DROPPED : leafOf(before[stack], stack);
  return leaves;
}

/** The leaves of the stacks that end at marked nodes, and those of all others; the rest is dropped in each. */
function divided(before, is) {
  const [marked, others] = [new Int32Array(before.length).fill(DROPPED), new Int32Array(before.length).fill(DROPPED)];
  for (let stack = 0; stack < before.length; stack++) {
    const leaf = before[stack];
    if (leaf >= 0) (is[leaf] ? marked : others)[stack] = leaf;
  }
  return [marked, others];
}

/** Adds the values of stacks to their leaves. */
function addToLeaves(leaf, values, sums) {
  for (let stack = 0; stack < leaf.length; stack++) if (leaf[stack] >= 0) sums[leaf[stack]] += values[stack];
}

/** Adds the value of each node to its caller. */
function addToCallers({ parent, length }, below) {
  for (let node = length - 1; node > 0; node--) below[parent[node]] += below[node];
}

/** Adds the value of each node to its caller and, if it is the outermost one of its name, to that name. */
function addUp({ parent, frames, repeats, length }, below, totals) {
  for (let node = length - 1; node > 0; node--) {
    const value = below[node];
    // Filters leave few of many nodes.
    if (value == 0) continue;
    below[parent[node]] += value;
    if (repeats[node] === 0) totals[frames[node]] += value;
  }
}

/** Whether few stacks are left. */
function areFew(leaf, { length }) {
  let count = 0;
  for (let stack = 0; stack < leaf.length; stack++) if (leaf[stack] >= 0) count++;
  return count * FEW_STACKS < length;
}

/**
 * Adds the values of few stacks to all nodes above their leaves, if wanted, and to the names there, or takes them away. Returns
 * false if they are so deep that looking at all nodes is faster; the sums are of no use then.
 */
function addFew({ parent, frames, repeats, length }, leaf, values, { below, totals }, isAway) {
  let steps = 0;
  for (let stack = 0; stack < leaf.length && steps < length; stack++) {
    if (leaf[stack] < 0) continue;
    const value = isAway ? -values[stack] : values[stack];
    if (below) below[0] += value;
    for (let node = leaf[stack]; node > 0; node = parent[node], steps++) {
      if (below) below[node] += value;
      if (repeats[node] === 0) totals[frames[node]] += value;
    }
  }
  return steps < length;
}

/** Stacks, or what filters leave of them. */
export class Paths {
  /** `leaf` has the last node of each stack, 0 for a stack without frames; `roots` the outermost matches of a focus. */
  constructor(nodes, leaf, roots = null) {
    this.nodes = nodes;
    this.leaf = leaf;
    this.roots = roots;
    this.knownAnchor = null;
    /** The paths that these were made from by hiding nodes, and these nodes: all others have the same sums. */
    this.origin = null;
    /** @type {any[]} */
    this.hidden = [];
    /** All stacks of the page as they were packed, if filters have only dropped some of them; else null. */
    this.stacks = null;
    /** The name at which each of them ends. */
    this.leafNames = null;
    /** What names cost besides their self, which came with the page, and the totals made of it. */
    this.given = new Map();
    this.completed = new Map();
    /** The leaves of the stacks that the origin has and these paths do not, if nothing else differs. */
    this.without = null;
    this.knownBelow = new Map();
    this.knownTotals = new Map();
  }

  /** For each node, the outermost match of the focus above it, or 0; null without a focus. */
  get anchor() {
    if (!this.roots || this.knownAnchor) return this.knownAnchor;
    const { end, length } = this.nodes;
    this.knownAnchor = new Uint32Array(length);
    for (const root of this.roots) this.knownAnchor.fill(root, root, end[root]);
    return this.knownAnchor;
  }

  /** For each node, the sum of the values of all stacks through it. @returns {any} */
  below(values, zero) {
    return this.once(this.knownBelow, values, this.without ? null : this.origin?.knownBelow, this.hidden, () => {
      const { below, totals } = this.sum(values, zero);
      this.knownTotals.set(values, totals);
      return below;
    });
  }

  /** For each name, the sum of the values of all stacks through it; recursion counts once. `self` has those that end at it. @returns {any} */
  totals(values, zero, self) {
    if (this.given.has(values)) return this.complete(values, self);
    const { frames, nameOf } = this.nodes;
    // A name that stands for several places may be hidden at some of them only.
    const origin = nameOf || this.without ? null : this.origin?.summed;
    return this.once(this.knownTotals, values, origin, this.hidden.map((node) => frames[node]), () => {
      const { below, totals } = this.sum(values, zero, false);
      if (below) this.knownBelow.set(values, below);
      return totals;
    });
  }

  complete(values, self) {
    if (!this.completed.has(values)) {
      const totals = self.slice();
      for (const [name, more] of this.given.get(values)) totals[name] += more;
      this.completed.set(values, totals);
    }
    return this.completed.get(values);
  }

  /** The totals that are known. */
  get summed() {
    return { get: (values) => this.completed.get(values) ?? this.knownTotals.get(values) };
  }

  /** The sums of all nodes and of all names, for which one pass is enough. Those of nodes may be null if they are not wanted. */
  sum(values, zero, wantsBelow = true) {
    const { nodes, leaf } = this;
    const rest = this.without && this.sumWithout(values, wantsBelow);
    if (rest) return rest;
    if (this.completed.has(values)) {
      const below = sumsOf(values, nodes.length, zero);
      addToLeaves(leaf, values, below);
      addToCallers(nodes, below);
      return { below, totals: this.completed.get(values) };
    }
    const empty = () => ({ below: sumsOf(values, nodes.length, zero), totals: sumsOf(values, nodes.names, zero) });
    const few = areFew(leaf, nodes) && empty();
    if (few && addFew(nodes, leaf, values, few, false)) return few;
    const all = empty();
    addToLeaves(leaf, values, all.below);
    addUp(nodes, all.below, all.totals);
    return all;
  }

  /** The sums of the origin without those of the few stacks that these paths lack; null if these are many. */
  sumWithout(values, wantsBelow) {
    const { nodes, origin, without } = this;
    const [below, totals] = [wantsBelow ? origin.knownBelow.get(values) : null, origin.summed.get(values)];
    if (below === undefined || !totals || !areFew(without, nodes)) return null;
    const rest = { below: below && below.slice(), totals: totals.slice() };
    return addFew(nodes, without, values, rest, true) ? rest : null;
  }

  /** Sums that are known; or those of an origin, but zero for some items; or counted ones. */
  once(known, values, origin, zeros, count) {
    if (!known.has(values)) {
      const sums = origin?.get(values)?.slice();
      if (sums) for (const item of zeros) sums[item] -= sums[item];
      known.set(values, sums ?? count());
    }
    return known.get(values);
  }

  /** Forgets all sums but those of some values. Sums of nodes need as much memory as the nodes. */
  forget(kept = null) {
    for (const known of [this.knownBelow, this.knownTotals]) for (const values of known.keys()) if (values !== kept) known.delete(values);
  }

  /** The same nodes with other leaves. */
  with(leafOf) {
    return new Paths(this.nodes, movedLeaves(this.leaf, leafOf), this.roots);
  }

  /** The stacks for which `test` holds. */
  where(test) {
    const kept = this.with((leaf, stack) => (test(leaf, stack) ? leaf : DROPPED));
    return Object.assign(kept, { stacks: this.stacks });
  }

  /** The stacks that pass one of these nodes, and all others. */
  divided(roots) {
    const is = new Uint8Array(this.nodes.length);
    const { end } = this.nodes;
    for (const root of roots) is.fill(1, root, end[root]);
    const [marked, others] = divided(this.leaf, is);
    const of = (leaf) => Object.assign(new Paths(this.nodes, leaf, this.roots), { stacks: this.stacks });
    return [of(marked), Object.assign(of(others), { origin: this, without: marked })];
  }
}

/** The nodes whose mark is not the wanted one, in order; at most so many. `after` says where to go on after one of them. */
function unlike({ places, length }, marks, wanted, limit, after) {
  const found = [];
  const first = marks.indexOf(1);
  if (wanted === 0 && first < 0) return found;
  // A single place is searched without a loop over all nodes.
  const isSingle = wanted === 0 && marks.indexOf(1, first + 1) < 0;
  for (let node = 1; node < length && found.length < limit; node = after(node)) {
    if (isSingle) node = places.indexOf(first, node);
    else while (node < length && marks[places[node]] === wanted) node++;
    if (node < 0 || node === length) break;
    found.push(node);
  }
  return found;
}

/** The outermost marked nodes of all stacks. */
function outermost(nodes, marks) {
  return unlike(nodes, marks, 0, Infinity, (node) => nodes.end[node]);
}

/** Ends stacks at their innermost marked frame. Those without one are unchanged. */
function prune(paths, marks) {
  const { places, parent, length } = paths.nodes;
  const last = new Uint32Array(length);
  for (let node = 1; node < length; node++) last[node] = marks[places[node]] ? node : last[parent[node]];
  return paths.with((leaf) => last[leaf] || leaf);
}

/** Keeps only frames whose mark equals `wanted`. A stack may lose all of its frames. */
function keepFrames(paths, marks, wanted) {
  const { places, parent, length, nameOf, names, knownRepeats } = paths.nodes;
  const isHidden = (node) => marks[places[node]] !== wanted;
  const hidden = unlike(paths.nodes, marks, wanted, length / MANY_NODES, (node) => node + 1);
  if (!hidden.length) return paths;
  if (hidden.length * MANY_NODES < length) return cutOut(paths, hidden, isHidden);
  const [keptPlaces, keptParent] = [new Uint32Array(length), new Uint32Array(length)];
  // Of a name that is one place, all nodes are kept or none, so what repeats still does.
  const repeats = knownRepeats && !nameOf ? new Uint8Array(length) : null;
  const now = new Uint32Array(length);
  let count = 1;
  for (let node = 1; node < length; node++) {
    const above = now[parent[node]];
    const place = places[node];
    if (marks[place] === wanted) {
      keptPlaces[count] = place;
      keptParent[count] = above;
      if (repeats) repeats[count] = knownRepeats[node];
      now[node] = count++;
    } else now[node] = above;
  }
  // A copy of a few nodes frees the memory of all.
  const kept = (column) => (count > length / 2 ? column.subarray(0, count) : column.slice(0, count));
  return new Paths(new Nodes(kept(keptPlaces), kept(keptParent), nameOf, names, repeats && kept(repeats)), movedLeaves(paths.leaf, (leaf) => now[leaf]));
}

/** Hides a few nodes: no node is below them any more, and no stack ends there. They stay, which is faster than a copy of all others. */
function cutOut(paths, hidden, isHidden) {
  const { places, nameOf, names, frames, knownRepeats } = paths.nodes;
  let { parent, end } = paths.nodes;
  // Nothing changes around nodes that call nothing.
  if (hidden.some((node) => end[node] > node + 1)) [parent, end] = [parent.slice(), end.slice()];
  for (const node of hidden) {
    for (let below = node + 1; below < end[node]; below = end[below]) parent[below] = parent[node];
    if (end[node] > node + 1) end[node] = node + 1;
  }
  const leaves = movedLeaves(paths.leaf, (leaf) => (leaf && isHidden(leaf) ? parent[leaf] : leaf));
  // Of a name that is one place, all nodes are kept or none, so what repeats still does.
  const nodes = new Nodes(places, parent, nameOf, names, nameOf ? null : knownRepeats, end);
  if (nameOf) nodes.knownFrames = frames;
  return Object.assign(new Paths(nodes, leaves), { origin: paths, hidden });
}

/** Starts stacks at their outermost marked frame. Those without one are dropped. */
function startAt(paths, marks) {
  const { places, parent, end, length, nameOf, names } = paths.nodes;
  const roots = outermost(paths.nodes, marks);
  // Where a node is now; 0 if it is gone.
  const now = new Uint32Array(length);
  const count = roots.reduce((sum, root) => sum + end[root] - root, 1);
  const [keptPlaces, keptParent] = [new Uint32Array(count), new Uint32Array(count)];
  let at = 1;
  for (const root of roots) {
    keptPlaces.set(places.subarray(root, end[root]), at);
    const moved = root - at;
    for (let node = root; node < end[root]; node++) {
      if (node > root) keptParent[at] = parent[node] - moved;
      now[node] = at++;
    }
  }
  return new Paths(new Nodes(keptPlaces, keptParent, nameOf, names), movedLeaves(paths.leaf, (leaf) => now[leaf] || DROPPED));
}

/**
 * Applies filters to all stacks. Filters by labels come first on the command line; here they come last, which gives the same
 * stacks, so that the shares of all labels can be counted before.
 */
export function filtered(data, filters) {
  return labelled(data, beforeLabels(data, filters), filters);
}

/** Keeps the stacks whose labels pass. */
export function labelled(data, paths, filters) {
  if (!hasLabelFilter(filters)) return paths;
  const kept = keptSets(data, filters);
  return paths.where((_, stack) => kept[data.labelSet[stack]]);
}

/** Applies the filters that are not by labels. */
export function beforeLabels(data, filters) {
  const marksOf = (kind) => {
    const chosen = filters.filter((filter) => filter.kind === kind);
    return chosen.length ? matching(data, chosen) : null;
  };
  let { paths } = data;
  let marks = marksOf("show-stacks");
  if (marks) [paths] = paths.divided(outermost(paths.nodes, marks));
  marks = marksOf("hide-stacks");
  if (marks) [, paths] = paths.divided(outermost(paths.nodes, marks));
  marks = marksOf("hide-frames");
  if (marks) paths = keepFrames(paths, marks, 0);
  marks = marksOf("show-frames");
  if (marks) paths = keepFrames(paths, marks, 1);
  marks = marksOf("show-from");
  if (marks) paths = startAt(paths, marks);
  marks = marksOf("prune-from");
  if (marks) paths = prune(paths, marks);
  marks = marksOf("focus");
  if (marks) {
    const roots = outermost(paths.nodes, marks);
    [paths] = new Paths(paths.nodes, paths.leaf, roots).divided(roots);
  }
  return paths;
}

/** The focused stacks that a zoom shows. `chain` holds the names from the focus to the zoomed block. */
export function pathsOnChain(paths, chain, isUp) {
  const { frames, parent, length } = paths.nodes;
  const { anchor } = paths;
  if (isUp) {
    const isOn = new Map();
    const follows = (node) => {
      let at = parent[node];
      for (const name of chain) {
        if (at === 0 || frames[at] !== name) return false;
        at = parent[at];
      }
      return true;
    };
    return paths.where((leaf) => {
      const from = anchor[leaf];
      if (!isOn.has(from)) isOn.set(from, follows(from));
      return isOn.get(from);
    });
  }
  // How many names of the chain lead to a node; one more than all of them where it is left.
  const left = chain.length + 1;
  const met = new Uint32Array(length);
  for (let node = 1; node < length; node++) {
    if (!anchor[node]) continue;
    const before = anchor[node] === node ? 0 : met[parent[node]];
    met[node] = before >= chain.length ? before : frames[node] === chain[before] ? before + 1 : left;
  }
  return paths.where((leaf) => met[leaf] === chain.length);
}
