// Fetches the rows of a listing as they come into sight, page by page.

import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { fileOfTrace, getPage, ofTrace, type ApiError, type Query } from "../server/api";
import { numberAt, type Page } from "../server/column_page";
import { isJudged } from "../state/chosen";
import { grown } from "../state/live";
import { asApiError } from "../state/load";
import { view, viewed } from "../state/view";
import { pagesOf } from "./scroller";

export const PAGE = 200;
const MOST_PAGES = 60;
const MAP = 400; // parts of the listing that the minimap tells apart
const PAUSE = 40; // ms without a move before a page is asked for

/** The filter of the table, with the chosen step when only that is shown. */
const filter = computed(() => {
  const where = viewed.where.value.trim();
  return viewed.only.value && viewed.step.value !== null ? narrowed(where, `step == ${viewed.step.value}`) : where;
});

/** Writes a filter that asks for both. */
export function narrowed(where: string, also: string): string {
  return `${where ? `(${where}) and ` : ""}${also}`;
}

/** What the table is narrowed to, and its order. */
export const listing = computed((): Query<"tensors"> => {
  const made = /^(.*):(\d+)$/.exec(viewed.made.value);
  return {
    process: viewed.process.value,
    where: filter.value,
    sort: viewed.sort.value,
    desc: viewed.desc.value,
    execution: viewed.within.value,
    file: made?.[1],
    line: made ? Number(made[2]) : null,
  };
});

/** The rows of a listing, whatever of them is here. */
export class Rows {
  readonly total = signal(0);
  readonly error = signal<ApiError | null>(null);
  readonly version = signal(0); // rises with each page that comes
  readonly isLoading = signal(false);
  readonly isAnother = signal(false); // another listing is wanted, and its first page has not come yet
  readonly bad = signal<number[]>([]); // of equal parts of the listing: how many rows hold bad values
  private pages = new Map<number, Page>();
  private old = new Set<number>(); // pages of the trace as it was before it grew
  private state = "";
  private trace = "";
  private asked = new Set<number>();
  private timer = 0;
  private waiting: [number, number] = [0, 0];
  private round = 0;

  /** `listing` is made of signals; `hasMap`: whether it is told where in it bad rows are. */
  constructor(
    private readonly listing: () => Query<"tensors">,
    private readonly hasMap = false,
  ) {}

  /** Begins to follow the view; returns a function that stops it. */
  start(): () => void {
    return effect(() => {
      const state = JSON.stringify([this.listing(), viewed.trace.value]);
      void grown.value;
      if (this.hasMap) void isJudged.value; // the map leaves out what did no harm
      this.round++;
      this.asked.clear();
      // A trace that grew has the same rows and more: those that are here stay in sight until they come anew.
      if (state === this.state) this.old = new Set(this.pages.keys());
      else {
        this.pages.clear();
        this.isAnother.value = true;
        if (this.trace !== viewed.trace.value) {
          this.total.value = 0;
          this.bad.value = [];
        }
      }
      this.trace = viewed.trace.value;
      this.state = state;
      if (view.peek().trace) void this.fetch(0);
    });
  }

  /** Where a row is: its page and its place there; null while it is not here. */
  at(row: number): { page: Page; row: number } | null {
    const page = this.pages.get(Math.floor(row / PAGE));
    return page && row % PAGE < page.rows ? { page, row: row % PAGE } : null;
  }

  /** Says which rows are in sight. */
  want(first: number, rows: number): void {
    this.waiting = [first, rows];
    if (this.timer || pagesOf(first, rows, PAGE).every((page) => !this.isMissing(page))) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      for (const page of pagesOf(...this.waiting, PAGE)) {
        if (page * PAGE < this.total.peek() && this.isMissing(page)) void this.fetch(page);
      }
    }, PAUSE);
  }

  /** The place of an event in the listing; null when it is not listed. */
  async placeOf(seq: number): Promise<number | null> {
    const page = await getPage(this.address({ offset: 0, limit: 1, at: seq }));
    const at = page.header.at;
    return typeof at === "number" && at >= 0 ? at : null;
  }

  /** The first event of an execution, or of a step. */
  async firstOf(part: { execution: number } | { step: number }): Promise<number | null> {
    const which = "step" in part ? { where: `step == ${part.step}` } : part;
    const page = await getPage(this.address({ offset: 0, limit: 1, ...which, sort: null, desc: null }));
    return page.rows ? numberAt(page, "seq", 0) : null;
  }

  private isMissing(page: number): boolean {
    return (!this.pages.has(page) || this.old.has(page)) && !this.asked.has(page);
  }

  private address(more: Query<"tensors">): string {
    return ofTrace(view.peek().trace, "tensors", { ...untracked(this.listing), ...more, format: "columns" });
  }

  private async fetch(number: number): Promise<void> {
    const round = this.round;
    this.asked.add(number);
    this.isLoading.value = true;
    const wantsMap = this.hasMap && number === 0;
    const isSorted = !!untracked(this.listing).sort; // then where the bad ones stand takes longer than the first rows
    const map = wantsMap && !isSorted ? MAP : null;
    try {
      const page = await getPage(this.address({ offset: number * PAGE, limit: PAGE, map }));
      if (round !== this.round) return;
      this.keep(number, page);
      if (wantsMap && isSorted) void this.fetchMap(round);
    } catch (failure) {
      if (round !== this.round) return;
      this.fail(asApiError(failure));
    } finally {
      if (round === this.round) {
        this.asked.delete(number);
        this.isLoading.value = this.asked.size > 0;
      }
    }
  }

  private async fetchMap(round: number): Promise<void> {
    this.bad.value = [];
    const page = await getPage(this.address({ offset: 0, limit: 1, map: MAP })).catch(() => null);
    if (round === this.round && Array.isArray(page?.header.map)) this.bad.value = page.header.map as number[];
  }

  private keep(number: number, page: Page): void {
    this.pages.set(number, page);
    this.old.delete(number);
    for (const old of this.pages.keys()) {
      if (this.pages.size <= MOST_PAGES) break;
      this.pages.delete(old);
    }
    batch(() => {
      this.total.value = page.total;
      this.error.value = null;
      this.isAnother.value = false;
      if (Array.isArray(page.header.map)) this.bad.value = page.header.map as number[];
      this.version.value++;
    });
  }

  private fail(error: ApiError): void {
    if (error.status === 0 && this.pages.size) return; // the server is gone: what is here stays
    batch(() => {
      this.error.value = error;
      this.isAnother.value = false;
      if (untracked(this.listing).where) return; // the last good listing stays in sight while a filter is written
      this.total.value = 0;
      this.version.value++;
    });
  }
}

export const rows = new Rows(() => listing.value, true);

/** Addresses of the whole listing as a file. */
export function exportAddress(format: "csv" | "parquet"): string {
  const { process, where, execution, file, line } = listing.value;
  return fileOfTrace(viewed.trace.value, `tensors.${format}`, { process, where, execution, source: file, line });
}
