// The numbers that the page shows, computed from the data and the state.

import { countFlat, countMarked, countNeighbours, countSets, eachOutermostCall, heaviest, heaviestCallers, neighboursOfCalls, rescaled } from "./count.js";
import { foldRuns, pathTo } from "./fold.js";
import { Format } from "./format.js";
import { growTree } from "./grow.js";
import { facetShares } from "./labels.js";
import { KINDS, absolute, beforeLabels, labelled, pathsOnChain } from "./paths.js";
import { exactPattern, markedNames, matching, searchPattern } from "./pattern.js";
import { downwards, upwards } from "./split.js";

/** Changes below this part of the whole are not coloured: samples vary as much. */
const NOTABLE_CHANGE = 0.003;
/** A function that cost this part of the whole and is now under a tenth of it is drawn as gone. */
const NOTABLE_GHOST = 0.004;
/** The sums of so many nodes take 16 MB, or twice as much. */
const MOST_KEPT = 1 << 22;

export class Model {
  constructor(data) {
    this.data = data;
    this.done = {};
    /** What the comparison says about functions, by the numbers of their names. Self and total may both be tested: the first is the more important. */
    this.tested = new Map([...data.tested].reverse().map((row) => [row.id, row]));
    /** The functions that are the cause of a change. Each by itself may vary too much for a verdict. */
    this.blamed = new Set((data.causes?.chips ?? []).map((chip) => chip.function));
    /** The width of the graph in pixels: blocks narrower than a third of a pixel are not counted. */
    this.pixels = 1000;
    /** The names that the search and the highlights match, and the value of the stacks through them. */
    this.found = this.matched = this.lit = this.litValue = null;
    /** The folded runs that the reader opened, as paths to their first nodes. */
    this.opened = new Set();
  }

  /** Computes what changed since the last call. */
  update(state) {
    this.state = state;
    this.isFiltered = this.data.filters.length > 0 || state.filters.some((filter) => filter.kind !== "highlight");
    this.once("count", [state.metric, state.side, state.filters, state.normalize], () => this.count());
    this.once("edges", [this.flat, state.zoom, state.zoomUp], () => this.countEdges());
    this.once("mark", [this.flat, state.query, state.filters], () => this.mark());
    const growth = [this.flat, this.pixels, state.zoom, state.zoomUp, state.weight, state.inverted, this.showsChange, this.showsPanes];
    this.once("grow", growth, () => this.growTrees());
    this.once("fold", [this.trees, state.fold, state.pin, this.opened], () => this.fold());
  }

  /** Calls `act`, unless its dependencies are the same as in the previous call. */
  once(what, dependsOn, act) {
    const before = this.done[what];
    if (before && before.length === dependsOn.length && before.every((value, i) => value === dependsOn[i])) return;
    this.done[what] = dependsOn;
    act();
  }

  /** Applies the filters and counts the remaining paths. */
  count() {
    const { data, state } = this;
    const metric = data.metrics[state.metric];
    this.metric = metric;
    const isOld = state.side === "old";
    this.values = isOld ? metric.old : metric.values;
    this.whole = this.wholeOf(isOld);
    if (this.paths !== data.paths) this.paths?.forget();
    // Filters that hide frames start from the sums of all, unless these need much memory.
    data.paths.forget(data.paths.nodes.length < MOST_KEPT ? this.values : null);
    const all = beforeLabels(data, state.filters);
    /** The paths of all times. */
    this.untimed = labelled(data, all, state.filters);
    const range = data.times?.range(state.filters);
    let before = all;
    if (range) {
      const { values, has } = data.times.within(state.metric, range);
      this.values = values;
      before = all.where((_, stack) => has[stack]);
    }
    this.paths = range ? labelled(data, before, state.filters) : this.untimed;
    this.facets = data.facets.length ? facetShares(data, state.filters, countSets(data, before, this.values, metric.zero), metric.zero) : [];
    const flat = (values, old) => {
      const { self, total, shown, noStack } = countFlat(data, this.paths, values, metric.zero);
      const side = (sums) => this.side(sums, old);
      return { self: side(self), total: side(total), shown: side(shown), noStack: side(noStack) };
    };
    this.flat = this.exactFlat(flat(this.values, isOld), isOld);
    this.otherFlat = data.compared ? this.exactFlat(flat(isOld ? metric.values : metric.old, !isOld), !isOld) : null;
    const largest = Math.max(Number(this.flat.shown), Number(this.otherFlat?.shown ?? 0));
    this.format = new Format(metric, largest || Number(metric.total));
    /** The format of what was recorded. */
    this.wholeFormat = new Format(metric, Math.max(Number(metric.total), Number(metric.oldTotal)));
  }

