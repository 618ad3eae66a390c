// Draws the lines of the table: a tensor with its numbers, a group with those of all its rows.

import { about, ofCall, ofOp, scopesOf } from "../parts/same_subject";
import type { Group } from "../server/answers";
import { numberAt, textAt, type Page } from "../server/column_page";
import { harmlessOps, relatedSeqs } from "../state/chosen";
import { hashOf, NOTHING, view, viewed, type View } from "../state/view";
import { count, plural } from "../words/format";
import { tensorName, type TableColumn } from "./columns";
import { openKeys } from "./groups";
import { isGrouped, type Line } from "./lines";

/** What choosing a row changes. */
export function chosen({ page, row }: { page: Page; row: number }): Partial<View> {
  const step = numberAt(page, "step", row);
  return {
    ...NOTHING,
    seq: numberAt(page, "seq", row),
    step: step !== null && step >= 0 ? step : view.value.step,
  };
}

export interface Drawn {
  row: number; // its line
  tracks: string;
  columns: TableColumn[];
  isActive: boolean;
  onChoose: (row: number) => void;
}

/** A group: its name, count and health, and numbers of all its rows where a row has its own. */
export function GroupRow({ row, tracks, columns, isActive, onChoose, group }: Drawn & { group: Group }) {
  const isOpen = openKeys.value.includes(group.key);
  const wide = columns.findIndex((column) => column.title === "shape") + 1;
  const harmful = group.bad - group.benign;
  const isHere = viewed.group.value === "step" && viewed.step.value === Number(group.key);
  return (
    <div
      id={`row-${row}`}
      class={`grid-row group${isActive ? " active" : ""}${isHere ? " here" : ""}${harmful ? "" : " benign"}`}
      role="row"
      aria-level={1}
      aria-expanded={isOpen}
      aria-rowindex={row + 1}
      style={{ gridTemplateColumns: tracks }}
      onClick={() => onChoose(row)}
    >
      <span role="gridcell" class="right" aria-hidden="true">
        {isOpen ? "▾" : "▸"}
      </span>
      <span role="gridcell" class="group-name" aria-colspan={wide + 1} style={{ gridColumn: `span ${wide + 1}` }}>
        <span class="clip" title={group.label}>
          {group.label}
        </span>
        <span class="dim">{plural(group.rows, "tensor")}</span>
        <Health group={group} />
      </span>
      {columns.slice(wide).map((column) => (
        <span key={column.title} role="gridcell" class={column.kind}>
          {column.ofGroup?.(group)}
        </span>
      ))}
    </div>
  );
}

function Health({ group }: { group: Group }) {
  const harmful = group.bad - group.benign;
  return (
    <>
      {harmful > 0 && (
        <span class={`tag ${group.nan ? "nan" : "inf"}`} title={`${plural(harmful, "tensor")} with NaN or infinity`}>
          ● {count(harmful)} bad
        </span>
      )}
      {group.benign > 0 && (
        <span class="tag" title={`${plural(group.benign, "tensor")} with harmless NaN or infinity`}>
          ○ {count(group.benign)} benign
        </span>
      )}
    </>
  );
}

export function Row({
  row,
  tracks,
  columns,
  isActive,
  onChoose,
  line,
}: Drawn & { line: Exclude<Line, { kind: "group" }> }) {
  if (line.kind === "waiting")
    return (
      <div class="grid-row waiting" role="row" aria-rowindex={row + 1} style={{ gridTemplateColumns: tracks }}>
        <span role="gridcell" />
        <span role="gridcell" class="dim">
          …
        </span>
      </div>
    );
  const { page, row: at } = line;
  const seq = numberAt(page, "seq", at);
  const isChosen = seq === viewed.seq.value;
  const kind = [
    "grid-row",
    isChosen && "chosen",
    isActive && "active",
    numberAt(page, "bad", at) && (harmlessOps.value.has(numberAt(page, "op", at) ?? -1) ? "benign" : "bad"),
    relatedSeqs.value.has(seq ?? -1) && "related",
  ]
    .filter(Boolean)
    .join(" ");
  const name = tensorName(page, at);
  const more = numberAt(page, "iteration", at);
  return (
    <div
      id={`row-${row}`}
      class={kind}
      role="row"
      {...about(
        [ofOp(numberAt(page, "op", at) ?? -1)],
        [ofCall(numberAt(page, "execution", at) ?? -1), ...scopesOf(textAt(page, "name", at))],
      )}
      aria-level={isGrouped.value ? 2 : undefined}
      aria-rowindex={row + 1}
      aria-selected={isChosen}
      style={{ gridTemplateColumns: tracks }}
      onClick={(event) => {
        if (!(event.metaKey || event.ctrlKey)) {
          event.preventDefault();
          onChoose(row);
        }
      }}
    >
      <span role="gridcell" class="right dim">
        {count(seq)}
      </span>
      <span role="gridcell" class={`tensor-name${isGrouped.value ? " inside" : ""}`}>
        <a
          href={hashOf(chosen(line))}
          tabIndex={-1}
          title={`${name}\n${textAt(page, "type", at)}, ${textAt(page, "phase", at)}`}
        >
          <bdi>{name}</bdi>
        </a>
        {more !== null && more >= 0 && <span class="dim"> ↻{more}</span>}
      </span>
      {columns.map((column) => (
        <span key={column.title} role="gridcell" class={column.kind}>
          {column.cell(page, at)}
        </span>
      ))}
    </div>
  );
}
