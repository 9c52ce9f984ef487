// The colours of blocks, in the light and the dark theme. Own code has the colours that pack.rs writes.

/** Colours that do not depend on the profile. */
const FIXED = {
  light: {
    paper: "#ffffff", ink: "#16191d", faint: "#65707c", root: "#e4e7eb", hit: "#ffd83d", hitInk: "#16191d", dim: 0.32,
    pale: "#fdf3d7", hot: "#f08a5d", same: "#e2e7ed", grew: "#fbe0cb", added: "#e8893f", inherited: "#f3b98c", shrank: "#dbe9f7", taken: "#3a7fc4", unknown: "#d5d9de",
  },
  dark: {
    paper: "#14171b", ink: "#f2f4f7", faint: "#919ba7", root: "#2a2f36", hit: "#ffd83d", hitInk: "#16191d", dim: 0.45,
    pale: "#3a3326", hot: "#a8441c", same: "#2b3138", grew: "#4d3320", added: "#ad5714", inherited: "#84481b", shrank: "#213852", taken: "#6fa8e0", unknown: "#353b43",
  },
};

/** Mixes two colours of the form "#rrggbb". */
export function mix(from, to, part) {
  const channel = (at) => {
    const [a, b] = [from, to].map((color) => parseInt(color.slice(at, at + 2), 16));
    return Math.round(a + (b - a) * Math.min(1, Math.max(0, part))).toString(16).padStart(2, "0");
  };
  return `#${channel(1)}${channel(3)}${channel(5)}`;
}

export class Theme {
  constructor(data) {
    this.data = data;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    // Each block asks, and the browser would look for changes of the style each time.
    this.isSystemDark = dark.matches;
    dark.addEventListener("change", () => (this.isSystemDark = dark.matches));
  }
  get isDark() {
    // Each block asks, and `dataset` is slow.
    const chosen = document.documentElement.getAttribute("data-theme");
    return chosen ? chosen === "dark" : this.isSystemDark;
  }
  get fixed() {
    return FIXED[this.isDark ? "dark" : "light"];
  }
  /** The colour of the group with this rank. */
  rank(rank) {
    const { own } = this.isDark ? this.data.dark : this.data.light;
    return own[Math.min(rank, own.length - 1)];
  }
  /** The colour of a group of functions. */
  group(index) {
    const palette = this.isDark ? this.data.dark : this.data.light;
    const { tier } = this.data.groups[index];
    return tier === "own" ? this.rank(index) : palette[tier];
  }
  /** The colour of a share, from pale to strong. The square root makes small shares distinguishable. */
  share(part) {
    return mix(this.fixed.pale, this.fixed.hot, Math.sqrt(Math.abs(part)));
  }
}