  /** The sums of a side, which are those of the file if it records calls. */
  exactFlat(flat, isOld) {
    if (!this.data.calls || this.isNarrowed) return flat;
    const { self, total } = this.callsOf(isOld);
    return { ...flat, self: this.side(self, isOld), total: this.side(total, isOld) };
  }

  /** What the file records about the calls of a side. */
  callsOf(isOld) {
    return this.data.calls.sides[isOld ? 1 : 0];
  }

  /** Whether blocks are coloured by their change. */
  get showsChange() {
    return this.data.compared && (this.state.tab === "compare" || this.state.color === "delta");
  }
  /** Whether both sides are shown next to each other. */
  get showsPanes() {
    return this.state.tab === "compare" && this.state.panes;
  }

  /** The factor that makes the old side comparable. */
  get ratio() {
    const [, ratio] = this.data.ratios.find(([method]) => method === this.state.normalize) ?? [];
    return ratio ?? this.data.ratio;
  }

  get focus() {
    return this.state.filters.filter((filter) => filter.kind === "focus");
  }
  get isFocused() {
    return this.focus.length > 0;
  }

  /** Counts the callers and callees of the focus: all of them, and those of the samples that a zoom into one side shows. */
  countEdges() {
    const { data, state, paths } = this;
    this.edges = this.zoomedEdges = null;
    this.otherEdges = this.otherZoomedEdges = null;
    if (!this.isFocused) return;
    const marks = matching(data, this.focus);
    const isOld = state.side === "old";
    const zoomed = state.zoom.length ? pathsOnChain(paths, state.zoom, state.zoomUp) : paths;
    const both = (values, isOld) => {
      const all = this.neighbours(marks, paths, values, isOld);
      return [all, zoomed === paths ? all : this.neighbours(marks, zoomed, values, isOld)];
    };
    [this.edges, this.zoomedEdges] = both(this.values, isOld);
    if (data.compared) [this.otherEdges, this.otherZoomedEdges] = both(this.otherValues, !isOld);
  }

  /** The direct callers and callees of the marked places on some paths. */
  neighbours(marks, paths, values, isOld) {
    const exact = paths === this.paths ? this.exactNeighbours(marks, isOld) : null;
    const { overlaps, ...sums } = exact ?? countNeighbours(this.data, paths, values, marks, this.metric.zero);
    for (const key of Object.keys(sums)) sums[key] = this.side(sums[key], isOld);
    return { overlaps, ...sums };
  }

  /** Whether there are filters besides highlights. */
  get isNarrowed() {
    return this.state.filters.some(({ kind }) => kind !== "highlight");
  }

  /** Callers and callees as the file records them, if it records calls and a single function is in focus. */
  exactNeighbours(marks, isOld = this.state.side === "old") {
    const { data, state, metric } = this;
    if (!data.calls || state.filters.some(({ kind }) => kind !== "highlight" && kind !== "focus")) return null;
    const ids = new Set(data.places.name.filter((_, place) => marks[place]));
    return ids.size === 1 ? neighboursOfCalls(this.callsOf(isOld), [...ids][0], metric.zero) : null;
  }

  /** What is approximated, if the profile records calls instead of stacks. */
  get approximation() {
    const { data, edges, state } = this;
    if (!data.calls) return "";
    const table = this.isNarrowed ? (edges && !state.zoom.length && this.exactNeighbours(matching(data, this.focus)) ? "Callers and callees below are exact" : "With filters, all numbers are approximate") : "The table is exact";
    return `${data.calls.note}. ${table}`;
  }

  /** Sums of one side. Those of the old side are rescaled so that they compare with the new side. */
  side(sums, isOld) {
    return isOld ? rescaled(sums, this.ratio) : sums;
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
    [this.found, this.matched] = state.query ? share([{ text: searchPattern(state.query) }]) : [null, this.metric.zero];
    [this.lit, this.litValue] = highlights.length ? share(highlights) : [null, this.metric.zero];
  }

  /** The paths of the graph and of the tree: those of the focus start at its outermost match. */
  get rootedPaths() {
    return this.state.inverted && !this.paths.roots ? upwards(this.paths) : downwards(this.paths);
  }

  /** The old side's values, or the new side's if the old one is shown; null without a comparison. */
  get otherValues() {
    if (!this.data.compared) return null;
    return this.state.side === "old" ? this.metric.values : this.metric.old;
  }

  growTrees() {
    const isOld = this.state.side === "old";
    this.trees = this.treesOf(isOld, this.values, this.otherValues);
    this.otherTrees = this.showsPanes ? this.treesOf(!isOld, this.otherValues, this.values) : [];
    if (!this.showsPanes) return;
    // Both panes have one scale: the same number of pixels for the same value.
    const both = [this.trees, this.otherTrees];
    const whole = (trees) => trees[0].whole * (trees[0].isOld ? this.ratio : 1);
    const widest = Math.max(...both.map(whole));
    for (const tree of both.flat()) tree.span = widest / (tree.isOld ? this.ratio : 1);
  }

