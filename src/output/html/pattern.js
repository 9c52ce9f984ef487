// Patterns that match names, as on the command line. Its regular expressions are those of Rust, which are translated;
// one that JavaScript cannot express is refused, because its numbers would differ.

/** A pattern that only the command line can evaluate. */
export class Unsupported extends Error {}

/** For each place, whether one of the filters matches it. A filter is an exact name or a pattern. */
export function matching(data, filters) {
  const { name } = data.places;
  const marks = new Uint8Array(name.length);
  for (const filter of filters) {
    for (const place of filter.exact ? placesNamed(data, filter.text) : placesMatching(data, filter.text)) marks[place] = 1;
  }
  return marks;
}

/** For each name, whether any of its places is marked. */
export function markedNames(data, marks) {
  const { name } = data.places;
  const names = new Uint8Array(data.count);
  for (let place = 0; place < marks.length; place++) names[name[place]] |= marks[place];
  return names;
}

/** The places of a name. */
function placesNamed(data, text) {
  const id = data.idOf(text);
  const found = [];
  const { name } = data.places;
  if (id >= 0) for (let place = name.indexOf(id); place >= 0; place = name.indexOf(id, place + 1)) found.push(place);
  return found;
}

/** The places of an exact name as the command line finds them: those of a name, else those of the functions that are called so. */
function placesCalled(data, text) {
  const { name, functionOf } = data.places;
  const found = placesNamed(data, text);
  return found.length ? found : [...name.keys()].filter((place) => functionOf(place) === text);
}

/** The places that a pattern matches. */
function placesMatching(data, text) {
  const [scope, body] = splitScope(text);
  if (scope === "exact") return placesCalled(data, body);
  if (data.sets.has(body)) return data.sets.get(body);
  const regex = parseRegex(body);
  const found = regex ? findPlaces(data, scope, regex, false) : [];
  // Match the text literally if it is not a valid regular expression, or matches nothing as one.
  return found.length ? found : findPlaces(data, scope, literalRegex(body), true);
}

/** Whether a pattern matches a text that is not a name, such as a thread. */
export function textMatcher(pattern) {
  const [scope, body] = splitScope(pattern);
  if (scope === "exact") return (texts) => texts.map((text) => text === body);
  const regexes = [parseRegex(body), literalRegex(body)].filter(Boolean);
  return (texts) => {
    if (scope && scope !== "function") return texts.map(() => false);
    const tried = regexes.map((regex) => texts.map((text) => regex.test(text)));
    return tried.find((found) => found.includes(true)) ?? texts.map(() => false);
  };
}

/** Why the page cannot evaluate a pattern, or an empty text if it can. */
export function whyUnsupported(pattern) {
  try {
    const [scope, body] = splitScope(pattern);
    if (scope !== "exact") parseRegex(body);
    return "";
  } catch (error) {
    return error.message;
  }
}

/**
 * Splits a pattern into scope and body. As on the command line, a prefix such as `file:` restricts what is matched, and
 * what follows `exact:` is a whole name.
 */
function splitScope(text) {
  const [, scope = "", body] = /^(?:(function|file|mapping|package|exact):(?!:|\/\/))?([^]*)$/.exec(text);
  return [scope, body];
}

/** JavaScript has no flags inside expressions. The command line has: `(?i)` at the start ignores case. */
function splitFlags(text) {
  const [, flags = "", body] = /^(?:\(\?([ims]+)\))?([^]*)$/.exec(text);
  return [flags, body];
}

/**
 * A pattern as a regular expression, in which `…` matches anything, or null if it is not a valid one. Throws
 * `Unsupported` where it is valid, but not in JavaScript.
 */
export function parseRegex(text) {
  const [flags, body] = splitFlags(text);
  const translated = new Translation(body.replaceAll("…", ".*"), flags).run();
  if (!translated) return null;
  try {
    return new RegExp(translated.source, `v${flags.includes("i") ? "i" : ""}`);
  } catch {
    if (translated.isRisky) throw new Unsupported("this regular expression works only on the command line");
    return null;
  }
}

