// The controls: toolbars, menu, pointer and keyboard.

class Page extends PageTable {
  constructor(data) {
    super();
    this.data = data;
    this.graph = new Graph(element("canvas"), element("graph"), element("height"));
    this.rowsShown = ROWS_AT_ONCE;
    this.fillControls();
    this.listen();
    this.readHash();
    this.update();
  }

  fillControls() {
    const { data } = this;
    element("title").textContent = data.title;
    data.metrics.forEach((metric, number) => element("metric").append(make("option", metric.name, { value: number })));
    for (const [kind, name] of Object.entries(KINDS)) {
      const label = kind === "highlight" ? "keep highlighted" : name.toLowerCase();
      element("apply").append(make("option", label, { value: kind }));
    }
    const colors = ["package", "file", "self", "total", ...(data.compared ? ["delta"] : [])];
    for (const color of colors) element("color").append(make("option", color === "delta" ? "change" : color, { value: color }));
    element("side-label").hidden = !data.compared;
  }

  showControls() {
    const { state, metric, format } = this;
    element("metric").value = state.metric;
    element("side").value = state.side;
    element("color").value = state.color;
    element("order").value = state.weight ? "weight" : "name";
    element("root").value = state.icicle ? "top" : "bottom";
    element("inverted").checked = state.inverted;
    if (element("search").value !== state.query) element("search").value = state.query;
    element("about").textContent = this.about().join(" · ");
    element("wide").textContent = state.inverted
      ? "Bottom-up: each function with its callers. A wide function has a large self value."
      : metric.wide && `A wide function ${metric.wide}.`;
    const { shown } = this.flat;
    element("matched").textContent = state.query
      ? `matched ${format.value(this.matched)}, ${format.share(this.matched, shown)} of ${this.isFiltered ? "what is shown" : "all"}`
      : "";
    element("matched").dataset.share = state.query ? format.share(this.matched, shown) : "";
  }

  /** The parts of the headline. Totals are as recorded, before filters and rescaling. */
  about() {
    const { data, state, metric, format } = this;
    const total = (value, recording) => `${metric.name} ${format.value(value)}${recording}`.trim();
    const base = [`base ${data.base}`.trim(), total(metric.oldTotal, metric.old_recording), data.rescaled];
    const parts = state.side === "old" ? base : [data.inputs, total(metric.total, metric.recording), ...(data.compared ? base : [])];
    return [...parts, ...data.filters].filter(Boolean);
  }

  showFilters() {
    const { state, format } = this;
    const bar = element("filters");
    bar.hidden = state.filters.length === 0;
    bar.replaceChildren();
    for (const filter of state.filters) {
      const text = `${KINDS[filter.kind]} ${visible(filter.text)}`;
      const chip = make("button", `${text} ×`, { type: "button", className: "chip", title: `Remove the filter: ${text}` });
      chip.addEventListener("click", () => this.removeFilter(filter));
      bar.append(chip);
    }
    if (this.isFiltered) {
      const { shown } = this.flat;
      bar.append(make("span", `shown ${format.value(shown)}, ${format.share(shown, this.whole)} of all`));
    }
    if (this.lit) bar.append(make("span", `highlighted ${format.value(this.litValue)}, ${format.share(this.litValue, this.flat.shown)}`));
    const clear = make("button", "Remove all filters", { type: "button" });
    clear.addEventListener("click", () => this.change({ filters: [] }));
    bar.append(clear);
  }

  actionButtons(id) {
    return ACTIONS.map((kind) => {
      const button = make("button", KINDS[kind], { type: "button" });
      button.dataset.action = kind;
      button.addEventListener("click", () => {
        this.closeMenu();
        this.addFilter(kind, this.data.names[id], true);
      });
      return button;
    });
  }

  /** Fills the bar above the graph: the selected block and its actions. */
  showSelection(block) {
    const id = block.layer.tree.name[block.node];
    const lines = this.describe(block);
    const bar = element("selection");
    bar.replaceChildren(make("span", lines.join(" · "), { className: "name" }));
    if (id >= 0) bar.append(...this.actionButtons(id));
    if (this.paths.anchor && this.state.zoom.length) bar.append(make("span", this.narrowing(), { className: "narrowed" }));
    if (this.state.zoom.length) {
      const back = make("button", "Reset zoom", { type: "button" });
      back.addEventListener("click", () => this.restore());
      bar.append(back);
    }
  }

  openMenu(id, x, y) {
    const menu = element("menu");
    menu.replaceChildren(make("div", this.data.full[id].slice(0, 2000), { className: "name" }), ...this.actionButtons(id));
    for (const button of menu.querySelectorAll("button")) button.setAttribute("role", "menuitem");
    menu.hidden = false;
    menu.style.left = `${Math.max(0, Math.min(x, innerWidth - menu.offsetWidth - 8))}px`;
    menu.style.top = `${Math.max(0, Math.min(y, innerHeight - menu.offsetHeight - 8))}px`;
    this.menuFrom = document.activeElement;
    menu.querySelector("button").focus();
  }

  closeMenu() {
    if (element("menu").hidden) return false;
    element("menu").hidden = true;
    this.menuFrom?.focus?.();
    return true;
  }

