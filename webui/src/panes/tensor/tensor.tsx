// Shows the chosen tensor: its numbers, what it was computed from and, where they were kept, its elements.

import { about, ofOp } from "../../parts/same_subject";
import { Show } from "../../parts/show";
import type { Numbers, TensorDetail } from "../../server/answers";
import { harmlessOps, tensor } from "../../state/chosen";
import { when } from "../../state/moments";
import { go, hashOf, NOTHING, viewed } from "../../state/view";
import { count, fromWire, number, shape as shapeText } from "../../words/format";
import type { PaneInTabs } from "../about";
import { OfExecution, TensorsOfOp } from "./choose_tensor";
import { KeptElements } from "./elements";

export const tensorPane: PaneInTabs = {
  id: "tensor",
  title: "Tensor",
  word: "tensor",
  found: "tensor",
  place: "side",
  shows: ChosenTensor,
};

function ChosenTensor() {
  if (viewed.seq.value === null && viewed.op.value !== null) return <TensorsOfOp />;
  if (viewed.seq.value === null && viewed.execution.value !== null) return <OfExecution />;
  return (
    <Show
      loaded={tensor.value}
      empty="Choose a tensor in the table, the graph or the verdict to see its numbers, and its elements if they were kept."
    >
      {(data) => (
        <div class="tensor">
          <p class="facts">
            <b class="mono">
              {data.name}:{data.slot}
            </b>{" "}
            <span class="tag">{data.dtype}</span> <span class="tag">{shapeText(dims(data))}</span>{" "}
            <span class="dim">
              {data.type}, {when(data.step, data.execution)}, event #{count(data.seq)}
              {data.iteration >= 0 ? `, iteration ${data.iteration}` : ""}
            </span>
          </p>
          <NumbersTable numbers={data} />
          <Around data={data} />
          <Elements data={data} />
        </div>
      )}
    </Show>
  );
}

function dims(data: TensorDetail): number[] | null {
  return data.shape ? (JSON.parse(data.shape) as number[]) : null;
}

const COUNTS = [
  ["negative", "−"],
  ["zero", "0"],
  ["positive", "+"],
  ["nan", "NaN"],
  ["neg_inf", "−∞"],
  ["pos_inf", "+∞"],
] as const;
const MEASURES = ["min", "max", "mean", "std"] as const;

function NumbersTable({ numbers }: { numbers: Numbers }) {
  return (
    <dl class="numbers">
      {COUNTS.map(([name, sign]) => {
        const value = numbers[name];
        const kind = name.endsWith("inf") ? "inf" : name;
        return (
          <div key={name}>
            <dt class={kind} title={name}>
              {sign}
            </dt>
            <dd class={value ? kind : "dim"}>{count(value)}</dd>
          </div>
        );
      })}
      <div class="apart" />
      {MEASURES.map((name) => (
        <div key={name}>
          <dt class="dim">{name}</dt>
          <dd>{number(fromWire(numbers[name]))}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What it was computed from. */
function Around({ data }: { data: TensorDetail }) {
  if (!data.inputs.length) return null;
  return (
    <ul class="list inputs" aria-label="Inputs">
      {data.inputs.map((input) => {
        const to = input.seq === null ? { ...NOTHING, op: input.op } : { ...NOTHING, seq: input.seq };
        return (
          <li key={input.index}>
            <a
              href={hashOf(to)}
              title="Look at this input"
              {...about([ofOp(input.op)])}
              onClick={(event) => {
                event.preventDefault();
                go(to);
              }}
            >
              <span class={`tag${input.bad && !harmlessOps.value.has(input.op) ? " bad" : ""}`}>in {input.index}</span>
              <span class="clip">{input.text.replace(/^input \d+: /, "")}</span>
              {!!input.zero && (
                <span class="tag zero" title="exact zeros">
                  0 ×{count(input.zero)}
                </span>
              )}
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function Elements({ data }: { data: TensorDetail }) {
  const whole = dims(data) ?? [];
  if (!data.kept) {
    return (
      <p class="empty">
        Its elements were not kept, only these numbers. Elements are kept where bad values began; to keep more, use{" "}
        <code>tdbg run --mode full</code> or <code>tdbg.watch</code>.
      </p>
    );
  }
  return <KeptElements key={data.seq} data={data} whole={whole} />;
}
