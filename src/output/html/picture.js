// What the flame graph shows: its layers, and the colour, label and description of each block.

import { absolute, sizes } from "./paths.js";
import { visible } from "./format.js";
import { forms } from "./label.js";

/** How much of their colour the callers of the zoomed block keep. */
const ANCESTOR = 0.6;

export class Picture {
  constructor(model, theme) {
    this.model = model;
    this.theme = theme;
    this.labels = [];
    this.data = model.data;
    /** The groups that the legend marks: the one that was clicked, and the one under the pointer. -1 is none. */
    this.chosenGroup = -1;
    this.hoveredGroup = -1;
    /** @type {number[] | null} */
    this.knownFiles = null;
  }

  /** The files by their area, so that the largest have the colours that differ most. */
  get filesByArea() {
    return (this.knownFiles ??= this.rankFiles());
  }
  rankFiles() {
    const { data } = this;
    const area = new Float64Array(data.files.length + 1);
    const { values, zero } = data.metrics[data.metric];
    const { frames, length } = data.paths.nodes;
    const size = data.paths.below(sizes(values), zero);
    for (let node = 1; node < length; node++) area[data.facts.file[frames[node]]] += Number(size[node]);
    const files = Array.from(data.files.keys()).sort((a, b) => area[b + 1] - area[a + 1] || a - b);
    this.fileRank = [];
    files.forEach((file, rank) => (this.fileRank[file] = rank));
    return files;
  }

  get group() {
    return this.hoveredGroup >= 0 ? this.hoveredGroup : this.chosenGroup;
  }

  /** The layers of the graph: one tree, or the callers and the callees of a focus. */
  layers(/** @type {any[]} */ trees) {
    const { state } = this.model;
    const [tree, up] = trees;
    if (up) {
      // A single function in focus is drawn once, between its callers and callees. Several functions
      // get a common row between them.
      const above = height(up);
      const first = tree.depth.filter((depth) => depth === 1).length === 1 ? 1 : 0;
      return [
        { tree, row: above - first, step: 1, first },
        { tree: up, row: above, step: -1, first: 1, isUp: true },
      ];
    }
    return [state.icicle ? { tree, row: 0, step: 1, first: 0 } : { tree, row: height(tree), step: -1, first: 0 }];
  }

  /** The change of a block between the sides. */
  delta(tree, node) {
    if (!this.data.compared) return this.model.metric.zero;
    return tree.isOld ? tree.old[node] - tree.total[node] : tree.total[node] - tree.old[node];
  }

  look(block) {
    const { data, model, theme } = this;
    const { layer, node } = block;
    const { tree } = layer;
    const id = tree.name[node];
    const { fixed } = theme;
    const isAncestor = node < tree.zoomed;
    const title = () => this.describe(block).join("\n");
    const ids = idsOf(block);
    if (id < 0) return { ids, color: fixed.root, label: { texts: [this.rootLabel(tree)] }, alpha: 1, title };
    const some = (test) => ids.some(test);
    const isHit = some((id) => Boolean(model.found?.[id] || model.lit?.[id]));
    const isOff = (model.found && !some((id) => model.found[id])) || (this.group >= 0 && !some((id) => data.facts.group[id] === this.group));
    const look = {
      ids,
      color: isHit ? fixed.hit : this.color(tree, node, id),
      label: ids.length > 1 ? this.runLabel(ids) : this.label(id),
      alpha: isOff ? fixed.dim : isAncestor ? ANCESTOR : 1,
      isHit,
      isSlanted: Boolean(tree.inlined[node]),
      title,
    };
    if (model.showsChange && !isHit) Object.assign(look, this.changeMarks(tree, node, id));
    return look;
  }

