// Filters stacks and counts them, flat or as a tree.
//
// A path is the part of a stack that is left after filtering: frames[begin] … frames[end - 1], root first.
// During filtering, frames are ids of places. Afterwards paths.places holds these, and frames holds the
// ids of the names that are counted. The rules are those of the command line: filters are always applied
// in the order of KINDS, however they were added, and several filters of one kind are combined with "or".

import { LABEL_KINDS, hasLabelFilter, keptSets } from "./labels.js";
import { matching } from "./pattern.js";

export const KINDS = {
  ...LABEL_KINDS,
  "show-stacks": "Show stacks",
  "hide-stacks": "Hide stacks",
  "hide-frames": "Hide frames",
  "show-frames": "Show frames only",
  "show-from": "Show from",
  "prune-from": "Prune from",
  focus: "Focus",
  highlight: "Highlight",
};

export const absolute = (value) => (value < 0 ? -value : value);

/** Sums of the old side multiplied by `ratio`, rounded half away from zero. */
export function rescaled(values, ratio) {
  if (ratio === 1) return values;
  const scale = (value) => {
    const scaled = Number(value) * ratio;
    const rounded = Math.sign(scaled) * Math.round(Math.abs(scaled));
    return typeof value === "bigint" ? BigInt(rounded) : rounded;
  };
  return typeof values === "object" ? values.map(scale) : scale(values);
}

/** An array for sums of a metric's values, filled with zeros. */
function sums(length, zero) {
  return typeof zero === "bigint" ? new BigInt64Array(length) : new Float64Array(length);
}

/** The unfiltered paths: all stacks. */
function allPaths(data) {
  const stack = new Uint32Array(data.stackCount);
  for (let i = 0; i < stack.length; i++) stack[i] = i;
  return { frames: data.frames, stack, begin: data.start.slice(0, -1), end: data.start.slice(1) };
}

/** The paths for which `keep` returns their new beginning. It returns -1 to drop a path. */
function keepPaths(paths, keep) {
  let count = 0;
  const kept = { ...paths };
  const columns = ["stack", "begin", "end", ...(paths.anchor ? ["anchor"] : [])];
  for (const column of columns) kept[column] = new Uint32Array(paths.stack.length);
  for (let i = 0; i < paths.stack.length; i++) {
    const begin = keep(paths.frames, paths.begin[i], paths.end[i], i);
    if (begin < 0) continue;
    for (const column of columns) kept[column][count] = paths[column][i];
    kept.begin[count++] = begin;
  }
  for (const column of columns) kept[column] = kept[column].subarray(0, count);
  return kept;
}

/** The first frame of a path that is marked, or -1. */
function firstMarked(frames, begin, end, marks) {
  for (let at = begin; at < end; at++) if (marks[frames[at]]) return at;
  return -1;
}

/** The last frame of a path that is marked, or -1. */
function lastMarked(frames, begin, end, marks) {
  for (let at = end - 1; at >= begin; at--) if (marks[frames[at]]) return at;
  return -1;
}

/** Cuts paths after their innermost marked frame. Paths without one are unchanged. */
function prunePaths(paths, marks) {
  const end = paths.end.map((end, i) => {
    const last = lastMarked(paths.frames, paths.begin[i], end, marks);
    return last < 0 ? end : last + 1;
  });
  return { ...paths, end };
}

/** Adds to filtered paths the names under which their frames are counted. */
function counting(data, paths) {
  const { name, isName } = data.places;
  const places = paths.frames;
  if (isName) return { ...paths, places };
  const whole = places === data.frames;
  const frames = (whole && data.framesAsNames) || places.map((place) => name[place]);
  if (whole) data.framesAsNames = frames;
  return { ...paths, frames, places };
}

/** Keeps only frames whose mark equals `wanted`. A path may lose all of its frames. */
function keepFrames(paths, marks, wanted) {
  const frames = new Uint32Array(paths.frames.length);
  const begin = new Uint32Array(paths.stack.length);
  const end = new Uint32Array(paths.stack.length);
  let at = 0;
  for (let i = 0; i < paths.stack.length; i++) {
    begin[i] = at;
    for (let from = paths.begin[i]; from < paths.end[i]; from++) {
      if (marks[paths.frames[from]] === wanted) frames[at++] = paths.frames[from];
    }
    end[i] = at;
  }
  return { frames, stack: paths.stack, begin, end };
}

/**
 * Applies filters to all stacks. Filters by labels come first on the command line; here they come last, which gives the same
 * paths, so that the shares of all labels can be counted before.
 */
export function filtered(data, filters) {
  return labelled(data, beforeLabels(data, filters), filters);
}

