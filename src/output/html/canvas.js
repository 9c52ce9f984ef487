// Draws trees as rows of blocks. The canvas is only as large as the visible part of the graph.

import { FAINTEST_LABEL, Ruler, fitLabel, font, letterSpacing } from "./label.js";

/** The height of a row. Fingers need more than a pointer. */
export const ROW = globalThis.matchMedia?.("(max-width: 640px)").matches ? 24 : 20;
/** A zoom takes this long, in milliseconds. */
const GLIDE = 120;

export class Canvas {
  constructor(canvas, scroller, spacer) {
    this.canvas = canvas;
    this.scroller = scroller;
    this.spacer = spacer;
    this.rows = [];
    this.layers = [];
    this.cursor = null;
    this.twin = -1;
    /** The zoom that is under way: where it started. */
    this.glided = null;
    /** The width while it draws, else 0. */
    this.drawnWidth = 0;
    this.context = canvas.getContext("2d");
    this.ruler = new Ruler(this.context);
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
   * (1 for down, -1 for up). `look` returns the colour, the label and the marks of a block; `ink` the
   * colours of texts and outlines.
   */
  show(layers, look, ink) {
    this.look = look;
    this.ink = ink;
    this.layers = layers;
    this.rows = [];
    for (const layer of layers) {
      const { row: rows, folded } = layer.tree;
      for (let node = layer.first; node < rows.length; node++) {
        if (folded[node]) continue;
        const row = layer.row + layer.step * rows[node];
        (this.rows[row] ??= []).push({ layer, node });
      }
    }
    this.spacer.style.height = `${Math.max(this.rows.length * ROW, 1)}px`;
    this.later();
  }

  get width() {
    // Each block asks while it is drawn.
    return this.drawnWidth || this.scroller.clientWidth;
  }

  /** The left edge and the width of a block, in pixels. */
  place({ layer, node }) {
    const { left, width, whole, span = whole } = layer.tree;
    const scale = span > 0 ? this.width / span : 0;
    const chain = node <= layer.tree.zoomed;
    return chain ? [0, whole * scale] : [left[node] * scale, width[node] * scale];
  }

  /** The place of the block at the end of a chain of names, or null. */
  placeOf(names, isUp) {
    const layer = this.layers.find((layer) => Boolean(layer.isUp) === isUp);
    let node = layer ? 0 : -1;
    for (const name of names) {
      const above = node;
      if (above >= 0) node = layer.tree.name.findIndex((other, at) => other === name && at > above && layer.tree.parent[at] === above);
    }
    return node < 0 ? null : this.place({ layer, node });
  }

  /** Draws the next frames as a movement: what is at `x` now was at `x * scale + shift`. */
  glide(scale, shift) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.glided = { scale, shift, start: performance.now() };
    this.later();
  }

  /** Where a block is drawn: at its place, or on the way to it. */
  drawnAt(block) {
    const [x, width] = this.place(block);
    const { glided } = this;
    if (!glided || block.node < block.layer.tree.zoomed) return [x, width];
    const { scale, shift, left } = glided;
    return [x + left * (x * scale + shift - x), width + left * (width * scale - width)];
  }

