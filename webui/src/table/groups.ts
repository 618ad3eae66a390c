// Fetches groups, and the rows of those that are unfolded, as they come into sight.

import { batch, computed, effect, signal } from "@preact/signals";
import type { Group, Groups } from "../server/answers";
import { getJson, ofTrace, type ApiError, type Query } from "../server/api";
import { isJudged } from "../state/chosen";
import { grown } from "../state/live";
import { asApiError } from "../state/load";
import { go, view, viewed } from "../state/view";
import { lineCount, lineOf, placeAt, type Unfolded } from "./grouping";
import { listing, narrowed, Rows } from "./rows";
import { pagesOf } from "./scroller";

const PAGE = 100;
const TRIES = 3;
const BETWEEN = "|";

/** The listing without its order, which is for the rows of a group. */
const grouped = computed((): Query<"groups"> => {
  const { sort, desc, ...which } = listing.value;
  return { ...which, by: viewed.group.value };
});

export const openKeys = computed(() => viewed.open.value.split(BETWEEN).filter(Boolean));

export function toggleGroup(key: string): void {
  const keys = openKeys.value;
  const next = keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key];
  go({ open: next.join(BETWEEN) }, true);
}

/** The listing of a group's rows. */
function within(key: string): Query<"tensors"> {
  const found = listing.value;
  const by = viewed.group.value;
  if (by === "step") return { ...found, step: Number(key) };
  if (by === "run") return { ...found, execution: Number(key) };
  if (by === "layer") return { ...found, layer: key };
  return { ...found, where: narrowed(String(found.where ?? ""), `phase == ${JSON.stringify(key)}`) };
}

class GroupedRows {
  readonly error = signal<ApiError | null>(null);
  readonly isAnother = signal(false); // others are wanted, and their first page has not come yet
  private readonly count = signal(0);
  private readonly known = signal<ReadonlyMap<number, Group>>(new Map()); // by place
  private readonly places = signal<ReadonlyMap<string, number>>(new Map()); // by key
  private readonly opened = new Map<string, { rows: Rows; end: () => void }>();
  private readonly asked = new Map<number, Promise<void>>(); // pages that come, or came
  private readonly sought = new Set<string>(); // keys of groups whose place was asked for
  private readonly fresh = new Set<number>(); // pages of the trace as it is now
  private state = "";
  private round = 0;

  /** Unfolded groups whose place is known, in order. */
  private readonly unfolded = computed((): (Unfolded & { key: string })[] =>
    openKeys.value
      .map((key) => ({ key, group: this.places.value.get(key) ?? -1 }))
      .filter((one) => one.group >= 0)
      .map((one) => ({ ...one, rows: this.known.value.get(one.group)?.rows ?? 0 }))
      .sort((a, b) => a.group - b.group),
  );

  readonly total = computed(() => lineCount(this.count.value, this.unfolded.value));

  /** Begins to follow the view; returns a function that stops it. */
  start(): () => void {
    const ends = [
      effect(() => {
        const state = JSON.stringify([grouped.value, viewed.trace.value]);
        void grown.value;
        void isJudged.value;
        if (!viewed.group.value || !viewed.trace.value) return;
        this.round++;
        this.asked.clear();
        this.sought.clear();
        this.fresh.clear();
        if (state !== this.state) {
          this.isAnother.value = true;
          this.known.value = new Map();
          this.places.value = new Map();
        }
        this.state = state;
        void this.fetch(0);
      }),
      effect(() => {
        const keys = viewed.group.value ? openKeys.value : [];
        for (const [key, { end }] of this.opened)
          if (!keys.includes(key)) {
            end();
            this.opened.delete(key);
          }
        for (const key of keys) {
          if (!this.places.value.has(key) && this.count.value && !this.sought.has(key)) {
            this.sought.add(key);
            void this.find({ key });
          }
          if (this.opened.has(key)) continue;
          const rows = new Rows(() => within(key));
          this.opened.set(key, { rows, end: rows.start() });
        }
      }),
    ];
    return () => ends.forEach((end) => end());
  }

