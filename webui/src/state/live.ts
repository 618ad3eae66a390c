// Listens to the server's events, and counts how often the trace on the page grew and how often traces came or went.

import { signal } from "@preact/signals";
import { address, contact, getJson } from "../server/api";
import { view } from "./view";

export const grown = signal(0);
export const listed = signal(0); // rises when traces come or go
const LEAST_PAUSE = 2000; // ms between two looks at a trace that grows
const AGAIN = 2000; // ms before a server that refused is asked again

/** Listens until the function that it returns is called. When a lost server is there again, all is asked anew. */
export function listen(): () => void {
  let source: EventSource;
  let timer = 0;
  let again = 0;
  const tell = () => {
    timer = 0;
    grown.value++;
  };
  const heard = (event: MessageEvent<string>) => {
    const { id } = JSON.parse(event.data) as { id: string };
    if (id === view.peek().trace && !timer) timer = window.setTimeout(tell, LEAST_PAUSE);
  };
  const begin = () => {
    source = new EventSource(address("events"));
    for (const name of ["grew", "ended"]) source.addEventListener(name, heard);
    source.addEventListener("traces", () => listed.value++);
    source.addEventListener("open", () => {
      const isBack = contact.peek() !== "";
      contact.value = "";
      if (isBack) tell();
    });
    source.addEventListener("error", () => {
      if (source.readyState !== EventSource.CLOSED) return void (contact.value = "gone");
      // A browser tries again by itself when a connection ends, but not when it was refused; a question tells why.
      void getJson(address("link")).catch(() => undefined);
      again = window.setTimeout(begin, AGAIN);
    });
  };
  begin();
  return () => {
    clearTimeout(timer);
    clearTimeout(again);
    source.close();
  };
}