  /** How a block of a comparison is marked: what was added is filled, what was taken away is hollow. */
  changeMarks(tree, node, id) {
    const [delta, total] = [Number(this.delta(tree, node)), Number(absolute(tree.total[node]))];
    const direction = this.model.direction(id, delta);
    if (direction === 0) return {};
    const isFaint = Math.abs(direction) < 1;
    const wide = tree.width[node] || 1;
    if (direction > 0) return { added: tree.isOld ? 0 : Math.min(1, delta / (total || 1)) * Math.min(1, total / wide), isFaint };
    return { isTaken: true, kept: tree.isOld ? 1 : Math.min(1, total / wide), isFaint };
  }

  label(id) {
    if (!this.labels[id]) {
      const [name, place] = this.data.label(id);
      this.labels[id] = { texts: forms(name), place };
    }
    return this.labels[id];
  }

  /** The label of a folded run: `startup → 7 more → runMain`. */
  runLabel(ids) {
    const [first, last] = [ids[0], ids.at(-1)].map((id) => this.label(id).texts);
    const count = ids.length - 2;
    return { texts: [`${first[0]} → ${count} more → ${last[0]}`, `${first.at(-1)} → ${count} more → ${last.at(-1)}`, `${first.at(-1)} → …`, first.at(-1)] };
  }

  color(tree, node, id) {
    const { theme, data, model } = this;
    const [file, group] = [data.facts.file[id], data.facts.group[id]];
    const share = (value) => theme.share(Number(value) / (Number(model.flat.shown) || 1));
    switch (model.showsChange ? "delta" : model.state.color) {
      case "file":
        return file && this.filesByArea ? theme.rank(this.fileRank[file - 1]) : theme.fixed.unknown;
      case "self":
        // In a bottom-up tree, the total of a block is self of the function at the root.
        return share((tree.backward ? tree.total : tree.self)[node]);
      case "total":
        return share(tree.total[node]);
      case "delta": {
        const direction = model.direction(id, Number(this.delta(tree, node)));
        return direction > 0 ? theme.fixed.grew : direction < 0 ? theme.fixed.shrank : theme.fixed.same;
      }
      default:
        return theme.group(group);
    }
  }

  rootLabel(tree) {
    const { state, format, flat, otherFlat, isFocused } = this.model;
    const isOther = tree.isOld !== (state.side === "old");
    // A zoom into callers leaves only their samples in the row of the focus.
    const shown = state.zoomUp ? tree.total[0] : isOther ? otherFlat.shown : flat.shown;
    const share = format.share(shown, this.model.wholeOf(tree.isOld));
    return `${isFocused ? "focus: callers above, callees below" : "all"} — ${format.value(shown)}${share && ` (${share})`}`;
  }

  /** How a zoom into callers or callees narrows the other side. */
  get narrowing() {
    const { state, trees, format, edges } = this.model;
    const [down, up] = trees;
    if (!up || !state.zoom.length) return "";
    const value = (state.zoomUp ? down : up).total[0];
    const name = this.data.short(state.zoom.at(-1));
    const only = state.zoomUp ? `Callees: only samples called through ${name}` : `Callers: only samples that reach ${name}`;
    return `${only} (${format.value(value)}, ${format.share(value, edges.total)} of the focus)`;
  }

  /** Name, place and other facts about a function. */
  facts(id) {
    const { data } = this;
    const { package: owners, file: files, line: lines } = data.facts;
    const [pack, file, line] = [owners[id], files[id], lines[id]];
    const inFile = file ? visible(data.files[file - 1]) + (line ? `:${line}` : "") : "";
    const full = data.full(id);
    const [name, place] = data.split.get(id) ?? [full, inFile];
    const owner = data.packages[pack];
    const isArtefact = data.artefacts.some((artefact) => full === artefact || full.startsWith(`${artefact} `));
    return { name, place, owner: owner && owner !== data.files[file - 1] ? visible(owner) : "", isArtefact };
  }

  /** A value with its shares: `4.82s 5.6%`, and with filters also the share of what is shown. */
  shared(value) {
    const { format, whole, flat, isFiltered } = this.model;
    const share = `${format.value(value)} ${format.share(value, whole)}`.trimEnd();
    return isFiltered ? `${share} of all, ${format.share(value, flat.shown)} of shown` : share;
  }

