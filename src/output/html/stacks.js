// The distinct stacks as the page has them: sorted, each with the number of frames that it shares with the one before, and its
// further frames. Stacks that begin with the same frames are a range, so what they cost together is the difference of two
// sums. This is enough for the first picture: the tree of all nodes is built when a filter first needs it.

/** Numbers that are stored as all their lowest bytes, then all their next ones. The first one has the index 1. */
export class Bytewise {
  constructor(bytes, planes) {
    this.bytes = bytes;
    this.planes = planes;
    this.count = planes ? bytes.length / planes : 0;
  }
  at(index) {
    const { bytes, planes, count } = this;
    let number = 0;
    for (let plane = 0, at = index - 1; plane < planes; plane++, at += count) number |= bytes[at] << (8 * plane);
    return number;
  }
  /** All numbers, after an item for the index 0. */
  all(length) {
    const { bytes, planes, count } = this;
    const numbers = new Uint32Array(length);
    const [second, third, fourth] = [count, 2 * count, 3 * count];
    // One pass for the usual numbers of bytes.
    if (planes === 1) for (let i = 0; i < count; i++) numbers[1 + i] = bytes[i];
    if (planes === 2) for (let i = 0; i < count; i++) numbers[1 + i] = bytes[i] | (bytes[second + i] << 8);
    if (planes > 2) for (let i = 0; i < count; i++) numbers[1 + i] = bytes[i] | (bytes[second + i] << 8) | (bytes[third + i] << 16);
    if (planes > 3) for (let i = 0; i < count; i++) numbers[1 + i] |= bytes[fourth + i] << 24;
    return numbers;
  }
}

/** The numbers of an array, in the same form. */
class Plain {
  constructor(numbers) {
    this.numbers = numbers;
  }
  at(index) {
    return this.numbers[index];
  }
  all() {
    return this.numbers;
  }
}

export class Stacks {
  /** `places` has the further frames of all stacks, after an item for the root: as an array, or stored bytewise. */
  constructor(shared, further, places) {
    this.shared = shared;
    this.further = further;
    this.places = places instanceof Bytewise ? places : new Plain(places);
    /** The first node that each stack adds; then the number of nodes. */
    this.first = new Uint32Array(shared.length + 1);
    let node = 1;
    for (let stack = 0; stack < shared.length; stack++) {
      this.first[stack] = node;
      node += further[stack];
    }
    this.first[shared.length] = this.length = node;
  }

  get count() {
    return this.shared.length;
  }

  /** The place of each node. The bytes are let go: they are a part of all that the page came with. */
  unpack() {
    const numbers = this.places.all(this.length);
    this.places = new Plain(numbers);
    return numbers;
  }

  /** The node of the frame at a depth of a stack, counted from 1. The root has the depth 0. */
  nodeAt(stack, depth) {
    const { shared, first } = this;
    if (depth === 0) return 0;
    let adds = stack;
    while (shared[adds] >= depth) adds--;
    return first[adds] + depth - 1 - shared[adds];
  }

  /** The last node of each stack, 0 for a stack without frames. */
  leaves() {
    const { shared, further, first, count } = this;
    const leaf = new Int32Array(count);
    for (let stack = 0; stack < count; stack++) {
      if (further[stack] > 0) leaf[stack] = first[stack + 1] - 1;
      else if (stack > 0 && shared[stack] === shared[stack - 1] + further[stack - 1]) leaf[stack] = leaf[stack - 1];
      else leaf[stack] = this.nodeAt(stack, shared[stack]);
    }
    return leaf;
  }

  /** The name at which each stack ends. */
  names(leaf, nameOf) {
    const names = new Uint32Array(leaf.length);
    for (let stack = 0; stack < leaf.length; stack++) {
      const place = leaf[stack] ? this.places.at(leaf[stack]) : 0;
      names[stack] = nameOf ? nameOf[place] : place;
    }
    return names;
  }

  /** For each node, its caller, and the node after the last one below it. */
  links() {
    const { shared, further, length, count } = this;
    const [parent, end] = [new Uint32Array(length), new Uint32Array(length)];
    // The nodes of the current stack, the root first.
    const path = [0];
    let [node, depth] = [1, 0];
    for (let stack = 0; stack < count; stack++) {
      for (const common = shared[stack]; depth > common; depth--) end[path[depth]] = node;
      let above = path[depth];
      for (let left = further[stack]; left > 0; left--) {
        parent[node] = above;
        path[++depth] = above = node++;
      }
    }
    for (; depth > 0; depth--) end[path[depth]] = node;
    end[0] = length;
    return { parent, end };
  }

  /** The sums of the values of all stacks before each one; the last item is the sum of all. Stacks whose leaf is negative were dropped. */
  sumsBefore(values, leaf) {
    const before = values instanceof BigInt64Array ? new BigInt64Array(values.length + 1) : new Float64Array(values.length + 1);
    let sum = before[0];
    for (let stack = 0; stack < values.length; stack++) {
      // @ts-ignore Both are numbers, or both are big ones.
      if (leaf[stack] >= 0) sum += values[stack];
      before[stack + 1] = sum;
    }
    return before;
  }

  /**
   * The ranges of stacks below a range that has `depth` frames in common: one for each further frame. `splits` is the smallest
   * number of frames that a stack of a range shares with the one before.
   */
  rangesBelow({ lo, hi, splits }, depth, act) {
    const { shared, further } = this;
    const has = (stack) => shared[stack] + further[stack] > depth;
    if (splits > depth) {
      if (has(lo)) act(lo, hi, splits);
      return;
    }
    let [start, least] = [lo, Infinity];
    for (let stack = lo + 1; stack < hi; stack++) {
      const common = shared[stack];
      if (common > depth) {
        if (common < least) least = common;
        continue;
      }
      if (has(start)) act(start, stack, least);
      start = stack;
      least = Infinity;
    }
    if (has(start)) act(start, hi, least);
  }
}
