// Fits the names of functions into blocks.
//
// The colour of a block says whose code it is, so a label first drops the package, then the type. A name that still
// does not fit is written smaller, and in the end cut behind its first letters.

const SIZES = [11, 10, 9];
/** From this width on, a label starts five pixels from the edge instead of three. */
const WIDE = 72;
const NARROWEST_LABEL = 14;
/** The edges of a name in small letters: left and right, where a gap separates the next block. */
const SMALL_EDGES = [2.5, 2];
const CUT_SIZE = 10;
const FEWEST_LETTERS = 3;
/** Labels fade less than their blocks, so that they stay readable. */
export const FAINTEST_LABEL = 0.7;
/** Parts that say nothing without the part before them. */
const ANONYMOUS = /^(func\d+(\.\d+)*|\d+|<lambda>|<genexpr>|<listcomp>|\{?\{?closure(#\d+)?\}?\}?|\{\{?[^}]*\}\}?|\(anonymous\)|λ|lambda|call|invoke|operator\(\))$/;

/** The starts of the parts of a qualified name, which dots, colons and slashes separate. Brackets are not split. */
function starts(name) {
  const found = [];
  let depth = 0;
  for (let at = name.length - 1; at >= 0; at--) {
    const letter = name[at];
    if (")]>}".includes(letter)) depth++;
    else if ("([<{".includes(letter)) depth = Math.max(0, depth - 1);
    else if (depth === 0 && ".:/#\\".includes(letter) && at + 1 < name.length && !".:/#\\".includes(name[at + 1])) found.unshift(at + 1);
  }
  return [0, ...found];
}

/**
 * What follows the name of a function for code in it that has no name of its own.
 * @type {[RegExp, string][]}
 */
const NAMELESS = [
  [/\.<listcomp>$/, "[…]"],
  [/\.<genexpr>$/, "(…)"],
  [/\.<(set|dict)comp>$/, "{…}"],
  [/\.<lambda>$/, " λ"],
  [/::\{\{?closure(#\d+|\.\d+)?\}?\}$/, " {…}"],
];

/** Removes what no reader needs: hashes, counters of lambdas, `<locals>`. */
function plain(name) {
  return name
    .replace(/::h[0-9a-f]{16}$/, "")
    .replace(/lambda\$(\w+)\$\d+/, "λ $1")
    .replace(/\$\$Lambda[$/][\w+/.]*/, "$λ")
    .replaceAll("<locals>.", "");
}

/** The texts that can stand for a name, the longest first. The last one is the identifier. */
export function forms(name) {
  const text = plain(name);
  const at = starts(text);
  const part = (index) => text.slice(at[index], at[index + 1] ?? text.length).replace(/[.:/#\\]+$/, "");
  let last = at.length - 1;
  while (last > 0 && ANONYMOUS.test(part(last))) last--;
  const texts = [text];
  for (let index = 1; index <= last; index++) {
    // Go writes a receiver in brackets, `(*Ledger).Place`, which are not needed without the package.
    const receiver = /^\(\*?(.*)\)$/.exec(part(index));
    const rest = text.slice(at[index]);
    texts.push(receiver ? receiver[1] + rest.slice(part(index).length) : rest);
  }
  // Arguments and type parameters go last.
  const bare = /^[^(<[{]*[\w$](?=[(<[{])/.exec(texts.at(-1));
  if (bare) texts.push(bare[0]);
  const identifier = texts.at(-1);
  for (const [part, sign] of NAMELESS) if (part.test(identifier)) texts.push(identifier.replace(part, sign));
  return texts;
}

/** What names are written with. */
const SAMPLE = "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Measures texts. Widths are cached, because measuring takes longer than drawing. */
export class Ruler {
  constructor(context) {
    this.context = context;
    this.widths = new Map();
    this.scales = new Map();
  }
  /** The width at 12 pixels. */
  width(text) {
    let width = this.widths.get(text);
    if (width === undefined) {
      this.context.font = font(12, false);
      this.context.letterSpacing = "0px";
      width = this.context.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }
  /** How wide letters of this size are, compared with those of 12 pixels. WebKit rounds their widths up, so small ones are wider than their size says. */
  scale(size) {
    if (!this.scales.has(size)) {
      const at12 = this.width(SAMPLE);
      this.context.font = font(size, false);
      this.scales.set(size, Math.max(size / 12, this.context.measureText(SAMPLE).width / at12));
    }
    return this.scales.get(size);
  }
  /** The width at a smaller size, which is set with less space between letters. */
  small(text, size) {
    return this.width(text) * this.scale(size) + spacing(size) * text.length;
  }
}

/** The space between the letters of a label of this size, in pixels. */
const spacing = (size) => (size < 11 ? -0.25 : 0);
export const letterSpacing = (size) => `${spacing(size)}px`;

export const font = (size, isSlanted) => `${isSlanted ? "italic " : ""}${size}px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;

/**
 * Fits a label into a block of this width. Returns the text, its size and its distance from the left edge, or null if
 * nothing fits. `label` has the forms of the name, and a place that is added if there is space.
 */
export function fitLabel(label, width, ruler) {
  if (width < NARROWEST_LABEL) return null;
  const { texts, place } = label;
  const [left, room] = width >= WIDE ? [5, width - 9] : [3, width - 5.5];
  if (place && ruler.width(`${texts[0]} ${place}`) <= room) return { text: `${texts[0]} ${place}`, size: 12, left };
  for (const text of texts) if (ruler.width(text) <= room) return { text, size: 12, left };
  const identifier = texts.at(-1);
  const [start, end] = SMALL_EDGES;
  const rest = width - start - end;
  for (const size of SIZES) if (ruler.small(identifier, size) <= rest) return { text: identifier, size, left: start };
  const text = cut(identifier, rest, ruler);
  return text && { text, size: CUT_SIZE, left: start };
}

/** Cuts the end of a name, so that at least three letters are left. */
function cut(name, room, ruler) {
  const letters = Array.from(name);
  let [low, high] = [FEWEST_LETTERS - 1, letters.length];
  const beginning = (count) => letters.slice(0, count).join("").replace(/[.(:\s]+$/, "");
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (ruler.small(`${beginning(middle)}…`, CUT_SIZE) <= room) low = middle;
    else high = middle;
  }
  return low < FEWEST_LETTERS ? null : `${beginning(low)}…`;
}
