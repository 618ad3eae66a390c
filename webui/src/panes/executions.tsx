// Shows a box for every eager op and every call of a function, or for every run of a Session, in the order of time.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { PaneBox } from "../parts/pane_box";
import { about, ofCall, ofOp, ofPlace } from "../parts/same_subject";
import { Show } from "../parts/show";
import { useSize } from "../parts/size";
import type { Execution } from "../server/answers";
import { fileOfTrace } from "../server/api";
import { chosenExecution, inTrace, isJudged } from "../state/chosen";
import { useLoad } from "../state/load";
import { hasRuns, onlyRuns, runOf, when } from "../state/moments";
import { go, NOTHING, viewed } from "../state/view";
import { count, fileName, functionName, plural } from "../words/format";
import type { PaneInColumn } from "./about";

export const executionsPane: PaneInColumn = {
  id: "executions",
  title: "Python executions",
  word: "executions",
  keys: "← → choose, Enter shows",
  place: "middle",
  height: "70px",
  shows: Executions,
};

const BOX = 20;
const RUN = 36; // wide enough for a number
const MOST = 5000;

function Executions() {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box, { width: 600, height: 40 });
  const first = useSignal(0);
  const isBad = useSignal(false);
  const fits = useSignal(30);
  fits.value = Math.max(4, Math.min(MOST, Math.floor((width - 16) / (hasRuns.value ? RUN : BOX))));
  const loaded = useLoad(
    () =>
      inTrace("executions", {
        process: viewed.process.value,
        bad: isBad.value,
        offset: first.value,
        limit: fits.value,
      }),
    () => isJudged.value,
  );
  const place = useLoad(
    () =>
      chosenExecution.value === null
        ? ""
        : inTrace("executions", {
            process: viewed.process.value,
            bad: isBad.value,
            at: chosenExecution.value,
            limit: 1,
          }),
    () => isJudged.value,
  );
  const total = loaded.data?.total ?? 0;
  const at = place.data?.at ?? null;
  const isMoved = useRef(false); // by hand, since something else was chosen
  useLayoutEffect(() => {
    first.value = 0;
  }, [viewed.trace.value, viewed.process.value, isBad.value]);
  useLayoutEffect(() => {
    isMoved.current = false;
  }, [viewed.trace.value, viewed.process.value, viewed.execution.value, viewed.seq.value]); // where it is comes later
  useLayoutEffect(() => {
    if (at !== null && !isMoved.current && (at < first.peek() || at >= first.peek() + fits.peek()))
      first.value = Math.max(0, at - Math.floor(fits.peek() / 3));
  }, [at]);
  const moveTo = (to: number) => {
    isMoved.current = true;
    first.value = Math.max(0, Math.min(total - 1, to));
  };
  const move = (by: number) => moveTo(first.value + by);
  const pressed = (event: KeyboardEvent) => {
    const boxes = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("button")];
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const next = boxes.indexOf(document.activeElement as HTMLElement) + by;
    if (next >= boxes.length) move(fits.value);
    else if (next < 0) move(-fits.value);
    (boxes[Math.max(0, Math.min(boxes.length - 1, next))] ?? boxes[0])?.focus();
  };
  const executions = loaded.data?.rows ?? [];
  const numberAt = (at: number) => runOf(executions[at]?.execution ?? null) ?? first.value + at;
  const shown = loaded.data ? `${count(numberAt(0))}–${count(numberAt(executions.length - 1))} of ${count(total)}` : "";
  return (
    <PaneBox
      box={executionsPane}
      title={hasRuns.value ? "Session runs" : executionsPane.title}
      count={total ? shown : ""}
      actions={
        <>
          <a
            class="button"
            href={fileOfTrace(viewed.trace.value, "executions.csv")}
            download
            title="All executions as CSV"
          >
            CSV
          </a>
          <button
            aria-pressed={isBad.value}
            title="Only those with harmful bad values"
            onClick={() => (isBad.value = !isBad.value)}
          >
            bad
          </button>
          <button
            class="icon"
            aria-label="Earlier executions"
            disabled={first.value === 0}
            onClick={() => move(-fits.value)}
          >
            ◀
          </button>
          <button
            class="icon"
            aria-label="Later executions"
            disabled={first.value + fits.value >= total}
            onClick={() => move(fits.value)}
          >
            ▶
          </button>
        </>
      }
    >
      <div ref={box} class="strip-box">
        <Show loaded={loaded} empty="Eager ops and function calls appear here.">
          {(data) => (
            <>
              <div class="strip" role="group" aria-label="Executions" onKeyDown={pressed}>
                {data.rows.map((row, n) => (
                  <Box key={row.execution} row={row} isFirst={n === 0} />
                ))}
                {data.rows.length === 0 && (
                  <span class="dim">
                    {isBad.value
                      ? "No execution had harmful bad values."
                      : "No Python execution was recorded."}
                  </span>
                )}
              </div>
              {total > data.rows.length && (
                <input
                  class="strip-range"
                  type="range"
                  aria-label="First execution shown"
                  min={0}
                  max={Math.max(0, total - fits.value)}
                  value={first.value}
                  onInput={(event) => moveTo(event.currentTarget.valueAsNumber)}
                />
              )}
            </>
          )}
        </Show>
      </div>
    </PaneBox>
  );
}

function Box({ row, isFirst }: { row: Execution; isFirst: boolean }) {
  const isChosen = row.execution === chosenExecution.value;
  const run = runOf(row.execution);
  const label = functionName(row.label);
  const harmful = row.bad - row.benign;
  const what = run !== null ? label : `${row.kind === "function" ? "call of" : "op"} ${label}`;
  const bad = harmful ? plural(harmful, "bad tensor") : row.bad ? plural(row.bad, "benign tensor") : "";
  const line = row.file ? `${fileName(row.file)}:${row.line}` : "";
  const said = [what, onlyRuns.value ? "" : when(row.step), bad, line].filter(Boolean).join(", ");
  return (
    <button
      class={`box ${row.kind}${run !== null ? " run" : ""}${harmful ? " bad" : row.bad ? " benign" : ""}`}
      {...about([ofCall(row.execution)], [ofOp(row.op), ...(row.file ? [ofPlace(row.file, row.line)] : [])])}
      aria-pressed={isChosen}
      tabIndex={isFirst || isChosen ? 0 : -1}
      title={said}
      aria-label={said}
      onClick={() => go({ ...NOTHING, execution: row.execution, step: row.step >= 0 ? row.step : viewed.step.value })}
    >
      {run !== null ? count(run) : label.slice(0, 1) || "?"}
    </button>
  );
}
