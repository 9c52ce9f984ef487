// Splits stacks into groups by their next names: from the root down, or from the leaves or a focus up.

import { sizes } from "./paths.js";

/** The stacks from the root, or from the outermost match of a focus: the graph and the tree. */
export const downwards = (paths) => ({ paths, backward: false });
/** The stacks from the leaf, or from what calls the focus. */
export const upwards = (paths) => ({ paths, backward: true });

/** What splits the groups of a view by their next names. `old` has the values of the other side, or is null. */
export function splitterOf(view, values, old, zero, options) {
  return view.backward ? new UpSplitter(view.paths, values, old, zero, options) : new DownSplitter(view.paths, values, old, zero, options);
}

/** The same for the picture, which needs only few nodes as long as stacks are whole. */
export function firstSplitterOf(view, values, old, zero, options) {
  const { paths, backward } = view;
  return paths.stacks && !backward ? new RangeSplitter(paths, values, old, zero, options) : splitterOf(view, values, old, zero, options);
}

/** Splits groups of stacks by their next name. */
class Splitter {
  /** `widened` returns the width of a block from its name, its own width and its value on the old side. */
  constructor(paths, zero, { names, inlined, widened = null }) {
    this.paths = paths;
    this.nodes = paths.nodes;
    this.zero = zero;
    this.widened = widened;
    this.placeInlined = inlined;
    /** The number of groups that were too narrow. */
    this.dropped = 0;
    // Used while splitting a group: the number of each name's subgroup, and the sums of each subgroup.
    this.groupOf = new Int32Array(names).fill(-1);
    this.groups = [];
  }

  /** The group of all stacks. */
  root(width, total, self, old) {
    return { parent: 0, name: -1, depth: 0, left: 0, width, total, self, old, inlined: 0 };
  }

  /** The group of a node among its siblings, to which the caller adds. */
  groupAt(node) {
    const { frames, places } = this.nodes;
    return this.groupNamed(frames[node], places[node]);
  }

  /** The group of a name among its siblings; the name stands for a place. */
  groupNamed(name, place) {
    let number = this.groupOf[name];
    if (number < 0) {
      number = this.groupOf[name] = this.groups.length;
      this.groups.push({ name, width: 0, total: this.zero, self: this.zero, old: this.zero, inlined: 1, count: 0 });
    }
    const group = this.groups[number];
    // A block is inlined if its function is inlined in all of its stacks.
    if (!this.placeInlined[place]) group.inlined = 0;
    group.count++;
    return group;
  }

  /** The groups that are wide enough, as children of a node. */
  finish(node, index, least) {
    const { groups } = this;
    this.groups = [];
    for (const group of groups) {
      this.groupOf[group.name] = -1;
      if (this.widened) group.width = this.widened(group.name, group.width, group.old);
      Object.assign(group, { parent: index, depth: node.depth + 1, left: node.left, isKept: group.width >= least && group.width !== 0 });
      if (!group.isKept && group.width > 0) this.dropped++;
    }
    return groups;
  }

  /** The same, each with its own of the `parts` that were added to groups; `numbers` has the group of each part. */
  finishParts(node, index, least, parts, numbers) {
    const groups = this.finish(node, index, least);
    parts.forEach((part, at) => {
      const child = groups[numbers[at]];
      if (child.isKept) (child.parts ??= []).push(part);
    });
    return groups.filter((child) => child.isKept);
  }
}

/** From the root or the focus to the leaves. The parts of a group are nodes, of which there is mostly one. */
class DownSplitter extends Splitter {
  constructor(paths, values, old, zero, options) {
    super(paths, zero, options);
    this.total = paths.below(values, zero);
    this.size = paths.below(sizes(values), zero);
    this.old = old && paths.below(old, zero);
  }

  whole() {
    const { total, size, old, zero } = this;
    const root = this.root(Number(size[0]), total[0], zero, old ? old[0] : zero);
    root.parts = this.paths.roots ? null : [0];
    return root;
  }

  /** The nodes directly below a group that have a value. */
  below(group) {
    const { size, old } = this;
    const { end } = this.nodes;
    const found = [];
    const hasValue = (node) => size[node] != 0 || (old && old[node] != 0);
    if (!group.parts) {
      for (const node of this.paths.roots) if (hasValue(node)) found.push(node);
      return found;
    }
    for (const above of group.parts) {
      const last = end[above];
      for (let node = above + 1; node < last; node = end[node]) if (size[node] != 0 || (old && old[node] != 0)) found.push(node);
    }
    return found;
  }

  /** What ends at a group that is not split. */
  selfOf(group) {
    return this.below(group).reduce((self, node) => self - this.total[node], group.total);
  }

