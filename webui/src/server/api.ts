// Questions to tdbg's server in; its answers, or one error with the next step, out.

import { signal } from "@preact/signals";
import { parsePage, type Page } from "./column_page";
import { Turns } from "./turns";

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

/** The trace that an address is of; "" for what is of none. */
export function traceOf(url: string): string {
  return /\/t\/([^/]+)\//.exec(url.slice(BASE.href.length - 1))?.[1] ?? "";
}

/** Where the page itself lies. */
export const HOME = new URL("..", BASE).href;

/** How the server answered when it was asked last: not at all, not this page any more, or well. */
export const contact = signal<"gone" | "refused" | "">("");

const turns = new Turns();

export async function getJson<Answer>(url: string, signal?: AbortSignal): Promise<Answer> {
  return inTurn(url, async () => (await ask(url, { signal })).json() as Promise<Answer>);
}

export async function getPage(url: string, signal?: AbortSignal): Promise<Page> {
  return inTurn(url, async () => parsePage(await (await ask(url, { signal })).arrayBuffer()));
}

async function inTurn<Answer>(url: string, get: () => Promise<Answer>): Promise<Answer> {
  const done = await turns.of(url);
  try {
    return await get();
  } finally {
    done();
  }
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
    contact.value = "gone";
    throw new ApiError("The server does not answer.", "Start tdbg serve again, and the page reconnects by itself.", 0);
  }
  if (response.status === 403) contact.value = "refused";
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  throw new ApiError(said.error ?? `The server answered ${response.status}.`, said.next ?? "", response.status);
}