  listen() {
    const on = (id, event, act) => element(id).addEventListener(event, act);
    on("metric", "change", (event) => this.change({ metric: Number(event.target.value) }, true));
    on("side", "change", (event) => this.change({ side: event.target.value }, true));
    on("color", "change", (event) => this.change({ color: event.target.value }, true));
    on("order", "change", (event) => this.change({ weight: event.target.value === "weight" }, true));
    on("root", "change", (event) => this.change({ icicle: event.target.value === "top" }, true));
    on("inverted", "change", (event) => this.change({ inverted: event.target.checked }));
    on("search", "input", (event) => this.change({ query: event.target.value }, true));
    on("apply", "change", (event) => {
      const kind = event.target.value;
      event.target.value = "";
      if (kind && this.state.query) this.change({ query: "" }, true), this.addFilter(kind, element("search").dataset.last, false);
    });
    on("search", "input", (event) => (event.target.dataset.last = event.target.value));
    on("more", "click", () => {
      this.rowsShown += ROWS_AT_ONCE;
      this.showTable();
    });
    on("theme", "click", () => this.setTheme(this.isDark() ? "light" : "dark"));
    this.setTheme(null);
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === this.written) return;
      this.written = null;
      this.readHash();
      this.update();
    });
    this.watchWidth();
    this.listenToCanvas();
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("pointerdown", (event) => {
      if (!element("menu").contains(event.target)) element("menu").hidden = true;
    });
  }

  /** Rebuilds the trees when the width changes, because more or fewer blocks are wide enough to draw. */
  watchWidth() {
    let width = this.graph.width;
    new ResizeObserver(() => {
      if (this.graph.width === width) {
        this.graph.reveal(this.graph.rowOf(this.graph.cursor));
        return this.graph.later();
      }
      width = this.graph.width;
      this.growTrees();
      this.showGraph();
    }).observe(element("graph"));
  }

  listenToCanvas() {
    const { graph } = this;
    const { canvas } = graph;
    const block = (event) => {
      const box = canvas.getBoundingClientRect();
      return graph.at(event.clientX - box.left, event.clientY - box.top);
    };
    canvas.addEventListener("click", (event) => {
      const hit = block(event);
      element("tip").hidden = true;
      if (hit) this.zoomTo(hit);
    });
    canvas.addEventListener("wheel", () => (element("tip").hidden = true), { passive: true });
    canvas.addEventListener("contextmenu", (event) => {
      const hit = block(event);
      const id = hit ? hit.layer.tree.name[hit.node] : -1;
      if (id < 0) return;
      event.preventDefault();
      element("tip").hidden = true;
      this.openMenu(id, event.clientX, event.clientY);
    });
    canvas.addEventListener("pointermove", (event) => {
      const hit = block(event);
      const tip = element("tip");
      tip.hidden = !hit;
      canvas.style.cursor = hit ? "pointer" : "default";
      if (!hit) return;
      tip.replaceChildren(...this.describe(hit).map((line) => make("div", line.length > 400 ? `${line.slice(0, 400)}…` : line)));
      tip.style.left = `${Math.max(0, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8))}px`;
      const below = event.clientY + 16;
      tip.style.top = `${below + tip.offsetHeight > innerHeight ? Math.max(0, event.clientY - tip.offsetHeight - 8) : below}px`;
    });
    canvas.addEventListener("pointerleave", () => (element("tip").hidden = true));
    canvas.addEventListener("focus", () => graph.later());
    canvas.addEventListener("blur", () => graph.later());
  }

  key(event) {
    const typing = /^(INPUT|SELECT)$/.test(event.target.tagName);
    if (event.key === "Escape") {
      if (this.closeMenu()) return;
      if (typing && this.state.query) return this.change({ query: "" }, true);
      return this.restore();
    }
    if (event.key === "/" && !typing) {
      event.preventDefault();
      return element("search").focus();
    }
    const menu = element("menu");
    if (!menu.hidden && /^Arrow(Up|Down)$/.test(event.key)) {
      event.preventDefault();
      const buttons = [...menu.querySelectorAll("button")];
      const step = event.key === "ArrowDown" ? 1 : -1;
      return buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length].focus();
    }
    if (event.target === this.graph.canvas) this.canvasKey(event);
  }

  canvasKey(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const { graph } = this;
    if (moves[event.key]) {
      event.preventDefault();
      this.showSelection(graph.move(...moves[event.key]));
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.zoomTo(graph.cursor);
    } else if (event.key === "m" || event.key === "ContextMenu") {
      const id = graph.cursor.layer.tree.name[graph.cursor.node];
      const box = graph.canvas.getBoundingClientRect();
      const [x] = graph.place(graph.cursor);
      event.preventDefault();
      if (id >= 0) this.openMenu(id, box.left + x, box.top + 20);
    }
  }

  isDark() {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  setTheme(theme) {
    if (theme) document.documentElement.dataset.theme = theme;
    element("theme").textContent = this.isDark() ? "Light" : "Dark";
    this.graph.later();
  }
}

// `page` is global so that it can be used in the console: page.table(), page.state, page.trees.
let page;
load(element("data").textContent)
  .then((data) => {
    page = new Page(data);
    globalThis.page = page;
    document.documentElement.dataset.ready = "1";
  })
  .catch((error) => {
    document.body.prepend(make("p", `This page cannot be shown: ${error}`, { className: "error" }));
    throw error;
  });
