// Has the columns of the table of tensors: what each shows of a row, and what it is sorted by.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { AnyNumber, Group } from "../server/answers";
import { numberAt, textAt, type Page } from "../server/column_page";
import { steps } from "../state/chosen";
import { hasRuns, onlyRuns, runOf } from "../state/moments";
import { view } from "../state/view";
import { brief, count, fromWire, shape } from "../words/format";

export interface TableColumn {
  title: string;
  sort: string; // "": it cannot be sorted by
  hint: string;
  width: string; // of a grid track
  kind: string; // class: right-aligned numbers, the colour of what they count
  least?: number; // shown from this width of the pane on
  cell: (page: Page, row: number) => ComponentChildren;
  ofGroup?: (group: Group) => ComponentChildren;
}

/** 1277, 12k, 3M: short enough for a narrow column; the whole number is in its tooltip. */
export function short(value: number | null): string {
  if (value === null || Number.isNaN(value)) return "";
  if (value < 10_000) return String(value);
  const [size, unit] = value < 1e6 ? [1e3, "k"] : value < 1e9 ? [1e6, "M"] : [1e9, "G"];
  return `${Math.round(value / size)}${unit}`;
}

function counted(
  title: string,
  field: string,
  hint: string,
  kind: string,
  ofGroup?: TableColumn["ofGroup"],
): TableColumn {
  return {
    ofGroup,
    title,
    sort: field,
    hint,
    width: "36px",
    kind: `right ${kind}`,
    cell: (page, row) => numbered(numberAt(page, field, row), hint),
  };
}

function numbered(value: number | null, hint: string): ComponentChildren {
  if (value === null || Number.isNaN(value)) return "";
  return value === 0 ? <span class="none">0</span> : <b title={`${count(value)} ${hint}`}>{short(value)}</b>;
}

function measured(title: string, hint: string, least = 0, ofGroup?: TableColumn["ofGroup"]): TableColumn {
  return {
    ofGroup,
    title,
    sort: title,
    hint,
    width: "62px",
    kind: "right",
    least,
    cell: (page, row) => {
      const value = numberAt(page, title, row);
      return value === null || Number.isNaN(value) ? "" : brief(value);
    },
  };
}

function extreme(value: AnyNumber | null): string {
  const known = fromWire(value);
  return known === null || Number.isNaN(known) ? "" : brief(known);
}

/** −∞ and +∞ together, with their signs. */
function infinite(page: Page, row: number): ComponentChildren {
  const [minus, plus] = [numberAt(page, "neg_inf", row), numberAt(page, "pos_inf", row)];
  if (minus === null || Number.isNaN(minus)) return "";
  if (!minus && !plus) return <span class="none">0</span>;
  const said = [minus ? `−${short(minus)}` : "", plus ? `+${short(plus)}` : ""].filter(Boolean).join(" ");
  return <b title={`${count(minus)} are −∞, ${count(plus)} are +∞`}>{said}</b>;
}

/** The column has them as JSON; empty when they are not known. */
function dims(text: string): string {
  return shape(text ? (JSON.parse(text) as number[]) : null);
}

export function tensorName(page: Page, row: number): string {
  return `${textAt(page, "name", row)}:${numberAt(page, "slot", row) ?? 0}`;
}

const DIGIT = 7; // pixels
const [LEAST_SHAPE, MOST_SHAPE] = [8, 20]; // letters

/** Of the longest shape and number of an event that came into sight; they never shrink, so that nothing jumps while one
 *  scrolls. */
export const letters = signal({ trace: "", shape: LEAST_SHAPE, event: 0 });

export function noteLetters(shape: number, event: number): void {
  const { trace } = view.peek();
  const before = letters.peek().trace === trace ? letters.peek() : { trace, shape: LEAST_SHAPE, event: 0 };
  const next = {
    trace,
    shape: Math.min(MOST_SHAPE, Math.max(before.shape, shape)),
    event: Math.max(before.event, event),
  };
  const isOther = letters.peek().trace !== trace;
  if (isOther || next.shape !== before.shape || next.event !== before.event) letters.value = next;
}

export function shapeText(page: Page, row: number): string {
  return dims(textAt(page, "shape", row));
}

const STEP: TableColumn = {
  title: "step",
  sort: "step",
  hint: "the training step",
  width: "",
  kind: "right dim",
  cell: (page, row) => count(numberAt(page, "step", row)),
};
const RUN: TableColumn = {
  ...STEP,
  title: "run",
  sort: "execution",
  hint: "the run of the Session; constants belong to none",
  cell: (page, row) => count(runOf(numberAt(page, "execution", row))),
};

/** Those that a pane of some width has room for. */
export function columnsFor(width: number): TableColumn[] {
  const last = count(Math.max(steps.value?.last ?? 0, hasRuns.value ? (onlyRuns.value?.last ?? 0) : 0));
  const digits = `${Math.max(34, (last.length + 1) * DIGIT)}px`;
  const both = hasRuns.value && !onlyRuns.value;
  const moments = [hasRuns.value ? RUN : STEP, ...(both ? [{ ...STEP, least: 640 }] : [])];
  const wide = `${letters.value.shape * DIGIT + 4}px`;
  return [...moments.map((column) => ({ ...column, width: digits })), ...COLUMNS]
    .filter((column) => width >= (column.least ?? 0))
    .map((column) => (column.title === "shape" ? { ...column, width: wide } : column));
}

const COLUMNS: TableColumn[] = [
  {
    title: "op",
    sort: "type",
    hint: "the type of the op that computed it",
    width: "minmax(64px, 0.6fr)",
    kind: "clip",
    least: 800,
    cell: (page, row) => textAt(page, "type", row),
  },
  {
    title: "phase",
    sort: "phase",
    hint: "forward, backward, update or other",
    width: "66px",
    kind: "dim",
    least: 1060,
    cell: (page, row) => textAt(page, "phase", row),
  },
  {
    title: "dtype",
    sort: "",
    hint: "the type of its elements",
    width: "62px",
    kind: "dim",
    least: 900,
    cell: (page, row) => textAt(page, "dtype", row),
  },
  {
    title: "shape",
    sort: "elements",
    hint: "sorted by the number of elements",
    width: "60px",
    kind: "right dim clip",
    cell: (page, row) => <span title={shapeText(page, row)}>{shapeText(page, row)}</span>,
  },
  { ...counted("−", "negative", "finite and negative", "negative"), least: 560 },
  { ...counted("0", "zero", "exactly zero", "zero"), least: 480 },
  { ...counted("+", "positive", "finite and positive", "positive"), least: 560 },
  counted("NaN", "nan", "not a number", "nan", (group) => numbered(group.nan, "elements are NaN")),
  {
    title: "∞",
    sort: "inf",
    hint: "infinite, with the sign",
    width: "38px",
    kind: "right inf",
    cell: infinite,
    ofGroup: (group) => numbered(group.inf, "elements are infinite"),
  },
  measured("min", "the smallest finite element", 0, (group) => extreme(group.min)),
  measured("max", "the largest finite element", 0, (group) => extreme(group.max)),
  measured("mean", "of the finite elements", 820),
  measured("std", "standard deviation of the finite elements", 980),
];
