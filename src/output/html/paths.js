// Filters stacks.
//
// Stacks are kept as the tree of their common beginnings: a node is one frame below its caller, and a stack is the node at
// which it ends. So a filter is one pass over the nodes instead of one over all frames of all stacks, of which there are
// several times as many. The rules are those of the command line: filters are always applied in the order of KINDS,
// however they were added, and several filters of one kind are combined with "or".

import { LABEL_KINDS, hasLabelFilter, keptSets } from "./labels.js";
import { matching } from "./pattern.js";

export const TIME_KINDS = { from: "From", to: "To" };

export const KINDS = {
  ...LABEL_KINDS,
  ...TIME_KINDS,
  "show-stacks": "Show stacks",
  "hide-stacks": "Hide stacks",
  "hide-frames": "Hide frames",
  "show-frames": "Show frames only",
  "show-from": "Show from",
  "prune-from": "Prune from",
  focus: "Focus",
  highlight: "Highlight",
};

/** The leaf of a stack that a filter dropped. */
const DROPPED = -1;
/** With so many nodes for each one that a filter hides, the hidden ones stay, without a value. */
const MANY_NODES = 8;

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
  /** `places` and `parent` have an item for each node; `nameOf` maps places to names, if they differ. */
  constructor(places, parent, nameOf, names, repeats = null, end = null) {
    this.places = places;
    this.parent = parent;
    this.nameOf = nameOf;
    this.names = names;
    this.knownRepeats = repeats;
    this.knownFrames = null;
    this.knownEnd = end;
  }

  get length() {
    return this.places.length;
  }

  /** The name of each node. */
  get frames() {
    return (this.knownFrames ??= this.nameOf ? this.places.map((place) => this.nameOf[place]) : this.places);
  }

  /** For each node, the node after the last one below it. */
  get end() {
    if (this.knownEnd) return this.knownEnd;
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

/** Stacks, or what filters leave of them. */
export class Paths {
  /** `leaf` has the last node of each stack, 0 for a stack without frames; `anchor` the outermost match of a focus above each node, or 0. */
  constructor(nodes, leaf, anchor = null) {
    this.nodes = nodes;
    this.leaf = leaf;
    this.anchor = anchor;
    /** The paths that these were made from by hiding nodes, and these nodes: all others have the same sums. */
    this.origin = null;
    /** @type {any[]} */
    this.hidden = [];
    this.knownBelow = new Map();
    this.knownTotals = new Map();
  }

  /** For each node, the sum of the values of all stacks through it. @returns {any} */
  below(values, zero) {
    return this.once(this.knownBelow, values, this.origin?.knownBelow, this.hidden, () => {
      const { leaf } = this;
      const { parent, length } = this.nodes;
      /** @type {any} */
      const below = sumsOf(values, length, zero);
      for (let stack = 0; stack < leaf.length; stack++) if (leaf[stack] >= 0) below[leaf[stack]] += values[stack];
      for (let node = length - 1; node > 0; node--) {
        const value = below[node];
        // Filters leave few of many nodes.
        if (value != 0) below[parent[node]] += value;
      }
      return below;
    });
  }

  /** For each name, the sum of the values of all stacks through it; recursion counts once. @returns {any} */
  totals(values, zero) {
    const { frames, nameOf, names } = this.nodes;
    // A name that stands for several places may be hidden at some of them only.
    const origin = nameOf ? null : this.origin?.knownTotals;
    return this.once(this.knownTotals, values, origin, this.hidden.map((node) => frames[node]), () => {
      const below = this.below(values, zero);
      const { repeats, length } = this.nodes;
      /** @type {any} */
      const totals = sumsOf(values, names, zero);
      for (let node = 1; node < length; node++) if (repeats[node] === 0) totals[frames[node]] += below[node];
      return totals;
    });
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
    return new Paths(this.nodes, movedLeaves(this.leaf, leafOf), this.anchor);
  }

  /** The stacks for which `test` holds. */
  where(test) {
    return this.with((leaf, stack) => (test(leaf, stack) ? leaf : DROPPED));
  }
}

/** For each node, the outermost marked node of its stack, or 0. */
function outermost({ places, parent, length }, marks) {
  const found = new Uint32Array(length);
  for (let node = 1; node < length; node++) found[node] = found[parent[node]] || (marks[places[node]] ? node : 0);
  return found;
}

/** For each node, whether it is marked or below a marked one. */
function through({ places, parent, length }, marks) {
  const is = new Uint8Array(length);
  for (let node = 1; node < length; node++) is[node] = is[parent[node]] | marks[places[node]];
  return is;
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
  const hidden = [];
  const isHidden = (node) => marks[places[node]] !== wanted;
  for (let node = 1; node < length && hidden.length * MANY_NODES < length; node++) if (isHidden(node)) hidden.push(node);
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
  const [parent, end] = [paths.nodes.parent.slice(), paths.nodes.end.slice()];
  for (const node of hidden) {
    for (let below = node + 1; below < end[node]; below = end[below]) parent[below] = parent[node];
    end[node] = node + 1;
  }
  const leaves = movedLeaves(paths.leaf, (leaf) => (leaf && isHidden(leaf) ? parent[leaf] : leaf));
  // Of a name that is one place, all nodes are kept or none, so what repeats still does.
  const nodes = new Nodes(places, parent, nameOf, names, nameOf ? null : knownRepeats, end);
  if (nameOf) nodes.knownFrames = frames;
  return Object.assign(new Paths(nodes, leaves), { origin: paths, hidden });
}

/** Starts stacks at their outermost marked frame. Those without one are dropped. */
function startAt(paths, marks) {
  const { places, parent, length, nameOf, names } = paths.nodes;
  const is = through(paths.nodes, marks);
  const now = new Int32Array(length).fill(DROPPED);
  let count = 1;
  for (let node = 1; node < length; node++) count += is[node];
  const [keptPlaces, keptParent] = [new Uint32Array(count), new Uint32Array(count)];
  for (let node = 1, at = 1; node < length; node++) {
    if (!is[node]) continue;
    keptPlaces[at] = places[node];
    keptParent[at] = Math.max(now[parent[node]], 0);
    now[node] = at++;
  }
  return new Paths(new Nodes(keptPlaces, keptParent, nameOf, names), movedLeaves(paths.leaf, (leaf) => now[leaf]));
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
  if (marks) {
    const is = through(paths.nodes, marks);
    paths = paths.where((leaf) => is[leaf]);
  }
  marks = marksOf("hide-stacks");
  if (marks) {
    const is = through(paths.nodes, marks);
    paths = paths.where((leaf) => !is[leaf]);
  }
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
    const anchor = outermost(paths.nodes, marks);
    paths = new Paths(paths.nodes, paths.leaf, anchor).where((leaf) => anchor[leaf] > 0);
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
