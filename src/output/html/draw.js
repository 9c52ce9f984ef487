// Draws trees as rows of blocks. The canvas is only as large as the visible part of the graph.

const ROW = 18;

/** Mixes two colours of the form "#rrggbb". */
function mix(from, to, part) {
  const channel = (at) => {
    const [a, b] = [from, to].map((color) => parseInt(color.slice(at, at + 2), 16));
    return Math.round(a + (b - a) * Math.min(1, Math.max(0, part)));
  };
  return `rgb(${channel(1)},${channel(3)},${channel(5)})`;
}

class Graph {
  constructor(canvas, scroller, spacer) {
    Object.assign(this, { canvas, scroller, spacer, rows: [], layers: [], cursor: null });
    this.context = canvas.getContext("2d");
    scroller.addEventListener("scroll", () => this.later());
  }

  /** Schedules one redraw for the next animation frame, however often it is called. */
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  /**
   * Shows layers. A layer has a tree, the row of the tree's node 0, and the direction in which it grows
   * (1 for down, -1 for up). `look` returns the colour, the label and the marks of a block.
   */
  show(layers, look) {
    this.look = look;
    this.layers = layers;
    this.rows = [];
    for (const layer of layers) {
      const { depth } = layer.tree;
      for (let node = layer.first; node < depth.length; node++) {
        const row = layer.row + layer.step * depth[node];
        (this.rows[row] ??= []).push({ layer, node });
      }
    }
    this.spacer.style.height = `${Math.max(this.rows.length * ROW, 1)}px`;
    this.later();
  }

  get width() {
    return this.scroller.clientWidth;
  }

  /** The left edge and the width of a block, in pixels. */
  place({ layer, node }) {
    const { left, width, whole } = layer.tree;
    const scale = whole > 0 ? this.width / whole : 0;
    const chain = node <= layer.tree.zoomed;
    return chain ? [0, this.width] : [left[node] * scale, width[node] * scale];
  }

  draw() {
    const { canvas, context, scroller } = this;
    const [wide, high] = [scroller.clientWidth, scroller.clientHeight];
    const dense = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(wide * dense) || canvas.height !== Math.round(high * dense)) {
      canvas.width = Math.round(wide * dense);
      canvas.height = Math.round(high * dense);
      canvas.style.width = `${wide}px`;
      canvas.style.height = `${high}px`;
    }
    const style = getComputedStyle(canvas);
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.clearRect(0, 0, wide, high);
    context.textBaseline = "middle";
    const fonts = ["12px ui-monospace, Menlo, Consolas, monospace", "italic 12px ui-monospace, Menlo, Consolas, monospace"];
    context.font = fonts[0];
    this.letter = context.measureText("M").width;
    const first = Math.floor(scroller.scrollTop / ROW);
    const last = Math.min(this.rows.length - 1, Math.floor((scroller.scrollTop + high) / ROW));
    for (let row = first; row <= last; row++) {
      const y = row * ROW - scroller.scrollTop;
      for (const block of this.rows[row] ?? []) {
        const [x, width] = this.place(block);
        const look = this.look(block);
        context.globalAlpha = look.muted ? 0.5 : 1;
        context.fillStyle = look.color;
        context.fillRect(x, y, Math.max(width - (width > 2 ? 1 : 0), 0.4), ROW - 1);
        const room = Math.floor((width - 7) / this.letter);
        if (room < 3) continue;
        const label = fitLabel(look.label, room);
        context.globalAlpha = 1;
        context.fillStyle = "#111";
        context.font = fonts[look.slanted ? 1 : 0];
        context.fillText(label, x + 3, y + ROW / 2, width - 6);
      }
    }
    context.globalAlpha = 1;
    if (this.cursor && this.canvas.matches(":focus-visible")) this.outline(style.color);
    this.drawn?.();
  }

  outline(color) {
    const [x, width] = this.place(this.cursor);
    const y = this.rowOf(this.cursor) * ROW - this.scroller.scrollTop;
    this.context.strokeStyle = color;
    this.context.lineWidth = 2;
    this.context.strokeRect(x + 1, y + 1, Math.max(width - 2, 1), ROW - 2);
  }

  rowOf({ layer, node }) {
    return layer.row + layer.step * layer.tree.depth[node];
  }

  /** The block at a position on the canvas, or null. */
  at(x, y) {
    const row = this.rows[Math.floor((y + this.scroller.scrollTop) / ROW)] ?? [];
    let [low, high] = [0, row.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const [left, width] = this.place(row[middle]);
      if (x < left) high = middle - 1;
      else if (x >= left + width) low = middle + 1;
      else return row[middle];
    }
    return null;
  }

  /** Moves the cursor along its row, or to the block in the row above or below that overlaps it most. */
  move(across, down) {
    const cursor = this.cursor ?? { layer: this.layers[0], node: this.layers[0].first };
    const row = this.rowOf(cursor);
    const [left, width] = this.place(cursor);
    let next = null;
    if (across) {
      const blocks = this.rows[row];
      const index = blocks.findIndex((block) => block.layer === cursor.layer && block.node === cursor.node);
      next = blocks[index + across];
    } else {
      const overlap = (block) => {
        const [x, w] = this.place(block);
        return Math.min(x + w, left + width) - Math.max(x, left);
      };
      const blocks = (this.rows[row + down] ?? []).filter((block) => overlap(block) > 0);
      next = blocks.sort((a, b) => overlap(b) - overlap(a))[0];
    }
    this.cursor = next ?? cursor;
    this.reveal(this.rowOf(this.cursor));
    this.later();
    return this.cursor;
  }

  reveal(row) {
    const { scroller } = this;
    const top = row * ROW;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    if (top + ROW > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + ROW - scroller.clientHeight;
  }
}
