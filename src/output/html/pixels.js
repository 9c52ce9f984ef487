// Rectangles drawn into memory. Where there are tens of thousands of small ones, this is many times faster than drawing on a
// canvas, and takes as long as the pixels that they cover.

const FEW = 16;

export class Pixels {
  /** So many pixels, all transparent. `dense` is the number of pixels per unit of length. */
  constructor(wide, high, dense) {
    this.size = [wide, high, dense];
    this.image = new ImageData(Math.max(1, Math.round(wide * dense)), Math.max(1, Math.round(high * dense)));
    this.words = new Uint32Array(this.image.data.buffer);
    this.dense = dense;
  }

  has(...size) {
    return this.size.every((number, at) => number === size[at]);
  }

  clear() {
    this.words.fill(0);
  }

  /** A color of the form "#rrggbb" as one word. */
  color(text, opacity = 1) {
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
    return word(red, green, blue, Math.round(255 * opacity));
  }

  /** Fills a rectangle. It is at least one pixel wide and high; what is outside is cut. */
  fill(left, top, right, bottom, color) {
    const { width, height } = this.image;
    const [y, floor] = this.edges(top, bottom, height);
    const [x, end] = this.edges(left, right, width);
    for (let row = y * width; row < floor * width; row += width) this.fillWords(row + x, row + end, color);
  }

  /** Fills the uppermost pixels of a rectangle that lies in a row of others. */
  fillTop(left, top, right, bottom, color) {
    const { width, height } = this.image;
    const [y, floor] = this.edges(top, bottom, height);
    const [x, end] = this.edges(left, right, width);
    if (y < floor) this.fillWords(y * width + x, y * width + end, color);
  }

  /** Makes the uppermost pixels of a row of rectangles as high as they are. */
  extend(top, bottom) {
    const { width, height } = this.image;
    const [y, floor] = this.edges(top, bottom, height);
    for (let row = y + 1; row < floor; row++) this.words.copyWithin(row * width, y * width, (y + 1) * width);
  }

  /** The first pixel of a stretch and the one after its last, of so many; equal if it is outside. */
  edges(from, to, count) {
    const start = Math.max(0, Math.round(from * this.dense));
    if (start >= count || to < 0) return [0, 0];
    return [start, Math.min(count, Math.max(start + 1, Math.round(to * this.dense)))];
  }

  fillWords(from, to, color) {
    // For a few pixels, a call takes longer than filling them.
    if (to - from > FEW) this.words.fill(color, from, to);
    else for (let at = from; at < to; at++) this.words[at] = color;
  }
}

/** Bytes of an image in the order red, green, blue, opacity as a word of this machine. */
function word(...bytes) {
  return new Uint32Array(new Uint8Array(bytes).buffer)[0];
}
