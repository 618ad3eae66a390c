// Server-sent events in; a count that rises when the trace on the page has grown out.

import { signal } from "@preact/signals";
import { address } from "./api";
import { view } from "./view";

export const grown = signal(0);
export const isLive = signal(false);
const LEAST_PAUSE = 2000; // ms between two looks at a trace that grows

/** Listens until the function that it gives is called. */
export function listen(): () => void {
  const source = new EventSource(address("events"));
  let timer = 0;
  const tell = () => {
    timer = 0;
    grown.value++;
  };
  const heard = (event: MessageEvent<string>) => {
    let said: { trace?: string; id?: string; live?: boolean };
    try {
      said = JSON.parse(event.data);
    } catch {
      return;
    }
    const trace = said.trace ?? said.id ?? "";
    if (trace && trace !== view.peek().trace) return;
    isLive.value = event.type !== "ended";
    if (!timer) timer = window.setTimeout(tell, LEAST_PAUSE);
  };
  for (const name of ["message", "grew", "ended", "alerts"]) source.addEventListener(name, heard);
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
