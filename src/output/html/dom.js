// Small helpers for the document.

/** The element with this ID. @type {(id: string) => any} */
export const element = (id) => document.getElementById(id);

/** Creates an element with text and properties. The text is never parsed as HTML. */
export function make(tag, text = "", properties = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  return Object.assign(made, properties);
}

/** A button that calls `act`. */
export function button(text, act, properties = {}) {
  const made = make("button", text, { type: "button", ...properties });
  made.addEventListener("click", act);
  return made;
}

/** A square of a colour. */
export function swatch(color) {
  const made = make("span", "", { className: "swatch" });
  made.style.background = color;
  return made;
}

/** Replaces the content of an element and keeps the focus on the control with the same `data-key`. */
export function fill(box, ...children) {
  /** @type {any} */
  const focused = document.activeElement;
  const { key } = (box.contains(focused) && focused.dataset) || {};
  box.replaceChildren(...children);
  if (key === undefined) return;
  const again = [...box.querySelectorAll("[data-key]")].find((control) => control.dataset.key === key);
  (again ?? box.querySelector("button, [tabindex]") ?? element("canvas")).focus({ preventScroll: true });
}

/** Offers a text or a picture as a file to save. */
export function save(name, blob) {
  const link = make("a", "", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