  /** The values of a block as words and texts: total, self, and the other side's total. */
  values({ layer, node }) {
    const { tree } = layer;
    const { format, flat } = this.model;
    const id = tree.name[node];
    const found = [];
    if (tree.backward && !layer.isUp) {
      // The width is the part of the first function's self that was reached through these callers.
      const [first] = chain({ layer, node });
      const isFirst = first === id && tree.depth[node] === 1;
      found.push([isFirst ? "self" : `self of ${this.data.label(first)[0]}`, this.shared(tree.total[node])]);
      if (tree.depth[node] === 1 && !tree.runs.has(node)) found.push(["total", this.shared(flat.total[id])]);
    } else {
      found.push(["total", this.shared(tree.total[node])]);
      // The last call of a folded run is the one that may have self.
      if (!layer.isUp) found.push(["self", this.shared(tree.self[members({ layer, node }).at(-1)])]);
    }
    if (this.data.compared) {
      found.push([tree.isOld ? "new" : "old", format.value(tree.old[node])]);
      found.push(["change", format.signed(this.delta(tree, node))]);
      const verdict = this.verdict(id);
      if (verdict) found.push(["", verdict]);
    }
    return found;
  }

  /** What the inspector says about a block: the function's values, and those of this block if they are a part of them. */
  inspected(block) {
    const { layer, node } = block;
    const { tree } = layer;
    const { flat, isFocused } = this.model;
    const id = tree.name[node];
    const isPart = !tree.backward && !isFocused && !this.data.compared && !tree.runs.has(node) && flat.total[id] != tree.total[node];
    if (!isPart) return this.values(block);
    return [["self", this.shared(flat.self[id])], ["total", this.shared(flat.total[id])], ["this block", this.shared(tree.total[node])]];
  }

  /** What the test of a comparison says: `regressed ×1.16 (1.10–1.23)`, with the 95 % interval, `noise`; empty without a test. */
  verdict(id) {
    const row = this.model.tested.get(id);
    if (!row) return "";
    const ratio = (number) => number.toFixed(2);
    const cost = row.ratio === null ? "" : ` ×${ratio(row.ratio)}${row.low === null ? "" : ` (${ratio(row.low)}–${row.high === null ? "∞" : ratio(row.high)})`}`;
    return `${this.model.verdictOf(id)}${cost}`;
  }

  /** The lines of a tooltip: name, place, package and numbers of a block. */
  describe(block) {
    const { tree } = block.layer;
    const id = tree.name[block.node];
    if (id < 0) return [this.rootLabel(tree)];
    const run = members(block);
    if (run.length > 1) return [...this.runNames(run.map((node) => tree.name[node])), ...this.lines(block), "click to open the folded calls"];
    const { name, place, owner, isArtefact } = this.facts(id);
    const lines = [name];
    if (place) lines.push(place);
    if (owner) lines.push(`package ${owner}`);
    if (tree.inlined[block.node]) lines.push("inlined");
    if (isArtefact) lines.push("profiler artefact: its self belongs to the caller");
    return [...lines, ...this.lines(block)];
  }

  lines(block) {
    return this.values(block).map(([word, value]) => (word ? `${word} ${value}` : value));
  }

  /** The names of a folded run, each on its own line; of a long one, the first and the last. */
  runNames(ids) {
    const names = ids.map((id) => this.data.short(id));
    const left = names.length - 10;
    return left > 0 ? [...names.slice(0, 5), `… ${left} more`, ...names.slice(-5)] : names;
  }

