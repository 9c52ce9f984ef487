// The page: it holds the state, listens to the reader, and passes changes on to what shows them.

import { CallTree } from "./calltree.js";
import { Canvas, ROW } from "./canvas.js";
import { load } from "./data.js";
import { button, element, fill, make, save, swatch } from "./dom.js";
import { FilterBar } from "./filterbar.js";
import { visible } from "./format.js";
import { HotView } from "./hot.js";
import { whyUnknownLabel, whyUnknownThread } from "./labels.js";
import { fromFragment, initialState, isStep, tabsOf, toFragment } from "./link.js";
import { Model } from "./model.js";
import { opening } from "./opening.js";
import { KINDS, TIME_KINDS } from "./paths.js";
import { searchPattern, whyUnsupported, wholePattern } from "./pattern.js";
import { Outline } from "./outline.js";
import { Picture, chain, idsOf } from "./picture.js";
import { SourceView } from "./source.js";
import { explain, take } from "./start.js";
import { FunctionTable } from "./table.js";
import { Theme } from "./theme.js";
import { TimelineView } from "./timeline.js";
import { loadTimes } from "./times.js";

const ACTIONS = ["focus", "show-from", "show-stacks", "hide-stacks", "hide-frames", "highlight"];
const TABLE_PLACES = ["below", "beside", "off"];
/** From this width on, the table starts beside the graph. */
const WIDE_SCREEN = 1900;
const TYPING_PAUSE = 120;
const TIP_DELAY = 250;
const LONG_PRESS = 500;
/** How far a wheel or two fingers must move to zoom by one block: in pixels, and as a ratio of distances. */
const WHEEL_STEP = 40;
const PINCH_STEP = 1.25;
/** A block this much narrower than another looks different. */
const NARROWER = 0.95;
/** The arrow keys move the line between graph and table by two rows. */
const DIVIDER_STEP = 40;
/** What fits on a sheet of paper, A4 or Letter, in pixels; the heights of its head and of a row; the fewest and the most rows; the most levels of a graph. */
const SHEET = { width: 720, height: 940, head: 190, row: 15, fewest: 8, most: 40, levels: 150 };
/** With more stacks, the sentence at the top and the main callers follow after the graph and the table. */
const MANY_STACKS = 50_000;
const LATER = 30;
const SPOKEN_LATER = 150;

const HELP = [
  ["Click, Enter", "zoom into a block; on the root: back; open a folded row"],
  ["Double click, c", "focus: callers and callees of a function"],
  ["Shift + click, o", "show stacks: only those through a function"],
  ["Right click, m", "menu of a function"],
  ["Arrow keys", "move the selection"],
  ["Ctrl + wheel, pinch", "zoom towards the pointer, or back"],
  ["f, h", "show from the selected function on; hide its frames"],
  ["y", "copy the name of the selected function"],
  ["/, n, N", "search; next and previous match, the widest first"],
  ["1 to 6", "open a tab"],
  ["Drag in Timeline", "count only a range of time; arrow keys move it, Shift its end, Alt its start"],
  ["+", "add a filter"],
  ["t", "table below the graph, beside it, or off"],
  ["d", "dark or light"],
  ["l", "copy a link to this view"],
  ["Escape", "one step back: search, zoom, focus"],
  ["?", "this help"],
];

class Page {
  constructor(data) {
    this.data = data;
    this.theme = new Theme(data);
    this.model = new Model(data);
    this.picture = new Picture(this.model, this.theme);
    this.graph = new Canvas(element("canvas"), element("graph"), element("height"));
    this.outline = new Outline(this.graph, this.picture);
    this.timers = {};
    /** The old side of a comparison in two panes. */
    this.oldGraph = new Canvas(element("old-canvas"), element("old-graph"), element("old-height"));
    const act = {
      change: (changes) => this.change(changes, true),
      pin: (id) => this.pin(id),
      hover: (id) => this.hover(id),
      only: (id) => this.addFilter("show-stacks", data.name(id), true),
      callers: (id) => this.addFilter("focus", data.name(id), true),
      menu: (id, x, y) => this.openMenu(id, x, y),
      isLate: data.stacks > MANY_STACKS,
      later: (what, deed) => this.later(what, deed),
    };
    this.table = new FunctionTable(this.model, this.picture, act);
    this.tree = new CallTree(this.model, this.picture, act);
    this.hot = new HotView(this.model, this.picture, act);
    // The script of a page without sources or times lacks these parts.
    this.source = data.sources.length ? new SourceView(this.model, act) : null;
    this.timeline = data.times && new TimelineView(this.model, this.picture, this.theme, {
      range: (range) => this.setRange(range),
      pin: (id) => this.pin(id),
      tip: (lines, event) => this.showLines(lines, event),
      ruler: this.graph.ruler,
    });
    this.filterBar = new FilterBar(this.model, {
      add: (kind, text, exact = false) => this.addFilter(kind, text, exact),
      remove: (filter) => this.removeFilter(filter),
      removeAll: () => this.change({ filters: [] }),
      copy: (text) => this.copy(text),
    });
    this.state = initialState(data);
    /** What had the focus last. @type {any} */
    this.focused = null;
    element("static")?.remove();
    element("page-style").media = "all";
    element("app").hidden = false;
    element("main").dataset.table = innerWidth >= WIDE_SCREEN ? "beside" : "below";
    document.documentElement.style.setProperty("--row", `${ROW}px`);
    this.fillControls();
    this.listen();
    this.readAddress();
  }

  // State

  /** Changes the state and updates the page. Resets the zoom unless `keepsZoom` is set. */
  change(changes, keepsZoom = false) {
    const before = this.state;
    const zoom = keepsZoom ? {} : { zoom: [], zoomUp: false };
    this.state = { ...before, ...zoom, ...changes };
    const fragment = toFragment(this.state, this.data);
    if (fragment !== location.hash.slice(1)) this.writeAddress(fragment, isStep(before, this.state));
    const { graph, state } = this;
    const placeOf = ({ zoom, zoomUp }) => graph.placeOf(zoom, zoomUp);
    const from = before.zoom !== state.zoom && placeOf(state);
    this.update();
    if (!from || before.filters !== state.filters || before.tab !== state.tab || !graph.width) return;
    // Zooming in, the block grows to the whole width; zooming out, it shrinks to its place.
    const to = before.zoom.length > state.zoom.length && placeOf(before);
    if (to) graph.glide(graph.width / to[1], (-to[0] * graph.width) / to[1]);
    else graph.glide(from[1] / graph.width, from[0]);
  }