const WORD = String.raw`\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}`;
/** Classes that JavaScript limits to ASCII. */
const CLASSES = {
  d: String.raw`\p{Nd}`,
  D: String.raw`\P{Nd}`,
  s: String.raw`\p{White_Space}`,
  S: String.raw`\P{White_Space}`,
  w: `[${WORD}]`,
  W: `[^${WORD}]`,
};
const POSIX = {
  alpha: "A-Za-z", digit: "0-9", alnum: "A-Za-z0-9", upper: "A-Z", lower: "a-z", word: "A-Za-z0-9_", xdigit: "0-9A-Fa-f",
  space: String.raw`\t\n\v\f\r\x20`, blank: String.raw`\t\x20`, punct: String.raw`!-\/:-@\[-\x60\{-~`, ascii: String.raw`\x00-\x7f`,
  cntrl: String.raw`\x00-\x1f\x7f`, graph: "!-~", print: String.raw`\x20-~`,
};
const SYNTAX = /[\^$\\.*+?()[\]{}|/]/;
const CLASS_SYNTAX = /[()[\]{}/\-\\|&!#%,:;<=>@`~]/;

/** Translates a regular expression from the syntax of Rust to that of JavaScript. */
class Translation {
  constructor(text, flags) {
    this.letters = Array.from(text);
    this.at = 0;
    this.any = flags.includes("s") ? "[^]" : String.raw`[^\n]`;
    this.isMultiline = flags.includes("m");
    /** Whether JavaScript may reject what Rust accepts. */
    this.isRisky = false;
  }

  /** The translation, or null if Rust rejects the expression. */
  run() {
    let source = "";
    while (this.at < this.letters.length) {
      const part = this.next();
      if (part === null) return null;
      source += part;
    }
    return { source, isRisky: this.isRisky };
  }

  starts(text) {
    return this.letters.slice(this.at, this.at + text.length).join("") === text;
  }

  unsupported(what) {
    throw new Unsupported(`${what} works only on the command line`);
  }

  next() {
    const letter = this.letters[this.at++];
    if (letter === "\\") return this.escape(false);
    if (letter === ".") return this.any;
    if (letter === "[") return this.charClass();
    if (letter === "(") return this.group();
    if (letter === "^") return this.isMultiline ? String.raw`(?<=\n|(?<![^]))` : "^";
    if (letter === "$") return this.isMultiline ? String.raw`(?=\n|(?![^]))` : "$";
    if (letter === "]" || letter === "}") return `\\${letter}`;
    if (letter === "{") return this.repetition();
    if ("*+?".includes(letter) && "*+".includes(this.letters[this.at] ?? " ")) this.isRisky = true;
    return letter;
  }

  repetition() {
    const rest = this.letters.slice(this.at).join("");
    const [whole] = /^\d+(,\d*)?\}/.exec(rest) ?? [];
    if (!whole) return /^,\d+\}|^\s/.test(rest) ? this.unsupported("`{,n}`") : null;
    this.at += whole.length;
    return `{${whole}`;
  }

  group() {
    if (this.letters[this.at] !== "?") return "(";
    if (/^\?(<?[=!])/.test(this.letters.slice(this.at, this.at + 3).join(""))) return null;
    if (this.starts("?P<")) this.at += 2;
    else if (this.starts("?<")) this.at += 1;
    else if (this.starts("?:")) return (this.at += 2), "(?:";
    else this.unsupported("a flag within a regular expression");
    return "(?";
  }

  escape(isInClass) {
    const letter = this.letters[this.at++];
    if (letter === undefined) return null;
    if (Object.hasOwn(CLASSES, letter)) return CLASSES[letter];
    if (letter === "p" || letter === "P") return this.property(letter);
    if (letter === "x" || letter === "u" || letter === "U") return this.code(letter);
    if ("nrtfv".includes(letter)) return `\\${letter}`;
    if (letter === "a") return String.raw`\x07`;
    if (!isInClass && (letter === "<" || letter === ">" || ("bB".includes(letter) && this.letters[this.at] === "{"))) this.unsupported("the start or end of a word");
    if (!isInClass) {
      const inside = `(?<=[${WORD}])`;
      const [before, after] = [`(?<![${WORD}])`, `(?![${WORD}])`];
      const follows = `(?=[${WORD}])`;
      const places = { A: "(?<![^])", z: "(?![^])", b: `(?:${inside}${after}|${before}${follows})`, B: `(?:${inside}${follows}|${before}${after})` };
      if (Object.hasOwn(places, letter)) return places[letter];
    }
    if (/[A-Za-z0-9]/.test(letter)) return null;
    return (isInClass ? CLASS_SYNTAX : SYNTAX).test(letter) ? `\\${letter}` : letter;
  }

  /** `\pL` and `\p{Greek}`. */
  property(letter) {
    this.isRisky = true;
    if (this.letters[this.at] !== "{") return `\\${letter}{${this.letters[this.at++]}}`;
    const end = this.letters.indexOf("}", this.at);
    if (end < 0) return null;
    const name = this.letters.slice(this.at + 1, end).join("");
    this.at = end + 1;
    return `\\${letter}{${name}}`;
  }

  /** `\x41`, `\x{41}`, `A`, `\U00000041`. */
  code(letter) {
    const rest = this.letters.slice(this.at, this.at + 12).join("");
    const digits = { x: 2, u: 4, U: 8 }[letter];
    const [whole, braced, plain] = new RegExp(`^(?:\\{([0-9A-Fa-f]+)\\}|([0-9A-Fa-f]{${digits}}))`).exec(rest) ?? [];
    if (whole === undefined) return null;
    this.at += whole.length;
    return `\\u{${braced ?? plain}}`;
  }

  charClass() {
    let source = "[";
    if (this.letters[this.at] === "^") source += this.letters[this.at++];
    for (let isFirst = true; ; isFirst = false) {
      const letter = this.letters[this.at++];
      if (letter === undefined) return null;
      if (letter === "]" && !isFirst) return `${source}]`;
      const part = this.classPart(letter, isFirst);
      if (part === null) return null;
      source += part;
    }
  }

  classPart(letter, isFirst) {
    if (letter === "\\") return this.escape(true);
    const after = this.letters[this.at];
    if ((letter === "&" || letter === "~" || letter === "-") && after === letter) this.unsupported("the intersection of sets of letters");
    if (letter === "[") {
      const [whole, not, name] = /^:(\^?)([a-z]+):\]/.exec(this.letters.slice(this.at).join("")) ?? [];
      if (whole === undefined) return this.charClass();
      if (!Object.hasOwn(POSIX, name)) return null;
      this.at += whole.length;
      return `[${not}${POSIX[name]}]`;
    }
    // A hyphen between two letters is a range; at an edge it stands for itself.
    if (letter === "-") return isFirst || after === "]" ? "\\-" : "-";
    return CLASS_SYNTAX.test(letter) ? `\\${letter}` : letter;
  }
}

