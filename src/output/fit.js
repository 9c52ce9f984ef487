// Fits labels into blocks, in the page and in pictures. `BlockLabel::fit` does the same in Rust.

/** The number of columns of a text: most East Asian letters and emoji take two, combining marks take none. */
function columns(text) {
  if (/^[ -~]*$/.test(text)) return text.length;
  const isWide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
  let sum = 0;
  for (const letter of text) sum += /\p{Mn}/u.test(letter) ? 0 : isWide.test(letter) ? 2 : 1;
  return sum;
}

/** The longest beginning of a text that takes at most `room` columns. */
function beginning(text, room) {
  const letters = Array.from(text);
  while (letters.length > room || columns(letters.join("")) > room) letters.pop();
  return letters.join("");
}

/** The longest end of a text that takes at most `room` columns. */
function ending(text, room) {
  const letters = Array.from(text);
  const reversed = beginning(letters.reverse().join(""), room);
  return Array.from(reversed).reverse().join("");
}

/** The ends of a qualified name that are whole parts, the shortest first: `f`, `(*T).f`. Brackets are not split. */
function wholeParts(name) {
  const parts = [];
  let depth = 0;
  for (let at = name.length - 1; at >= 0; at--) {
    const letter = name[at];
    if (")]>}".includes(letter)) depth++;
    else if ("([<{".includes(letter)) depth = Math.max(0, depth - 1);
    else if (depth === 0 && ".:/#\\".includes(letter) && !(letter === ":" && name[at + 1] === ":")) parts.push(name.slice(at + 1));
  }
  return parts;
}

/**
 * Fits a label into `room` columns and keeps what tells the function apart. The place goes first. The colour of a block
 * stands for the package, so a qualified name keeps its last parts, or in a narrow block the beginning of the last one.
 */
function fitLabel([name, place], room) {
  const [WIDE, LEAST] = [14, 12];
  if (place && columns(name) + 1 + columns(place) <= room) return `${name} ${place}`;
  if (columns(name) <= room) return name;
  if (room < 3) return "";
  const parts = wholeParts(name);
  if (room < WIDE) {
    const last = parts.find((part) => part) ?? name;
    return columns(last) < room ? `…${last}` : `${beginning(last, room - 1)}…`;
  }
  const fitting = parts.filter((part) => columns(part) < room).pop() ?? "";
  if (columns(fitting) >= LEAST) return `…${fitting}`;
  const tail = Math.floor((room - 1) / 2);
  return `${beginning(name, room - 1 - tail)}…${ending(name, tail)}`;
}
