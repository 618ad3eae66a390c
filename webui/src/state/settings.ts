// Remembers between visits the sizes and folds of panes, light or dark. All of it may be missing.

import { effect, signal, type Signal } from "@preact/signals";

/** A signal that is kept in local storage, where there is one. */
function remembered<Value>(name: string, start: Value): Signal<Value> {
  const key = `tdbg.${name}`;
  let first = start;
  try {
    const text = localStorage.getItem(key);
    if (text !== null) first = JSON.parse(text) as Value;
  } catch {
    // Storage is off, or holds something else: start afresh.
  }
  const found = signal(first);
  effect(() => {
    const text = JSON.stringify(found.value);
    try {
      localStorage.setItem(key, text);
    } catch {
      // The page works without memory.
    }
  });
  return found;
}

type Theme = "auto" | "light" | "dark";

export const theme = remembered<Theme>("theme", "auto");
export const sizes = remembered<Record<string, number>>("sizes", {});
export const folded = remembered<Record<string, boolean>>("folded", {});
export const showsLibraries = remembered("library-frames", false);

/** Puts the theme on the page; returns a function that stops it. */
export function followTheme(): () => void {
  return effect(() => {
    document.documentElement.dataset.theme = theme.value;
  });
}

export function nextTheme(): void {
  const isDark = theme.value === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : theme.value === "dark";
  theme.value = isDark ? "light" : "dark";
}

export function toggleFold(pane: string): void {
  folded.value = { ...folded.value, [pane]: !folded.value[pane] };
}
