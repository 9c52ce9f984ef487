// Builds the trees that the page draws, from the root down, or from the leaves or a focus up.

import { absolute } from "./paths.js";
import { firstSplitterOf } from "./split.js";

/**
 * Builds the tree of stacks, without nodes narrower than a third of a pixel. Nodes are in preorder;
 * node 0 is the root. `zoom` is a chain of names from the root. The result has the nodes on this chain,
 * as wide as the picture, and the descendants of the last one.
 *
 * Stacks are split into groups by their next name, and only groups that are wide enough are split
 * further, so that few nodes are built even from a million stacks. A work list instead of recursion
 * handles stacks of any depth.
 */
export function growTree(view, values, old, zero, options) {
  /** @type {any} */
  const tree = { zoomed: 0, backward: view.backward };
  for (const column of NODE_COLUMNS) tree[column] = [];
  const splitter = firstSplitterOf(view, values, old, zero, options);
  // What ends at a node is known once the node is split.
  const split = (node, index, least) => {
    const children = splitter.split(node, index, least);
    tree.self[index] = node.self;
    return children;
  };
  const push = (node) => {
    for (const column of NODE_COLUMNS) tree[column].push(node[column]);
    return tree.parent.length - 1;
  };

  let top = splitter.whole();
  let index = push(top);
  for (const name of options.zoom) {
    // A group can be split only once.
    top.children = split(top, index, 0);
    const next = top.children.find((child) => child.name === name);
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
    const children = node.children?.filter((child) => child.width >= least) ?? split(node, here, least);
    for (const child of children.sort(siblings)) {
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
