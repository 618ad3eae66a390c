// Runs the shell's commands on the page; answers have the same styles and links as in the terminal.

import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ShellAnswer, Span } from "../server/answers";
import { ofTrace, postJson } from "../server/api";
import { overview } from "../state/chosen";
import { asApiError } from "../state/load";
import { go, view, viewed } from "../state/view";
import type { PaneInTabs } from "./about";

export const shellPane: PaneInTabs = {
  id: "shell",
  title: "Shell",
  word: "shell",
  found: "shell",
  place: "centre",
  shows: Console,
};

interface Said {
  line: string;
  answer: ShellAnswer | null;
  error: string;
}

const MOST = 50;
const LETTER = 7.25; // its width in pixels
let letters = 100; // that fit on a line of the console
const said = signal<Said[]>([]);
const typed: string[] = [];

/** The shell looks at one run of a Session at a time, not at steps of it. */
function hasSteps(): boolean {
  return overview.value.data?.moments.kind === "step";
}

/** Runs a line of the shell and shows its answer in the console. */
export async function runLine(line: string): Promise<void> {
  typed.push(line);
  const entry: Said = { line, answer: null, error: "" };
  said.value = [...said.value, entry].slice(-MOST);
  go({ centre: "shell" }, true);
  const { trace, process } = view.value;
  const step = hasSteps() ? view.value.step : null;
  let done: Said;
  try {
    done = {
      ...entry,
      answer: await postJson(ofTrace(trace, "shell", { process }), { line, step, width: letters }),
    };
  } catch (failure) {
    const error = asApiError(failure);
    done = { ...entry, error: `${error.message}${error.next ? `: ${error.next}` : ""}` };
  }
  said.value = said.value.map((one) => (one === entry ? done : one));
}

function Console() {
  const box = useRef<HTMLDivElement>(null);
  const entries = said.value;
  useLayoutEffect(() => {
    const width = box.current?.clientWidth ?? 0;
    letters = Math.max(40, Math.min(400, Math.floor((width - 24) / LETTER)));
    box.current?.querySelector(".asked:last-child")?.scrollIntoView({ block: "start" });
  }, [entries]);
  const back = useRef(0);
  const pressed = (event: KeyboardEvent) => {
    const input = event.currentTarget as HTMLInputElement;
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    back.current = Math.max(0, Math.min(typed.length, back.current + by));
    input.value = back.current ? typed[typed.length - back.current]! : "";
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const input = (event.currentTarget as HTMLFormElement).elements[0] as HTMLInputElement;
    if (!input.value.trim()) return;
    back.current = 0;
    void runLine(input.value.trim());
    input.value = "";
  };
  return (
    <div class="console" ref={box}>
      {!entries.length && (
        <div class="empty">
          The commands of <code>tdbg shell</code> work here: <button onClick={() => void runLine("help")}>help</button>{" "}
          lists them, <button onClick={() => void runLine("why")}>why</button> shows the verdict,{" "}
          <button onClick={() => void runLine("lt -f has_inf_or_nan")}>lt -f has_inf_or_nan</button> lists bad tensors
          of the chosen step.
        </div>
      )}
      <div aria-live="polite">
        {entries.map((one, at) => (
          <Entry key={at} said={one} />
        ))}
      </div>
      <form onSubmit={submit}>
        <label for="shell-line" class="mono">
          tdbg&gt;
        </label>
        <input
          id="shell-line"
          class="mono"
          data-main
          autocomplete="off"
          spellcheck={false}
          placeholder={
            viewed.step.value === null || !hasSteps() ? "looks at all steps" : `looks at step ${viewed.step.value}`
          }
          onKeyDown={pressed}
        />
      </form>
    </div>
  );
}

function Entry({ said: { line, answer, error } }: { said: Said }) {
  return (
    <div class="asked">
      <pre class="dim">tdbg&gt; {line}</pre>
      {error && <pre class="inf">{error}</pre>}
      {!answer && !error && <pre class="dim">…</pre>}
      {answer && (
        <pre class={answer.is_error ? "inf" : ""}>
          {answer.lines.map((spans, at) => (
            <div key={at}>
              {spans.map((span, n) => (
                <Piece key={n} span={span} />
              ))}
              {spans.length === 0 ? " " : ""}
            </div>
          ))}
        </pre>
      )}
      {!!answer?.left_out && <pre class="dim">… {answer.left_out} more lines</pre>}
    </div>
  );
}

const CLASSES: Record<string, string> = {
  nan: "nan",
  inf: "inf",
  zero: "zero",
  negative: "negative",
  positive: "positive",
  error: "inf",
  dim: "dim",
  good: "positive",
  title: "strong",
  warning: "warning",
  match: "match",
};

function Piece({ span: [text, style, link] }: { span: Span }) {
  const look = CLASSES[style] ?? "";
  if (!link) return <span class={look}>{text}</span>;
  return (
    <button class={`link ${look}`} title={link} onClick={() => void runLine(link)}>
      {text}
    </button>
  );
}
