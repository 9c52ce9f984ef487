// The script of a heat map as SVG: it says what is under the pointer, and turns a selection into options.
//
// A selection is a range of time, as in FlameScope: from the earlier of two cells to the end of the later one.
(() => {
  const svg = document.currentScript.closest("svg");
  const details = svg.querySelector(".details");
  const selected = svg.querySelector(".selected");
  const { from, row, rows, columns, left, top, width, height } = Object.fromEntries(
    Object.entries(svg.dataset).map(([key, value]) => [key, Number(value)]),
  );
  let start = null;
  let kept = "";

  /** The number of the cell at a point, counted from the first column upwards; null if the point is beside the cells. */
  function cellAt({ clientX, clientY }) {
    const point = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
    const column = Math.floor((point.x - left) / width);
    const up = rows - 1 - Math.floor((point.y - top) / height);
    return column < 0 || column >= columns || up < 0 || up >= rows ? null : column * rows + up;
  }

  function options(first, last) {
    return `--from ${moment(from + first * row)} --to ${moment(from + (last + 1) * row)}`;
  }

  /** Draws a line around the columns of a selection, and says how to show it. */
  function select(one, other) {
    const [first, last] = [Math.min(one, other), Math.max(one, other)];
    const [fromColumn, toColumn] = [first, last].map((cell) => Math.floor(cell / rows));
    const isOne = fromColumn === toColumn;
    const [low, high] = isOne ? [first % rows, last % rows] : [0, rows - 1];
    selected.setAttribute("x", left + fromColumn * width);
    selected.setAttribute("width", (toColumn - fromColumn + 1) * width);
    selected.setAttribute("y", top + (rows - 1 - high) * height);
    selected.setAttribute("height", (high - low + 1) * height);
    kept = `selected: ${options(first, last)}`;
    details.textContent = kept;
  }

  svg.addEventListener("pointerdown", (event) => {
    start = cellAt(event);
    if (start === null) return;
    event.preventDefault();
    select(start, start);
  });
  svg.addEventListener("pointermove", (event) => {
    const cell = cellAt(event);
    if (start !== null && cell !== null) return select(start, cell);
    const title = event.target.querySelector?.(":scope > title");
    details.textContent = event.target.closest(".cells") && title ? title.textContent.replace("\n", " · ") : kept;
  });
  addEventListener("pointerup", () => (start = null));
})();
