// Gives the page's colours as canvases and saved pictures need them: rgb() texts for the names of CSS variables.

import { computed, signal } from "@preact/signals";
import { theme } from "../state/settings";

const isDark = matchMedia("(prefers-color-scheme: dark)");
const system = signal(isDark.matches);
isDark.addEventListener("change", () => (system.value = isDark.matches));

/** Changes when light becomes dark: whoever draws reads it. */
export const scheme = computed(() => (theme.value === "auto" ? (system.value ? "dark" : "light") : theme.value));

let kept: { scheme: string; found: Map<string, string> } = { scheme: "", found: new Map() };

/** The colour that a variable, such as "--nan", has now. */
export function colour(variable: string): string {
  if (kept.scheme !== scheme.value) kept = { scheme: scheme.value, found: new Map() };
  const known = kept.found.get(variable);
  if (known) return known;
  const probe = document.createElement("i");
  probe.style.color = `var(${variable})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  kept.found.set(variable, found);
  return found;
}

/** Mixes two colours; a share of 0 is the first. */
export function between(first: string, second: string, share: number): string {
  const [a, b] = [rgb(first), rgb(second)];
  return `rgb(${a.map((part, at) => Math.round(part + (b[at]! - part) * share)).join(",")})`;
}

export function rgb(text: string): number[] {
  return (text.match(/[\d.]+/g) ?? ["0", "0", "0"]).slice(0, 3).map(Number);
}

/** For series that mean nothing by themselves; each also has its own dash. */
export const SERIES = ["--series-1", "--series-2", "--series-3", "--series-4", "--series-5", "--series-6"];
export const DASHES = ["", "5 2", "2 2", "7 2 2 2", "1 3", "9 3"];
