// Shows the source as it was when it ran. A line says how many ops it made and how they are; a click lists them.

import { useLayoutEffect, useRef } from "preact/hooks";
import { reveal } from "../parts/reveal";
import { about, ofOp, ofPlace } from "../parts/same_subject";
import { Show } from "../parts/show";
import type { SourceLine, SourceText } from "../server/answers";
import { inTrace, isJudged, place } from "../state/chosen";
import { useLoad } from "../state/load";
import { go, NOTHING, viewed } from "../state/view";
import { count, fileName, plural } from "../words/format";
import type { PaneInTabs } from "./about";

export const sourcePane: PaneInTabs = {
  id: "source",
  title: "Source",
  word: "source",
  found: "source",
  place: "centre",
  shows: Source,
  actions: FileChoice,
};

function FileChoice() {
  const loaded = useLoad(() => inTrace("sources", { process: viewed.process.value }));
  const files = loaded.data?.files ?? [];
  const mine = files.filter((one) => one.is_user);
  const others = files.filter((one) => !one.is_user);
  return (
    <select
      aria-label="Source file"
      value={place.value.file}
      onChange={(event) => go({ file: event.currentTarget.value, line: null })}
    >
      {!place.value.file && <option value="">choose a file</option>}
      <optgroup label="yours">
        {mine.map((one) => (
          <option key={one.file} value={one.file}>
            {fileName(one.file)}
          </option>
        ))}
      </optgroup>
      <optgroup label="libraries">
        {others.map((one) => (
          <option key={one.file} value={one.file}>
            {one.file.split("/").slice(-2).join("/")}
          </option>
        ))}
      </optgroup>
    </select>
  );
}

function Source() {
  const loaded = useLoad(
    () => place.value.file && inTrace("source", { process: viewed.process.value, file: place.value.file }),
    () => isJudged.value,
  );
  const { file, line } = place.value;
  return (
    <Show
      loaded={loaded}
      empty={
        <p>The line that created what you choose appears here. Choose a tensor, a stack frame, or a file above.</p>
      }
    >
      {(data) =>
        data.is_kept ? <Lines file={file} lines={data.lines} chosen={line} /> : <Unkept data={data} chosen={line} />
      }
    </Show>
  );
}

/** A file whose text the trace does not hold, as of libraries: which of its lines made ops can be told all the same. */
function Unkept({ data, chosen }: { data: SourceText; chosen: number | null }) {
  const made = data.lines.filter((line) => line.ops.length > 0);
  const at = `${fileName(data.file)}${chosen === null ? "" : `:${chosen}`}`;
  return (
    <>
      <p class="facts dim">
        {at}: only the text of your own files is kept in a trace
        {made.length ? `; ${plural(made.length, "line")} of this one created ops` : ""}.
      </p>
      <Lines file={data.file} lines={made} chosen={chosen} />
    </>
  );
}

function Lines({ file, lines, chosen }: { file: string; lines: SourceLine[]; chosen: number | null }) {
  const here = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => reveal(here.current, "line"), [file, chosen, lines.length > 0]);
  const digits = String(lines.length).length;
  return (
    <div class="source" role="list" aria-label={file}>
      {lines.map((line) => {
        const isChosen = line.line === chosen;
        const health = line.bad > line.benign ? "bad" : line.bad ? "benign" : "";
        const said = { bad: "bad values", benign: "harmless bad values", "": "" }[health];
        return (
          <div
            key={line.line}
            role="listitem"
            {...about([ofPlace(file, line.line), ...line.ops.map(ofOp)])}
            ref={isChosen ? here : undefined}
            class={`line${isChosen ? " chosen" : ""}${health && ` ${health}`}`}
            aria-current={isChosen || undefined}
          >
            <span class="gutter">
              {line.ops.length > 0 ? (
                <button
                  title={`${count(line.ops.length)} ops were created here${said && `, some with ${said}`}; click to list them`}
                  aria-label={`line ${line.line}: ${line.ops.length} ops${said && `, ${said}`}`}
                  aria-expanded={isChosen}
                  onClick={() => go({ file, line: isChosen ? null : line.line })}
                >
                  {health === "bad" ? "●" : health ? "◌" : "○"} {count(line.ops.length)}
                </button>
              ) : null}
            </span>
            <span class="at">{String(line.line).padStart(digits)}</span>
            <code>{line.text || " "}</code>
            {isChosen && line.ops.length > 0 && <Ops line={line} file={file} />}
          </div>
        );
      })}
    </div>
  );
}

/** What a line made: its ops by type, and the way to their tensors. */
function Ops({ line, file }: { line: SourceLine; file: string }) {
  const made = `${file}:${line.line}`;
  const types = Object.entries(line.types);
  const harmful = line.bad - line.benign;
  return (
    <div class="line-ops">
      {types.map(([type, number]) => (
        <button
          key={type}
          class="tag"
          title={`The tensors of ${type} that this line created`}
          onClick={() => go({ made, where: `op == ${JSON.stringify(type)}`, only: false })}
        >
          {type}
          {number > 1 ? ` ×${count(number)}` : ""}
        </button>
      ))}
      <button
        class="tag"
        aria-pressed={viewed.made.value === made}
        title="Show only this line's tensors in the table"
        onClick={() => go({ made: viewed.made.value === made ? "" : made, where: "", only: false })}
      >
        its {plural(line.rows, "tensor")}
      </button>
      {line.bad > 0 && (
        <button
          class={`tag ${harmful ? "bad" : "benign"}`}
          title="The first of them"
          onClick={() => go({ ...NOTHING, seq: line.first_bad_seq, file, line: line.line, where: "", only: false })}
        >
          {harmful ? `● ${count(harmful)} bad` : `○ ${count(line.bad)} benign`}, the first
        </button>
      )}
      {line.ops.length === 1 && (
        <button
          class="tag"
          onClick={() => go({ ...NOTHING, op: line.ops[0]!, file, line: line.line, structure: "near" })}
        >
          in the graph
        </button>
      )}
    </div>
  );
}
