// Starts the page: unpacks the script and the data, which are compressed, and runs the script.

/** Decodes base64 and inflates. */
export async function inflate(text) {
  const coded = atob(text);
  const packed = new Uint8Array(coded.length);
  for (let i = 0; i < coded.length; i++) packed[i] = coded.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Says why the page stays as it is. */
export function explain(error) {
  const made = document.createElement("p");
  made.className = "error";
  made.textContent = `This page cannot be shown: ${error}`;
  document.body.prepend(made);
}

/** Adds a compressed style or script to the page. The policy of the page names both by their hashes. */
async function add(id, tag) {
  const made = document.createElement(tag);
  made.textContent = new TextDecoder().decode(await inflate(document.getElementById(id).textContent));
  document.body.append(made);
}

// Not in a test that imports this module.
if (document.getElementById("code")) {
  add("style", "style")
    .then(() => add("code", "script"))
    .catch(explain);
}