  /** The trees of one side. */
  treesOf(isOld, values, otherValues) {
    const { data, state, paths, metric } = this;
    const factors = isOld ? [this.ratio, 1] : [1, this.ratio];
    const size = (value, factor) => Number(absolute(value)) * factor;
    const grow = (from, zoom) => {
      const tree = growTree(from, values, otherValues, metric.zero, {
        names: data.count,
        inlined: data.places.inlined,
        pixels: Math.max(this.pixels, 100),
        byWeight: state.weight,
        // In panes, siblings have the same order on both sides.
        rank: this.showsPanes ? (child) => size(child.total, factors[0]) + size(child.old, factors[1]) : (child) => child.width,
        widened: this.showsChange && !this.showsPanes && !isOld ? (name, width, old) => this.widened(name, width, Number(absolute(old)) * this.ratio) : null,
        zoom,
      });
      const side = (sums, old) => this.side(sums, old);
      return { ...tree, isOld, total: side(tree.total, isOld), self: side(tree.self, isOld), old: side(tree.old, !isOld) };
    };
    if (!paths.roots) return [grow(this.rootedPaths, state.zoom)];
    // A zoom into callers or callees narrows the other side to the same samples, so that both have one scale.
    const { zoom, zoomUp } = state;
    const narrowed = zoom.length ? pathsOnChain(paths, zoom, zoomUp) : paths;
    const up = grow(upwards(zoomUp ? paths : narrowed), zoomUp ? zoom : []);
    const down = grow(downwards(zoomUp ? narrowed : paths), zoomUp ? [] : zoom);
    return [down, up];
  }

  /** Folds runs of library calls. A comparison shows all blocks, because any may have changed. */
  fold() {
    const { data, state, opened } = this;
    const isFolding = state.fold && !this.showsChange && !this.showsPanes;
    for (const tree of [...this.trees, ...this.otherTrees]) {
      // The focus and its callers have blocks of their own, to click on.
      const isFocus = (node) => Boolean(this.paths.roots) && tree.depth[node] === 1;
      const isLibrary = (node) => data.groups[data.facts.group[tree.name[node]]].tier !== "own";
      const canFold = (node) => isFolding && node !== tree.zoomed && !isFocus(node) && isLibrary(node);
      // The selected function has a block of its own.
      const isOpen = (run) => run.slice(1).some((node) => tree.name[node] === state.pin) || opened.has(pathTo(tree, run[0]));
      foldRuns(tree, canFold, isOpen);
    }
  }

  /** Draws the blocks of a run, or folds all runs again. */
  open(tree, node) {
    this.opened = new Set(this.opened).add(pathTo(tree, node));
  }
  closeRuns() {
    this.opened = new Set();
  }

  /** The width of a block in a comparison: that of the old side where the block shrank or is gone. */
  widened(name, width, old) {
    const whole = Number(absolute(this.flat.shown)) || 1;
    const isGone = width < old / 10 && old >= NOTABLE_GHOST * whole;
    return old > width && (isGone || this.direction(name, width - old) < 0) ? old : width;
  }

  /**
   * How a change of a function is shown: 1 for growth, -1 for the opposite, 0 for noise. Half of that if it only inherits
   * the change of a function that it calls. A function that was not tested counts by the size of its change.
   */
  direction(name, delta) {
    const row = this.tested.get(name);
    const whole = Math.max(Number(absolute(this.flat.shown)), Number(absolute(this.otherFlat?.shown ?? 0)));
    const isNotable = Math.abs(delta) > NOTABLE_CHANGE * whole;
    if (this.blamed.has(name)) return isNotable ? Math.sign(delta) : 0;
    if (!row) return this.tested.size && this.otherFlat.total[name] != 0 && this.flat.total[name] != 0 ? 0 : isNotable ? Math.sign(delta) : 0;
    const strength = { regressed: 1, new: 1, improved: 1, removed: 1, moved: 0.5, inherits: 0.5 }[row.verdict] ?? 0;
    return isNotable ? strength * Math.sign(delta) : 0;
  }

  /** What the test says of a function in a word: `regressed`, `noise`, `cause` if only calls of it together say more; empty without a test. */
  verdictOf(id) {
    const row = this.tested.get(id);
    const isWeak = !row || ["", "inherits", "small"].includes(row.verdict);
    return isWeak && this.blamed.has(id) ? "cause" : row ? row.verdict || "noise" : "";
  }

  /** The change of a value from the old side to the new one. */
  change(shown, other) {
    return this.state.side === "old" ? other - shown : shown - other;
  }

