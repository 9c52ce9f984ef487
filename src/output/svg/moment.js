// Writes times in pictures. `unit::moment` does the same in Rust.

/** A moment with all its digits, as options for times take it: `2.31s`. */
function moment(ns) {
  const units = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];
  const [unit, factor] = units.find(([, factor]) => Math.abs(ns) >= factor || ns === 0) ?? ["ns", 1];
  return `${Number((ns / factor).toFixed(9))}${unit}`;
}