  /** Deeds are steps that Back undoes; typing and sorting are not. */
  writeAddress(fragment, isStep) {
    const address = fragment ? `#${fragment}` : location.pathname + location.search;
    try {
      history[isStep ? "pushState" : "replaceState"](null, "", address);
    } catch {
      // A page in a sandboxed frame has no history of its own.
    }
  }

  readAddress() {
    const { state, missing } = fromFragment(location.hash.slice(1), this.data);
    const why = state.filters.map((filter) => this.whyRefused(filter));
    const refused = state.filters.map(({ text }, index) => why[index] && `${visible(text)}: ${why[index]}`);
    state.filters = state.filters.filter((_, index) => !why[index]);
    const whyQuery = whyUnsupported(searchPattern(state.query));
    if (whyQuery) state.query = "";
    this.state = state;
    this.update();
    const said = [...refused, whyQuery].filter(Boolean);
    if (missing.length) said.push(`Not in this profile: ${missing.map(visible).join(", ")}`);
    if (said.length) this.toast(said.join(". "));
    this.keepFocus();
  }

  /** Why the page cannot apply a filter as the command line would, or an empty text if it can. */
  whyRefused({ kind, text, exact }) {
    if (exact) return this.data.idOf(text) < 0 ? `no ${this.data.noun[0]} of this profile has this name` : "";
    if (Object.hasOwn(TIME_KINDS, kind)) return !this.data.times ? "this page does not say when its samples were taken" : this.data.times.stepOf(text) === null ? "expected a time since the start, such as 1.5s" : "";
    if (kind === "thread") return whyUnknownThread(this.data, text);
    return kind === "label" || kind === "hide-label" ? whyUnknownLabel(this.data, text) : whyUnsupported(text);
  }

  addFilter(kind, text, exact) {
    const why = this.whyRefused({ kind, text, exact });
    if (why) return this.toast(`${visible(text)}: ${why}`);
    if (Object.hasOwn(TIME_KINDS, kind)) return this.addTime(kind, text);
    const others = this.state.filters.filter((filter) => filter.kind !== kind || filter.text !== text || filter.exact !== exact);
    const single = kind === "focus" ? others.filter((filter) => filter.kind !== "focus") : others;
    this.change({ filters: [...single, { kind, text, exact }], ...(kind === "focus" ? { inverted: false, tab: this.graphTab } : {}) });
  }

  /** Counts only the samples from a time on, or before one. Times are those at which a step begins. */
  addTime(kind, text) {
    const { times } = this.data;
    const [from, to] = times.range(this.state.filters) ?? [0, times.steps];
    const step = times.stepOf(text);
    this.setRange(kind === "from" ? [step, Math.max(to, step + 1)] : [Math.min(from, step), step]);
  }

  /** Counts only a range of time, given in steps, or all times. */
  setRange(range) {
    const { times } = this.data;
    const others = this.state.filters.filter(({ kind }) => !Object.hasOwn(TIME_KINDS, kind));
    const edge = (kind, step) => ({ kind, text: times.text(step), exact: false });
    const edges = range ? [...(range[0] > 0 ? [edge("from", range[0])] : []), ...(range[1] < times.steps ? [edge("to", range[1])] : [])] : [];
    this.change({ filters: [...others, ...edges] }, true);
  }

  removeFilter(filter) {
    this.change({ filters: this.state.filters.filter((other) => other !== filter) });
  }

  /** The tab that shows the graph. */
  get graphTab() {
    return this.state.tab === "compare" ? "compare" : "graph";
  }

  withoutFocus() {
    return this.state.filters.filter((filter) => filter.kind !== "focus");
  }

  zoomTo(block) {
    if (block.layer.tree.runs.has(block.node)) return this.unfold(block);
    // A click on the root resets the zoom and keeps the filters.
    if (isRoot(block)) return this.state.zoom.length ? this.change({ zoom: [], zoomUp: false }) : undefined;
    const id = block.layer.tree.name[block.node];
    this.change({ zoom: chain(block), zoomUp: Boolean(block.layer.isUp), pin: id }, true);
  }

  /** Zooms one step towards a block, or one step back. Blocks as wide as the one that fills the width are skipped. */
  zoomStep(isIn, hit) {
    const zoomed = [...this.graph.layers].find((layer) => Boolean(layer.isUp) === this.state.zoomUp);
    const { layer } = isIn && hit ? hit : { layer: zoomed };
    const { parent, width, zoomed: whole } = layer.tree;
    const way = [];
    for (let node = isIn && hit ? hit.node : whole; node > 0; node = parent[node]) way.push(node);
    const next = isIn ? way.reverse().find((node) => node > whole && width[node] < NARROWER * width[whole]) : way.find((node) => width[node] * NARROWER > width[whole] && width[node] < NARROWER * width[0]);
    if (next !== undefined) this.change({ zoom: chain({ layer, node: next }), zoomUp: Boolean(layer.isUp) }, true);
    else if (!isIn && this.state.zoom.length) this.change({});
  }

  /** Draws the calls of a folded run, each on its own row. */
  unfold({ layer, node }) {
    this.model.open(layer.tree, node);
    this.clicked = -1;
    this.change({ pin: layer.tree.name[node] }, true);
  }

  /** Goes one step back: from the search, the zoom, the focus. */
  restore() {
    const { state } = this;
    if (this.picture.chosenGroup >= 0) return this.markGroup(this.picture.chosenGroup);
    if (state.tab === "timeline" && state.filters.some(({ kind }) => Object.hasOwn(TIME_KINDS, kind))) return this.setRange(null);
    if (state.zoom.length) return this.change({});
    const filters = this.withoutFocus();
    if (filters.length < state.filters.length) return this.change({ filters });
    if (state.pin >= 0) this.change({ pin: -1 }, true);
  }

  // Showing

  update() {
    this.tallest = 0;
    element("selection").style.minHeight = "";
    this.showTabs();
    this.model.pixels = this.graph.width || this.model.pixels;
    this.model.update(this.state);
    this.showControls();
    this.filterBar.showSentence();
    this.model.once("facets", [this.model.facets], () => this.filterBar.showFacets());
    if (element("labels").open) this.filterBar.refreshList();
    this.showOpening();
    const { flat, found } = this.model;
    const { sort, reversed, tab, pin } = this.state;
    const isDark = this.theme.isDark;
    this.model.once("table", [flat, found, sort, reversed, isDark], () => this.table.show());
    this.model.once("edge-table", [this.model.edges, this.model.zoomedEdges, isDark], () => this.table.showEdges());
    if (tab === "tree") this.model.once("tree", [flat, found, this.state.inverted, isDark], () => this.tree.show());
    if (tab === "hot") this.model.once("hot", [flat, isDark], () => this.hot.show());
    if (tab === "timeline") this.timeline.show();
    if (tab === "source") this.model.once("source", [flat, pin], () => this.source?.show());
    this.showGraph();
    this.table.mark(pin);
  }

