// Loads what is at an address that may change: a signal with the last answer, an error or "not yet", which panes show.

import { effect, signal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ApiError, getJson, traceOf, type Address } from "../server/api";
import { grown } from "./live";

export interface Loaded<Answer> {
  data: Answer | null; // of the address before, while the next is awaited; never of another trace
  error: ApiError | null;
  isLoading: boolean;
  url: string;
}

interface Load<Answer> {
  found: ReadonlySignal<Loaded<Answer>>;
  start: () => () => void; // gives a function that ends it
}

const NOTHING = { data: null, error: null, isLoading: false, url: "" };
const KEPT = 60;
const kept = new Map<string, unknown>();

/** Asks again when the address, which is made of signals, changes, or when the trace has grown; "" asks nothing.
 * `state` is whatever else the answer depends on. */
export function load<Answer>(url: () => Address<Answer>, state: () => unknown = () => ""): Load<Answer> {
  const found = signal<Loaded<Answer>>(NOTHING);
  const start = () =>
    effect(() => {
      const address = url();
      const key = `${grown.value} ${state()} ${address}`;
      if (!address) {
        found.value = NOTHING;
        return;
      }
      if (kept.has(key)) {
        found.value = { data: kept.get(key) as Answer, error: null, isLoading: false, url: address };
        return;
      }
      const abort = new AbortController();
      const before = found.peek();
      const stays = traceOf(before.url) === traceOf(address);
      found.value = stays ? { ...before, isLoading: true, error: null } : { ...NOTHING, isLoading: true };
      getJson<Answer>(address, abort.signal).then(
        (data) => {
          if (abort.signal.aborted) return;
          keep(key, data);
          found.value = { data, error: null, isLoading: false, url: address };
        },
        (error) => {
          if (abort.signal.aborted) return;
          const { data, url } = found.peek();
          const isGone = error instanceof ApiError && error.status === 0; // the banner says it, and it is asked again
          if (isGone && data !== null) found.value = { data, error: null, isLoading: true, url };
          else found.value = { data: null, error: asApiError(error), isLoading: false, url: address };
        },
      );
      return () => abort.abort();
    });
  return { found, start };
}

/** Loads for as long as a pane is on the page. */
export function useLoad<Answer>(url: () => Address<Answer>, state?: () => unknown): Loaded<Answer> {
  const { found, start } = useMemo(() => load<Answer>(url, state), []);
  useEffect(start, []);
  return found.value;
}

export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(String(error), "", -1);
}

function keep(key: string, data: unknown): void {
  kept.set(key, data);
  for (const old of kept.keys()) {
    if (kept.size <= KEPT) break;
    kept.delete(old);
  }
}
