// The script of a flame graph as SVG: zoom, search, and labels that fit the window.
//
// What is on the screen follows from the block that is zoomed into, the search, and the width of the window. `draw` lays
// out the picture from these three, and nothing else changes blocks.
(() => {
  const svg = document.currentScript.closest("svg");
  const find = (name) => svg.querySelector(`.${name}`);
  const MARGIN = 10;
  const NARROWEST = 800;
  const PADDING = 6;
  // Positions are fractions of the root. They are rounded, and no block is narrower than ten times this.
  const ROUNDING = 1e-6;

  // In a chart, from left to right is time: a zoom into a block shows what was running meanwhile, on all threads.
  const isChart = svg.classList.contains("chart");
  const [chartFrom, chartTo] = [Number(svg.dataset.from), Number(svg.dataset.to)];

  // The first side is the graph. With a focus it starts at the focus, and the second side has the callers above it.
  const sides = Array.from(svg.querySelectorAll(".side"), (side) => Array.from(side.children));
  const whole = Number(svg.getAttribute("width")) - 2 * MARGIN;
  const blocks = sides.flatMap((rows, side) =>
    rows.flatMap((row, above) => {
      // The focus is the row under the first callers.
      const depth = side ? above + 1 : above;
      return Array.from(row.querySelectorAll("rect"), (rect) => block(rect, side, depth));
    }),
  );
  const root = blocks[0];
  const ofElement = new Map(blocks.map((block) => [block.rect, block]));
  const letter = widthOfLetter();
  let zoomed = null;
  let search = null;

  function block(rect, side, depth) {
    // The name stands on the first line, the place and the numbers on further ones.
    const [name, ...details] = rect.firstChild.textContent.split("\n");
    const title = [name, ...details].join(" · ");
    const next = rect.nextElementSibling;
    const drawn = Number(rect.getAttribute("width"));
    // Undo the gap to the next block, which the blocks of a chart do not have.
    const undone = drawn < 2 ? drawn * 1.5 : drawn + 1;
    const width = (isChart ? drawn : undone) / whole;
    const left = Number(rect.getAttribute("x")) / whole;
    const label = [rect.dataset.label ?? name, rect.dataset.place];
    return { rect, side, depth, title, name, label, left, width, text: next?.tagName === "text" ? next : null };
  }

  function widthOfLetter() {
    const probe = find("subtitle");
    const text = probe.textContent;
    probe.textContent = "M".repeat(100);
    const width = probe.getComputedTextLength() / 100;
    probe.textContent = text;
    return width || 7.2;
  }

  /** Where a block is, as fractions of the width of the picture; null if the zoom leaves it out. */
  function place(block) {
    const { side, depth, left, width } = block;
    if (isChart) {
      const [from, to] = shownTime();
      const [start, end] = [Math.max(left, from), Math.min(left + width, to)];
      return end > start ? { left: (start - from) / (to - from), width: (end - start) / (to - from) } : null;
    }
    // The picture has no stacks, so a zoom into one side cannot narrow the other to the same samples.
    if (!zoomed || side !== zoomed.side) return { left, width };
    const [from, to] = [zoomed.left, zoomed.left + zoomed.width];
    if (depth < zoomed.depth) {
      const isAncestor = left <= from + ROUNDING && left + width >= to - ROUNDING;
      return isAncestor ? { left: 0, width: 1, isAncestor } : null;
    }
    if (left < from - ROUNDING || left > to - ROUNDING) return null;
    const inside = Math.max(0, (left - from) / zoomed.width);
    return { left: inside, width: Math.min(width / zoomed.width, 1 - inside) };
  }

  /** The part of the time of a chart that is shown, as fractions. */
  function shownTime() {
    return zoomed ? [zoomed.left, zoomed.left + zoomed.width] : [0, 1];
  }

  /** Draws the times of a chart, and a line for each. */
  function drawAxis(pixels) {
    const axis = find("axis");
    const [from, to] = shownTime().map((part) => chartFrom + part * (chartTo - chartFrom));
    let step = 1;
    for (let number = 0; (to - from) / step > pixels / 110 && number < 60; number += 1) step *= number % 3 === 1 ? 2.5 : 2;
    const { top, bottom } = axis.dataset;
    const parts = [];
    for (let at = Math.ceil(from / step) * step; at <= to && parts.length < 200; at += step) {
      const x = MARGIN + ((at - from) / (to - from)) * pixels;
      const line = document.createElementNS(svg.namespaceURI, "line");
      for (const [key, value] of Object.entries({ x1: x, x2: x, y1: top, y2: bottom })) line.setAttribute(key, value);
      const text = document.createElementNS(svg.namespaceURI, "text");
      text.textContent = moment(at);
      // A label stays in the picture; those of the axis are a little smaller.
      const half = (text.textContent.length * letter) / 2;
      text.setAttribute("x", Math.max(half, Math.min(x, 2 * MARGIN + pixels - half)));
      text.setAttribute("y", top - 4);
      parts.push(line, text);
    }
    axis.replaceChildren(...parts);
  }

  function draw() {
    const isFluid = svg.classList.contains("fluid");
    const pixels = isFluid ? Math.max(1, svg.getBoundingClientRect().width - 2 * MARGIN) : whole;
    for (const block of blocks) {
      const { rect } = block;
      const at = place(block);
      block.at = at;
      block.isFound = Boolean(search && at && !at.isAncestor && block !== root && search.test(block.name));
      rect.classList.toggle("hidden", !at);
      rect.classList.toggle("ancestor", Boolean(at?.isAncestor));
      rect.classList.toggle("found", block.isFound);
      rect.classList.toggle("other", Boolean(search) && !block.isFound);
      const width = at ? at.width * pixels : 0;
      if (at) {
        rect.setAttribute("x", at.left * pixels);
        // A single sample of a chart must not vanish.
        rect.setAttribute("width", Math.max(isChart ? 0.6 : 0, width - Math.min(1, width / 3)));
      }
      write(block, fitLabel(labelOf(block), Math.floor((width - PADDING) / letter)), at && at.left * pixels + PADDING / 2);
    }
    if (isChart) drawAxis(pixels);
    find("reset").classList.toggle("hidden", !zoomed);
    find("search").textContent = search ? "Reset search" : "Search";
    find("matched").textContent = search ? matched() : "";
  }

  function labelOf(block) {
    if (block !== root || sides.length === 1 || !zoomed || zoomed === root) return block.label;
    const [inside, other] = zoomed.side ? ["callers", "callees"] : ["callees", "callers"];
    return [`zoomed into ${inside} only; ${other} still show the whole focus`];
  }

  /** Puts a label on a block. Most blocks are too narrow for one and have no element for it. */
  function write(block, label, left) {
    if (!label && !block.text) return;
    if (!block.text) {
      block.text = document.createElementNS(svg.namespaceURI, "text");
      block.text.setAttribute("y", 11);
      block.rect.after(block.text);
    }
    block.text.textContent = label;
    if (label) block.text.setAttribute("x", left);
  }

  /** The share of the width that blocks found cover, on each side. A block on top of another counts once. */
  function matched() {
    const shares = sides.map((_, side) => {
      const found = blocks.filter((block) => block.side === side && block.isFound).map((block) => block.at);
      found.sort((a, b) => a.left - b.left);
      let [sum, reached] = [0, 0];
      for (const { left, width } of found) {
        sum += Math.max(0, left + width - Math.max(left, reached));
        reached = Math.max(reached, left + width);
      }
      return `${(100 * sum).toFixed(1)}%`;
    });
    const [callees, callers] = shares;
    return callers ? `Matched: callers ${callers}, callees ${callees}` : `Matched: ${callees}`;
  }

  function zoom(block) {
    zoomed = block === root ? null : block;
    remember("zoom", zoomed && blocks.indexOf(zoomed));
    draw();
  }

  /** Marks the functions that a pattern matches. One that is not a regular expression is taken literally. */
  function searchFor(pattern) {
    // Capitals count if the pattern has some.
    const flags = /[A-Z]/.test((pattern ?? "").replace(/\\./g, "")) ? "" : "i";
    try {
      search = pattern ? new RegExp(pattern, flags) : null;
    } catch {
      search = new RegExp(pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), flags);
    }
    remember("search", pattern);
    draw();
  }

  function toggleSearch() {
    const pattern = search ? "" : prompt("Search for functions (regular expression)");
    if (pattern !== null) searchFor(pattern);
  }

  /** Keeps the state in the address, so that reloading the picture or sharing its address shows the same. */
  function remember(key, value) {
    const address = new URL(location.href);
    if (value || value === 0) address.searchParams.set(key, value);
    else address.searchParams.delete(key);
    try {
      history.replaceState(null, "", address);
    } catch {
      // An embedded picture may not change its address.
    }
  }

  function press(target) {
    if (target.classList.contains("reset")) zoom(root);
    else if (target.classList.contains("search")) toggleSearch();
    else return false;
    return true;
  }

  /** The block that Tab reaches; arrow keys move it. */
  let current = root;
  function focus(block) {
    current.rect.removeAttribute("tabindex");
    current = block;
    block.rect.setAttribute("tabindex", "0");
    block.rect.focus();
  }

  /** The visible block next to another one: `across` in its row, or `down` on the screen. */
  function neighbour({ rect, at }, across, down) {
    const seen = blocks.filter((other) => other.at);
    const top = (other) => other.rect.getBoundingClientRect().top;
    const height = top(current);
    if (across) {
      const row = seen.filter((other) => top(other) === height).sort((a, b) => a.at.left - b.at.left);
      return row[row.findIndex((other) => other.rect === rect) + across];
    }
    const overlap = (other) => Math.min(other.at.left + other.at.width, at.left + at.width) - Math.max(other.at.left, at.left);
    const beyond = seen.filter((other) => (top(other) - height) * down > 0 && overlap(other) > 0);
    const nearest = Math.min(...beyond.map((other) => Math.abs(top(other) - height)));
    return beyond.filter((other) => Math.abs(top(other) - height) === nearest).sort((a, b) => overlap(b) - overlap(a))[0];
  }

  /** Keeps the controls and the line of details on the screen when the picture is taller than the window. */
  function follow() {
    const top = Math.max(0, -svg.getBoundingClientRect().top);
    for (const name of ["reset", "search", "details", "matched"]) {
      const element = find(name);
      const y = Number(element.getAttribute("y"));
      const first = top + (element.getAttribute("role") ? 24 : 44);
      element.style.transform = `translateY(${Math.max(first, Math.min(y, top + innerHeight - 8)) - y}px)`;
    }
  }

  svg.addEventListener("click", ({ target }) => {
    if (!press(target) && ofElement.has(target)) zoom(ofElement.get(target));
  });
  for (const type of ["pointerover", "focusin"]) {
    svg.addEventListener(type, ({ target }) => (find("details").textContent = ofElement.get(target)?.title ?? ""));
  }
  addEventListener("keydown", (event) => {
    if (event.key === "F3" || (event.ctrlKey && event.key === "f")) {
      event.preventDefault();
      toggleSearch();
    } else if (event.key === "Escape") zoom(root);
    else if (event.key === "Enter" && ofElement.has(event.target)) zoom(ofElement.get(event.target));
    else if (event.key === "Enter" && svg.contains(event.target)) press(event.target);
    else if (ofElement.has(event.target) && event.key.startsWith("Arrow")) {
      const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      const next = neighbour(current, ...moves[event.key]);
      event.preventDefault();
      if (next) focus(next);
    }
  });
  addEventListener("scroll", follow, { passive: true });
  addEventListener("resize", follow);
  addEventListener("resize", draw);
  // Paper has another width than the window, so the whole picture is scaled to it.
  const { width, height } = svg.viewBox.baseVal;
  const scale = () => {
    svg.setAttribute("viewBox", `0 0 ${svg.getBoundingClientRect().width} ${height}`);
    svg.style.minWidth = "";
  };
  const unscale = () => {
    svg.removeAttribute("viewBox");
    // A narrower window scrolls: lines of text would be cut at both ends.
    svg.style.minWidth = `${Math.min(NARROWEST, whole)}px`;
  };
  if (svg.classList.contains("fluid")) {
    svg.setAttribute("width", "100%");
    unscale();
    addEventListener("beforeprint", scale);
    addEventListener("afterprint", unscale);
  }

  const state = new URL(location.href).searchParams;
  zoomed = blocks[Number(state.get("zoom"))] ?? null;
  if (zoomed === root) zoomed = null;
  searchFor(state.get("search"));
  root.rect.setAttribute("tabindex", "0");
  follow();
})();
