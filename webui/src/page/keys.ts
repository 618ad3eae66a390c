// Does what a key says. The help sheet and the palette list the same keys.

import { signal } from "@preact/signals";
import { BOXES, PANES } from "../panes/registry";
import { nextTheme } from "../state/settings";
import { stepBy } from "../state/stepping";
import { go, view } from "../state/view";

export const opened = signal<"" | "help" | "palette">("");

interface Key {
  keys: string[];
  meaning: string;
  act: () => void;
}

/** Moves the focus to the next or the previous pane, in the order of the page. */
function focusPane(by: number): void {
  const panes = BOXES.map(({ id }) => document.getElementById(`pane-${id}`)).filter((pane) => pane !== null);
  const at = panes.findIndex((pane) => pane.contains(document.activeElement));
  focusInto(panes[(at + by + panes.length) % panes.length] ?? null);
}

function focusInto(pane: HTMLElement | null): void {
  if (!pane) return;
  const main = pane.querySelector<HTMLElement>("[data-main]");
  (
    main ??
    pane.querySelector<HTMLElement>(".pane-body a, .pane-body button, .pane-body [tabindex='0']") ??
    pane
  ).focus();
}

function fill(): void {
  const pane = document.activeElement?.closest<HTMLElement>("[data-pane]")?.dataset.pane ?? "";
  go({ full: view.value.full ? "" : pane || "tensors" }, true);
}

export const KEYS: Key[] = [
  { keys: ["?"], meaning: "this help", act: () => (opened.value = "help") },
  {
    keys: ["Ctrl+K", "⌘K", ":"],
    meaning: "search ops, files and steps; run a shell command",
    act: () => (opened.value = "palette"),
  },
  {
    keys: ["v"],
    meaning: "go to where bad values began",
    act: () => document.querySelector<HTMLElement>(".verdict .said a")?.click(),
  },
  { keys: ["["], meaning: "one step back", act: () => stepBy(-1) },
  { keys: ["]"], meaning: "one step forward", act: () => stepBy(1) },
  { keys: ["/"], meaning: "filter the tensors", act: () => document.getElementById("filter")?.focus() },
  {
    keys: ["g"],
    meaning: "go to an event in the tensor table",
    act: () => document.getElementById("go-to-event")?.focus(),
  },
  { keys: ["n"], meaning: "go to the next pane", act: () => focusPane(1) },
  { keys: ["p"], meaning: "go to the previous pane", act: () => focusPane(-1) },
  ...BOXES.slice(0, 9).map(({ id, word }, at) => ({
    keys: [String(at + 1)],
    meaning: `go to the pane ${word}`,
    act: () => focusInto(document.getElementById(`pane-${id}`)),
  })),
  { keys: ["f"], meaning: "fill the window with this pane; again for all panes", act: fill },
  { keys: ["d"], meaning: "light or dark", act: nextTheme },
  { keys: ["Esc"], meaning: "close; back to all panes", act: () => go({ full: "" }, true) },
];

/** Keys that a list, a plot or a picture has while it holds the focus. */
export const LOCAL_KEYS: [string, string][] = [
  ...PANES.flatMap(({ word, keys }): [string, string][] => (keys ? [[word, keys]] : [])),
  ["borders between panes", "arrow keys resize"],
  ["tabs", "← →"],
];

function isTyping(target: EventTarget | null): boolean {
  const element = target instanceof HTMLElement ? target : null;
  return !!element && (element.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(element.tagName));
}

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented) return;
  const isPalette = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
  if (isPalette) {
    event.preventDefault();
    opened.value = opened.value === "palette" ? "" : "palette";
    return;
  }
  if (event.key === "Escape" && opened.value) {
    opened.value = "";
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") (event.target as HTMLElement).blur();
    return;
  }
  if (opened.value) return;
  const wanted = event.key === "Escape" ? "Esc" : event.key;
  const key = KEYS.find((one) => one.keys.includes(wanted));
  if (!key) return;
  event.preventDefault();
  key.act();
}

export function listenToKeys(): () => void {
  addEventListener("keydown", pressed);
  return () => removeEventListener("keydown", pressed);
}
