
// Labels are short names, shortened in the middle; the tooltip keeps the full name.
function update_text_for_elements(elements) {
    const width = frames.attributes.width.value;
    const size = known_font_width || fontsize * fontwidth;
    const changes = Array.from(elements, (element) => {
        const rect = find_child(element, "rect").attributes;
        const room = Math.floor((parseFloat(rect.width.value) * width / 100 - 6) / size);
        const left = parseFloat(rect.x.value) + 300 / width;
        return [find_child(element, "text"), format_percent(left), fit(label_of(element), room)];
    });
    for (const [text, x, label] of changes) {
        text.setAttribute("x", x);
        text.textContent = label;
    }
}
function label_of(element) {
    return element.getAttribute("data-label") || g_to_func(element);
}
function fit(label, room) {
    if (label.length <= room) return label;
    // The file that tells functions of one name apart goes first: `emit events.js:113`.
    label = label.replace(/ \S+\.[A-Za-z0-9]+[:\d]*$/, "");
    if (label.length <= room) return label;
    if (room < 3) return "";
    const tail = room < 14 ? room - 1 : Math.floor((room - 1) / 2);
    return label.slice(0, room - 1 - tail) + "…" + label.slice(label.length - tail);
}
// The search looks at names, not at the numbers behind them.
function g_to_func(element) {
    return g_to_text(element).replace(/ \([^(]*\)$/, "");
}
// Around a function in focus blocks grow up and down from its row: a zoom is about one side of it.
const focus_row = () => Number(document.getElementById("frames").dataset.focus || 0);
const side_of = (element) => Math.sign(Number(find_child(element, "rect").getAttribute("y")) - focus_row());
const span_of = (element) => {
    const { attributes } = find_child(element, "rect");
    const left = parseInt(attributes["fg:x"].value);
    return [left, left + parseInt(attributes["fg:w"].value)];
};
const zoom_one_way = zoom;
zoom = function (node) {
    if (!focus_row()) return zoom_one_way(node);
    unzoom();
    const side = side_of(node);
    if (side === 0) return;
    unzoombtn.classList.remove("hide");
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
// The share that one side's blocks with the colour of the search take up.
function matched_share(side) {
    const found = Array.from(frames.children).filter((element) => {
        const isFound = find_child(element, "rect").attributes["fg:orig_fill"] !== undefined;
        return isFound && side_of(element) === side && !element.classList.contains("parent");
    });
    const spans = found.map(span_of).sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    let [sum, reached] = [0, 0];
    for (const [left, right] of spans) {
        sum += Math.max(0, right - Math.max(left, reached));
        reached = Math.max(reached, right);
    }
    return (100 * sum / total_samples).toFixed(1) + "%";
}
// What is no regular expression is searched for as it stands.
const search_pattern = search;
search = function (term) {
    try {
        new RegExp(term);
    } catch {
        term = term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    }
    search_pattern(term);
    if (focus_row() && searching) {
        matchedtxt.textContent = `Matched: callers ${matched_share(-1)}, callees ${matched_share(1)}`;
    }
};
window.addEventListener("keydown", (event) => {
    if (event.key === "Escape") unzoom();
});
