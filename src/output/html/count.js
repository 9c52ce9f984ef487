// Counting: filters make paths of stacks, and paths are counted flat or as a tree.
//
// A path is the part of a stack that filters left: frames[begin] … frames[end - 1], root first.
// The rules are those of the command line; filters apply in the order of KINDS, whatever the order
// they were added in, and several of one kind mean "or".

const KINDS = {
  "show-stacks": "Show stacks",
  "hide-stacks": "Hide stacks",
  "hide-frames": "Hide frames",
  "show-frames": "Show frames only",
  "show-from": "Show from",
  focus: "Focus",
  highlight: "Highlight",
};

const absolute = (value) => (value < 0 ? -value : value);

/** For each name whether a filter matches it: one name exactly, or a pattern on names and files. */
function matching(data, filters) {
  const marks = new Uint8Array(data.names.length);
  for (const filter of filters) {
    if (filter.exact) {
      const id = data.names.indexOf(filter.text);
      if (id >= 0) marks[id] = 1;
      continue;
    }
    const found = search(data, pattern(filter.text, false));
    // What matches nothing as a regular expression is tried as it stands.
    const all = found.length ? found : search(data, pattern(filter.text, true));
    for (const id of all) marks[id] = 1;
  }
  return marks;
}

/**
 * Patterns are the command line's: `function:`, `file:` and `package:` narrow them, `…` stands for
 * anything, and what is no regular expression is taken literally.
 */
function pattern(text, literal) {
  const [, scope = "", body] = /^(?:(function|file|package): *)?([^]*)$/.exec(text);
  const escaped = body.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const regex = (source) => new RegExp(source.replaceAll("…", ".*"), "u");
  try {
    return { scope, regex: regex(literal ? escaped : body) };
  } catch {
    return { scope, regex: regex(escaped) };
  }
}

/** The names that a pattern matches. */
function search(data, { scope, regex }) {
  const is = (text) => text !== "" && regex.test(text);
  const found = [];
  for (let id = 0; id < data.names.length; id++) {
    const [pack, file] = data.facts[id];
    const named = () => regex.test(data.names[id]) || is(data.short[id]);
    const inFile = () => file > 0 && is(data.files[file - 1][0]);
    const matches = { "": () => named() || inFile(), function: named, file: inFile, package: () => is(data.packages[pack][0]) };
    if (matches[scope]()) found.push(id);
  }
  return found;
}

/** Room for sums of a metric's values, all zero. */
function sums(length, zero) {
  return typeof zero === "bigint" ? new BigInt64Array(length) : new Float64Array(length);
}

/** All stacks, whole. */
function allPaths(data) {
  const stack = new Uint32Array(data.stackCount);
  for (let i = 0; i < stack.length; i++) stack[i] = i;
  return { frames: data.frames, stack, begin: data.start.slice(0, -1), end: data.start.slice(1) };
}

/** The paths that a predicate keeps; it may move their ends. */
function keepPaths(paths, keep) {
  let count = 0;
  const kept = { frames: paths.frames };
  for (const column of ["stack", "begin", "end"]) kept[column] = new Uint32Array(paths.stack.length);
  kept.anchor = paths.anchor;
  for (let i = 0; i < paths.stack.length; i++) {
    const begin = keep(paths.frames, paths.begin[i], paths.end[i], i);
    if (begin < 0) continue;
    kept.stack[count] = paths.stack[i];
    kept.begin[count] = begin;
    kept.end[count++] = paths.end[i];
  }
  for (const column of ["stack", "begin", "end"]) kept[column] = kept[column].subarray(0, count);
  return kept;
}

/** The first frame of a path that is marked, or -1. */
function firstMarked(frames, begin, end, marks) {
  for (let at = begin; at < end; at++) if (marks[frames[at]]) return at;
  return -1;
}

/** Only the frames whose mark is as wanted. A path may end up without frames. */
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

/** The paths that filters leave. */
function filtered(data, filters) {
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
  marks = marksOf("focus");
  if (marks) {
    paths = keepPaths(paths, (f, begin, end) => (firstMarked(f, begin, end, marks) < 0 ? -1 : begin));
    paths.anchor = paths.stack.map((_, i) => firstMarked(paths.frames, paths.begin[i], paths.end[i], marks));
  }
  return paths;
}

