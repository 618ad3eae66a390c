// Lists and counts alerts of all kinds; a click leads to the first one. What did no harm is listed apart.

import { useEffect } from "preact/hooks";
import { PaneBox } from "../parts/pane_box";
import { about, ofOp } from "../parts/same_subject";
import { Show } from "../parts/show";
import type { AlertRow, HealthAlert } from "../server/answers";
import { fileOfTrace } from "../server/api";
import { alerted, inTrace, process, verdict } from "../state/chosen";
import { useLoad } from "../state/load";
import { processName, when } from "../state/moments";
import { go, hashOf, NOTHING, view, viewed, type View } from "../state/view";
import { count, fileName, inWords } from "../words/format";
import type { PaneInColumn } from "./about";

export const alertsPane: PaneInColumn = {
  id: "alerts",
  title: "Alerts",
  word: "alerts",
  place: "left",
  weight: 2,
  shows: Alerts,
};

const KINDS: Record<string, { title: string; mark: string; look: string; hint: string }> = {
  bad_values: { title: "NaN/∞", mark: "●", look: "bad", hint: "tensors that hold NaN or infinity" },
  retrace: { title: "retraces", mark: "↻", look: "warn", hint: "functions that TensorFlow traced again" },
  shape_change: { title: "shapes", mark: "▱", look: "warn", hint: "tensors whose shape changed between calls" },
  health: {
    title: "training health",
    mark: "▲",
    look: "warn",
    hint: "trouble that the numbers show without any NaN",
  },
  benign: { title: "benign", mark: "○", look: "", hint: "harmless bad values, such as a mask" },
};
const MOST = 100;

/** Where an alert leads. */
function toAlert(row: AlertRow): Partial<View> {
  const step = row.step >= 0 ? row.step : viewed.step.value;
  if (row.kind === "bad_values" && row.seq >= 0)
    return {
      ...NOTHING,
      process: row.process,
      seq: row.seq,
      step,
      only: false,
      where: "",
      made: "",
      within: null,
      sort: "",
      desc: false,
    };
  return {
    ...NOTHING,
    process: row.process,
    execution: row.execution >= 0 ? row.execution : null,
    op: row.execution < 0 && row.op >= 0 ? row.op : null,
    step,
    file: row.file,
    line: row.line > 0 ? row.line : null,
    centre: "source",
  };
}

function Alerts() {
  const chosen = viewed.alert.value;
  const loaded = useLoad(
    () =>
      inTrace("alerts", {
        limit: MOST,
        kind: viewed.alert.value === "health" ? null : viewed.alert.value,
      }),
    () => verdict.value.data !== null,
  ); // a verdict tells which are benign
  const { data, isLoading } = loaded;
  useEffect(() => {
    if (data && !isLoading) alerted.value = view.peek().trace;
  }, [data, isLoading]);
  const health = verdict.value.data?.alerts ?? [];
  const counts: Record<string, number> = { ...loaded.data?.counts, health: health.length };
  const harmful = ["bad_values", "retrace", "shape_change", "health"].reduce(
    (sum, kind) => sum + (counts[kind] ?? 0),
    0,
  );
  const first = (kind: string) => loaded.data?.rows.find((row) => row.kind === kind && row.benign === null);
  const choose = (kind: string) => {
    const row = first(kind);
    go({ alert: chosen === kind ? "" : kind, ...(row && chosen !== kind ? toAlert(row) : {}) });
  };
  const rows = loaded.data?.rows.filter((row) => chosen || row.benign === null) ?? [];
  return (
    <PaneBox
      box={alertsPane}
      count={loaded.data ? count(harmful) : ""}
      actions={
        <>
          {chosen && <button title="List alerts of all kinds again" onClick={() => go({ alert: "" })}>all</button>}
          <a class="button" href={fileOfTrace(viewed.trace.value, "alerts.csv")} download title="All alerts as CSV">
            CSV
          </a>
        </>
      }
    >
      <Show loaded={loaded} empty="Choose a trace to see its alerts.">
        {(data) => (
          <>
            <ul class="list kinds" aria-label="Kinds of alerts">
              {Object.entries(KINDS).map(([kind, { title, mark, look, hint }]) => (
                <li key={kind}>
                  <button
                    aria-pressed={chosen === kind}
                    title={`${hint}; click to list them and go to the first`}
                    disabled={!counts[kind]}
                    onClick={() => choose(kind)}
                  >
                    <span class={`tag ${counts[kind] ? look : ""}`} aria-hidden="true">
                      {mark}
                    </span>
                    {title}
                    <span class="n">{count(counts[kind] ?? 0)}</span>
                  </button>
                </li>
              ))}
            </ul>
            {(!chosen || chosen === "health") && health.length > 0 && (
              <ul class="list" aria-label="Training health">
                {health.map((one, at) => (
                  <li key={at}>
                    <HealthLink alert={one} />
                  </li>
                ))}
              </ul>
            )}
            {chosen !== "health" && rows.length > 0 && (
              <ul class="list alerts-list" aria-label="Alerts">
                {rows.map((row, at) => (
                  <li key={at}>
                    <AlertLink row={row} />
                  </li>
                ))}
              </ul>
            )}
            {chosen !== "health" && data.total > rows.length && rows.length > 0 && chosen && (
              <p class="empty">
                the first {count(rows.length)} of {count(data.total)}; the filter{" "}
                <button onClick={() => go({ where: "bad" })}>bad</button> of the table has them all
              </p>
            )}
            {harmful === 0 && (
              <p class="empty">
                Nothing is wrong here. Alerts report NaN and infinity, functions traced again, changed shapes, and{" "}
                {count(18)} rules about training.
              </p>
            )}
          </>
        )}
      </Show>
    </PaneBox>
  );
}

function HealthLink({ alert }: { alert: HealthAlert }) {
  const to: Partial<View> = {
    ...NOTHING,
    file: alert.file ?? "",
    line: alert.line,
    step: alert.step >= 0 ? alert.step : viewed.step.value,
    centre: "source",
  };
  return (
    <a
      href={hashOf(to)}
      title={`${alert.why}\n\n${alert.evidence.join("\n")}\n\nfix: ${alert.fix}`}
      onClick={(event) => {
        event.preventDefault();
        go(to);
      }}
    >
      <span class="tag warn">▲</span>
      <span class="two">
        <b>{inWords(alert.rule)}</b> {alert.text}
      </span>
    </a>
  );
}

function AlertLink({ row }: { row: AlertRow }) {
  const to = toAlert(row);
  const isChosen = row.seq >= 0 && row.seq === viewed.seq.value && row.process === process.value;
  const { mark, look } = KINDS[row.benign === null ? row.kind : "benign"] ?? KINDS.health!;
  return (
    <a
      href={hashOf(to)}
      aria-current={isChosen}
      {...about(row.process === process.value ? [ofOp(row.op)] : [])}
      title={row.benign ?? row.text}
      onClick={(event) => {
        event.preventDefault();
        go(to);
      }}
    >
      <span class={`tag ${look}`} aria-hidden="true">
        {mark}
      </span>
      <span class="two">
        <span class="clip">{row.text}</span>
        <span class="dim clip">
          {[processName(row.process), when(row.step, row.execution)].filter(Boolean).join(" · ")}
          {row.file ? ` · ${fileName(row.file)}:${row.line}` : ""}
        </span>
      </span>
    </a>
  );
}