  /** The entries of the legend: colour, name, share of self, and the group that it stands for, if any. */
  get legend() {
    const { data, model, theme } = this;
    const { format, flat } = model;
    switch (model.showsChange ? "delta" : model.state.color) {
      case "delta":
        return [
          { color: theme.fixed.same, name: "unchanged" },
          { color: theme.fixed.added, name: "filled: grew" },
          { color: theme.fixed.inherited, name: "grew in what it calls" },
          { color: theme.fixed.paper, name: "hollow: shrank", isDashed: true },
        ];
      case "self":
      case "total":
        return [0, 1, 10, 50].map((percent) => ({ color: theme.share(percent / 100), name: `${percent}% ${model.state.color}` }));
      case "file": {
        const files = this.filesByArea.slice(0, 12).map((file, rank) => ({ color: theme.rank(rank), name: visible(data.files[file]) }));
        const rest = data.files.length - files.length;
        return rest > 0 ? [...files, { name: `… ${rest} more files` }] : files;
      }
      default: {
        const self = new Float64Array(data.groups.length);
        const { group: groupOf } = data.facts;
        for (let id = 0; id < groupOf.length; id++) self[groupOf[id]] += Number(flat.self[id]);
        const entry = (group) => ({
          color: theme.group(group),
          name: visible(data.groups[group].name) || "unknown",
          share: self[group] ? format.share(self[group], flat.shown) : "",
          group,
        });
        const groups = Array.from(data.groups.keys());
        const own = groups.filter((group) => data.groups[group].tier === "own");
        /** @type {any[]} */
        const shown = own.slice(0, 12).map(entry).sort((a, b) => Math.abs(self[b.group]) - Math.abs(self[a.group]));
        const rest = own.length - shown.length;
        if (rest > 0) shown.push({ name: `… ${rest} more` });
        return [...shown, ...groups.slice(own.length).map(entry)];
      }
    }
  }

  /** What the graph omits, what its marks mean, and warnings. */
  get notes() {
    const { data, model } = this;
    const { format, flat, found, trees, whole } = model;
    const notes = [];
    const dropped = trees.reduce((sum, tree) => sum + tree.dropped, 0);
    if (found && !found.includes(1)) notes.push("no function matches the search");
    if (dropped) notes.push(`${dropped.toLocaleString("en-US")} block${dropped === 1 ? " is" : "s are"} too narrow to draw; zoom in to see ${dropped === 1 ? "it" : "them"}`);
    const hides = (option) => option.startsWith("hide-frames") || option.startsWith("show-frames");
    const hidesFrames = model.state.filters.some(({ kind }) => hides(kind)) || data.filters.some((text) => hides(text.replace(/^--/, "")));
    if (flat.noStack != 0) notes.push(`samples without a stack${hidesFrames ? ", or whose frames are all hidden by a filter" : ""}: ${format.value(flat.noStack)}, ${format.share(flat.noStack, whole)}`);
    if (model.tested.size && data.causes?.costs) notes.push(data.causes.costs);
    const gone = model.removed;
    if (gone.length) notes.push(`${gone.length} removed: ${gone.slice(0, 8).map((row) => data.short(row.id)).join(", ")}${gone.length > 8 ? " …" : ""}`);
    const runs = trees.reduce((sum, tree) => sum + tree.runs.size, 0);
    if (runs) notes.push(`${runs} run${runs === 1 ? "" : "s"} of library calls folded; click one to open it`);
    if (trees.some((tree) => tree.inlined.includes(1))) notes.push("italic: inlined");
    if (data.timesLeftOut) notes.push(`no timeline: it would take ${Math.round(data.timesLeftOut / 1000).toLocaleString("en-US")} kB; write the page with --embed-times`);
    return [...notes, ...data.warnings.map((warning) => `warning: ${warning}`)];
  }
}

/** The number of rows of a tree below its root. */
function height(tree) {
  return tree.row.reduce((deepest, row) => Math.max(deepest, row), 0);
}

/** The nodes that a block stands for: one, or a folded run. */
function members({ layer: { tree }, node }) {
  return tree.runs.get(node) ?? [node];
}

/** The ids of the names that a block stands for. */
export function idsOf(block) {
  return members(block).map((node) => block.layer.tree.name[node]);
}

/** The ids of the names from the root of a block's layer to the block. */
export function chain({ layer, node }) {
  const names = [];
  for (let at = node; at > 0; at = layer.tree.parent[at]) names.unshift(layer.tree.name[at]);
  return names;
}