  draw() {
    if (this.glided) {
      this.glided.left = Math.max(0, 1 - (performance.now() - this.glided.start) / GLIDE) ** 2;
      if (this.glided.left === 0) this.glided = null;
      else this.later();
    }
    const { canvas, context, scroller } = this;
    const [wide, high] = [scroller.clientWidth, scroller.clientHeight];
    this.drawnWidth = wide;
    const dense = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(wide * dense) || canvas.height !== Math.round(high * dense)) {
      canvas.width = Math.round(wide * dense);
      canvas.height = Math.round(high * dense);
      canvas.style.width = `${wide}px`;
      canvas.style.height = `${high}px`;
    }
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.clearRect(0, 0, wide, high);
    context.textBaseline = "middle";
    const first = Math.floor(scroller.scrollTop / ROW);
    const last = Math.min(this.rows.length - 1, Math.floor((scroller.scrollTop + high) / ROW));
    for (let row = first; row <= last; row++) {
      for (const block of this.rows[row] ?? []) this.drawBlock(block, row * ROW - scroller.scrollTop);
    }
    context.globalAlpha = 1;
    const hasFocus = canvas.matches(":focus-visible");
    if (this.cursor && (hasFocus || !this.isWhole(this.cursor))) this.outline(this.cursor, hasFocus ? 2 : 1.5);
    this.drawnWidth = 0;
  }

  /**
   * The rectangles of a block: left edge, width, colour. In a comparison, what was added is filled from the right; what was
   * taken away is hollow, with a dashed outline.
   */
  parts(look, x, width) {
    const drawn = Math.max(width - (width > 3 ? 1 : 0), 0.4);
    const parts = [[x, drawn * (look.kept ?? 1), look.color]];
    if (look.added) parts.push([x + drawn * (1 - look.added), drawn * look.added, this.ink[look.isFaint ? "inherited" : "added"]]);
    return { parts, drawn, isDashed: look.isTaken && width > 4 };
  }

  drawBlock(block, y) {
    const { context } = this;
    const [x, width] = this.drawnAt(block);
    const look = this.look(block);
    const { parts, drawn, isDashed } = this.parts(look, x, width);
    context.globalAlpha = look.alpha;
    for (const [left, wide, color] of parts) {
      context.fillStyle = color;
      context.fillRect(left, y, wide, ROW - 1);
    }
    if (isDashed) {
      context.setLineDash([3, 2]);
      context.lineWidth = 1;
      context.strokeStyle = this.ink.taken;
      context.strokeRect(x + 0.5, y + 0.5, drawn - 1, ROW - 2);
      context.setLineDash([]);
    }
    if (this.twin >= 0 && look.ids.includes(this.twin) && width > 2) this.outline(block, 1);
    const label = fitLabel(look.label, width, this.ruler);
    if (!label) return;
    context.globalAlpha = Math.max(look.alpha, FAINTEST_LABEL);
    context.fillStyle = look.isHit ? this.ink.hitInk : this.ink.ink;
    context.font = font(label.size, look.isSlanted);
    context.letterSpacing = letterSpacing(label.size);
    context.fillText(label.text, x + label.left, y + ROW / 2);
  }

  /** Whether a block is the root, which needs no frame to be found. */
  isWhole({ layer, node }) {
    return layer.tree.name[node] < 0;
  }

  outline(block, thickness) {
    const [x, width] = this.drawnAt(block);
    const y = this.rowOf(block) * ROW - this.scroller.scrollTop;
    this.context.globalAlpha = 1;
    this.context.strokeStyle = this.ink.ink;
    this.context.lineWidth = thickness;
    const inset = thickness / 2;
    this.context.strokeRect(x + inset, y + inset, Math.max(width - thickness - 1, 1), ROW - 1 - thickness);
  }

  rowOf({ layer, node }) {
    return layer.row + layer.step * layer.tree.row[node];
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

  /** The widest block for which `test` holds, or null. */
  widest(test) {
    let found = null;
    for (const block of this.rows.flat()) {
      if (test(block) && (!found || this.place(block)[1] > this.place(found)[1])) found = block;
    }
    return found;
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
    this.setCursor(next ?? cursor);
    return this.cursor;
  }

  setCursor(block) {
    this.cursor = block;
    this.reveal(this.rowOf(block));
    this.later();
  }

  reveal(row) {
    const { scroller } = this;
    const top = row * ROW;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    if (top + ROW > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + ROW - scroller.clientHeight;
  }

  /** The blocks as an SVG: of all rows, or of at most so many around the selected one. */
  svg(title, most = Infinity) {
    const count = Math.min(most, this.rows.length);
    const first = Math.max(0, Math.min(this.rows.length - count, this.cursor ? this.rowOf(this.cursor) - (count >> 1) : 0));
    const escape = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
    const shapes = [];
    const number = (value) => String(Math.round(value * 100) / 100);
    for (const block of this.rows.slice(first, first + count).flat()) {
      const [x, width] = this.place(block);
      const [y, look] = [(this.rowOf(block) - first) * ROW, this.look(block)];
      const label = fitLabel(look.label, width, this.ruler);
      const { parts, drawn, isDashed } = this.parts(look, x, width);
      const rect = (left, wide, paint) => `<rect x="${number(left)}" y="${y}" width="${number(wide)}" height="${ROW - 1}" ${paint}/>`;
      shapes.push(`<g><title>${escape(look.title())}</title><g opacity="${look.alpha}">`, ...parts.map(([left, wide, color]) => rect(left, wide, `fill="${color}"`)));
      if (isDashed) shapes.push(rect(x + 0.5, drawn - 1, `fill="none" stroke="${this.ink.taken}" stroke-dasharray="3 2"`));
      shapes.push("</g>");
      if (label) shapes.push(`<text x="${number(x + label.left)}" y="${y + 14}" font-size="${label.size}"${look.isHit ? ` fill="${this.ink.hitInk}"` : ""}>${escape(label.text)}</text>`);
      shapes.push("</g>");
    }
    const [width, height] = [this.width, count * ROW];
    const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
    const paper = `<rect width="100%" height="100%" fill="${this.ink.paper}"/>`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="system-ui, sans-serif" fill="${this.ink.ink}"><title>${escape(title)}</title>${paper}${shapes.join("")}</svg>\n`;
  }
}
