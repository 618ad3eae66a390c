// Names the window after the run and its verdict, so that tabs can be told apart.

import { effect } from "@preact/signals";
import { overview, traces, verdict } from "../state/chosen";
import { viewed } from "../state/view";
import { traceName } from "../words/format";

const MARKS: Record<string, string> = { bad_values: "● ", unhealthy: "▲ ", clean: "✓ " };

/** Begins to name the window; returns a function that stops it. */
export function followTitle(): () => void {
  return effect(() => {
    const found = traces.value.data?.find((one) => one.id === viewed.trace.value);
    const mark = overview.value.data?.live ? "" : (MARKS[verdict.value.data?.verdict ?? ""] ?? "");
    document.title = found ? `${mark}${traceName(found.name)} – tdbg` : "tdbg";
  });
}
