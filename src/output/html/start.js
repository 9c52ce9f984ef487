// Starts the page: unpacks the script and the data, which are compressed, and runs the script.

/** The script does not wait longer than this for the first picture, in milliseconds. */
const LONGEST_WAIT = 100;

/** Decodes base64 and inflates. A text may be cut into pieces. */
export async function inflate(...pieces) {
  const { readable, writable } = new DecompressionStream("deflate-raw");
  // Errors reach the reader.
  writeAll(writable.getWriter(), pieces).catch(() => {});
  const reader = readable.getReader();
  // Most data are less than twice as large as their text.
  let bytes = new Uint8Array(2 * pieces.reduce((sum, piece) => sum + piece.length, 0));
  let length = 0;
  // Twice as fast as `new Response(readable).arrayBuffer()`.
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    if (length + read.value.length > bytes.length) {
      const larger = new Uint8Array(2 * (length + read.value.length));
      larger.set(bytes.subarray(0, length));
      bytes = larger;
    }
    bytes.set(read.value, length);
    length += read.value.length;
  }
  return bytes.subarray(0, length);
}

async function writeAll(writer, pieces) {
  for (const piece of pieces) await writer.write(decode(piece));
  await writer.close();
}

/** Takes the text of an element out of the page. What is long goes on in comments, which browsers read faster. */
export function take(id) {
  const pieces = [];
  /** @type {Node | null} */
  let node = document.getElementById(id);
  do {
    // There are line ends between the comments.
    if (!(node instanceof Text)) pieces.push(node.textContent);
    node.textContent = "";
    node = node.nextSibling;
  } while (node instanceof Comment || node instanceof Text);
  return pieces.filter(Boolean);
}

/** Decodes base64. Not all browsers have a function for it that returns bytes. */
function decode(text) {
  const array = /** @type {any} */ (Uint8Array);
  if (array.fromBase64) return array.fromBase64(text);
  const coded = atob(text);
  const bytes = new Uint8Array(coded.length);
  for (let i = 0; i < coded.length; i++) bytes[i] = coded.charCodeAt(i);
  return bytes;
}

/** Says why the page stays as it is. */
export function explain(error) {
  const made = document.createElement("p");
  made.className = "error";
  made.textContent = `This page cannot be shown: ${error}`;
  document.body.prepend(made);
}

/** Adds a compressed style or script to the page. The policy of the page names both by their hashes. */
async function add(id, tag, properties = {}) {
  const made = Object.assign(document.createElement(tag), properties);
  made.textContent = new TextDecoder().decode(await inflate(document.getElementById(id).textContent));
  document.body.append(made);
}

/** When the browser has painted what is there already: the still picture. A page in the background is not painted. */
function painted() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, LONGEST_WAIT);
  });
}

// Not in a test that imports this module.
if (document.getElementById("code")) {
  painted()
    // The still picture keeps its own style until the page takes over.
    .then(() => add("style", "style", { id: "page-style", media: "not all" }))
    .then(() => add("code", "script"))
    .catch(explain);
}
