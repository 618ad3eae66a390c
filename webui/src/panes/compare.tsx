// Compares two runs: the first tensor where they part, with its numbers in both.

import { Show } from "../parts/show";
import type { Diff, DiffSide } from "../server/answers";
import { inTrace, traces } from "../state/chosen";
import { useLoad } from "../state/load";
import { go, hashOf, NOTHING, START, viewed, type View } from "../state/view";
import { count, fileName, fromWire, number, plural, shape, traceName } from "../words/format";
import type { PaneInTabs } from "./about";

export const comparePane: PaneInTabs = {
  id: "diff",
  title: "Compare",
  word: "comparison",
  found: "compare two runs",
  place: "centre",
  shows: Comparison,
};

function Comparison() {
  const others = (traces.value.data ?? []).filter((one) => one.id !== viewed.trace.value && !one.error);
  const loaded = useLoad(() => viewed.other.value && inTrace("diff", { other: viewed.other.value }));
  return (
    <div>
      <p class="facts">
        <b class="mono">{viewed.trace.value}</b> beside{" "}
        <select
          aria-label="The other run"
          value={viewed.other.value}
          onChange={(event) => go({ other: event.currentTarget.value })}
        >
          <option value="">choose a run</option>
          {others.map((one) => (
            <option key={one.id} value={one.id}>
              {traceName(one.name)}
            </option>
          ))}
        </select>
      </p>
      <Show
        loaded={loaded}
        empty={
          others.length ? (
            "Choose another run of the same program to see the first tensor where the two diverge."
          ) : (
            <>
              Only one trace is being served. To serve two: <code>tdbg serve one.tdbg two.tdbg</code>
            </>
          )
        }
      >
        {(data) => <Compared data={data} />}
      </Show>
    </div>
  );
}

function Compared({ data }: { data: Diff }) {
  const looked = `${plural(data.compared.tensors, "tensor")} of ${plural(data.compared.steps, "step")} compared`;
  if (!data.parting)
    return (
      <div class="empty">
        <p>
          <b>The runs are the same.</b> {looked}; the largest difference is{" "}
          {number(fromWire(data.compared.largest_difference))}, which is rounding.
        </p>
        <Notes notes={data.notes} />
      </div>
    );
  const { parting } = data;
  return (
    <div class="diff">
      <p class="facts">
        <b>
          They diverge at step {count(parting.step)}: {parting.what}
        </b>{" "}
        <span class="dim">{looked}</span>
      </p>
      <div class="sides">
        <Side title={data.a} trace={data.a} side={parting.a} step={parting.step} />
        <Side title={data.b} trace={data.b} side={parting.b} step={parting.step} />
      </div>
      <Notes notes={data.notes} />
    </div>
  );
}

function Notes({ notes }: { notes: string[] }) {
  return notes.length ? (
    <ul class="facts dim">
      {notes.map((note, at) => (
        <li key={at}>{note}</li>
      ))}
    </ul>
  ) : null;
}

const NUMBERS = [
  "elements",
  "negative",
  "zero",
  "positive",
  "nan",
  "neg_inf",
  "pos_inf",
  "min",
  "max",
  "mean",
  "std",
] as const;

function Side({ title, trace, side, step }: { title: string; trace: string; side: DiffSide | null; step: number }) {
  if (!side)
    return (
      <p class="side">
        {title} · <b>this run has no such op</b>
      </p>
    );
  const here = trace === viewed.trace.value;
  const to: Partial<View> = here
    ? { ...NOTHING, seq: side.seq, step }
    : { ...START, trace, seq: side.seq, step, centre: "diff", other: viewed.trace.value };
  return (
    <table class="side">
      <caption>
        <a
          href={hashOf(to)}
          onClick={(event) => {
            event.preventDefault();
            go(to);
          }}
        >
          {title}
        </a>{" "}
        · {side.op_type} · {side.dtype} {shape(side.shape)}
        <br />
        <span class="mono dim">
          {side.file ? `${fileName(side.file)}:${side.line} ` : ""}
          {side.source?.trim()}
        </span>
      </caption>
      <tbody>
        {NUMBERS.map((name) => (
          <tr key={name}>
            <th>{name}</th>
            <td>{number(fromWire(side.numbers[name]))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