const escapeRegex = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** A regular expression that matches a text literally, except that `…` and its ASCII form `..` match anything. */
function literalRegex(text) {
  const [flags, body] = splitFlags(text);
  const source = (text) => text.replaceAll("..", "…").split("…").map(escapeRegex).join(".*");
  // The flat view appends to a name the number of files that define it.
  const [, name] = /^([^]*) \([0-9]+ files\)$/.exec(body) ?? [];
  return new RegExp(name === undefined ? source(body) : `${source(body)}|${source(name)}$`, `u${flags.includes("i") ? "i" : ""}`);
}

/** The pattern of a search: it ignores case unless it has a capital letter. */
export function searchPattern(query) {
  const [scope, body] = splitScope(query);
  if (scope === "exact" || /\p{Lu}/u.test(body) || body.startsWith("(?") || body.startsWith("@")) return query;
  return `${scope && `${scope}:`}(?i)${isRegex(body) ? body : escapeRegex(body)}`;
}

function isRegex(text) {
  try {
    return parseRegex(text) !== null;
  } catch {
    return false;
  }
}

/**
 * The pattern of the command line that matches only the function with this name. `^NAME$` would also match those whose
 * short name it is. After `exact:`, a name such as `:main` would look like the name `exact::main`.
 */
export const exactPattern = (name) => (/^(:|\/\/|$)/.test(name) ? wholePattern(name) : `exact:${name}`);

/** The pattern of the command line that matches the whole name of a package: there, an ellipsis would stand for any text. */
export const wholePattern = (name) => `^${escapeRegex(name).replaceAll("…", "\\x{2026}")}$`;

/** The places that an expression matches. */
function findPlaces(data, scope, regex, isLiteral) {
  const { name, functionOf, shortOf, file, files, mapping, mappings, package: owner, packages } = data.places;
  const is = (text) => text !== "" && regex.test(text);
  const [isFile, isMapping, isPackage] = [files.map(is), mappings.map(is), packages.map(is)];
  // Most names are written in one way only, which is then tried once.
  const isFunction = (place) => {
    const own = functionOf(place);
    // Functions without a name are searched too: `^$` matches them.
    if (regex.test(own)) return true;
    const id = name[place];
    // Names can be typed as they are displayed, place included: `pay file:///srv/app.mjs:52:19`.
    const isOther = (text) => text !== own && is(text);
    if (isOther(data.name(id)) || isOther(shortOf(place))) return true;
    return isLiteral && (isOther(data.short(id)) || isOther(data.full(id)) || isOther(data.label(id).join(" ")));
  };
  const tests = {
    function: isFunction,
    file: (place) => isFile[file[place]],
    mapping: (place) => isMapping[mapping[place]],
    package: (place) => isPackage[owner[place]],
  };
  const any = (place) => isFunction(place) || isFile[file[place]] || isMapping[mapping[place]];
  const test = tests[scope] ?? any;
  const found = [];
  for (let place = 0; place < name.length; place++) if (test(place)) found.push(place);
  return found;
}
