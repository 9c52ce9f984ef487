// Sums of values by name: what the table shows.

import { absolute, sizes, sums, sumsOf } from "./paths.js";

/** Sums of the old side multiplied by `ratio`, rounded half away from zero. */
export function rescaled(values, ratio) {
  if (ratio === 1) return values;
  const scale = (value) => {
    const scaled = Number(value) * ratio;
    const rounded = Math.sign(scaled) * Math.round(Math.abs(scaled));
    return typeof value === "bigint" ? BigInt(rounded) : rounded;
  };
  if (typeof values !== "object") return scale(values);
  // Rescaled sums may be larger than the array could hold.
  const /** @type {any} */ column = values instanceof Int32Array ? new Float64Array(values) : values;
  return column.map(scale);
}

/**
 * The first items of an order, without sorting all of them: there may be a million. Most are left out by their number in a
 * column, whose size multiplied by `turn` never grows in this order.
 * @param {any} items
 * @param {any} column
 */
export function heaviest(items, limit, compare, column = null, turn = 1) {
  if (items.length <= limit) return Array.from(items).sort(compare);
  let kept = [];
  let last;
  let least = -Infinity;
  for (let at = 0; at < items.length; at++) {
    const item = items[at];
    if (column) {
      const number = Number(column[item]);
      if ((number < 0 ? -number : number) * turn < least) continue;
    }
    if (last !== undefined && compare(item, last) > 0) continue;
    kept.push(item);
    if (kept.length < 2 * limit) continue;
    kept = kept.sort(compare).slice(0, limit);
    last = kept.at(-1);
    if (column) least = Number(absolute(column[last])) * turn;
  }
  return kept.sort(compare).slice(0, limit);
}

/** The value of the stacks of each set of labels. */
export function countSets(data, { leaf }, values, zero) {
  const bySet = new Array(data.label_sets.length).fill(zero);
  for (let stack = 0; stack < leaf.length; stack++) if (leaf[stack] >= 0) bySet[data.labelSet[stack]] += absolute(values[stack]);
  return bySet;
}

/** Self and total of every name. Recursion counts once: a stack adds to the total of a name at most once. */
export function countFlat(data, paths, values, zero) {
  const { nodes, leaf, leafNames } = paths;
  // Of all stacks, the names of leaves are known before those of other nodes.
  const names = leafNames ?? nodes.frames;
  /** @type {any} */
  const self = sumsOf(values, data.count, zero);
  let [shown, noStack] = [zero, zero];
  for (let stack = 0; stack < leaf.length; stack++) {
    const node = leaf[stack];
    if (node < 0) continue;
    const value = values[stack];
    shown += value < 0 ? -value : value;
    if (node === 0) noStack += value;
    else self[names[leafNames ? stack : node]] += value;
  }
  return { self, total: paths.totals(values, zero, self), shown, noStack };
}

/** The value of the stacks through a marked place; each stack counts once, with its sign. */
export function countMarked(paths, values, marks, zero) {
  const { places, end, length } = paths.nodes;
  const [below, size] = [paths.below(values, zero), paths.below(sizes(values), zero)];
  let sum = zero;
  if (!marks.includes(1)) return sum;
  for (let node = 1; node < length; ) {
    const isMarked = marks[places[node]];
    if (isMarked) sum += below[node];
    node = isMarked || size[node] == 0 ? end[node] : node + 1;
  }
  return sum;
}

/**
 * Direct callers and callees of the marked places, which together count as one node. A stack adds to each
 * caller and callee at most once. Calls from a marked place to a marked place are counted in `itself`.
 */
export function countNeighbours(data, paths, values, marks, zero) {
  const { nodes, leaf } = paths;
  const { places, frames, parent, end, length } = nodes;
  const { count } = data;
  const found = { callers: sums(count, zero), callees: sums(count, zero), itself: zero, root: zero, self: zero, total: zero };
  const [below, size] = [paths.below(values, zero), paths.below(sizes(values), zero)];
  for (let stack = 0; stack < leaf.length; stack++) if (leaf[stack] > 0 && marks[places[leaf[stack]]]) found.self += values[stack];
  // The calls above the current node: nodes, and what was counted there, to be counted again elsewhere.
  const path = [];
  const counted = [];
  const [isCaller, isCallee] = [new Uint8Array(count), new Uint8Array(count)];
  let isItself = false;
  const leave = () => {
    const node = path.pop();
    const what = counted.pop();
    if (what === 1) isCaller[frames[parent[node]]] = 0;
    else if (what === 2) isCallee[frames[node]] = 0;
    else if (what === 3) isItself = false;
  };
  const enter = (node) => {
    const caller = parent[node];
    const [above, here] = [caller > 0 && marks[places[caller]], marks[places[node]]];
    let what = 0;
    if (above && here) {
      if (!isItself) what = 3;
      isItself = true;
    } else if (here && caller > 0 && !isCaller[frames[caller]]) {
      isCaller[frames[caller]] = 1;
      what = 1;
    } else if (above && !isCallee[frames[node]]) {
      isCallee[frames[node]] = 1;
      what = 2;
    }
    if (what === 1) found.callers[frames[caller]] += below[node];
    else if (what === 2) found.callees[frames[node]] += below[node];
    else if (what === 3) found.itself += below[node];
    path.push(node);
    counted.push(what);
  };
  for (let node = 1; node < length; ) {
    while (path.length && path.at(-1) !== parent[node]) leave();
    if (size[node] == 0) node = end[node];
    else {
      // Only calls from the outermost marked node on count.
      if (path.length || marks[places[node]]) {
        if (!path.length) {
          found.total += below[node];
          if (parent[node] === 0) found.root += below[node];
        }
        enter(node);
      }
      node++;
    }
  }
  const differs = (others, end) => {
    let sum = end + found.itself;
    for (const value of others) sum += value;
    return sum != found.total;
  };
  return { ...found, overlaps: differs(found.callers, found.root) || differs(found.callees, found.self) };
}

/** Calls `act` for the calls of some names: caller (-1 for the root), callee and value. Of a recursion, only the outermost call counts. */
export function eachOutermostCall(data, paths, values, ids, zero, act) {
  const { frames, parent, repeats, length } = paths.nodes;
  const size = paths.below(sizes(values), zero);
  const isWanted = new Uint8Array(data.count);
  for (const id of ids) isWanted[id] = 1;
  for (let node = 1; node < length; node++) {
    const callee = frames[node];
    if (isWanted[callee] && !repeats[node] && size[node] != 0) act(parent[node] ? frames[parent[node]] : -1, callee, size[node]);
  }
}

/** The caller from which most of the value of each name comes. `each` calls a function for all calls. */
export function heaviestCallers(ids, each) {
  const callers = new Map(Array.from(ids, (id) => [id, new Map()]));
  each((caller, callee, value) => {
    const known = callers.get(callee);
    if (known && caller !== callee) known.set(caller, (known.get(caller) ?? 0) + Number(absolute(value)));
  });
  const most = (known) => [...known].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0] ?? -1;
  return new Map(Array.from(callers, ([id, sums]) => [id, most(sums)]));
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