  /**
   * Groups the nodes below a group by their names and returns the groups that are at least `least` wide.
   * Stacks that end at the group are in none of them: they are its self.
   */
  split(group, index, least) {
    const { total, size, old, groupOf } = this;
    const { frames } = this.nodes;
    const nodes = this.below(group);
    group.self = group.total;
    for (const node of nodes) {
      const child = this.groupAt(node);
      child.width += Number(size[node]);
      child.total += total[node];
      group.self -= total[node];
      if (old) child.old += old[node];
    }
    const numbers = nodes.map((node) => groupOf[frames[node]]);
    return this.finishParts(group, index, least, nodes, numbers);
  }
}

/** From the root to the leaves, for whole stacks as they were packed. The parts of a group are ranges of stacks, of which there is mostly one. */
class RangeSplitter extends Splitter {
  constructor(paths, values, old, zero, options) {
    super(paths, zero, options);
    const { stacks, leaf } = paths;
    this.stacks = stacks;
    this.total = stacks.sumsBefore(values, leaf);
    const all = sizes(values);
    this.size = all === values ? this.total : stacks.sumsBefore(all, leaf);
    this.old = old && stacks.sumsBefore(old, leaf);
  }

  whole() {
    const { stacks, total, size, old, zero } = this;
    const { count } = stacks;
    const root = this.root(Number(size[count]), total[count], zero, old ? old[count] : zero);
    root.parts = count ? [{ lo: 0, hi: count, splits: 0 }] : [];
    return root;
  }

  split(group, index, least) {
    const { stacks, total, size, old, groupOf } = this;
    const { nameOf } = this.nodes;
    const [ranges, numbers] = [[], []];
    group.self = group.total;
    const add = (lo, hi, splits) => {
      const width = size[hi] - size[lo];
      if (width == 0 && !(old && old[hi] != old[lo])) return;
      const place = stacks.places.at(stacks.nodeAt(lo, group.depth + 1));
      const name = nameOf ? nameOf[place] : place;
      const child = this.groupNamed(name, place);
      const sum = total[hi] - total[lo];
      child.width += Number(width);
      child.total += sum;
      group.self -= sum;
      if (old) child.old += old[hi] - old[lo];
      ranges.push({ lo, hi, splits });
      numbers.push(groupOf[name]);
    };
    for (const range of group.parts) stacks.rangesBelow(range, group.depth, add);
    return this.finishParts(group, index, least, ranges, numbers);
  }
}

/** From the leaves, or from what calls the focus, to the root. A group is a range of `order`. */
class UpSplitter extends Splitter {
  constructor(paths, values, old, zero, options) {
    super(paths, zero, options);
    const { roots, leaf, nodes } = paths;
    const starts = roots ?? leaf;
    const of = (column) => (roots ? paths.below(column, zero) : column);
    const at = (index) => (roots ? roots[index] : index);
    const [all, others, size] = [of(values), old && of(old), of(sizes(values))];
    // The stacks, or the nodes of the focus; those of a group are adjacent.
    this.order = new Uint32Array(starts.length);
    this.used = 0;
    /** The next node of each on the way to the root. */
    this.next = new Uint32Array(starts.length);
    for (let index = 0; index < starts.length; index++) {
      const item = at(index);
      if (starts[index] < 0 || (size[item] == 0 && !(others && others[item] != 0))) continue;
      this.order[this.used++] = index;
      this.next[index] = roots ? nodes.parent[starts[index]] : starts[index];
    }
    this.item = at;
    this.total = all;
    this.size = size;
    this.old = others;
    this.scratch = new Uint32Array(this.used);
    this.numbers = new Uint32Array(this.used);
  }

  whole() {
    const { zero, total, size, old } = this;
    const root = this.root(0, zero, zero, zero);
    for (let at = 0; at < this.used; at++) {
      const item = this.item(this.order[at]);
      root.width += Number(size[item]);
      root.total += total[item];
      if (this.next[this.order[at]] === 0) root.self += total[item];
      if (old) root.old += old[item];
    }
    return Object.assign(root, { lo: 0, hi: this.used });
  }

  selfOf(group) {
    return group.self;
  }

  split(group, index, least) {
    const { order, next, scratch, numbers, groupOf, total, size, old } = this;
    const { parent, frames } = this.nodes;
    let taken = 0;
    for (let at = group.lo; at < group.hi; at++) {
      const node = next[order[at]];
      if (node === 0) continue;
      const child = this.groupAt(node);
      const item = this.item(order[at]);
      child.width += Number(size[item]);
      child.total += total[item];
      if (parent[node] === 0) child.self += total[item];
      if (old) child.old += old[item];
      next[order[at]] = parent[node];
      numbers[taken] = groupOf[frames[node]];
      scratch[taken++] = order[at];
    }
    const groups = this.finish(group, index, least);
    let lo = group.lo;
    for (const child of groups) {
      child.lo = child.hi = lo;
      lo += child.count;
    }
    for (let at = 0; at < taken; at++) order[groups[numbers[at]].hi++] = scratch[at];
    return groups.filter((child) => child.isKept);
  }
}
