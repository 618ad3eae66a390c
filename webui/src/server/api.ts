// Asks tdbg's server. What goes wrong is one error that says what to do next.

import { signal } from "@preact/signals";
import type { ShellLine } from "./answers";
import { parsePage, type Page } from "./column_page";
import type { Questions } from "./questions";
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

/** An address, with the type of the answer that is there. */
export type Address<Answer> = string & { readonly answer?: Answer };

/** What may be asked of one trace, by what stands behind its id. */
export type OfTrace = {
  [Path in keyof Questions as Path extends `t/{trace}/${infer Rest}` ? Rest : never]: Questions[Path];
};

type Answered<Question> = Question extends { answer: infer Answer } ? Answer : never;
type OrLeftOut<Query> = { [Name in keyof Query]: undefined extends Query[Name] ? Query[Name] | null : Query[Name] };

/** What may stand behind the question mark; what is null, empty or false is left out. */
export type Query<Path extends keyof OfTrace> = OrLeftOut<OfTrace[Path]["query"]>;
export type Needed<Query> = {} extends Query ? [query?: Query] : [query: Query];

// Relative to this file: the page may live below any path, as it does inside TensorBoard.
const BASE = new URL(/* @vite-ignore */ "./api/", import.meta.url);

function addressOf(path: string, query: object = {}): string {
  const url = new URL(path, BASE);
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "" || value === false) continue;
    for (const one of Array.isArray(value) ? value : [value])
      url.searchParams.append(name, one === true ? "1" : String(one));
  }
  return url.href;
}

export function address<Path extends keyof Questions>(path: Path): Address<Answered<Questions[Path]>> {
  return addressOf(path);
}

/** The address of something of one trace. */
export function ofTrace<Path extends keyof OfTrace>(
  trace: string,
  path: Path,
  ...[query]: Needed<Query<Path>>
): Address<Answered<OfTrace[Path]>> {
  return addressOf(`t/${encodeURIComponent(trace)}/${path}`, query);
}

/** The address of a table of one trace as a file. */
export function fileOfTrace(
  trace: string,
  file: `${string}.${"csv" | "parquet"}`,
  query: Query<"export/{file}"> = {},
): string {
  return addressOf(`t/${encodeURIComponent(trace)}/export/${file}`, query);
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

export async function getJson<Answer>(url: Address<Answer>, signal?: AbortSignal): Promise<Answer> {
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

export async function postJson<Answer>(url: Address<Answer>, body: ShellLine): Promise<Answer> {
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
