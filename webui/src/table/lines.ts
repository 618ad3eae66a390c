// Gives the lines of the table, plain or grouped, that the grid draws, scrolls and asks for.

import { computed, signal } from "@preact/signals";
import type { Group } from "../server/answers";
import type { Page } from "../server/column_page";
import { viewed } from "../state/view";
import { groups } from "./groups";
import { rows } from "./rows";

export type Line = { kind: "tensor"; page: Page; row: number } | { kind: "group"; group: Group } | { kind: "waiting" };

export const isGrouped = computed(() => viewed.group.value !== "");
export const lineCount = computed(() => (isGrouped.value ? groups.total.value : rows.total.value));
export const isAnother = computed(() => (isGrouped.value ? groups.isAnother.value : rows.isAnother.value));
export const lineError = computed(() => rows.error.value ?? (isGrouped.value ? groups.error.value : null));
export const badMap = computed(() => (isGrouped.value ? [] : rows.bad.value));

export function lineAt(line: number): Line {
  const found = isGrouped.value ? groups.at(line) : { rows, row: line, group: null };
  if (found?.group && found.row === null) return { kind: "group", group: found.group };
  void found?.rows?.version.value;
  const there = found?.rows?.at(found.row ?? line);
  return there ? { kind: "tensor", ...there } : { kind: "waiting" };
}

export function wantLines(first: number, count: number): void {
  if (isGrouped.peek()) groups.want(first, count);
  else rows.want(first, count);
}

/** The event that was to be shown and is not listed. */
export const unlisted = signal<number | null>(null);

/** The line of an event; null when it is not listed. */
export function lineOfEvent(seq: number, unfolds: boolean): Promise<number | null> {
  return isGrouped.peek() ? groups.lineOf(seq, unfolds) : rows.placeOf(seq);
}
