// The run that is looked at and its verdict in; the title of the window out, which tells tabs apart.

import { effect } from "@preact/signals";
import { overview, traces, verdict } from "../state/chosen";
import { viewed } from "../state/view";

const MARKS: Record<string, string> = { bad_values: "● ", unhealthy: "▲ ", clean: "✓ " };

/** Begins to name the window; gives a function that ends that. */
export function followTitle(): () => void {
  return effect(() => {
    const found = traces.value.data?.find((one) => one.id === viewed.trace.value);
    const mark = overview.value.data?.live ? "" : (MARKS[verdict.value.data?.verdict ?? ""] ?? "");
    document.title = found ? `${mark}${found.name.replace(/\.tdbg$/, "")} – tdbg` : "tdbg";
  });
}