/** Keeps the paths whose labels pass. */
export function labelled(data, paths, filters) {
  if (!hasLabelFilter(filters)) return paths;
  const kept = keptSets(data, filters);
  return keepPaths(paths, (_, begin, _end, i) => (kept[data.labelSet[paths.stack[i]]] ? begin : -1));
}

/** The first items of an order, without sorting all of them: there may be hundreds of thousands. */
export function heaviest(items, limit, compare) {
  if (items.length <= limit) return items.sort(compare);
  let kept = [];
  let last;
  for (const item of items) {
    if (last !== undefined && compare(item, last) > 0) continue;
    kept.push(item);
    if (kept.length < 2 * limit) continue;
    kept = kept.sort(compare).slice(0, limit);
    last = kept.at(-1);
  }
  return kept.sort(compare).slice(0, limit);
}

/** The value of the paths of each set of labels. */
export function countSets(data, paths, values, zero) {
  const sums = new Array(data.label_sets.length).fill(zero);
  for (let i = 0; i < paths.stack.length; i++) sums[data.labelSet[paths.stack[i]]] += absolute(values[paths.stack[i]]);
  return sums;
}

/** Applies the filters that are not by labels. */
export function beforeLabels(data, filters) {
  const marksOf = (kind) => {
    const chosen = filters.filter((filter) => filter.kind === kind);
    return chosen.length ? matching(data, chosen) : null;
  };
  let paths = (data.whole ??= allPaths(data));
  let marks = marksOf("show-stacks");
  if (marks) paths = keepPaths(paths, (f, begin, end) => (firstMarked(f, begin, end, marks) < 0 ? -1 : begin));
  marks = marksOf("hide-stacks");
  if (marks) paths = keepPaths(paths, (f, begin, end) => (firstMarked(f, begin, end, marks) < 0 ? begin : -1));
  marks = marksOf("hide-frames");
  if (marks) paths = keepFrames(paths, marks, 0);
  marks = marksOf("show-frames");
  if (marks) paths = keepFrames(paths, marks, 1);
  marks = marksOf("show-from");
  if (marks) paths = keepPaths(paths, (f, begin, end) => firstMarked(f, begin, end, marks));
  marks = marksOf("prune-from");
  if (marks) paths = prunePaths(paths, marks);
  marks = marksOf("focus");
  if (marks) {
    paths = keepPaths(paths, (f, begin, end) => (firstMarked(f, begin, end, marks) < 0 ? -1 : begin));
    paths.anchor = paths.stack.map((_, i) => firstMarked(paths.frames, paths.begin[i], paths.end[i], marks));
  }
  return counting(data, paths);
}

/** Self and total of every name. Recursion counts once: a path adds to the total of a name at most once. */
export function countFlat(data, paths, values, zero) {
  const length = data.names.length;
  const self = sums(length, zero);
  const total = sums(length, zero);
  const seen = new Int32Array(length).fill(-1);
  let shown = zero;
  let noStack = zero;
  for (let i = 0; i < paths.stack.length; i++) {
    const value = values[paths.stack[i]];
    if (value == 0) continue;
    shown += absolute(value);
    const end = paths.end[i];
    if (paths.begin[i] === end) {
      noStack += value;
      continue;
    }
    self[paths.frames[end - 1]] += value;
    for (let at = paths.begin[i]; at < end; at++) {
      const id = paths.frames[at];
      if (seen[id] === i) continue;
      seen[id] = i;
      total[id] += value;
    }
  }
  return { self, total, shown, noStack };
}

/** The value of the paths through a marked place; each path counts once. */
export function countMarked(paths, values, marks, zero) {
  let sum = zero;
  for (let i = 0; i < paths.stack.length; i++) {
    if (firstMarked(paths.places, paths.begin[i], paths.end[i], marks) >= 0) sum += absolute(values[paths.stack[i]]);
  }
  return sum;
}

/**
 * Direct callers and callees of the marked places, which together count as one node. A path adds to each
 * caller and callee at most once. Calls from a marked place to a marked place are counted in `itself`.
 */
export function countNeighbours(data, paths, values, marks, zero) {
  const length = data.names.length;
  const found = { callers: sums(length, zero), callees: sums(length, zero), itself: zero, root: zero, self: zero, total: zero };
  const [seenAbove, seenBelow] = [new Int32Array(length).fill(-1), new Int32Array(length).fill(-1)];
  const { places, frames } = paths;
  for (let i = 0; i < paths.stack.length; i++) {
    const value = values[paths.stack[i]];
    const [begin, end] = [paths.begin[i], paths.end[i]];
    if (value == 0 || firstMarked(places, begin, end, marks) < 0) continue;
    found.total += value;
    if (marks[places[begin]]) found.root += value;
    if (marks[places[end - 1]]) found.self += value;
    let callsItself = false;
    for (let at = begin + 1; at < end; at++) {
      const [above, below] = [marks[places[at - 1]], marks[places[at]]];
      const [caller, callee] = [frames[at - 1], frames[at]];
      if (above && below) callsItself = true;
      else if (below && seenAbove[caller] !== i) {
        seenAbove[caller] = i;
        found.callers[caller] += value;
      } else if (above && seenBelow[callee] !== i) {
        seenBelow[callee] = i;
        found.callees[callee] += value;
      }
    }
    if (callsItself) found.itself += value;
  }
  const differs = (others, end) => others.reduce((sum, value) => sum + value, end + found.itself) != found.total;
  return { ...found, overlaps: differs(found.callers, found.root) || differs(found.callees, found.self) };
}

