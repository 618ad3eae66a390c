// Holds the one selection that moves every pane. It lives in the URL's hash, so links, back and forward reproduce it.

import { computed, effect, signal } from "@preact/signals";

export interface View {
  trace: string;
  process: number | null; // null: the one that the server takes for the first
  step: number | null;
  execution: number | null; // of Python: an eager op or the call of a function
  seq: number | null; // one tensor as it was once
  op: number | null; // looked at without any tensor of it
  slot: number;
  file: string;
  line: number | null;
  slice: string; // of the tensor's value
  element: string; // of that slice: ROW,COLUMN
  where: string; // filter of the table
  made: string; // the table has the rows of this place of the program only: FILE:LINE
  within: number | null; // ... or of this execution only
  sort: string;
  desc: boolean;
  group: string; // what the rows of the table are grouped by: step, run, layer or phase; "" is not at all
  open: string; // keys of the groups that are unfolded, separated by |
  only: boolean; // the table has the rows of the chosen step only
  from: number | null; // the steps that the timeline shows
  to: number | null;
  scale: string; // of the loss: log or linear; "" is what suits it
  origin: number; // which of the places where bad values began the headline tells of
  alert: string; // kind of alerts that are listed
  scope: string; // of the whole graph; "" is its top
  graph: number | null;
  colour: string; // of the whole graph
  centre: string; // which pane is in front in the middle ...
  side: string; // ... and on the right ...
  structure: string; // ... and how the graph is drawn
  form: string; // how a tensor's value is shown
  statistic: string; // which number the history plot shows ...
  log: boolean; // ... on a logarithmic axis
  plotted: string; // further outputs in the history plot: process:op:slot, separated by commas
  other: string; // the trace to compare with
  full: string; // the pane that fills the window
}

export const START: View = {
  trace: "",
  process: null,
  step: null,
  execution: null,
  seq: null,
  op: null,
  slot: 0,
  file: "",
  line: null,
  slice: "",
  element: "",
  where: "",
  made: "",
  within: null,
  sort: "",
  desc: false,
  group: "",
  open: "",
  only: false,
  from: null,
  to: null,
  scale: "",
  origin: 0,
  alert: "",
  scope: "",
  graph: null,
  colour: "health",
  centre: "source",
  side: "tensor",
  structure: "near",
  form: "picture",
  statistic: "mean",
  log: false,
  plotted: "",
  other: "",
  full: "",
};

type Name = keyof View;
const NUMBERS: ReadonlySet<Name> = new Set<Name>([
  "process",
  "step",
  "execution",
  "seq",
  "op",
  "slot",
  "line",
  "graph",
  "from",
  "to",
  "within",
  "origin",
]);
const TRUTHS: ReadonlySet<Name> = new Set<Name>(["desc", "only", "log"]);

/** Writes only what differs from the start, so that links stay short. */
export function toHash(view: View): string {
  const words = new URLSearchParams();
  for (const name of Object.keys(START) as Name[]) {
    const value = view[name];
    if (value !== START[name] && value !== null) words.set(name, TRUTHS.has(name) ? "1" : String(value));
  }
  return `#${words}`;
}

/** Reads a hash; what it does not say, or says wrongly, is as at the start. */
export function fromHash(hash: string): View {
  const view: Record<string, unknown> = { ...START };
  for (const [name, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (!Object.hasOwn(START, name)) continue;
    if (TRUTHS.has(name as Name)) view[name] = text === "1";
    else if (!NUMBERS.has(name as Name)) view[name] = text;
    else if (/^-?\d{1,15}$/.test(text)) view[name] = Number(text);
  }
  return view as unknown as View;
}

export const view = signal<View>(START);

/** One member of the view: whoever reads it is told of its changes only. */
export const viewed = Object.fromEntries(
  Object.keys(START).map((name) => [name, computed(() => view.value[name as Name])]),
) as unknown as { [K in Name]: { readonly value: View[K] } };

/** Goes to another view. Moves that follow each other closely (dragging, typing) replace the last entry of history. */
export function go(changes: Partial<View>, replaces = false): void {
  const next = { ...view.value, ...changes };
  const hash = toHash(next);
  if (hash === toHash(view.value)) return;
  view.value = next;
  if (replaces) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
}

/** What changes when something else is chosen to look at: the rest of the old choice is not carried along. */
export const NOTHING: Partial<View> = {
  execution: null,
  seq: null,
  op: null,
  slot: 0,
  file: "",
  line: null,
  slice: "",
  element: "",
};

export function hashOf(changes: Partial<View>): string {
  return toHash({ ...view.value, ...changes });
}

/** What is remembered of the view in a frame, whose own address does not outlive a reload of the page around it. */
const KEY = "tdbg.view";

/** Follows the address bar; returns a function that stops it. */
export function followUrl(): () => void {
  const isFramed = window.parent !== window;
  if (isFramed && !location.hash) restore();
  const read = () => {
    view.value = fromHash(location.hash);
  };
  const end = isFramed ? effect(() => remember(toHash(view.value))) : () => undefined;
  read();
  addEventListener("popstate", read);
  addEventListener("hashchange", read);
  return () => {
    end();
    removeEventListener("popstate", read);
    removeEventListener("hashchange", read);
  };
}

function restore(): void {
  try {
    const hash = sessionStorage.getItem(KEY);
    if (hash) history.replaceState(null, "", hash);
  } catch {
    // Storage is off: the page begins at its beginning.
  }
}

function remember(hash: string): void {
  try {
    sessionStorage.setItem(KEY, hash);
  } catch {
    // The page works without memory.
  }
}
