// Fits labels into the blocks of pictures. `BlockLabel::fit` does the same in Rust.

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

/** Whether a part of a name says something without the parts before it, unlike `func1`, `2`, `{{closure}}`, `part.0` and `0.cold`. */
const saysSomething = (part) =>
  !/^([(<{][^]*[)>}]|(func)?[0-9.]*|(((isra|part|constprop|llvm|lto_priv)\.)?[0-9]+|cold|localalias)(\.(((isra|part|constprop|llvm|lto_priv)\.)?[0-9]+|cold|localalias))*)$/.test(part);

/** `(*Decoder).Decode` becomes `Decoder.Decode`: the brackets of a receiver in Go are not needed without the package. */
const withoutReceiver = (part) => part.replace(/^\(\**([^)]*)\)\./, "$1.");

/**
 * Fits a label into `room` columns. The place goes first. The colour of a block stands for the package, so a qualified name
 * loses its first parts. What is left at last, the identifier, is cut at its end.
 */
function fitLabel([name, place], room) {
  const SHORTEST = 3;
  if (place && columns(name) + 1 + columns(place) <= room) return `${name} ${place}`;
  if (columns(name) <= room) return name;
  if (room <= SHORTEST) return "";
  const forms = wholeParts(name).filter(saysSomething).map(withoutReceiver);
  const longest = forms.filter((form) => columns(form) <= room).pop();
  if (longest) return longest;
  const cut = beginning(forms[0] ?? name, room - 1).replace(/[.:(]+$/, "");
  return columns(cut) < SHORTEST ? "" : `${cut}…`;
}
