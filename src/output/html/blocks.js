// The calls of a thread as blocks, from the stack that each column of pixels shows.

/** Deeper calls are not drawn. */
const DEEPEST_CALL = 300;
/** Fewer calls that all stacks begin with are drawn. */
const SHORTEST_START = 3;

/**
 * The calls that columns of leaves show: neighbouring columns with the same names from the root on share blocks. What all
 * stacks begin with is not drawn; it is returned in `common`, if it is long enough to be worth it.
 */
export function callBlocks(leaves, { frames, parent }) {
  const known = new Map([[-1, []], [0, []]]);
  const pathOf = (leaf) => {
    const names = [];
    for (let node = leaf; node > 0; node = parent[node]) names.push(frames[node]);
    return names.reverse().slice(0, DEEPEST_CALL);
  };
  for (const leaf of leaves) if (!known.has(leaf)) known.set(leaf, pathOf(leaf));
  const common = commonStart([...known.values()].filter((names) => names.length));
  const calls = [];
  const open = [];
  const close = (depth, end) => {
    while (open.length > depth) {
      const call = open.pop();
      call.end = end;
      calls.push(call);
    }
  };
  for (let column = 0; column < leaves.length; column++) {
    const leaf = leaves[column];
    if (column > 0 && leaf === leaves[column - 1]) continue;
    const names = known.get(leaf);
    const length = Math.max(0, names.length - common.length);
    let depth = 0;
    while (depth < length && depth < open.length && open[depth].name === names[common.length + depth]) depth++;
    close(depth, column);
    for (; depth < length; depth++) open.push({ name: names[common.length + depth], depth, start: column, end: column });
  }
  close(0, leaves.length);
  return { calls, common };
}

/** The names with which all lists begin, without the last one of the shortest; none if they are few. */
function commonStart(lists) {
  const [first = []] = lists;
  const shortest = lists.reduce((least, names) => Math.min(least, names.length), first.length);
  let length = 0;
  while (length < shortest - 1 && lists.every((names) => names[length] === first[length])) length++;
  return length < SHORTEST_START ? [] : first.slice(0, length);
}
