// Helper functions for checks, which run once the page is ready, and the code that returns their results.

/** The numbers in the table of the page, with values as text. */
function counted() {
  const rows = page.model.table().map((row) => [row.name, String(row.self), String(row.total)]);
  return { rows, shown: String(page.model.flat.shown), noStack: String(page.model.flat.noStack) };
}

/** The blocks of the graph: row, name, total and self. */
function blocks() {
  const all = page.graph.rows.flatMap((blocks, row) => blocks.map((block) => ({ row, ...block })));
  return all.map(({ row, layer: { tree }, node }) => [
    row,
    tree.name[node] < 0 ? "(all)" : page.data.names[tree.name[node]],
    String(tree.total[node]),
    String(tree.self[node]),
  ]);
}

/** The text of the table's cells. */
function cells() {
  return Array.from(document.querySelectorAll("#rows tr"), (row) => Array.from(row.cells, (cell) => cell).filter((cell) => !cell.matches(".bar-cell, .place, .caller, .tested-cell")).map((cell) => cell.textContent));
}

/** The block with this name that is nearest to the root. */
function blockOf(name) {
  const found = page.graph.rows.flat().filter(({ layer: { tree }, node }) => page.data.names[tree.name[node]] === name);
  return found.sort((a, b) => a.layer.tree.depth[a.node] - b.layer.tree.depth[b.node])[0];
}

/** Clicks in the middle of a block. */
function click(block, kind = "click") {
  const { canvas, scroller } = page.graph;
  page.graph.reveal(page.graph.rowOf(block));
  const box = canvas.getBoundingClientRect();
  const [left, width] = page.graph.place(block);
  const y = page.graph.rowOf(block) * ROW - scroller.scrollTop + ROW / 2;
  const at = { clientX: box.left + left + width / 2, clientY: box.top + y, bubbles: true, cancelable: true };
  canvas.dispatchEvent(new MouseEvent(kind, at));
}

function press(key, target = document.documentElement) {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}

/** Waits for events that the browser dispatches later, such as hashchange. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

async function run(check) {
  while (document.readyState !== "complete") await pause();
  const isPicture = document.documentElement.tagName === "svg";
  while (!isPicture && !document.documentElement.dataset.ready && !document.querySelector(".error")) await pause();
  await pause();
  let result = null;
  try {
    result = await check();
  } catch (error) {
    faults.push(`check: ${error.stack}`);
  }
  const requests = performance.getEntriesByType("resource").map((entry) => entry.name);
  finished(JSON.stringify({ result, faults, requests }));
}
