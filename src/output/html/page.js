// The page: its state, what follows from it, and the controls.

const ACTIONS = ["focus", "show-from", "show-stacks", "hide-frames", "highlight"];
const ROWS_AT_ONCE = 200;

const element = (id) => document.getElementById(id);

/** An element with text and properties; text never becomes markup. */
function make(tag, text, properties = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  return Object.assign(made, properties);
}

class Page {
  constructor(data) {
    this.data = data;
    this.graph = new Graph(element("canvas"), element("graph"), element("height"));
    this.rowsShown = ROWS_AT_ONCE;
    this.fillControls();
    this.listen();
    this.readHash();
    this.update();
  }

  // State.

  defaults() {
    const { data } = this;
    return {
      metric: data.metric,
      side: "new",
      filters: [],
      query: "",
      sort: "self",
      reversed: false,
      zoom: [],
      zoomUp: false,
      weight: data.weight,
      icicle: data.icicle,
      inverted: data.inverted,
      color: data.color_by,
    };
  }

  /** The state as the address keeps it: what is as it was at first is left out. */
  toHash() {
    const { state, data } = this;
    const usual = this.defaults();
    const words = new URLSearchParams();
    if (state.metric !== usual.metric) words.append("metric", data.metrics[state.metric].name);
    for (const key of ["side", "query", "sort", "color"]) if (state[key] !== usual[key]) words.append(key, state[key]);
    for (const key of ["reversed", "weight", "icicle", "inverted"]) if (state[key] !== usual[key]) words.append(key, state[key] ? "1" : "0");
    for (const filter of state.filters) words.append(filter.exact ? filter.kind : `${filter.kind}~`, filter.text);
    if (state.zoom.length) words.append(state.zoomUp ? "zoom-up" : "zoom", state.zoom.join("."));
    return words.toString();
  }

