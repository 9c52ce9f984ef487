// The page's state, the URL fragment that stores it, and the numbers computed from it.
//
// The page is one object built from four classes, each extending the previous one: PageState counts,
// PageGraph draws the flame graph, PageTable fills the table, Page handles the controls. All of them
// read `this.state` and modify it only through `change`.

const ACTIONS = ["focus", "show-from", "show-stacks", "hide-frames", "highlight"];
const ROWS_AT_ONCE = 200;
const EDGES_AT_ONCE = 10;

const element = (id) => document.getElementById(id);

/** Creates an element with text and properties. The text is never parsed as HTML. */
function make(tag, text, properties = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  return Object.assign(made, properties);
}

class PageState {
  defaults() {
    const { data } = this;
    return {
      metric: data.metric,
      side: "new",
      filters: [
        ...data.focus.map((text) => ({ kind: "focus", text, exact: false })),
        ...(data.highlight ? [{ kind: "highlight", text: data.highlight, exact: false }] : []),
      ],
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

  /** The state as a URL fragment, without the settings that have their default value. */
  toHash() {
    const { state, data } = this;
    const usual = this.defaults();
    const words = new URLSearchParams();
    if (state.metric !== usual.metric) words.append("metric", data.metrics[state.metric].name);
    for (const key of ["side", "query", "sort", "color"]) if (state[key] !== usual[key]) words.append(key, state[key]);
    for (const key of ["reversed", "weight", "icicle", "inverted"]) if (state[key] !== usual[key]) words.append(key, state[key] ? "1" : "0");
    const filters = (list) => list.map((filter) => [filter.exact ? filter.kind : `${filter.kind}~`, filter.text]);
    if (String(filters(state.filters)) !== String(filters(usual.filters))) {
      if (!state.filters.length) words.append("filters", "none");
      for (const [key, text] of filters(state.filters)) words.append(key, text);
    }
    if (state.zoom.length) words.append(state.zoomUp ? "zoom-up" : "zoom", state.zoom.join("."));
    return words.toString();
  }

  readHash() {
    const { data } = this;
    const state = this.defaults();
    const words = [...new URLSearchParams(location.hash.slice(1))];
    const isFilter = ([key]) => key === "filters" || Object.hasOwn(KINDS, key.replace(/~$/, ""));
    if (words.some(isFilter)) state.filters = [];
    for (const [key, value] of words) {
      const kind = key.replace(/~$/, "");
      if (Object.hasOwn(KINDS, kind)) state.filters.push({ kind, text: value, exact: kind === key });
      else if (key === "metric") state.metric = Math.max(0, data.metrics.findIndex((metric) => metric.name === value));
      else if (key === "zoom" || key === "zoom-up") {
        state.zoom = value.split(".").map(Number);
        state.zoomUp = key === "zoom-up";
      } else if (["reversed", "weight", "icicle", "inverted"].includes(key)) state[key] = value === "1";
      else if (["side", "query", "sort", "color"].includes(key)) state[key] = value;
    }
    // Links to pages of older versions have a third side, "delta", which is now a colour.
    if (state.side === "delta") Object.assign(state, { side: "new", color: "delta" });
    if (!data.compared) state.side = "new";
    this.state = state;
  }

  /** Changes the state and updates the page. Resets the zoom unless `keepsZoom` is set. */
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

  update() {
    const { state } = this;
    this.isFiltered = this.data.filters.length > 0 || state.filters.some((filter) => filter.kind !== "highlight");
    this.once("count", [state.metric, state.side, state.filters], () => this.count());
    this.once("mark", [this.flat, state.query, state.filters], () => this.mark());
    this.growTrees();
    this.showControls();
    this.showFilters();
    this.once("table", [this.flat, this.found, state.sort, state.reversed], () => this.showTable());
    this.once("edges", [this.edges], () => this.showEdges());
    this.showGraph();
  }

  /** Calls `act`, unless its dependencies are the same as in the previous call. */
  once(what, dependsOn, act) {
    const before = (this.done ??= {})[what];
    if (before && before.every((value, i) => value === dependsOn[i])) return;
    this.done[what] = dependsOn;
    act();
  }

  /** Applies the filters and counts the remaining paths. */
  count() {
    const { data, state } = this;
    const metric = data.metrics[state.metric];
    this.metric = metric;
    this.format = new Format(metric);
    const isOld = state.side === "old";
    this.values = isOld ? metric.old : metric.values;
    this.whole = isOld ? this.side(metric.oldTotal, true) : metric.total;
    this.paths = filtered(data, state.filters);
    const flat = (values, old) => {
      const { self, total, shown, noStack } = countFlat(data, this.paths, values, metric.zero);
      const side = (sums) => this.side(sums, old);
      return { self: side(self), total: side(total), shown: side(shown), noStack: side(noStack) };
    };
    this.flat = flat(this.values, isOld);
    this.otherFlat = data.compared ? flat(isOld ? metric.values : metric.old, !isOld) : null;
    const focus = state.filters.filter((filter) => filter.kind === "focus");
    this.edges = focus.length ? this.neighbours(matching(data, focus), isOld) : null;
  }

  /** The direct callers and callees of the marked places. */
  neighbours(marks, isOld) {
    const { overlaps, ...sums } = countNeighbours(this.data, this.paths, this.values, marks, this.metric.zero);
    for (const key of Object.keys(sums)) sums[key] = this.side(sums[key], isOld);
    return { overlaps, ...sums };
  }

  /** Sums of one side. Those of the old side are rescaled so that they compare with the new side. */
  side(sums, isOld) {
    return isOld ? rescaled(sums, this.data.ratio) : sums;
  }

  /** Finds the names that the search and the highlights match, and the value of the stacks through them. */
  mark() {
    const { data, state } = this;
    const share = (filters) => {
      const marks = matching(data, filters);
      const sum = countMarked(this.paths, this.values, marks, this.metric.zero);
      return [markedNames(data, marks), this.side(sum, state.side === "old")];
    };
    const highlights = state.filters.filter((filter) => filter.kind === "highlight");
    [this.found, this.matched] = state.query ? share([{ text: state.query }]) : [null, this.metric.zero];
    [this.lit, this.litValue] = highlights.length ? share(highlights) : [null, this.metric.zero];
  }

  growTrees() {
    const { data, state, paths, metric } = this;
    const isOld = state.side === "old";
    const other = data.compared ? (isOld ? metric.values : metric.old) : null;
    const grow = (from, zoom) => {
      const tree = growTree(from, this.values, other, metric.zero, {
        names: data.names.length,
        inlined: data.places.inlined,
        pixels: Math.max(this.graph.width, 100),
        byWeight: state.weight,
        zoom,
      });
      const side = (sums, old) => this.side(sums, old);
      return { ...tree, total: side(tree.total, isOld), self: side(tree.self, isOld), old: side(tree.old, !isOld) };
    };
    if (!paths.anchor) {
      this.trees = [grow(rooted(paths, state.inverted), state.zoom)];
      return;
    }
    // A zoom into callers or callees narrows the other side to the same samples, so that both have one scale.
    const { zoom, zoomUp } = state;
    const narrowed = zoom.length ? pathsOnChain(paths, zoom, zoomUp) : paths;
    const up = grow(callers(zoomUp ? paths : narrowed), zoomUp ? zoom : []);
    const down = grow(callees(zoomUp ? narrowed : paths), zoomUp ? [] : zoom);
    this.trees = [down, up];
  }

  /** The depth of a tree. */
  height(tree) {
    return tree.depth.reduce((deepest, depth) => Math.max(deepest, depth), 0);
  }
}