  showGraph() {
    const { graph, picture, state } = this;
    const layers = picture.layers(this.model.trees);
    const isFocused = layers.length > 1;
    // Bars around the graph are filled first, because they reduce its height.
    this.showLegend();
    element("notes").textContent = picture.notes.join(" · ");
    element("notes").hidden = !element("notes").textContent;
    element("approximate").textContent = this.model.approximation && `The graph is ${this.model.approximation}.`;
    element("approximate").hidden = !this.model.approximation;
    this.showEmpty();
    graph.spacer.classList.toggle("standing", !isFocused && !state.icicle);
    const look = (block) => picture.look(block);
    graph.show(layers, look, this.theme.fixed);
    this.outline.later();
    this.showOldPane(look);
    const zoomed = layers[isFocused && state.zoomUp ? 1 : 0];
    graph.cursor = { layer: zoomed, node: Math.max(zoomed.tree.zoomed, zoomed.first) };
    if (zoomed.isUp && zoomed.tree.zoomed === 0) graph.cursor = { layer: layers[0], node: layers[0].first };
    const pinned = state.pin >= 0 && graph.cursor.layer.tree.name[graph.cursor.node] !== state.pin && this.widestOf(state.pin);
    if (pinned) graph.cursor = pinned;
    element("graph").style.setProperty("--rows", graph.rows.length);
    // A hidden graph does not scroll, and asking where it is would lay out the whole page.
    if (element("graph-side").hidden) return this.showSelection(graph.cursor);
    // A focus stands between its callers and its callees, so that both are seen.
    const row = graph.rowOf(graph.cursor);
    if (isFocused) graph.scroller.scrollTop = row * ROW - graph.scroller.clientHeight / 2;
    else graph.reveal(row);
    this.showSelection(graph.cursor);
  }

  /** The old side next to the new one: the same zoom, order and scale. */
  showOldPane(look) {
    const { oldGraph, picture, model } = this;
    const { showsPanes, otherTrees } = model;
    element("old-pane").hidden = !showsPanes;
    for (const id of ["old-head", "new-head"]) element(id).hidden = !showsPanes;
    if (!showsPanes) return;
    const { format, flat, otherFlat } = model;
    const head = (id, word, { shown }, trees) => {
      const [tree] = trees;
      const isCut = tree.depth[tree.zoomed] < this.state.zoom.length && !this.state.zoomUp;
      element(id).textContent = `${word} ${format.value(shown)}${isCut ? " — this side does not have the block; its caller is shown" : ""}`;
    };
    head("old-head", "before", otherFlat, otherTrees);
    head("new-head", "after", flat, model.trees);
    oldGraph.show(picture.layers(otherTrees), look, this.theme.fixed);
    element("old-graph").style.setProperty("--rows", oldGraph.rows.length);
  }

  showEmpty() {
    const box = element("empty");
    box.hidden = this.model.flat.shown != 0;
    if (box.hidden) return;
    const undo = button("Undo", () => history.back());
    const clear = button("Remove all filters", () => this.change({ filters: [], zoom: [] }));
    const { filters } = this.state;
    fill(box, make("p", filters.length ? "No samples are left after these filters." : "No samples to show."), ...(filters.length ? [undo, clear] : []));
  }

  fillControls() {
    this.fillCauses();
    const { data } = this;
    element("title").textContent = data.title;
    data.metrics.forEach((metric, number) => element("metric").append(make("option", metric.name, { value: number })));
    for (const [kind, name] of Object.entries(KINDS)) {
      if (Object.hasOwn(TIME_KINDS, kind)) continue;
      element("apply").append(make("option", name.toLowerCase(), { value: kind }));
    }
    const colors = ["package", "file", "self", "total", ...(data.compared ? ["delta"] : [])];
    for (const color of colors) element("color").append(make("option", color === "delta" ? "change" : color, { value: color }));
    element("side-label").hidden = !data.compared;
    for (const [method] of data.ratios) element("normalize").append(make("option", { none: "as recorded", total: "equal totals", core: "unchanged code costs the same", per: "per unit of work" }[method], { value: method }));
    const list = document.createElement("dl");
    for (const [keys, what] of HELP) list.append(make("dt", keys), make("dd", what));
    const close = button("Close", () => element("help").close());
    element("help").append(make("h2", "Keys and mouse"), list, make("p", "A wide block is expensive: its width is the value of all samples through it. Your own code is coloured; the standard library and the runtime are grey."), close);
  }

  /** Says why both sides differ, with a button per cause that shows the evidence. */
  fillCauses() {
    const { causes } = this.data;
    if (!causes) return;
    const bar = element("causes");
    bar.hidden = false;
    bar.append(make("span", causes.said + (causes.chips.length ? ":" : "")));
    for (const { label, evidence, function: id, path, saves } of causes.chips) {
      const chip = make("button", label, { type: "button", title: evidence, className: saves ? "saves" : "" });
      chip.addEventListener("click", () => this.showCause(id, path));
      bar.append(chip);
    }
    if (causes.moved) bar.append(make("span", causes.moved));
  }

  /**
   * Zooms to the block of a function on the path of names that shows why it changed. There may be further calls between the
   * names; of several blocks at the end of the path, the one that changed most counts. A single name in several places has
   * no such block: its callers and callees are shown.
   */
  showCause(id, path) {
    // Neither filters nor an earlier zoom may hide it.
    this.change({ filters: [], query: "", inverted: false, side: "new", tab: "compare", panes: false });
    const [tree] = this.model.trees;
    const ends = [];
    for (let node = 1; node < tree.name.length; node++) {
      if (tree.name[node] !== path.at(-1)) continue;
      let left = path.length;
      for (let at = node; at > 0 && left > 0; at = tree.parent[at]) if (tree.name[at] === path[left - 1]) left--;
      if (left === 0) ends.push(node);
    }
    if (ends.length === 0 || (path.length === 1 && ends.length > 1)) {
      return this.addFilter("focus", this.data.name(id), true);
    }
    const change = (node) => Math.abs(Number(this.picture.delta(tree, node)));
    const most = ends.reduce((most, node) => (change(node) > change(most) ? node : most));
    // The path may go on to what the function calls.
    let node = most;
    while (node > 0 && tree.name[node] !== id) node = tree.parent[node];
    this.zoomTo({ layer: { tree, first: 0 }, node: node || most });
  }

