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
    const pattern = patternOf(filter.text);
    for (let id = 0; id < marks.length; id++) {
      const file = data.facts[id][1];
      const texts = [data.names[id], data.short[id], file ? data.files[file - 1][0] : ""];
      if (texts.some((text) => pattern.test(text))) marks[id] = 1;
    }
  }
  return marks;
}

/** What is no regular expression is taken as it stands. */
function patternOf(text) {
  try {
    return new RegExp(text, "u");
  } catch {
    return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  }
}

/** All stacks, whole. */
function allPaths(data) {
  const stack = Uint32Array.from({ length: data.stackCount }, (_, i) => i);
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
  let paths = allPaths(data);
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
    paths.anchor = Uint32Array.from(paths.stack, (_, i) =>
      firstMarked(paths.frames, paths.begin[i], paths.end[i], marks));
  }
  return paths;
}

/** Self and total of every name: total once a path, however often the name recurs. */
function countFlat(data, paths, values, zero) {
  const length = data.names.length;
  const self = new Array(length).fill(zero);
  const total = new Array(length).fill(zero);
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
  const tree = { parent: [], name: [], depth: [], left: [], width: [], total: [], self: [], old: [], zoomed: 0, dropped: 0, droppedWidth: 0 };
  const { frames, stack, begin, end, backward } = paths;
  const nameAt = (path, depth) => {
    if (depth >= end[path] - begin[path]) return -1;
    return backward ? frames[end[path] - 1 - depth] : frames[begin[path] + depth];
  };
  const group = (parent, name, depth) => ({ parent, name, depth, lo: 0, hi: 0, width: 0, total: zero, self: zero, old: zero, left: 0 });
  const add = (to, path) => {
    const value = values[stack[path]];
    to.width += Math.abs(Number(value));
    to.total += value;
    if (old) to.old += old[stack[path]];
    if (to.depth === end[path] - begin[path]) to.self += value;
  };

  const order = new Uint32Array(stack.length);
  let used = 0;
  for (let path = 0; path < stack.length; path++) {
    if (values[stack[path]] != 0 || (old && old[stack[path]] != 0)) order[used++] = path;
  }
  const root = group(0, -1, 0);
  root.hi = used;
  for (let i = 0; i < used; i++) add(root, order[i]);

  const groupOf = new Int32Array(options.names).fill(-1);
  const scratch = new Uint32Array(used);
  const groupAt = new Uint32Array(used);
  const split = (node, index) => {
    const children = [];
    let taken = 0;
    for (let i = node.lo; i < node.hi; i++) {
      const path = order[i];
      const name = nameAt(path, node.depth);
      if (name < 0) continue;
      let number = groupOf[name];
      if (number < 0) {
        number = groupOf[name] = children.length;
        children.push(group(index, name, node.depth + 1));
      }
      add(children[number], path);
      children[number].hi++;
      scratch[taken] = path;
      groupAt[taken++] = number;
    }
    let at = node.lo;
    for (const child of children) {
      groupOf[child.name] = -1;
      const length = child.hi;
      child.lo = child.hi = at;
      at += length;
    }
    for (let i = 0; i < taken; i++) order[children[groupAt[i]].hi++] = scratch[i];
    return children;
  };
  const push = (node) => {
    for (const column of ["parent", "name", "depth", "left", "width", "total", "self", "old"]) tree[column].push(node[column]);
    return tree.parent.length - 1;
  };

  let top = root;
  let index = push(root);
  for (const name of options.zoom) {
    const next = split(top, index).find((child) => child.name === name && child.width > 0);
    if (!next) break;
    next.left = top.left;
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
    const children = split(node, here).sort(siblings);
    let left = node.left;
    const kept = [];
    for (const child of children) {
      if (child.width < least || child.width === 0) {
        tree.dropped += child.width > 0 ? 1 : 0;
        tree.droppedWidth += child.width;
        continue;
      }
      child.left = left;
      left += child.width;
      kept.push({ node: child, index: -1 });
    }
    for (const child of kept.reverse()) work.push(child);
  }
  return tree;
}
