// Folds runs of library calls into one row, as `prof tree` does: `startup → 7 more → runMain`.
//
// A run is a chain of calls with the same samples: each frame is the only callee of the one before it, which has no self.
// Nothing is lost by drawing it as one block. The tree itself stays as it is; folding only says on which row a node is.

/** Shorter chains are easier to read as they are. */
const SHORTEST_RUN = 4;

/**
 * Gives the tree the row of each node, counted from node 0, and its runs: lists of nodes by their first one. The other
 * nodes of a run have no block of their own. `canFold` says whether a node may be part of a run, `isOpen` whether a run
 * is drawn as single blocks.
 */
export function foldRuns(tree, canFold, isOpen) {
  const length = tree.parent.length;
  tree.row = new Uint32Array(length);
  tree.runs = new Map();
  tree.folded = new Uint8Array(length);
  for (let node = 1; node < length; node++) {
    const above = tree.row[tree.parent[node]];
    tree.row[node] = above + (tree.folded[node] ? 0 : 1);
    if (tree.folded[node] || !canFold(node)) continue;
    const run = runFrom(tree, node, canFold);
    if (run.length < SHORTEST_RUN || isOpen(run)) {
      // A chain that is open is not folded further down either.
      for (const member of run.slice(1)) tree.row[member] = tree.row[tree.parent[member]] + 1;
      node = run.at(-1);
      continue;
    }
    tree.runs.set(node, run);
    for (const member of run.slice(1)) tree.folded[member] = 1;
  }
}

/** The longest run that begins with a node. Nodes are in preorder, so an only callee directly follows its caller. */
function runFrom({ parent, width, total, self, old }, start, canFold) {
  const run = [start];
  for (let node = start + 1; node < parent.length; node++) {
    const above = node - 1;
    const isSame = parent[node] === above && width[node] === width[above] && total[node] === total[above] && old[node] === old[above];
    if (!isSame || self[above] != 0 || !canFold(node)) break;
    run.push(node);
  }
  return run;
}

/** The chain of names that leads to a node, as one text. */
export function pathTo(tree, node) {
  const names = [];
  for (let at = node; at > 0; at = tree.parent[at]) names.push(tree.name[at]);
  return names.join(" ");
}