  showControls() {
    const { state, theme } = this;
    const { metric, format, flat, found, matched, isFiltered } = this.model;
    element("metric").value = state.metric;
    element("side").value = state.side;
    element("normalize").value = state.normalize;
    element("panes").value = state.panes ? "both" : "one";
    element("color").value = this.model.showsChange ? "delta" : state.color;
    // The comparison has its own colours.
    element("color").disabled = state.tab === "compare";
    element("order").value = state.weight ? "weight" : "name";
    element("root").value = state.icicle ? "top" : "bottom";
    element("inverted").checked = state.inverted;
    element("fold").checked = state.fold;
    element("theme").textContent = theme.isDark ? "Light theme" : "Dark theme";
    if (element("search").value !== state.query && document.activeElement !== element("search")) element("search").value = state.query;
    fill(element("about"), ...this.about().map((line) => make("div", line.filter(Boolean).join(" · "), { title: line.filter(Boolean).join(" · ") })));
    element("wide").textContent = state.inverted
      ? "Bottom-up: each function with its callers. A wide function has a large self value."
      : metric.wide && `A wide function ${metric.wide}.`;
    const count = found ? found.reduce((sum, is) => sum + is, 0) : 0;
    const share = format.share(matched, flat.shown);
    const at = this.hits?.length && this.hitIndex >= 0 ? `${this.hitIndex + 1} of ` : "";
    const what = isFiltered ? "what is shown" : "all";
    element("matched").textContent = state.query ? (count ? `${at}${count} · ${share}` : "no match") : "";
    element("matched").title = state.query ? `matched ${format.value(matched)}, ${share} of ${what}` : "";
    element("matched").dataset.share = state.query ? share : "";
    for (const id of ["previous", "next", "apply"]) element(id).hidden = !state.query;
  }

  /** The lines of the headline, one per side. Totals are as recorded, before filters and rescaling. */
  about() {
    const { data, state } = this;
    const { metric, wholeFormat } = this.model;
    const total = (value, recording) => `${metric.name} ${wholeFormat.value(value)}${recording}`.trim();
    const { ratio } = this.model;
    const rescaled = state.normalize === data.ratios[0]?.[0] ? data.rescaled : state.normalize === "none" ? "" : `rescaled × ${ratio.toFixed(3)} (${state.normalize})`;
    const base = [`base ${data.base}`.trim(), total(metric.oldTotal, metric.old_recording), rescaled];
    const lines = [state.side === "old" ? base : [data.inputs, total(metric.total, metric.recording)]];
    if (data.compared && state.side !== "old") lines.push(base);
    lines.at(-1).push(...data.filters);
    return lines;
  }

  showTabs() {
    const { state } = this;
    const isFocused = state.filters.some((filter) => filter.kind === "focus");
    const current = state.tab === "graph" && isFocused ? "callers" : state.tab;
    const known = tabsOf(this.data);
    /** @type {any[][]} */
    const all = [
      ["graph", "Flame graph", () => this.change({ tab: "graph", filters: this.withoutFocus() })],
      ["callers", "Callers and callees", () => this.showCallers()],
      ["hot", "Hot sequences", () => this.change({ tab: "hot" }, true)],
      ["tree", "Call tree", () => this.change({ tab: "tree" }, true)],
      ["compare", "Compare", () => this.change({ tab: "compare", side: "new" }, true)],
      ["source", "Source", () => this.change({ tab: "source" }, true)],
      ["timeline", "Timeline", () => this.change({ tab: "timeline" }, true)],
    ];
    const tabs = all.filter(([key]) => key === "callers" || known.includes(key));
    const others = [["tree-side", "tree"], ["hot", "hot"], ["source", "source"], ["timeline", "timeline"]];
    const panel = (key) => others.find(([, tab]) => tab === key)?.[0] ?? "graph-side";
    const control = ([key, name, act], index) => {
      const made = button(name, act, { tabIndex: key === current ? 0 : -1, title: `${name} (${index + 1})` });
      made.setAttribute("role", "tab");
      made.setAttribute("aria-selected", String(key === current));
      made.setAttribute("aria-controls", panel(key));
      made.dataset.key = key;
      return made;
    };
    this.model.once("tabs", [current], () => {
      const bar = element("tabs");
      fill(bar, ...tabs.map(control));
      // On a phone, the tabs scroll.
      const open = bar.querySelector("[aria-selected=true]");
      bar.scrollLeft = open.offsetLeft - bar.offsetLeft - 40;
    });
    this.openTab = (index) => tabs[index]?.[2]();
    for (const [id, tab] of others) element(id).hidden = current !== tab;
    element("graph-side").hidden = others.some(([, tab]) => tab === current);
    element("compare-bar").hidden = current !== "compare";
    // Sequences and source lines name their functions themselves.
    for (const id of ["table-side", "legend"]) element(id).hidden = current === "hot" || current === "source";
    element("graph-side").classList.toggle("side-by-side", current === "compare" && state.panes);
  }

  /** Focuses the pinned function, else the one with the largest self. */
  showCallers() {
    if (this.model.isFocused) return this.change({ tab: "graph" }, true);
    const id = this.state.pin >= 0 ? this.state.pin : this.model.table(true, 1)[0]?.id;
    if (id === undefined) return;
    // The tab of a comparison shows a focus too, but it is not this one.
    this.state = { ...this.state, tab: "graph" };
    this.addFilter("focus", this.data.name(id), true);
  }

  showOpening() {
    const { model } = this;
    // A comparison begins with its causes.
    element("opening").hidden = this.state.tab === "compare" && Boolean(this.data.causes);
    // Its line is kept free.
    if (this.data.stacks > MANY_STACKS && !element("opening").firstChild) fill(element("opening"), "\u00a0");
    model.once("opening", [model.flat], () => this.later("opening", () => this.fillOpening()));
  }

  /** Calls `act` at once, or on large pages after the frame with the graph and the table. The last call for something counts. */
  later(what, act) {
    if (this.data.stacks <= MANY_STACKS) return act();
    const { timers } = this;
    clearTimeout(timers[what]);
    requestAnimationFrame(() => {
      clearTimeout(timers[what]);
      timers[what] = setTimeout(act, LATER);
    });
  }

  fillOpening() {
    const link = ({ id }) => {
      const made = button(this.data.label(id)[0], () => this.pin(id), { className: "name", title: this.data.full(id).slice(0, 2000) });
      made.dataset.key = `opening ${id}`;
      return made;
    };
    fill(element("opening"), ...opening(this.model).map((part) => (typeof part === "string" ? part : link(part))));
  }