  readHash() {
    const { data } = this;
    const state = this.defaults();
    for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
      const kind = key.replace(/~$/, "");
      if (kind in KINDS) state.filters.push({ kind, text: value, exact: kind === key });
      else if (key === "metric") state.metric = Math.max(0, data.metrics.findIndex((metric) => metric.name === value));
      else if (key === "zoom" || key === "zoom-up") {
        state.zoom = value.split(".").map(Number);
        state.zoomUp = key === "zoom-up";
      } else if (["reversed", "weight", "icicle", "inverted"].includes(key)) state[key] = value === "1";
      else if (["side", "query", "sort", "color"].includes(key)) state[key] = value;
    }
    if (!data.compared) state.side = "new";
    this.state = state;
  }

  /** Changes the state, and shows what follows. Where names or numbers change, the zoom is lost. */
  change(changes, keepsZoom = false) {
    if (!keepsZoom) Object.assign(changes, { zoom: [], zoomUp: false });
    Object.assign(this.state, changes);
    const hash = this.toHash();
    this.written = hash;
    if (hash !== location.hash.slice(1)) location.hash = hash;
    this.update();
  }

  addFilter(kind, text, exact) {
    const others = this.state.filters.filter((filter) => filter.kind !== kind || filter.text !== text || filter.exact !== exact);
    const single = kind === "focus" ? others.filter((filter) => filter.kind !== "focus") : others;
    this.change({ filters: [...single, { kind, text, exact }], ...(kind === "focus" ? { inverted: false } : {}) });
  }

  removeFilter(filter) {
    this.change({ filters: this.state.filters.filter((other) => other !== filter) });
  }

  // What follows from the state.

  update() {
    const { state } = this;
    this.isFiltered = state.filters.some((filter) => filter.kind !== "highlight");
    this.once("count", [state.metric, state.side, state.filters], () => this.count());
    this.once("mark", [this.flat, state.query, state.filters], () => this.mark());
    this.growTrees();
    this.showControls();
    this.showFilters();
    this.once("table", [this.flat, this.found, state.sort, state.reversed], () => this.showTable());
    this.showGraph();
  }

  /** Does what need not be done again while nothing of what it depends on has changed. */
  once(what, dependsOn, act) {
    const before = (this.done ??= {})[what];
    if (before && before.every((value, i) => value === dependsOn[i])) return;
    this.done[what] = dependsOn;
    act();
  }

  /** What filters leave, counted. */
  count() {
    const { data, state } = this;
    const metric = data.metrics[state.metric];
    this.metric = metric;
    this.format = new Format(metric);
    const isOld = state.side === "old";
    this.values = isOld ? metric.old : metric.values;
    this.whole = isOld ? metric.oldTotal : metric.total;
    this.paths = filtered(data, state.filters);
    this.flat = countFlat(data, this.paths, this.values, metric.zero);
    const other = isOld ? metric.values : metric.old;
    this.otherFlat = data.compared ? countFlat(data, this.paths, other, metric.zero) : null;
  }

  /** Which names the search and the highlights match, and how much runs through them. */
  mark() {
    const { data, state } = this;
    const share = (filters) => {
      const marks = matching(data, filters);
      return [marks, countMarked(this.paths, this.values, marks, this.metric.zero)];
    };
    const highlights = state.filters.filter((filter) => filter.kind === "highlight");
    [this.found, this.matched] = state.query ? share([{ text: state.query }]) : [null, this.metric.zero];
    [this.lit, this.litValue] = highlights.length ? share(highlights) : [null, this.metric.zero];
  }

  growTrees() {
    const { data, state, paths, metric } = this;
    const other = data.compared ? (state.side === "old" ? metric.values : metric.old) : null;
    const grow = (from, zoom) =>
      growTree(from, this.values, other, metric.zero, {
        names: data.names.length,
        pixels: Math.max(this.graph.width, 100),
        byWeight: state.weight,
        zoom,
      });
    if (!paths.anchor) {
      this.trees = [grow(rooted(paths, state.inverted), state.zoom)];
      return;
    }
    const up = grow(callers(paths), state.zoomUp ? state.zoom : []);
    const down = grow(callees(paths), state.zoomUp ? [] : state.zoom);
    this.trees = [down, up];
  }

  /** The deepest row of a tree. */
  height(tree) {
    return tree.depth.reduce((deepest, depth) => Math.max(deepest, depth), 0);
  }

  showGraph() {
    const { state, trees } = this;
    const [tree, up] = trees;
    const height = this.height(tree);
    let layers;
    if (up) {
      // One function in focus stands between its callers and callees; several need a row for all.
      const above = this.height(up);
      const first = tree.depth.filter((depth) => depth === 1).length === 1 ? 1 : 0;
      layers = [{ tree, row: above - first, step: 1, first }];
      layers.push({ tree: up, row: above, step: -1, first: 1, isUp: true });
    } else if (state.icicle) layers = [{ tree, row: 0, step: 1, first: 0 }];
    else layers = [{ tree, row: height, step: -1, first: 0 }];
    const zoomed = layers[up && state.zoomUp ? 1 : 0];
    this.graph.cursor = { layer: zoomed, node: Math.max(zoomed.tree.zoomed, zoomed.first) };
    if (zoomed.isUp && zoomed.tree.zoomed === 0) this.graph.cursor = { layer: layers[0], node: layers[0].first };
    this.largestDelta = 0;
    for (const { tree } of layers) {
      for (let node = 1; node < tree.name.length; node++) {
        this.largestDelta = Math.max(this.largestDelta, Math.abs(Number(this.delta(tree, node))));
      }
    }
    // What stands above and below the graph comes first: it takes room.
    this.showChosen(this.graph.cursor);
    this.showNotes();
    this.graph.show(layers, (block) => this.look(block));
    this.graph.reveal(this.graph.rowOf(this.graph.cursor));
  }

  delta(tree, node) {
    if (!this.data.compared) return this.metric.zero;
    return this.state.side === "old" ? tree.old[node] - tree.total[node] : tree.total[node] - tree.old[node];
  }

  look({ layer, node }) {
    const { data } = this;
    const { tree } = layer;
    const id = tree.name[node];
    const muted = node < tree.zoomed;
    if (id < 0) return { color: "#d8d8d8", label: this.rootLabel(), muted };
    const marked = this.found?.[id] || this.lit?.[id];
    return {
      color: marked ? "#ff5ce1" : this.color(tree, node, id),
      label: data.short[id],
      muted: muted || (this.found && !this.found[id]),
      slanted: data.inlined[id],
    };
  }

  color(tree, node, id) {
    const { data } = this;
    const { palette } = data;
    const [pack, file] = data.facts[id];
    const share = (value) => mix(palette.pale, palette.hot, Math.sqrt(Math.abs(Number(value)) / Number(this.flat.shown)));
    switch (this.state.side === "delta" ? "delta" : this.state.color) {
      case "file":
        return file ? data.files[file - 1][1] : "#d8d8d8";
      case "self":
        // From the bottom up a block's total is what the function at the root does itself.
        return share((tree.backward ? tree.total : tree.self)[node]);
      case "total":
        return share(tree.total[node]);
      case "delta": {
        const delta = Number(this.delta(tree, node));
        const part = this.largestDelta ? Math.sqrt(Math.abs(delta) / this.largestDelta) : 0;
        return mix(palette.same, delta > 0 ? palette.grew : palette.shrank, part);
      }
      default:
        return data.packages[pack][1];
    }
  }

  rootLabel() {
    const { shown } = this.flat;
    const focus = this.state.filters.find((filter) => filter.kind === "focus");
    const share = this.format.share(shown, this.whole);
    return `${focus ? "focus: callers above, callees below" : "all"} — ${this.format.value(shown)}${share && ` (${share})`}`;
  }

  /** Numbers of a block in words. */
  describe({ layer, node }) {
    const { tree } = layer;
    const { data, format } = this;
    const id = tree.name[node];
    if (id < 0) return [this.rootLabel()];
    const [pack, file, line] = data.facts[id];
    const value = (word, value) =>
      `${word} ${format.value(value)} ${format.share(value, this.whole)}` +
      (this.isFiltered ? ` of all, ${format.share(value, this.flat.shown)} of shown` : "");
    const lines = [data.full[id]];
    const place = file ? visible(data.files[file - 1][0]) + (line ? `:${line}` : "") : "";
    const owner = data.packages[pack][0];
    if (place) lines.push(place);
    if (owner && owner !== data.files[file - 1]?.[0]) lines.push(`package ${visible(owner)}`);
    if (data.inlined[id]) lines.push("inlined");
    lines.push(value("total", tree.total[node]));
    if (!tree.backward) lines.push(value("self", tree.self[node]));
    if (data.compared) lines.push(`${this.state.side === "old" ? "new" : "old"} ${format.value(tree.old[node])}, change ${format.signed(this.delta(tree, node))}`);
    return lines;
  }

  /** The names from the root of its layer to a block. */
  chain({ layer, node }) {
    const names = [];
    for (let at = node; at > 0; at = layer.tree.parent[at]) names.unshift(layer.tree.name[at]);
    return names;
  }

  zoomTo(block) {
    const zoom = this.chain(block);
    const isRoot = !block.layer.isUp && block.node === block.layer.first;
    if (isRoot) return this.restore();
    this.change({ zoom, zoomUp: Boolean(block.layer.isUp) }, true);
  }

  /** Undoes the zoom; where there is none, the focus. */
  restore() {
    if (this.state.zoom.length) return this.change({});
    const rest = this.state.filters.filter((filter) => filter.kind !== "focus");
    if (rest.length < this.state.filters.length) this.change({ filters: rest });
  }

  // Controls.

  fillControls() {
    const { data } = this;
    element("title").textContent = data.title;
    data.metrics.forEach((metric, number) => element("metric").append(make("option", metric.name, { value: number })));
    for (const [kind, name] of Object.entries(KINDS)) element("apply").append(make("option", name.toLowerCase(), { value: kind }));
    const colors = ["package", "file", "self", "total", ...(data.compared ? ["delta"] : [])];
    for (const color of colors) element("color").append(make("option", color, { value: color }));
    element("side-label").hidden = !data.compared;
  }

  showControls() {
    const { data, state, metric, format } = this;
    element("metric").value = state.metric;
    element("side").value = state.side;
    element("color").value = state.color;
    element("order").value = state.weight ? "weight" : "name";
    element("root").value = state.icicle ? "top" : "bottom";
    element("inverted").checked = state.inverted;
    if (element("search").value !== state.query) element("search").value = state.query;
    const about = [`${metric.name} ${format.value(this.whole)} ${data.about}`.trim(), ...data.filters];
    element("about").textContent = about.join(" · ");
    element("wide").textContent = metric.wide && `A wide block ${metric.wide}.`;
    const { shown } = this.flat;
    element("matched").textContent = state.query
      ? `matched ${format.value(this.matched)}, ${format.share(this.matched, shown)} of ${this.isFiltered ? "shown" : "all"}`
      : "";
    element("matched").dataset.share = state.query ? format.share(this.matched, shown) : "";
  }

  showFilters() {
    const { state, format } = this;
    const bar = element("filters");
    bar.hidden = state.filters.length === 0;
    bar.replaceChildren();
    for (const filter of state.filters) {
      const text = `${KINDS[filter.kind]} ${visible(filter.text)}`;
      const chip = make("button", `${text} ×`, { type: "button", className: "chip", title: `Remove: ${text}` });
      chip.addEventListener("click", () => this.removeFilter(filter));
      bar.append(chip);
    }
    if (this.isFiltered) {
      const { shown } = this.flat;
      bar.append(make("span", `shown ${format.value(shown)}, ${format.share(shown, this.whole)} of all`));
    }
    if (this.lit) bar.append(make("span", `highlighted ${format.value(this.litValue)}, ${format.share(this.litValue, this.flat.shown)}`));
    const clear = make("button", "Remove all", { type: "button" });
    clear.addEventListener("click", () => this.change({ filters: [] }));
    bar.append(clear);
  }

  /** The rows of the table in order, as they would be without a limit. */
  table(all = false) {
    const { data, state, flat, otherFlat, found } = this;
    const rows = [];
    for (let id = 0; id < data.names.length; id++) {
      const [self, total] = [flat.self[id], flat.total[id]];
      const other = otherFlat ? { self: otherFlat.self[id], total: otherFlat.total[id] } : null;
      if (self == 0 && total == 0 && !(other && (other.self != 0 || other.total != 0))) continue;
      if (!all && found && !found[id]) continue;
      const delta = other ? (state.side === "old" ? other.total - total : total - other.total) : this.metric.zero;
      rows.push({ id, name: data.names[id], self, total, other, delta });
    }
    const more = (a, b) => (absolute(a) < absolute(b) ? 1 : absolute(a) > absolute(b) ? -1 : 0);
    const orders = {
      self: (a, b) => more(a.self, b.self),
      total: (a, b) => more(a.total, b.total),
      delta: (a, b) => more(a.delta, b.delta),
      name: (a, b) => a.id - b.id,
    };
    const chosen = orders[state.sort] ?? orders.self;
    const turn = state.reversed ? -1 : 1;
    return rows.sort((a, b) => turn * chosen(a, b) || orders.total(a, b) || orders.self(a, b) || a.id - b.id);
  }

  showTable() {
    const { data, state, format, flat } = this;
    const columns = [["self", "Self"], ["", "%"], ["total", "Total"], ["", "%"]];
    if (this.isFiltered) columns.push(["", "% shown"]);
    if (data.compared) columns.push(["delta", "Change"]);
    columns.push(["name", data.noun[0].replace(/^./, (c) => c.toUpperCase())]);
    element("columns").replaceChildren(...columns.map(([key, name]) => this.columnHead(key, name)));

    const rows = this.table();
    const shown = rows.slice(0, this.rowsShown);
    const body = shown.map((row) => {
      const cells = [format.value(row.self), format.share(row.self, this.whole), format.value(row.total), format.share(row.total, this.whole)];
      if (this.isFiltered) cells.push(format.share(row.total, flat.shown));
      if (data.compared) cells.push(format.signed(row.delta));
      const line = document.createElement("tr");
      line.append(...cells.map((cell) => make("td", cell)));
      line.append(this.nameCell(row.id));
      return line;
    });
    const summary = (value, text) => {
      const line = make("tr", "", { className: "summary" });
      line.append(make("td", format.value(value)), make("td", format.share(value, this.whole)));
      line.append(make("td", "", { colSpan: columns.length - 3 }), make("td", text));
      body.push(line);
    };
    const rest = rows.slice(this.rowsShown);
    const own = (list) => list.reduce((sum, row) => sum + row.self, this.metric.zero);
    if (rest.length) summary(own(rest), `… ${rest.length.toLocaleString("en-US")} more ${data.noun[rest.length === 1 ? 0 : 1]}`);
    if (!this.found) {
      if (flat.noStack != 0) summary(flat.noStack, "(no stack)");
      summary(flat.shown, this.isFiltered ? "all shown" : "all");
    }
    element("rows").replaceChildren(...body);
    element("more").hidden = rest.length === 0;
    element("more").textContent = `Show ${Math.min(ROWS_AT_ONCE, rest.length)} more`;
  }

  columnHead(key, name) {
    const { state } = this;
    const head = document.createElement("th");
    head.scope = "col";
    if (!key) {
      head.textContent = name;
      return head;
    }
    const current = state.sort === key;
    const button = make("button", name + (current ? (state.reversed ? " ▴" : " ▾") : ""), { type: "button" });
    head.ariaSort = current ? (state.reversed ? "ascending" : "descending") : "none";
    button.addEventListener("click", () => this.change({ sort: key, reversed: current && !state.reversed }, true));
    head.append(button);
    return head;
  }

  nameCell(id) {
    const { data } = this;
    const cell = document.createElement("td");
    const swatch = make("span", "", { className: "swatch" });
    swatch.style.background = data.packages[data.facts[id][0]][1];
    const button = make("button", data.short[id], { type: "button", className: "name", title: data.full[id].slice(0, 2000) });
    button.addEventListener("click", () => {
      const box = button.getBoundingClientRect();
      this.openMenu(id, box.left, box.bottom);
    });
    cell.append(swatch, button);
    return cell;
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

  /** The bar above the graph: the block under the cursor, and what can be done with it. */
  showChosen(block) {
    const id = block.layer.tree.name[block.node];
    const lines = this.describe(block);
    const bar = element("chosen");
    bar.replaceChildren(make("span", lines.join(" · "), { className: "name" }));
    if (id >= 0) bar.append(...this.actionButtons(id));
    if (this.state.zoom.length) {
      const back = make("button", "Restore", { type: "button" });
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

  /** What the graph leaves out, and what its marks mean. */
  showNotes() {
    const { data, format, flat } = this;
    const notes = [];
    const dropped = this.trees.reduce((sum, tree) => sum + tree.dropped, 0);
    const width = this.trees.reduce((sum, tree) => sum + tree.droppedWidth, 0);
    if (dropped) notes.push(`${dropped.toLocaleString("en-US")} block${dropped === 1 ? " is" : "s are"} narrower than a third of a pixel and left out, with all on them: ${format.value(width)} ${format.share(width, this.whole)}`);
    if (flat.noStack != 0) notes.push(`without a stack: ${format.value(flat.noStack)} ${format.share(flat.noStack, this.whole)}`);
    if (data.compared && this.state.side !== "old") {
      const gone = this.table(true).filter((row) => row.total == 0 && row.other.total != 0);
      gone.sort((a, b) => Number(absolute(b.other.total)) - Number(absolute(a.other.total)) || a.id - b.id);
      if (gone.length) notes.push(`${gone.length} no longer there: ${gone.slice(0, 8).map((row) => data.short[row.id]).join(", ")}${gone.length > 8 ? " …" : ""}`);
    }
    if (data.inlined.includes(1)) notes.push("slanted: inlined");
    notes.push(...data.warnings.map((warning) => `warning: ${warning}`));
    element("notes").textContent = notes.join(" · ");
    this.showLegend();
  }

  showLegend() {
    const { data, state } = this;
    const entries = [];
    const by = state.side === "delta" ? "delta" : state.color;
    if (by === "delta") entries.push([data.palette.grew, "grew"], [data.palette.shrank, "shrank"], [data.palette.same, "as before"]);
    else if (by === "self" || by === "total") {
      for (const percent of [0, 1, 10, 50]) entries.push([mix(data.palette.pale, data.palette.hot, Math.sqrt(percent / 100)), `${percent}% ${by}`]);
    } else {
      const area = new Map();
      for (const tree of this.trees) {
        for (let node = 1; node < tree.name.length; node++) {
          const [pack, file] = data.facts[tree.name[node]];
          const owner = by === "file" ? file - 1 : pack;
          area.set(owner, (area.get(owner) ?? 0) + tree.width[node]);
        }
      }
      const table = by === "file" ? data.files : data.packages;
      const sorted = [...area].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
      for (const [owner] of sorted.slice(0, 12)) {
        const [name, color] = table[owner] ?? ["", "#d8d8d8"];
        entries.push([color, name ? visible(name) : "unknown"]);
      }
      if (sorted.length > 12) entries.push(["transparent", `… ${sorted.length - 12} more ${by === "file" ? "files" : "packages"}`]);
    }
    element("legend").replaceChildren(
      ...entries.map(([color, name]) => {
        const entry = make("span", "", { className: "entry" });
        const swatch = make("span", "", { className: "swatch" });
        swatch.style.background = color;
        entry.append(swatch, make("span", name));
        return entry;
      }),
    );
  }

  // Events.

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

  /** The graph grows anew where its width changes: what was too narrow may show now. */
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
      if (hit) this.zoomTo(hit);
    });
    canvas.addEventListener("contextmenu", (event) => {
      const hit = block(event);
      const id = hit ? hit.layer.tree.name[hit.node] : -1;
      if (id < 0) return;
      event.preventDefault();
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
      this.showChosen(graph.move(...moves[event.key]));
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

// `page` is there for the console too: page.table(), page.state, page.trees.
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
