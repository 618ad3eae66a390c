// Server-sent events in; counts that rise when the trace on the page has grown, or when traces come and go, out.

import { signal } from "@preact/signals";
import { address } from "./api";
import { view } from "./view";

export const grown = signal(0);
export const listed = signal(0); // rises when traces come or go
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
    const { id } = JSON.parse(event.data) as { id: string };
    if (id === view.peek().trace && !timer) timer = window.setTimeout(tell, LEAST_PAUSE);
  };
  for (const name of ["grew", "ended"]) source.addEventListener(name, heard);
  source.addEventListener("traces", () => listed.value++);
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
