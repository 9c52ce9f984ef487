
// These functions replace or wrap those of inferno's script, which runs first.

// Labels are short names, truncated in the middle; the tooltip has the full name.
function update_text_for_elements(elements) {
    const width = frames.attributes.width.value;
    const size = known_font_width || fontsize * fontwidth;
    const changes = Array.from(elements, (element) => {
        const rect = find_child(element, "rect");
        const pixels = parseFloat(rect.getAttribute("width")) * width / 100;
        const label = fit(label_of(element), element.getAttribute("data-place"), Math.floor((pixels - 6) / size));
        const left = parseFloat(rect.getAttribute("x")) + 300 / width;
        return { rect, gap: pixels >= 3, text: find_child(element, "text"), x: format_percent(left), label };
    });
    for (const { rect, gap, text, x, label } of changes) {
        rect.classList.toggle("gap", gap);
        text.setAttribute("x", x);
        text.textContent = label;
    }
}
function label_of(element) {
    return element.getAttribute("data-label") || g_to_func(element);
}
function fit(label, place, room) {
    // Where there is no space for both, drop the place that distinguishes anonymous functions:
    // `(anonymous) events.js:113`.
    if (place && label.length + 1 + place.length <= room) return `${label} ${place}`;
    if (label.length <= room) return label;
    if (room < 3) return "";
    // The colour stands for the package, so the end of a qualified name says more. Other names keep their beginning.
    if (room < 14 && !/[.:/]/.test(label)) return label.slice(0, room - 1) + "…";
    const tail = room < 14 ? room - 1 : Math.floor((room - 1) / 2);
    return label.slice(0, room - 1 - tail) + "…" + label.slice(label.length - tail);
}
// The search matches the name only, without the numbers that follow it in the title.
function g_to_func(element) {
    return g_to_text(element).replace(/ \([^(]*\)$/, "");
}
// With a focus, callers grow upwards and callees downwards from its row. The picture has no stacks,
// so a zoom into one side cannot narrow the other to the same samples. The row of the focus says so.
const focus_row = () => Number(document.getElementById("frames").dataset.focus || 0);
const side_of = (element) => Math.sign(Number(find_child(element, "rect").getAttribute("y")) - focus_row());
const span_of = (element) => {
    const { attributes } = find_child(element, "rect");
    const left = parseInt(attributes["fg:x"].value);
    return [left, left + parseInt(attributes["fg:w"].value)];
};
const focus_block = () => Array.from(frames.children).find((element) => side_of(element) === 0);
const reset_zoom = unzoom;
unzoom = function () {
    if (focus_row()) focus_block().removeAttribute("data-label");
    reset_zoom();
};
const zoom_one_way = zoom;
zoom = function (node) {
    if (!focus_row()) return zoom_one_way(node);
    unzoom();
    const side = side_of(node);
    if (side === 0) return;
    unzoombtn.classList.remove("hide");
    const [zoomed, other] = side < 0 ? ["callers", "callees"] : ["callees", "callers"];
    focus_block().setAttribute("data-label", `zoomed into ${zoomed} only; ${other} still show the whole focus`);
    const [left, right] = span_of(node);
    const distance = (element) => Math.abs(Number(find_child(element, "rect").getAttribute("y")) - focus_row());
    for (const element of frames.children) {
        if (side_of(element) !== side) continue;
        const [from, to] = span_of(element);
        if (distance(element) >= distance(node)) {
            if (from >= left && from < right) zoom_child(element, left, right - left);
            else element.classList.add("hide");
        } else if (from <= left && to >= right) {
            element.classList.add("parent");
            zoom_parent(element);
        } else element.classList.add("hide");
    }
    update_text_for_elements(frames.children);
};
const is_found = (element) => find_child(element, "rect").attributes["fg:orig_fill"] !== undefined;
// The share of the width that matching blocks cover on one side, as text.
function matched_share(side) {
    const found = Array.from(frames.children).filter((element) => {
        return is_found(element) && side_of(element) === side && !element.classList.contains("parent");
    });
    const spans = found.map(span_of).sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    let [sum, reached] = [0, 0];
    for (const [left, right] of spans) {
        sum += Math.max(0, right - Math.max(left, reached));
        reached = Math.max(reached, right);
    }
    return (100 * sum / total_samples).toFixed(1) + "%";
}
// A term that is not a valid regular expression is matched literally.
const search_pattern = search;
search = function (term) {
    try {
        new RegExp(term);
    } catch {
        term = term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    }
    search_pattern(term);
    for (const element of frames.children) element.classList.toggle("dim", Boolean(searching) && !is_found(element));
    if (focus_row() && searching) {
        matchedtxt.textContent = `Matched: callers ${matched_share(-1)}, callees ${matched_share(1)}`;
    }
};
const reset_search_colors = reset_search;
reset_search = function () {
    reset_search_colors();
    for (const element of frames.children) element.classList.remove("dim");
};
window.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    unzoom();
    // Remove the zoom from the address, and keep the search.
    const { x, y, ...rest } = get_params();
    if (x !== undefined) history.replaceState(null, null, parse_params(rest));
});
// In print, scale the picture to the page instead of the window.
window.addEventListener("beforeprint", () => {
    const { width, height } = svg;
    if (fluiddrawing) svg.setAttribute("viewBox", `0 0 ${width.baseVal.value} ${height.baseVal.value}`);
});
window.addEventListener("afterprint", () => {
    if (fluiddrawing) svg.removeAttribute("viewBox");
});
