// The table of functions.

class PageTable extends PageGraph {
  /** All rows of the table in order, without the limit on rows shown. `all` ignores the search. */
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
    if (this.isFiltered) columns.push(["", "% of shown"]);
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

  /** Lists the direct callers and callees of the focus, wherever on a stack they occur. */
  showEdges() {
    const { edges } = this;
    const box = element("edges");
    box.hidden = !edges;
    if (!edges) return box.replaceChildren();
    const marked = this.state.filters.filter((filter) => filter.kind === "focus").map((filter) => visible(filter.text));
    const focus = marked.join(", ");
    const tables = [
      this.edgeTable(`Callers of ${focus}`, edges.callers, [["(itself)", edges.itself], ["(root)", edges.root]]),
      this.edgeTable(`Callees of ${focus}`, edges.callees, [["(self)", edges.self], ["(itself)", edges.itself]]),
    ];
    const note = "rows overlap, because one sample can pass through several of them";
    box.replaceChildren(...tables, ...(edges.overlaps ? [make("p", note)] : []));
  }

  edgeTable(title, values, others) {
    const { data, format, edges } = this;
    const table = document.createElement("table");
    table.append(make("caption", title));
    const row = (value, name) => {
      const line = document.createElement("tr");
      line.append(make("td", format.value(value)), make("td", format.share(value, edges.total)), name);
      table.append(line);
    };
    const ids = Array.from(values.keys()).filter((id) => values[id] != 0);
    ids.sort((a, b) => (absolute(values[a]) < absolute(values[b]) ? 1 : absolute(values[a]) > absolute(values[b]) ? -1 : a - b));
    for (const id of ids.slice(0, EDGES_AT_ONCE)) row(values[id], this.nameCell(id));
    const rest = ids.slice(EDGES_AT_ONCE);
    const more = `… ${rest.length.toLocaleString("en-US")} more ${data.noun[rest.length === 1 ? 0 : 1]}`;
    if (rest.length) row(rest.reduce((sum, id) => sum + values[id], this.metric.zero), make("td", more));
    for (const [name, value] of others) if (value != 0) row(value, make("td", name));
    return table;
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
}