/**
 * Direct callers and callees of one name in a profile that records calls: what the file says, without paths. Calls from a
 * name to itself cost at most its total.
 */
export function neighboursOfCalls({ self, total, edges }, id, zero) {
  const found = { callers: sums(self.length, zero), callees: sums(self.length, zero), itself: zero, root: zero, self: self[id], total: total[id] };
  let [fromOutside, above] = [zero, 0];
  for (const [caller, callee, value] of edges) {
    if (caller === id && callee === id) found.itself += value;
    else if (callee === id) {
      found.callers[caller] += value;
      fromOutside += value;
      above++;
    } else if (caller === id) found.callees[callee] += value;
  }
  if (found.itself > found.total) found.itself = found.total;
  // Rounding may leave a little over, at most one for each caller.
  const rest = found.total - fromOutside;
  if (rest > above || above === 0) found.root = rest;
  return { ...found, overlaps: false };
}

/** Paths as input for `growTree`: read forward from the root, or backward from the leaf. */
export function rooted(paths, backward) {
  return { ...paths, backward };
}

/** The part of focused paths from the outermost match down (`callees`), or above it (`callers`). */
export function callees(paths) {
  return { ...paths, begin: paths.anchor, backward: false };
}
export function callers(paths) {
  return { ...paths, end: paths.anchor, backward: true };
}

/** The focused paths that a zoom shows. `chain` holds the names from the focus to the zoomed block. */
export function pathsOnChain(paths, chain, isUp) {
  const { frames, begin, end } = isUp ? callers(paths) : callees(paths);
  const isOn = (i) => {
    const place = (depth) => (isUp ? end[i] - 1 - depth : begin[i] + depth);
    return chain.length <= end[i] - begin[i] && chain.every((name, depth) => frames[place(depth)] === name);
  };
  return keepPaths(paths, (_frames, begin, _end, i) => (isOn(i) ? begin : -1));
}

/**
 * Builds the tree of paths, without nodes narrower than a third of a pixel. Nodes are in preorder;
 * node 0 is the root. `zoom` is a chain of names from the root. The result has the nodes on this chain,
 * as wide as the picture, and the descendants of the last one.
 *
 * Paths are split into groups by their next name, and only groups that are wide enough are split
 * further, so that few nodes are built even from a million stacks. A work list instead of recursion
 * handles stacks of any depth.
 */
export function growTree(paths, values, old, zero, options) {
  /** @type {any} */
  const tree = { zoomed: 0, backward: paths.backward };
  for (const column of NODE_COLUMNS) tree[column] = [];
  const splitter = new Splitter(paths, values, old, zero, options);
  const push = (node) => {
    for (const column of NODE_COLUMNS) tree[column].push(node[column]);
    return tree.parent.length - 1;
  };

  let top = splitter.whole();
  let index = push(top);
  for (const name of options.zoom) {
    const next = splitter.split(top, index, 0).find((child) => child.name === name);
    if (!next) break;
    top = next;
    index = push(next);
  }
  tree.zoomed = index;
  tree.whole = top.width;
  const least = top.width / (options.pixels * 3);
  const rank = options.rank ?? ((child) => child.width);
  const siblings = options.byWeight ? (a, b) => rank(b) - rank(a) || a.name - b.name : (a, b) => a.name - b.name;
  const work = [{ node: top, index }];
  while (work.length) {
    const { node, index: at } = work.pop();
    const here = at < 0 ? push(node) : at;
    let left = node.left;
    const kept = [];
    for (const child of splitter.split(node, here, least).sort(siblings)) {
      child.left = left;
      left += child.width;
      kept.push({ node: child, index: -1 });
    }
    // Push in reverse order, because the work list is a stack.
    for (const child of kept.reverse()) work.push(child);
  }
  tree.dropped = splitter.dropped;
  if (options.widened) layOut(tree);
  return tree;
}

