// The bar on top: which trace, which process, which step; search, light or dark, help.

import { useEffect } from "preact/hooks";
import { goStep, overview, steps, traces } from "./focus";
import { bytes, count } from "./format";
import { opened } from "./keys";
import { nextTheme } from "./settings";
import { scheme } from "./colours";
import { go, START, view, viewed } from "./view";

export function Top() {
  const { data } = overview.value;
  return (
    <header class="top">
      <a
        class="brand"
        href="#"
        title="tdbg: back to the beginning"
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
        <span class="live" title="The program still runs; the page follows it">
          live
        </span>
      )}
      <StepSlider />
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
            {entry.name.replace(/\.tdbg$/, "")}
            {entry.live ? " · live" : ""}
            {entry.error ? " · cannot be read" : ""}
          </option>
        ))}
      </select>
    </>
  );
}

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
        onChange={(event) => go({ process: Number(event.currentTarget.value), seq: null, op: null, execution: null })}
      >
        {data!.processes.map((one) => (
          <option key={one.index} value={one.index}>
            process {one.index} · {one.state}
          </option>
        ))}
      </select>
    </>
  );
}

/** Stays inside the run; does nothing while its steps are not known. */
function choose(to: number, replaces: boolean): void {
  const all = steps.peek();
  if (all && Number.isFinite(to)) goStep(Math.max(all.first, Math.min(all.last, Math.round(to))), replaces);
}

function StepSlider() {
  const all = steps.value;
  const [first, last] = [all?.first ?? 0, all?.last ?? 0];
  const step = viewed.step.value;
  useEffect(() => {
    const moved = (event: Event) => {
      const before = view.peek().step ?? (steps.peek()?.first ?? 0) - 1;
      choose(before + (event as CustomEvent<number>).detail, false);
    };
    document.addEventListener("tdbg-step", moved);
    return () => document.removeEventListener("tdbg-step", moved);
  }, []);
  if (!all) return <span class="slider dim">no steps</span>;
  return (
    <div class="slider" role="group" aria-label="Chosen step">
      <label for="step-number">step</label>
      <input
        id="step-number"
        type="number"
        min={first}
        max={last}
        value={step ?? ""}
        placeholder="all"
        onChange={(event) =>
          event.currentTarget.value === ""
            ? go({ step: null, only: false })
            : choose(event.currentTarget.valueAsNumber, false)
        }
      />
      <button
        class="icon"
        aria-label="step before"
        title="["
        disabled={step !== null && step <= first}
        onClick={() => choose((step ?? first + 1) - 1, false)}
      >
        ◀
      </button>
      <input
        type="range"
        aria-label="step"
        min={first}
        max={last}
        value={step ?? first}
        onInput={(event) => choose(event.currentTarget.valueAsNumber, view.value.step !== null)}
      />
      <button
        class="icon"
        aria-label="next step"
        title="]"
        disabled={step !== null && step >= last}
        onClick={() => choose((step ?? first - 1) + 1, false)}
      >
        ▶
      </button>
      <span class="mono dim">{count(last)}</span>
    </div>
  );
}
