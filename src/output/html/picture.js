// The flame graph: colours, labels and tooltips of its blocks, the zoom, the notes and the legend.

class PageGraph extends PageState {
  showGraph() {
    const { state, trees } = this;
    const [tree, up] = trees;
    const height = this.height(tree);
    let layers;
    if (up) {
      // A single function in focus is drawn once, between its callers and callees. Several functions
      // get a common row between them.
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
    // Fill the bars around the graph first, because they reduce its height.
    this.showSelection(this.graph.cursor);
    this.showNotes();
    this.graph.spacer.classList.toggle("standing", !up && !state.icicle);
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
    if (id < 0) return { color: "#d8d8d8", label: [this.rootLabel(tree), ""], muted };
    const marked = this.found?.[id] || this.lit?.[id];
    return {
      color: marked ? "#ff5ce1" : this.color(tree, node, id),
      label: data.labels[id],
      muted: muted || (this.found && !this.found[id]),
      slanted: tree.inlined[node],
    };
  }

  color(tree, node, id) {
    const { data } = this;
    const { palette } = data;
    const [pack, file] = data.facts[id];
    const share = (value) => mix(palette.pale, palette.hot, Math.sqrt(Math.abs(Number(value)) / Number(this.flat.shown)));
    switch (this.state.color) {
      case "file":
        return file ? data.files[file - 1][1] : "#d8d8d8";
      case "self":
        // In a bottom-up tree, the total of a block is self of the function at the root.
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

  rootLabel(tree) {
    // A zoom into callers leaves only their samples in the row of the focus.
    const shown = this.state.zoomUp ? tree.total[0] : this.flat.shown;
    const focus = this.state.filters.find((filter) => filter.kind === "focus");
    const share = this.format.share(shown, this.whole);
    return `${focus ? "focus: callers above, callees below" : "all"} — ${this.format.value(shown)}${share && ` (${share})`}`;
  }

  /** The note on how a zoom into callers or callees narrows the other side. */
  narrowing() {
    const { state, trees, format } = this;
    const [down, up] = trees;
    const value = (state.zoomUp ? down : up).total[0];
    const name = this.data.short[state.zoom.at(-1)];
    const only = state.zoomUp ? `Callees: only samples called through ${name}` : `Callers: only samples that reach ${name}`;
    return `${only} (${format.value(value)}, ${format.share(value, this.edges.total)} of the focus)`;
  }

  /** The lines of a tooltip: name, place, package and numbers of a block. */
  describe({ layer, node }) {
    const { tree } = layer;
    const { data, format } = this;
    const id = tree.name[node];
    if (id < 0) return [this.rootLabel(tree)];
    const [pack, file, line] = data.facts[id];
    const value = (word, value) =>
      `${word} ${format.value(value)} ${format.share(value, this.whole)}` +
      (this.isFiltered ? ` of all, ${format.share(value, this.flat.shown)} of what is shown` : "");
    const inFile = file ? visible(data.files[file - 1][0]) + (line ? `:${line}` : "") : "";
    const [name, place] = data.split.get(id) ?? [data.full[id], inFile];
    const lines = [name];
    const owner = data.packages[pack][0];
    if (place) lines.push(place);
    if (owner && owner !== data.files[file - 1]?.[0]) lines.push(`package ${visible(owner)}`);
    if (tree.inlined[node]) lines.push("inlined");
    if (data.artefacts.some((artefact) => data.full[id] === artefact || data.full[id].startsWith(`${artefact} `))) lines.push("profiler artefact: its self belongs to the caller");
    if (tree.backward && !layer.isUp) {
      // The width is the part of the first function's self that was reached through these callers.
      const [first] = this.chain({ layer, node });
      lines.push(value(first === id && tree.depth[node] === 1 ? "self" : `self of ${data.labels[first][0]}`, tree.total[node]));
      if (tree.depth[node] === 1) lines.push(value("total", this.flat.total[id]));
    } else {
      lines.push(value("total", tree.total[node]));
      if (!layer.isUp) lines.push(value("self", tree.self[node]));
    }
    if (data.compared) lines.push(`${this.state.side === "old" ? "new" : "old"} ${format.value(tree.old[node])}, change ${format.signed(this.delta(tree, node))}`);
    return lines;
  }

  /** The ids of the names from the root of a block's layer to the block. */
  chain({ layer, node }) {
    const names = [];
    for (let at = node; at > 0; at = layer.tree.parent[at]) names.unshift(layer.tree.name[at]);
    return names;
  }

  zoomTo(block) {
    const zoom = this.chain(block);
    const isRoot = !block.layer.isUp && block.node === block.layer.first;
    // A click on the root resets the zoom and keeps the filters.
    if (isRoot) return this.state.zoom.length ? this.restore() : undefined;
    this.change({ zoom, zoomUp: Boolean(block.layer.isUp) }, true);
  }

  /** Resets the zoom, or removes the focus if there is no zoom. */
  restore() {
    if (this.state.zoom.length) return this.change({});
    const rest = this.state.filters.filter((filter) => filter.kind !== "focus");
    if (rest.length < this.state.filters.length) this.change({ filters: rest });
  }

  /** Shows what the graph omits, what its marks mean, and warnings. */
  showNotes() {
    const { data, state, format, flat } = this;
    const notes = [];
    const dropped = this.trees.reduce((sum, tree) => sum + tree.dropped, 0);
    if (flat.shown == 0) notes.push("no samples to show");
    if (this.found && !this.found.includes(1)) notes.push("no function matches the search (start it with (?i) to ignore case)");
    if (dropped) notes.push(`${dropped.toLocaleString("en-US")} block${dropped === 1 ? " is" : "s are"} too narrow to draw; zoom in to see ${dropped === 1 ? "it" : "them"}`);
    if (flat.noStack != 0) notes.push(`samples without a stack: ${format.value(flat.noStack)}, ${format.share(flat.noStack, this.whole)}`);
    if (data.compared && state.side !== "old") {
      const gone = this.table(true).filter((row) => row.total == 0 && row.other.total != 0);
      gone.sort((a, b) => Number(absolute(b.other.total)) - Number(absolute(a.other.total)) || a.id - b.id);
      if (gone.length) notes.push(`${gone.length} removed: ${gone.slice(0, 8).map((row) => data.short[row.id]).join(", ")}${gone.length > 8 ? " …" : ""}`);
    }
    if (this.trees.some((tree) => tree.inlined.includes(1))) notes.push("italic: inlined");
    notes.push(...data.warnings.map((warning) => `warning: ${warning}`));
    element("notes").textContent = notes.join(" · ");
    this.showLegend();
  }

  showLegend() {
    const { data, state } = this;
    const entries = [];
    const by = state.color;
    if (by === "delta") entries.push([data.palette.grew, "grew"], [data.palette.shrank, "shrank"], [data.palette.same, "unchanged"]);
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
        // Truncate at the start: paths of one program differ at their ends.
        entry.title = name;
        entry.append(swatch, make("span", name.length > 40 ? `…${name.slice(-39)}` : name));
        return entry;
      }),
    );
  }
}