  /** What stands on a line: a group, or a row of one with its number there; null while it is not here. */
  at(line: number): { group: Group; rows: Rows | null; row: number | null } | null {
    const place = placeAt(line, this.unfolded.value);
    const group = this.known.value.get(place.group);
    if (!group) return null;
    return { group, row: place.row, rows: this.opened.get(group.key)?.rows ?? null };
  }

  /** The line of the group that a line belongs to. */
  headOf(line: number): number {
    return lineOf({ group: placeAt(line, this.unfolded.value).group, row: null }, this.unfolded.value);
  }

  /** Says which lines are in sight. */
  want(first: number, lines: number): void {
    const wanted = new Map<string, { rows: Rows; from: number; to: number }>();
    const groups: number[] = [];
    for (let line = first; line < Math.min(first + lines, this.total.peek()); line++) {
      const { group, row } = placeAt(line, this.unfolded.peek());
      groups.push(group);
      const key = this.known.peek().get(group)?.key;
      const rows = key === undefined ? undefined : this.opened.get(key)?.rows;
      if (row === null || !rows) continue;
      const before = wanted.get(key!);
      wanted.set(key!, { rows, from: before?.from ?? row, to: row });
    }
    for (const { rows, from, to } of wanted.values()) rows.want(from, to - from + 1);
    if (!groups.length) return;
    for (const page of pagesOf(groups[0]!, groups.at(-1)! - groups[0]! + 1, PAGE))
      if (!this.fresh.has(page)) void this.fetch(page);
  }

  /** The line of an event, whose group is unfolded for it if that is wanted; null when it is not listed. */
  async lineOf(seq: number, unfolds: boolean): Promise<number | null> {
    const place = await this.find({ at: seq });
    const group = place === null ? undefined : this.known.peek().get(place);
    if (place === null || !group) return null;
    if (unfolds && !openKeys.peek().includes(group.key)) toggleGroup(group.key);
    const row = (await this.opened.get(group.key)?.rows.placeOf(seq)) ?? null;
    return lineOf({ group: place, row }, this.unfolded.peek());
  }

  /** The place of a group; its page is here then. */
  private async find(which: { at: number } | { key: string }): Promise<number | null> {
    try {
      const { at } = await getJson(this.address({ ...which, limit: 1 }));
      // A page that was asked for before the trace grew, or was judged, is not kept: it is asked for again.
      for (let tries = 0; at !== null && !this.known.peek().has(at) && tries < TRIES; tries++)
        await this.fetch(Math.floor(at / PAGE));
      return at;
    } catch {
      return null; // what is wrong with the question is told where the groups are asked for
    }
  }

  private address(more: Query<"groups">) {
    return ofTrace(view.peek().trace, "groups", { ...grouped.peek(), ...more });
  }

  private fetch(page: number): Promise<void> {
    const asked = this.asked.get(page) ?? this.ask(page);
    this.asked.set(page, asked);
    return asked;
  }

  private async ask(page: number): Promise<void> {
    const round = this.round;
    try {
      const found = await getJson(this.address({ offset: page * PAGE, limit: PAGE }));
      if (round === this.round) this.keep(page, found);
    } catch (failure) {
      if (round !== this.round) return;
      batch(() => {
        this.error.value = asApiError(failure);
        this.isAnother.value = false;
      });
    }
  }

  private keep(page: number, found: Groups): void {
    this.fresh.add(page);
    const [known, places] = [new Map(this.known.peek()), new Map(this.places.peek())];
    found.groups.forEach((group, n) => {
      known.set(page * PAGE + n, group);
      places.set(group.key, page * PAGE + n);
    });
    batch(() => {
      this.known.value = known;
      this.places.value = places;
      this.count.value = found.total;
      this.error.value = null;
      this.isAnother.value = false;
    });
  }
}

export const groups = new GroupedRows();

/** The address of all groups as a file. */
export function groupsAddress(): string {
  return ofTrace(viewed.trace.value, "groups", { ...grouped.value, format: "csv" });
}
