// Shows the table of all tensors that were seen, with its filter; the rows themselves are the grid's.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { PaneBox } from "../parts/pane_box";
import { Failure } from "../parts/show";
import { hasRuns, onlyRuns, runOf } from "../state/moments";
import { go, view, viewed } from "../state/view";
import { Grid } from "../table/grid";
import { groupsAddress } from "../table/groups";
import { isGrouped, lineError, unlisted } from "../table/lines";
import { exportAddress, rows } from "../table/rows";
import { count, fileName } from "../words/format";
import type { PaneInColumn } from "./about";

export const tensorsPane: PaneInColumn = {
  id: "tensors",
  title: "Graph executions",
  word: "graph executions",
  keys: "↑ ↓ PageUp PageDown Home End move, Enter chooses; → ← unfold and fold a group",
  place: "middle",
  weight: 5,
  shows: Tensors,
};

function Tensors() {
  const total = rows.total.value;
  const isFiltered =
    !!viewed.where.value.trim() ||
    !!viewed.made.value ||
    viewed.within.value !== null ||
    (viewed.only.value && viewed.step.value !== null);
  return (
    <PaneBox
      box={tensorsPane}
      count={rows.isAnother.value ? "searching …" : `${count(total)} ${isFiltered ? "found" : "tensors"}`}
      actions={<Actions />}
    >
      <div class="table-pane">
        <Filter />
        {lineError.value && (
          <div id="filter-error">
            <Failure error={lineError.value} />
          </div>
        )}
        {unlisted.value !== null && (
          <p id="unlisted-event" class="facts" role="status">
            This listing has no tensor with the number #{count(unlisted.value)}: what is filtered out, and events that
            are no tensors, are not in it.
          </p>
        )}
        <Grid />
      </div>
    </PaneBox>
  );
}

function Actions() {
  return (
    <>
      {isGrouped.value ? (
        <a class="button" href={groupsAddress()} download title="All groups, with their counts and ranges, as CSV">
          groups CSV
        </a>
      ) : (
        <a class="button" href={exportAddress("csv")} download title="All rows that pass the filter, as CSV">
          CSV
        </a>
      )}
      <a class="button" href={exportAddress("parquet")} download title="All rows that pass the filter, as Parquet">
        Parquet
      </a>
    </>
  );
}

function Filter() {
  const typed = useSignal<string | null>(null);
  const timer = useRef(0);
  const write = (text: string) => {
    typed.value = text;
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => go({ where: text }, true), 350);
  };
  const commit = (text: string) => {
    clearTimeout(timer.current);
    typed.value = null;
    go({ where: text }, true);
  };
  const { where, only, sort, made, within } = view.value;
  return (
    <div class="filter">
      <label class="hidden" for="filter">
        Filter the tensors
      </label>
      <input
        id="filter"
        class="mono"
        value={typed.value ?? where}
        placeholder='filter: nan > 0 or max_abs > 1e4, op == "Log", name ~ "dense"'
        spellcheck={false}
        autocomplete="off"
        aria-invalid={!!lineError.value}
        aria-describedby={lineError.value ? "filter-error" : undefined}
        onInput={(event) => write(event.currentTarget.value)}
        onBlur={(event) => commit(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && commit(event.currentTarget.value)}
      />
      <button
        aria-pressed={where.trim() === "bad"}
        title="Only tensors with NaN or infinity"
        onClick={() => commit(where.trim() === "bad" ? "" : "bad")}
      >
        bad
      </button>
      {!onlyRuns.value && (
        <button
          aria-pressed={only}
          disabled={viewed.step.value === null}
          title="Only the chosen step"
          onClick={() => go({ only: !only })}
        >
          this step
        </button>
      )}
      {made && (
        <button
          aria-pressed
          title={`Only tensors created at ${made}; click to show all`}
          onClick={() => go({ made: "" })}
        >
          {fileName(made)} ×
        </button>
      )}
      {within !== null && (
        <button
          aria-pressed
          title="Only what this execution computed; click to show all"
          onClick={() => go({ within: null })}
        >
          {runOf(within) === null ? `execution ${count(within)}` : `run ${count(runOf(within))}`} ×
        </button>
      )}
      <button
        disabled={!where && !only && !sort && !made && within === null && !isGrouped.value}
        title="Show all rows in their original order"
        onClick={() => {
          typed.value = null;
          go({ where: "", only: false, sort: "", desc: false, made: "", within: null, group: "", open: "" });
        }}
      >
        clear
      </button>
      <GroupBy />
      <GoToEvent />
    </div>
  );
}

const GROUPS = {
  step: "by step",
  run: "by run",
  layer: "by layer",
  phase: "by phase",
};

function GroupBy() {
  return (
    <>
      <label class="hidden" for="group">
        Group
      </label>
      <select
        id="group"
        title="Group the rows; each group shows its count, bad values and range, and can be unfolded"
        value={viewed.group.value}
        onChange={(event) => go({ group: event.currentTarget.value, open: "" })}
      >
        <option value="">no groups</option>
        {Object.entries(GROUPS)
          .filter(([id]) => (id !== "run" || hasRuns.value) && (id !== "step" || !onlyRuns.value))
          .map(([id, title]) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
      </select>
    </>
  );
}

/** Goes to an event by the number that stands before each row, which is the same in the terminal. */
function GoToEvent() {
  return (
    <form
      class="go-to"
      onInput={() => (unlisted.value = null)}
      onSubmit={(event) => {
        event.preventDefault();
        const text = (event.currentTarget.elements[0] as HTMLInputElement).value.replaceAll(",", "");
        if (/^\d+$/.test(text)) document.dispatchEvent(new CustomEvent("tdbg-event", { detail: Number(text) }));
      }}
    >
      <label class="hidden" for="go-to-event">
        Go to event
      </label>
      <input
        id="go-to-event"
        class="mono"
        inputMode="numeric"
        placeholder="event #"
        title="Go to this event (g)"
        aria-invalid={unlisted.value !== null}
        aria-describedby={unlisted.value !== null ? "unlisted-event" : undefined}
      />
    </form>
  );
}
