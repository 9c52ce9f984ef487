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

const code = document.getElementById("code");
// Not in a test that imports this module.
if (code) {
  inflate(code.textContent)
    .then((bytes) => {
      // The policy of the page names this script by its hash.
      const script = document.createElement("script");
      script.textContent = new TextDecoder().decode(bytes);
      document.body.append(script);
    })
    .catch(explain);
}
