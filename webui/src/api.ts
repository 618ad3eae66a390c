// Questions to tdbg's server in; its answers, or one error with the next step, out.

import { parsePage, type Page } from "./columns";

export class ApiError extends Error {
  constructor(
    message: string,
    readonly next: string,
    readonly status: number,
  ) {
    super(message);
  }
}

export type Query = Record<string, string | number | boolean | null | undefined | readonly string[]>;

// Relative to this file: the page may live below any path, as it does inside TensorBoard.
const BASE = new URL(/* @vite-ignore */ "./api/", import.meta.url);

export function address(path: string, query: Query = {}): string {
  const url = new URL(path, BASE);
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "" || value === false) continue;
    for (const one of Array.isArray(value) ? value : [value])
      url.searchParams.append(name, one === true ? "1" : String(one));
  }
  return url.href;
}

/** The address of something of one trace. */
export function ofTrace(trace: string, path: string, query: Query = {}): string {
  return address(`t/${encodeURIComponent(trace)}/${path}`, query);
}

// Answers that may take seconds on a large trace. A browser has six connections for a server, and one is for events: the
// slow questions get three, so that scrolling never waits for them.
const SLOW = /\/(verdict|alerts|loss|gradients|layers|lineage|diff)(\?|$)/;
const MOST_SLOW = 3;
const waiting: (() => void)[] = [];
let asked = 0;

export async function getJson<Answer>(url: string, signal?: AbortSignal): Promise<Answer> {
  if (!SLOW.test(url)) return (await ask(url, { signal })).json() as Promise<Answer>;
  if (asked >= MOST_SLOW) await new Promise<void>((next) => waiting.push(next));
  asked++;
  try {
    return (await (await ask(url, { signal })).json()) as Answer;
  } finally {
    asked--;
    waiting.shift()?.();
  }
}

export async function getPage(url: string, signal?: AbortSignal): Promise<Page> {
  return parsePage(await (await ask(url, { signal })).arrayBuffer());
}

export async function postJson<Answer>(url: string, body: unknown): Promise<Answer> {
  const headers = { "Content-Type": "application/json" };
  return (await ask(url, { method: "POST", headers, body: JSON.stringify(body) })).json() as Promise<Answer>;
}

async function ask(url: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { ...options, credentials: "same-origin" });
  } catch (failure) {
    if (failure instanceof DOMException && failure.name === "AbortError") throw failure;
    throw new ApiError("The server does not answer.", "Is tdbg serve still running? Start it again, then reload.", 0);
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  throw new ApiError(said.error ?? `The server answered ${response.status}.`, said.next ?? "", response.status);
}
