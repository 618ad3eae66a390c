// Shows the bar on top: which trace, which process, which step; search, light or dark, help.

import { scheme } from "../drawing/colours";
import { overview, timeline, traces } from "../state/chosen";
import { processName } from "../state/moments";
import { nextTheme } from "../state/settings";
import { chooseMoment, moments, stepBy } from "../state/stepping";
import { go, NOTHING, START, viewed, type View } from "../state/view";
import { bytes, count, traceName } from "../words/format";
import { opened } from "./keys";

export function Top() {
  const { data } = overview.value;
  return (
    <header class="top">
      <a
        class="brand"
        href="#"
        title="tdbg: back to the start"
        onClick={(event) => {
          event.preventDefault();
          go({ ...START, trace: viewed.trace.value });
        }}
      >
        tdbg
      </a>
      <Chosen />
      {data && data.processes.length > 1 && <Processes />}
      {data?.live && (
        <span class="live" title="The program is still running; the page follows it">
          live
        </span>
      )}
      <MomentSlider />
      <span class="space" />
      <button class="search" aria-keyshortcuts="Control+K" onClick={() => (opened.value = "palette")}>
        <span>search or command</span>
        <kbd>Ctrl K</kbd>
      </button>
      <button
        class="icon"
        aria-label={scheme.value === "dark" ? "Light colours" : "Dark colours"}
        title="Light or dark (d)"
        onClick={nextTheme}
      >
        ◐
      </button>
      <button class="icon" aria-label="Keys and help" title="Keys and help (?)" onClick={() => (opened.value = "help")}>
        ?
      </button>
    </header>
  );
}

function Chosen() {
  const entries = traces.value.data ?? [];
  const { data } = overview.value;
  const about = data
    ? `${data.argv.join(" ")}\nmode ${data.mode}, ${count(data.rows)} tensors, ${bytes(data.size)}`
    : "";
  return (
    <>
      <label class="hidden" for="trace">
        Trace
      </label>
      <select
        id="trace"
        title={about}
        value={viewed.trace.value}
        onChange={(event) => go({ ...START, trace: event.currentTarget.value })}
      >
        {!entries.length && <option value="">no trace</option>}
        {entries.map((entry) => (
          <option key={entry.id} value={entry.id}>
            {traceName(entry.name)}
            {entry.live ? " · live" : ""}
            {entry.is_starting ? " · starting" : ""}
            {entry.error ? " · cannot be read" : ""}
          </option>
        ))}
      </select>
    </>
  );
}

/** What means something else, or nothing, in another process. */
const OF_PROCESS: Partial<View> = { ...NOTHING, within: null, open: "", graph: null, scope: "", from: null, to: null };

function Processes() {
  const { data } = overview.value;
  return (
    <>
      <label class="hidden" for="process">
        Process
      </label>
      <select
        id="process"
        value={viewed.process.value ?? data!.process}
        onChange={(event) => go({ ...OF_PROCESS, process: Number(event.currentTarget.value) })}
      >
        {data!.processes.map((one) => (
          <option key={one.index} value={one.index}>
            {processName(one.index)} · {one.state}
          </option>
        ))}
      </select>
    </>
  );
}

/** Training steps; the runs of a Session that trains nothing. */
function MomentSlider() {
  const all = moments.value;
  if (!all) return <span class="slider dim">{overview.value.data && timeline.value.data ? "no steps" : ""}</span>;
  const { word, first, last, chosen } = all;
  return (
    <div class="slider" role="group" aria-label={`Chosen ${word}`}>
      <label for="step-number">{word}</label>
      <input
        id="step-number"
        type="number"
        min={first}
        max={last}
        value={chosen ?? ""}
        placeholder="all"
        onChange={(event) =>
          event.currentTarget.value === ""
            ? go({ step: null, only: false, ...(word === "run" ? NOTHING : {}) })
            : chooseMoment(event.currentTarget.valueAsNumber)
        }
      />
      <button
        class="icon"
        aria-label={`previous ${word}`}
        title="["
        disabled={chosen !== null && chosen <= first}
        onClick={() => stepBy(-1)}
      >
        ◀
      </button>
      <input
        type="range"
        aria-label={word}
        min={first}
        max={last}
        value={chosen ?? first}
        onInput={(event) => chooseMoment(event.currentTarget.valueAsNumber, chosen !== null)}
      />
      <button
        class="icon"
        aria-label={`next ${word}`}
        title="]"
        disabled={chosen !== null && chosen >= last}
        onClick={() => stepBy(1)}
      >
        ▶
      </button>
      <span class="mono dim">{count(last)}</span>
    </div>
  );
}