/** Self and total of every name: total once a path, however often the name recurs. */
function countFlat(data, paths, values, zero) {
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

/** The value of the paths through a marked name, each once. */
function countMarked(paths, values, marks, zero) {
  let sum = zero;
  for (let i = 0; i < paths.stack.length; i++) {
    if (firstMarked(paths.frames, paths.begin[i], paths.end[i], marks) >= 0) sum += absolute(values[paths.stack[i]]);
  }
  return sum;
}

/** The paths turned to grow a tree from: forward from the root, or backward from the leaf. */
function rooted(paths, backward) {
  return { frames: paths.frames, stack: paths.stack, begin: paths.begin, end: paths.end, backward };
}

/** Of focused paths: what lies below the outermost match, that included; or the callers above it. */
function callees(paths) {
  return { frames: paths.frames, stack: paths.stack, begin: paths.anchor, end: paths.end, backward: false };
}
function callers(paths) {
  return { frames: paths.frames, stack: paths.stack, begin: paths.begin, end: paths.anchor, backward: true };
}

/**
 * Grows the tree of paths, without nodes narrower than a third of a pixel. Nodes are in preorder;
 * node 0 is the whole. `zoom` is a chain of names from the root: of its nodes only what lies on the
 * chain is built, as wide as the picture, and the last one's descendants.
 *
 * Paths are split into groups by their next name, and only groups wide enough are split further: so
 * little is built of a million stacks. An explicit work list bears stacks of any depth.
 */
function growTree(paths, values, old, zero, options) {
  const tree = { zoomed: 0, backward: paths.backward };
  for (const column of COLUMNS) tree[column] = [];
  const splitter = new Splitter(paths, values, old, zero, options.names);
  const push = (node) => {
    for (const column of COLUMNS) tree[column].push(node[column]);
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
  const siblings = options.byWeight ? (a, b) => b.width - a.width || a.name - b.name : (a, b) => a.name - b.name;
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
    // The last in is the first out.
    for (const child of kept.reverse()) work.push(child);
  }
  tree.dropped = splitter.dropped;
  tree.droppedWidth = splitter.droppedWidth;
  return tree;
}

const COLUMNS = ["parent", "name", "depth", "left", "width", "total", "self", "old"];

/** Splits groups of paths by their next name. */
class Splitter {
  constructor(paths, values, old, zero, names) {
    const { stack } = paths;
    Object.assign(this, { paths, values, old });
    // The paths, those of a group side by side.
    this.order = new Uint32Array(stack.length);
    this.used = 0;
    for (let path = 0; path < stack.length; path++) {
      if (values[stack[path]] != 0 || (old && old[stack[path]] != 0)) this.order[this.used++] = path;
    }
    this.scratch = new Uint32Array(this.used);
    this.groupAt = new Uint32Array(this.used);
    // While a group is split: the number of each name's subgroup, and the sums of each subgroup.
    this.groupOf = new Int32Array(names).fill(-1);
    this.count = new Uint32Array(names);
    this.width = new Float64Array(names);
    [this.total, this.self, this.oldSum] = [sums(names, zero), sums(names, zero), sums(names, zero)];
    this.zero = zero;
    [this.dropped, this.droppedWidth] = [0, 0];
  }

  /** The group of all paths. */
  whole() {
    const { order, used, values, old, zero } = this;
    const { stack, begin, end } = this.paths;
    const root = { parent: 0, name: -1, depth: 0, left: 0, width: 0, total: zero, self: zero, old: zero, lo: 0, hi: used };
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
   * The groups of a group's paths by their next name, as far as they are at least `least` wide. Paths
   * that end here are in none.
   */
  split(node, index, least) {
    const { order, scratch, groupAt, groupOf, count, width, total, self, oldSum, values, old, zero } = this;
    const { frames, stack, begin, end, backward } = this.paths;
    const { depth } = node;
    const names = [];
    let taken = 0;
    for (let i = node.lo; i < node.hi; i++) {
      const path = order[i];
      const length = end[path] - begin[path];
      if (depth >= length) continue;
      const name = backward ? frames[end[path] - 1 - depth] : frames[begin[path] + depth];
      let number = groupOf[name];
      if (number < 0) {
        number = groupOf[name] = names.length;
        names.push(name);
        count[number] = width[number] = 0;
        total[number] = self[number] = oldSum[number] = zero;
      }
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
      if (width[number] < least || width[number] === 0) {
        if (width[number] > 0) this.dropped++;
        this.droppedWidth += width[number];
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
        lo,
        hi: at,
      });
    }
    for (let i = 0; i < taken; i++) order[count[groupAt[i]]++] = scratch[i];
    return children;
  }
}