  /** The numbers of the names that have a row in the table. `all` ignores the search. */
  rowIds(all = false) {
    if (all) return this.idsOf(null);
    this.once("rows", [this.flat, this.found], () => (this.rows = this.idsOf(this.found)));
    return this.rows;
  }
  idsOf(found) {
    const { data, flat, otherFlat } = this;
    const { self, total } = flat;
    const isOld = (id) => otherFlat && (otherFlat.self[id] != 0 || otherFlat.total[id] != 0);
    // There may be a million names.
    const ids = new Uint32Array(data.count);
    let count = 0;
    for (let id = 0; id < ids.length; id++) if ((self[id] != 0 || total[id] != 0 || isOld(id)) && (!found || found[id])) ids[count++] = id;
    return ids.subarray(0, count);
  }

  /** The rows of the table in order, or the first of them. `all` ignores the search. */
  table(all = false, limit = Infinity) {
    const { data, state, flat, otherFlat } = this;
    const more = (a, b) => (absolute(a) < absolute(b) ? 1 : absolute(a) > absolute(b) ? -1 : 0);
    const by = (value) => (a, b) => more(value(a), value(b));
    const delta = (id) => (otherFlat ? this.change(flat.total[id], otherFlat.total[id]) : this.metric.zero);
    const orders = {
      self: by((id) => flat.self[id]),
      total: by((id) => flat.total[id]),
      old: by((id) => (otherFlat ?? flat).total[id]),
      delta: by(delta),
      verdict: (a, b) => this.verdictRank(a) - this.verdictRank(b) || more(delta(a), delta(b)),
      name: (a, b) => a - b,
    };
    const chosen = orders[state.sort] ?? orders.self;
    const turn = state.reversed ? -1 : 1;
    const compare = (a, b) => turn * chosen(a, b) || orders.total(a, b) || orders.self(a, b) || a - b;
    const sums = { self: flat.self, total: flat.total }[state.sort];
    const row = (id) => ({
      id,
      name: data.name(id),
      self: flat.self[id],
      total: flat.total[id],
      other: otherFlat ? { self: otherFlat.self[id], total: otherFlat.total[id] } : null,
      delta: delta(id),
    });
    return heaviest(this.rowIds(all), limit, compare, sums, turn).map(row);
  }

  /** For each of some names, its main caller: the number of a name, or -1 for the root. */
  callersOf(ids) {
    const { data, paths, values, metric, state } = this;
    if (data.calls && !this.isNarrowed) return heaviestCallers(ids, (act) => this.callsOf(state.side === "old").edges.forEach(([caller, callee, value]) => act(caller, callee, value)));
    return heaviestCallers(ids, (act) => eachOutermostCall(data, paths, values, ids, metric.zero, act));
  }

  /** Functions that changed come first, then those that only inherit a change, then noise. */
  verdictRank(id) {
    const verdict = this.tested.get(id)?.verdict ?? "";
    if (this.blamed.has(id)) return -1;
    const rank = ["regressed", "improved", "new", "removed", "moved", "inherits", "small"].indexOf(verdict);
    return rank < 0 ? (this.tested.has(id) ? 7 : 8) : rank;
  }

  /** The functions that only the old side has, the heaviest first. */
  get removed() {
    if (!this.data.compared || this.state.side === "old") return [];
    const gone = this.table(true).filter((row) => row.total == 0 && row.other.total != 0);
    return gone.sort((a, b) => Number(absolute(b.other.total)) - Number(absolute(a.other.total)) || a.id - b.id);
  }

  /** The total of a side, as recorded or rescaled. */
  wholeOf(isOld) {
    return isOld ? this.side(this.metric.oldTotal, true) : this.metric.total;
  }

  /** The command that shows the same numbers in a terminal. */
  get command() {
    return this.commandOf("top");
  }
  commandOf(name) {
    const { data, state } = this;
    const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
    const words = ["prof", name];
    if (data.metrics.length > 1) words.push("-m", quoted(this.metric.name));
    words.push(...data.filters);
    for (const { kind, text, exact } of state.filters) {
      if (!Object.hasOwn(KINDS, kind)) continue;
      const value = quoted(exact ? exactPattern(text) : text);
      // A value that begins with a dash, such as `-[NSView draw]`, would look like an option.
      words.push(...(/^'?-/.test(value) ? [`--${kind}=${value}`] : [`--${kind}`, value]));
    }
    if (data.compared) words.push(...data.base_given.flatMap((path) => ["--base", quoted(path)]));
    if (data.compared && state.normalize !== "none") words.push("--normalize", state.normalize === "per" ? `per=1,${this.ratio}` : state.normalize);
    words.push(...(data.given.length && data.given.length < 9 ? data.given.map(quoted) : ["PROFILE"]));
    return words.join(" ");
  }
}