  showLegend() {
    const { picture } = this;
    const entries = picture.legend.map(({ color, name, share, group, isDashed }) => {
      const entry = group === undefined ? make("span", "", { className: "entry" }) : button("", () => this.markGroup(group), { className: "entry" });
      const text = make("span", shortened(name), { className: "value-name" });
      const square = color ? [swatch(color)] : [];
      if (isDashed) square[0].classList.add("dashed");
      entry.title = name;
      entry.append(...square, text, ...(share ? [make("span", share, { className: "share-text" })] : []));
      if (group === undefined) return entry;
      entry.dataset.key = `group ${group}`;
      entry.setAttribute("aria-pressed", String(picture.chosenGroup === group));
      entry.addEventListener("mouseenter", () => this.previewGroup(group));
      entry.addEventListener("mouseleave", () => this.previewGroup(-1));
      return entry;
    });
    const isShared = entries.some((entry) => entry.querySelector(".share-text"));
    fill(element("legend"), ...(isShared ? [make("span", "self", { className: "lead" })] : []), ...entries);
  }

  previewGroup(group) {
    this.picture.hoveredGroup = group;
    this.graph.later();
  }

  /** Dims all other groups; again: none. */
  markGroup(group) {
    const { picture } = this;
    picture.chosenGroup = picture.chosenGroup === group ? -1 : group;
    this.previewGroup(-1);
    this.showLegend();
  }

  /** Fills the inspector: the selected block and what can be done with it. */
  showSelection(block) {
    const { picture, state } = this;
    const { tree } = block.layer;
    const id = tree.name[block.node];
    const bar = element("selection");
    const parts = [];
    if (id < 0) parts.push(make("span", picture.rootLabel(tree), { className: "name" }));
    else {
      const { name, place, owner, isArtefact } = picture.facts(id);
      const run = idsOf(block);
      const shown = run.length > 1 ? picture.runLabel(run).texts[0] : name;
      parts.push(make("span", shown, { className: "name", title: name.slice(0, 2000) }));
      for (const [word, value] of picture.inspected(block)) {
        const part = make("span", "", { className: "value" });
        part.append(make("span", word && `${word} `, { className: "word" }), value);
        parts.push(part);
      }
      if (tree.inlined[block.node]) parts.push(make("span", "inlined", { className: "word" }));
      if (isArtefact) parts.push(make("span", "profiler artefact", { className: "word", title: "Its self belongs to the caller." }));
      const at = make("span", "", { className: "place", title: place });
      // Cut from its front, where it does not fit.
      at.append(make("bdi", place || owner));
      parts.push(at);
      const act = (text, deed) => {
        const made = button(text, deed);
        made.dataset.key = text;
        return made;
      };
      const actions = make("span", "", { className: "actions" });
      const exact = (kind) => () => this.addFilter(kind, this.data.name(id), true);
      const filters = ["focus", "show-stacks", "show-from", "hide-frames"].map((kind) => act(KINDS[kind], exact(kind)));
      actions.append(...filters, ...(this.source?.has(id) ? [act("Source", () => this.change({ pin: id, tab: "source" }, true))] : []), act("Copy", () => this.copy(this.data.name(id))));
      if (state.zoom.length) actions.append(act("Reset zoom", () => this.restore()));
      parts.push(actions);
    }
    if (picture.narrowing) parts.push(make("span", picture.narrowing, { className: "narrowed" }));
    if (id < 0 && state.zoom.length) parts.push(button("Reset zoom", () => this.restore()));
    fill(bar, ...parts);
    this.say(parts);
    // What is below does not move each time that a longer text needs a second line.
    if (bar.offsetHeight > this.tallest) bar.style.minHeight = `${(this.tallest = bar.offsetHeight)}px`;
  }

  /** Tells screen readers what is selected, a little later, so that they do not read what is passed by. */
  say(parts) {
    clearTimeout(this.timers.said);
    const text = parts.filter((part) => !part.matches(".actions, button")).map((part) => part.textContent).join(", ");
    this.timers.said = setTimeout(() => (element("said").textContent = text), SPOKEN_LATER);
  }

  // Acting on functions

  /** @returns {any} */
  widestOf(id) {
    return this.graph.widest((block) => idsOf(block).includes(id));
  }

  /** Selects a function: the widest of its blocks gets the cursor. */
  pin(id) {
    this.state = { ...this.state, pin: id };
    this.writeAddress(toFragment(this.state, this.data), false);
    this.table.mark(id);
    let block = this.widestOf(id);
    // A function that a folded run hides gets a block of its own.
    if (block && idsOf(block)[0] !== id) {
      // The table stays where it is: a second click must find the same row under the pointer.
      const { style } = element("graph");
      const [rows, { hidden }] = [style.getPropertyValue("--rows"), element("notes")];
      this.update();
      style.setProperty("--rows", rows);
      element("notes").hidden = hidden;
      block = this.widestOf(id);
    }
    if (block) {
      this.graph.setCursor(block);
      this.showSelection(block);
    } else this.toast("This function has no block wide enough to draw.");
  }

  /** Rings all blocks of a function. */
  hover(id) {
    if (this.graph.twin === id) return;
    this.table.mark(id, "hovered");
    for (const graph of [this.graph, this.oldGraph]) {
      graph.twin = id;
      graph.later();
    }
  }

  openMenu(id, x, y) {
    const menu = element("menu");
    const act = (text, deed) => button(text, () => (this.closeMenu(), deed()));
    const actions = ACTIONS.map((kind) => {
      const made = act(KINDS[kind], () => this.addFilter(kind, this.data.name(id), true));
      made.dataset.action = kind;
      return made;
    });
    const pack = this.data.packages[this.data.facts.package[id]];
    if (pack) actions.push(act(`Hide package ${visible(pack)}`, () => this.addFilter("hide-frames", `package:${wholePattern(pack)}`, false)));
    actions.push(act("Copy name", () => this.copy(this.data.name(id))));
    menu.replaceChildren(make("div", this.data.full(id).slice(0, 2000), { className: "name" }), ...actions);
    for (const control of menu.querySelectorAll("button")) control.setAttribute("role", "menuitem");
    this.menuFrom = document.activeElement;
    this.hideTip();
    menu.hidden = false;
    menu.style.left = `${Math.max(0, Math.min(x, innerWidth - menu.offsetWidth - 8))}px`;
    menu.style.top = `${Math.max(0, Math.min(y, innerHeight - menu.offsetHeight - 8))}px`;
    menu.querySelector("button").focus();
  }