/** Makes every block at least as wide as its children, some of which are as wide as they were on the old side. */
function layOut(tree) {
  const { parent, depth, left, width, self } = tree;
  const inside = new Float64Array(width.length);
  for (let node = width.length - 1; node > 0; node--) {
    width[node] = Math.max(width[node], inside[node] + Number(absolute(self[node])));
    inside[parent[node]] += width[node];
  }
  width[0] = Math.max(width[0], inside[0]);
  // Nodes are in preorder, so siblings come from left to right.
  const next = new Float64Array(width.length);
  for (let node = 1; node < width.length; node++) {
    const above = parent[node];
    left[node] = depth[node] === 0 ? 0 : left[above] + next[above];
    next[above] += width[node];
  }
  tree.whole = width[tree.zoomed];
  const start = left[tree.zoomed];
  for (let node = tree.zoomed; node < width.length; node++) left[node] -= start;
}

const NODE_COLUMNS = ["parent", "name", "depth", "left", "width", "total", "self", "old", "inlined"];

/** Splits groups of paths by their next name. */
export class Splitter {
  /** `widened` returns the width of a block from its name, its own width and its value on the old side. */
  constructor(paths, values, old, zero, { names, inlined, widened = null }) {
    const { stack } = paths;
    this.paths = paths;
    this.values = values;
    this.old = old;
    this.widened = widened;
    this.placeInlined = inlined;
    // The indices of the paths; those of a group are adjacent.
    this.order = new Uint32Array(stack.length);
    this.used = 0;
    for (let path = 0; path < stack.length; path++) {
      if (values[stack[path]] != 0 || (old && old[stack[path]] != 0)) this.order[this.used++] = path;
    }
    this.scratch = new Uint32Array(this.used);
    this.groupAt = new Uint32Array(this.used);
    // Used while splitting a group: the number of each name's subgroup, and the sums of each subgroup.
    this.groupOf = new Int32Array(names).fill(-1);
    this.count = new Uint32Array(names);
    this.width = new Float64Array(names);
    this.inlined = new Uint8Array(names);
    this.total = sums(names, zero);
    this.self = sums(names, zero);
    this.oldSum = sums(names, zero);
    this.zero = zero;
    this.dropped = 0;
  }

  /** The group of all paths. */
  whole() {
    const { order, used, values, old, zero } = this;
    const { stack, begin, end } = this.paths;
    const root = { parent: 0, name: -1, depth: 0, left: 0, width: 0, total: zero, self: zero, old: zero, inlined: 0, lo: 0, hi: used };
    for (let i = 0; i < used; i++) {
      const path = order[i];
      const value = values[stack[path]];
      root.width += Number(absolute(value));
      root.total += value;
      if (begin[path] === end[path]) root.self += value;
      if (old) root.old += old[stack[path]];
    }
    return root;
  }

  /**
   * Groups the paths of a group by their next name and returns the groups that are at least `least` wide.
   * Paths that end at the node are in none of them.
   */
  split(node, index, least) {
    const { order, scratch, groupAt, groupOf, count, width, total, self, oldSum, inlined, values, old, zero } = this;
    const { frames, places, stack, begin, end, backward } = this.paths;
    const { depth } = node;
    const names = [];
    let taken = 0;
    for (let i = node.lo; i < node.hi; i++) {
      const path = order[i];
      const length = end[path] - begin[path];
      if (depth >= length) continue;
      const frame = backward ? end[path] - 1 - depth : begin[path] + depth;
      const name = frames[frame];
      let number = groupOf[name];
      if (number < 0) {
        number = groupOf[name] = names.length;
        names.push(name);
        count[number] = width[number] = 0;
        total[number] = self[number] = oldSum[number] = zero;
        inlined[number] = 1;
      }
      // A block is inlined if its function is inlined in all of its stacks.
      if (!this.placeInlined[places[frame]]) inlined[number] = 0;
      const value = values[stack[path]];
      width[number] += Number(absolute(value));
      total[number] += value;
      if (depth + 1 === length) self[number] += value;
      if (old) oldSum[number] += old[stack[path]];
      count[number]++;
      scratch[taken] = path;
      groupAt[taken++] = number;
    }
    const children = [];
    let at = node.lo;
    for (let number = 0; number < names.length; number++) {
      groupOf[names[number]] = -1;
      const lo = at;
      at += count[number];
      count[number] = lo;
      if (this.widened) width[number] = this.widened(names[number], width[number], oldSum[number]);
      if (width[number] < least || width[number] === 0) {
        if (width[number] > 0) this.dropped++;
        continue;
      }
      children.push({
        parent: index,
        name: names[number],
        depth: depth + 1,
        left: node.left,
        width: width[number],
        total: total[number],
        self: self[number],
        old: oldSum[number],
        inlined: inlined[number],
        lo,
        hi: at,
      });
    }
    for (let i = 0; i < taken; i++) order[count[groupAt[i]]++] = scratch[i];
    return children;
  }
}
