// Starts the page: unpacks the script and the data, which are compressed, and runs the script.

/** The script does not wait longer than this for the first picture, in milliseconds. */
const LONGEST_WAIT = 100;

/** Decodes base64 and inflates. */
export async function inflate(text) {
  const { readable, writable } = new DecompressionStream("deflate-raw");
  const writer = writable.getWriter();
  // Errors reach the reader.
  writer.write(decode(text)).catch(() => {});
  writer.close().catch(() => {});
  return new Uint8Array(await new Response(readable).arrayBuffer());
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