  closeMenu() {
    if (element("menu").hidden) return false;
    element("menu").hidden = true;
    (this.menuFrom?.isConnected && this.menuFrom !== document.body ? this.menuFrom : this.graph.canvas).focus?.({ preventScroll: true });
    return true;
  }

  async copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      this.toast("Copied.");
    } catch {
      // Pages opened from a file may not write to the clipboard in every browser.
      const field = make("textarea", text);
      const { focused } = this;
      document.body.append(field);
      field.select();
      const isDone = document.execCommand("copy");
      field.remove();
      focused?.focus({ preventScroll: true });
      this.toast(isDone ? "Copied." : text);
    }
  }

  toast(text) {
    const box = element("toast");
    box.textContent = text;
    box.hidden = false;
    clearTimeout(this.toastTimer);
    this.toastTimer = setTimeout(() => (box.hidden = true), 4000);
  }

  // Search

  /** Goes to the next match, from the widest block down. */
  step(by) {
    const { found } = this.model;
    if (!found) return;
    const widths = new Map();
    for (const block of this.graph.rows.flat()) {
      for (const id of idsOf(block)) {
        if (id >= 0 && found[id]) widths.set(id, Math.max(widths.get(id) ?? 0, this.graph.place(block)[1]));
      }
    }
    this.hits = [...widths].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([id]) => id);
    if (!this.hits.length) return;
    const count = this.hits.length;
    this.hitIndex = this.hitIndex < 0 && by < 0 ? count - 1 : (this.hitIndex + by + count) % count;
    this.pin(this.hits[this.hitIndex]);
    this.showControls();
  }

  search(query) {
    if (query === this.state.query) return;
    this.hits = [];
    this.hitIndex = -1;
    const why = whyUnsupported(searchPattern(query));
    if (why) element("matched").textContent = why;
    else this.change({ query }, true);
  }

  // Listening

  listen() {
    const on = (id, event, act) => element(id).addEventListener(event, act);
    const set = (id, changes, keepsZoom = true) => on(id, "change", (event) => this.change(changes(event.target), keepsZoom));
    set("metric", ({ value }) => ({ metric: Number(value) }));
    set("side", ({ value }) => ({ side: value }));
    set("normalize", ({ value }) => ({ normalize: value }));
    set("panes", ({ value }) => ({ panes: value === "both", side: "new" }));
    set("color", ({ value }) => ({ color: value }));
    set("order", ({ value }) => ({ weight: value === "weight" }));
    set("root", ({ value }) => ({ icicle: value === "top" }));
    set("inverted", ({ checked }) => ({ inverted: checked, filters: checked ? this.withoutFocus() : this.state.filters }), false);
    on("fold", "change", ({ target }) => (this.model.closeRuns(), this.change({ fold: target.checked }, true)));
    this.hitIndex = -1;
    on("search", "input", (event) => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.search(event.target.value), TYPING_PAUSE);
    });
    on("search", "keydown", (event) => {
      if (event.key !== "Enter") return;
      clearTimeout(this.typing);
      this.search(event.target.value);
      this.step(event.shiftKey ? -1 : 1);
    });
    on("apply", "change", (event) => {
      const kind = event.target.value;
      const { query } = this.state;
      event.target.value = "";
      element("search").value = "";
      if (!kind || !query) return;
      this.state = { ...this.state, query: "" };
      this.addFilter(kind, searchPattern(query), false);
    });
    on("next", "click", () => this.step(1));
    on("previous", "click", () => this.step(-1));
    on("move-table", "click", () => this.moveTable());
    on("theme", "click", () => this.switchTheme());
    on("copy-link", "click", () => this.copy(location.href));
    on("copy-command", "click", () => this.copy(this.model.command));
    on("save-svg", "click", () => save("flame.svg", new Blob([this.graph.svg(this.data.title)], { type: "image/svg+xml" })));
    on("save-png", "click", () => this.savePng());
    on("print", "click", () => print());
    on("show-help", "click", () => element("help").showModal());
    on("view", "click", (event) => event.target.tagName === "BUTTON" && (element("view").open = false));
    this.restoreTheme();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.update());
    // Back and Forward, and an address that was typed, change the fragment.
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) !== toFragment(this.state, this.data)) this.readAddress();
    });
    this.watchWidth();
    this.listenToDivider();
    const graphs = [this.graph, this.oldGraph];
    for (const graph of graphs) this.listenToCanvas(graph);
    // Panes scroll together.
    for (const { scroller } of graphs) scroller.addEventListener("scroll", () => graphs.forEach((other) => (other.scroller.scrollTop = scroller.scrollTop)));
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("focusin", ({ target }) => (this.focused = target));
    // What was used may hide or replace itself.
    for (const type of ["click", "keydown", "change"]) addEventListener(type, () => setTimeout(() => this.keepFocus()));
    addEventListener("pointerdown", (/** @type {any} */ event) => {
      if (!element("menu").contains(event.target)) element("menu").hidden = true;
      if (!element("view").contains(event.target)) element("view").open = false;
    });
    addEventListener("beforeprint", () => this.printing(true));
    addEventListener("afterprint", () => this.printing(false));
  }

  /** Rebuilds the trees when the width changes, because more or fewer blocks are wide enough to draw. */
  watchWidth() {
    let width = this.graph.width;
    const follow = () => {
      if (!this.graph.width || !this.graph.layers.length) return;
      if (this.graph.width === width) return this.graph.later();
      width = this.graph.width;
      this.update();
    };
    // Not at once: an update resizes the graph again.
    new ResizeObserver(() => requestAnimationFrame(follow)).observe(element("graph"));
  }

  /** The line between graph and table is dragged, or moved with the arrow keys; a double click puts it back. */
  listenToDivider() {
    const line = element("divider");
    const height = () => element("graph").clientHeight;
    const set = (pixels) => {
      const { style } = element("main");
      style.setProperty("--graph", pixels === null ? "" : `${Math.max(3 * ROW, pixels)}px`);
      style.setProperty("--table", pixels === null ? "" : "90px");
      line.setAttribute("aria-valuenow", String(height()));
    };
    let start = null;
    line.addEventListener("pointerdown", (event) => {
      start = event.clientY - height();
      line.setPointerCapture(event.pointerId);
    });
    line.addEventListener("pointermove", (event) => start !== null && set(event.clientY - start));
    for (const type of ["pointerup", "pointercancel"]) line.addEventListener(type, () => (start = null));
    line.addEventListener("dblclick", () => set(null));
    line.addEventListener("keydown", (event) => {
      const step = { ArrowUp: -DIVIDER_STEP, ArrowDown: DIVIDER_STEP }[event.key];
      if (!step) return;
      event.preventDefault();
      set(height() + step);
    });
  }

  /** A pinch, on the screen or on a touchpad, and the wheel with Ctrl zoom towards what is between the fingers. */
  listenToPinch(graph, block) {
    const { canvas } = graph;
    let wheeled = 0;
    canvas.addEventListener(
      "wheel",
      (event) => {
        this.hideTip();
        // Browsers report a pinch on a touchpad as a wheel with Ctrl.
        if (!event.ctrlKey) return;
        event.preventDefault();
        wheeled += event.deltaY;
        if (Math.abs(wheeled) < WHEEL_STEP) return;
        this.zoomStep(wheeled < 0, block(event));
        wheeled = 0;
      },
      { passive: false },
    );
    const fingers = new Map();
    let apart = 0;
    const distance = (/** @type {any[]} */ [a, b]) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    const follow = (event) => {
      if (event.pointerType !== "touch" || (event.type === "pointermove" && !fingers.has(event.pointerId))) return;
      fingers.set(event.pointerId, event);
      if (fingers.size !== 2) return;
      clearTimeout(this.pressing);
      const both = [...fingers.values()];
      if (event.type === "pointerdown") return (apart = distance(both));
      const ratio = distance(both) / apart;
      if (ratio < PINCH_STEP && ratio > 1 / PINCH_STEP) return;
      apart = distance(both);
      this.zoomStep(ratio > 1, block({ clientX: (both[0].clientX + both[1].clientX) / 2, clientY: (both[0].clientY + both[1].clientY) / 2 }));
    };
    for (const type of ["pointerdown", "pointermove"]) canvas.addEventListener(type, follow);
    for (const type of ["pointerup", "pointercancel"]) canvas.addEventListener(type, (/** @type {any} */ event) => fingers.delete(event.pointerId));
  }

  listenToCanvas(graph) {
    const { canvas } = graph;
    const block = (event) => {
      const box = canvas.getBoundingClientRect();
      return graph.at(event.clientX - box.left, event.clientY - box.top);
    };
    const idOf = (hit) => (hit ? hit.layer.tree.name[hit.node] : -1);
    let touched = null;
    canvas.addEventListener("pointerdown", (/** @type {any} */ event) => {
      clearTimeout(this.pressing);
      if (event.pointerType !== "touch") return;
      this.pressing = setTimeout(() => {
        const id = idOf(block(event));
        touched = "held";
        if (id >= 0) this.openMenu(id, event.clientX, event.clientY);
      }, LONG_PRESS);
    });
    for (const type of ["pointerup", "pointercancel", "pointerleave"]) canvas.addEventListener(type, () => clearTimeout(this.pressing));
    canvas.addEventListener("click", (event) => {
      const hit = block(event);
      this.hideTip();
      if (touched === "held") return (touched = null);
      if (!hit) return;
      const id = idOf(hit);
      // A double click means the block that was clicked first: the zoom moves it away.
      if (event.detail < 2) this.clicked = id;
      else return id >= 0 || this.clicked >= 0 ? this.openCallers(this.clicked) : undefined;
      if (event.shiftKey && id >= 0) return this.addFilter("show-stacks", this.data.name(id), true);
      if (event.pointerType === "touch" && id >= 0 && this.state.pin !== id) return this.select(hit);
      this.zoomTo(hit);
    });
    this.listenToPinch(graph, block);
    canvas.addEventListener("contextmenu", (event) => {
      const id = idOf(block(event));
      if (id < 0) return;
      event.preventDefault();
      this.openMenu(id, event.clientX, event.clientY);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch") return;
      const hit = block(event);
      canvas.style.cursor = hit ? "pointer" : "default";
      this.hover(idOf(hit));
      this.showTip(hit, event);
      this.showSelection(hit ?? this.graph.cursor);
    });
    canvas.addEventListener("pointerleave", () => {
      this.hideTip();
      this.hover(-1);
      if (this.graph.cursor) this.showSelection(this.graph.cursor);
    });
    canvas.addEventListener("focus", () => graph.later());
    canvas.addEventListener("blur", () => graph.later());
  }

  openCallers(id) {
    if (id >= 0) this.addFilter("focus", this.data.name(id), true);
  }

  /** Selects a block without zooming. */
  select(block) {
    this.state = { ...this.state, pin: block.layer.tree.name[block.node] };
    this.graph.setCursor(block);
    this.showSelection(block);
    this.table.mark(this.state.pin);
    // On a phone, the sheet must not cover the block that it describes.
    const bottom = this.graph.canvas.getBoundingClientRect().top + (this.graph.rowOf(block) + 1) * ROW - this.graph.scroller.scrollTop;
    const covered = bottom - element("selection").getBoundingClientRect().top;
    if (covered > 0) scrollBy(0, covered + ROW);
  }

  showTip(hit, event) {
    this.showLines(hit && this.picture.describe(hit), event);
  }

  /** Shows lines of text at the pointer, or nothing. */
  showLines(lines, event) {
    const tip = element("tip");
    clearTimeout(this.tipTimer);
    if (!lines) return this.hideTip();
    const show = () => {
      tip.replaceChildren(...lines.map((line) => make("div", line.length > 400 ? `${line.slice(0, 400)}…` : line)));
      tip.hidden = false;
      tip.style.left = `${Math.max(0, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8))}px`;
      // Below the pointer by more than a row, so that the label of the block stays readable.
      const below = event.clientY + 24;
      tip.style.top = `${below + tip.offsetHeight > innerHeight ? Math.max(0, event.clientY - tip.offsetHeight - 24) : below}px`;
    };
    if (tip.hidden) this.tipTimer = setTimeout(show, TIP_DELAY);
    else show();
  }

  hideTip() {
    clearTimeout(this.tipTimer);
    element("tip").hidden = true;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
    if (event.key === "Escape") return this.escape(isTyping);
    const menu = element("menu");
    if (!menu.hidden && /^Arrow(Up|Down)$/.test(event.key)) {
      event.preventDefault();
      const buttons = [...menu.querySelectorAll("button")];
      const step = event.key === "ArrowDown" ? 1 : -1;
      return buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length].focus();
    }
    if (isTyping || element("help").open || element("labels").open) return;
    if (event.target.getAttribute?.("role") === "tab" && /^Arrow(Left|Right)$/.test(event.key)) return this.tabKey(event);
    if (event.target === this.graph.canvas && this.canvasKey(event)) return;
    this.letterKey(event);
  }

  escape(isTyping) {
    if (element("help").open || element("labels").open) return;
    if (this.closeMenu()) return;
    if (element("view").open) return (element("view").open = false);
    if (this.state.query) {
      element("search").value = "";
      if (isTyping) this.graph.canvas.focus({ preventScroll: true });
      return this.search("");
    }
    return this.restore();
  }

  tabKey(event) {
    const tabs = [...element("tabs").children];
    const step = event.key === "ArrowRight" ? 1 : -1;
    event.preventDefault();
    tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length].focus();
  }

  /** The selected function, or -1. */
  get selected() {
    const { cursor } = this.graph;
    return this.state.pin >= 0 ? this.state.pin : cursor ? cursor.layer.tree.name[cursor.node] : -1;
  }

  /** Moves the focus of the keyboard on if what had it is gone. */
  keepFocus() {
    const isSeen = (/** @type {any} */ it) => it.isConnected && (it.checkVisibility?.() ?? it.getClientRects().length > 0);
    const { activeElement, body } = document;
    const focused = activeElement && activeElement !== body ? activeElement : this.focused;
    if (!focused || isSeen(focused)) return;
    const near = element("view").contains(focused) ? [element("view").firstElementChild] : [];
    const next = [...near, this.graph.canvas, document.querySelector("#tabs [aria-selected=true]")].find((it) => it && isSeen(it));
    next?.focus({ preventScroll: true });
  }

  letterKey(event) {
    const id = this.selected;
    const filter = (kind) => () => id >= 0 && this.addFilter(kind, this.data.name(id), true);
    const acts = {
      "/": () => element("search").select(),
      "?": () => element("help").showModal(),
      n: () => this.step(1),
      N: () => this.step(-1),
      "+": () => element("add-filter").focus(),
      c: filter("focus"),
      o: filter("show-stacks"),
      f: filter("show-from"),
      h: filter("hide-frames"),
      y: () => id >= 0 && this.copy(this.data.name(id)),
      l: () => this.copy(location.href),
      t: () => this.moveTable(),
      d: () => this.switchTheme(),
    };
    if (/^[1-6]$/.test(event.key)) return this.openTab(Number(event.key) - 1);
    if (!Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    acts[event.key]();
  }

  /** Handles a key on the canvas and returns whether it did. */
  canvasKey(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const { graph } = this;
    if (moves[event.key]) {
      const block = graph.move(...moves[event.key]);
      this.state = { ...this.state, pin: block.layer.tree.name[block.node] };
      this.table.mark(this.state.pin);
      this.showSelection(block);
    } else if (event.key === "Enter" || event.key === " ") this.zoomTo(graph.cursor);
    else if (event.key === "m" || event.key === "ContextMenu") {
      const id = graph.cursor.layer.tree.name[graph.cursor.node];
      const box = graph.canvas.getBoundingClientRect();
      const [x] = graph.place(graph.cursor);
      if (id >= 0) this.openMenu(id, box.left + x, box.top + 20);
    } else return false;
    event.preventDefault();
    return true;
  }

  // Theme, pictures and print

  restoreTheme() {
    try {
      const theme = localStorage.getItem("prof-theme");
      if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
    } catch {
      // Storage is blocked: the system's setting counts.
    }
  }

  /** Puts the table at its next place. */
  moveTable() {
    const { dataset } = element("main");
    dataset.table = TABLE_PLACES[(TABLE_PLACES.indexOf(dataset.table) + 1) % TABLE_PLACES.length];
    if (dataset.table === "off" && element("table-side").contains(document.activeElement)) this.graph.canvas.focus({ preventScroll: true });
    this.update();
  }

  switchTheme() {
    const theme = this.theme.isDark ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("prof-theme", theme);
    } catch {
      // The choice is then lost on reload.
    }
    this.update();
  }

  savePng() {
    const image = new Image();
    const address = URL.createObjectURL(new Blob([this.graph.svg(this.data.title)], { type: "image/svg+xml" }));
    image.onload = () => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.width * 2, image.height * 2];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => blob && save("flame.png", blob));
      URL.revokeObjectURL(address);
    };
    image.src = address;
  }

  /** Puts what is drawn on a canvas where it is printed: the graph, or both of a comparison, as an SVG, the timeline as an image. */
  addPrinted() {
    const add = (picture, box) => {
      picture.classList.add("printed");
      element(box).parentElement.append(picture);
    };
    const parsed = (graph) => new DOMParser().parseFromString(graph.svg(this.data.title, SHEET.levels), "image/svg+xml").documentElement;
    if (this.state.tab === "timeline") {
      this.timeline.draw();
      add(make("img", "", { src: element("timeline-canvas").toDataURL() }), "timeline-graph");
    } else if (!element("graph-side").hidden) {
      if (this.model.showsPanes) add(parsed(this.oldGraph), "old-graph");
      add(parsed(this.graph), "graph");
    }
  }

  /** Prints the whole graph in light colours, as an SVG that fits the width of the paper. */
  printing(starts) {
    const root = document.documentElement;
    this.graph.glided = null;
    for (const picture of document.querySelectorAll(".printed")) picture.remove();
    if (starts) {
      this.themeBefore = root.dataset.theme;
      root.dataset.theme = "light";
      this.update();
      this.addPrinted();
      // All of it fits on one sheet: a tall graph leaves space for fewer rows.
      const drawn = Math.min(0.55 * SHEET.height, (this.graph.rows.length * ROW * SHEET.width) / (this.graph.width || SHEET.width));
      const left = SHEET.height - SHEET.head - drawn - element("edges").offsetHeight;
      const fit = Math.max(SHEET.fewest, Math.min(SHEET.most, Math.floor(left / SHEET.row)));
      [...element("rows").rows].forEach((row, at) => row.classList.toggle("unprinted", at >= fit));
    } else {
      if (this.themeBefore) root.dataset.theme = this.themeBefore;
      else delete root.dataset.theme;
      this.update();
    }
  }
}

/** The end of a path or package, in which those of one program differ. */
function shortened(name) {
  if (name.length <= 28) return name;
  const end = name.split("/").slice(-2).join("/");
  return end.length <= 40 ? end : `…${end.slice(-39)}`;
}

function isRoot({ layer, node }) {
  return !layer.isUp && node === layer.first;
}

// `page` is global so that it can be used in the console: page.state, page.model.table().
let page;
load(...take("data"))
  .then(async (data) => {
    const times = take("times");
    data.times = times.length ? await loadTimes(times, data.metrics, data.stacks) : null;
    data.timesLeftOut = Number(element("times").dataset.leftOut);
    page = new Page(data);
    globalThis.page = page;
    document.documentElement.dataset.ready = "1";
  })
  .catch((error) => {
    explain(error);
    throw error;
  });
