
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
    if (room < 3) return "";
    const tail = room < 14 ? room - 1 : Math.floor((room - 1) / 2);
    return label.slice(0, room - 1 - tail) + "…" + label.slice(label.length - tail);
}
// The search looks at names, not at the numbers behind them.
function g_to_func(element) {
    return g_to_text(element).replace(/ \([^(]*\)$/, "");
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
};
window.addEventListener("keydown", (event) => {
    if (event.key === "Escape") unzoom();
});
