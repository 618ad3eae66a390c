// Lists the tensors of the chosen op or execution, to choose one.

import { Show } from "../../parts/show";
import type { ExecutionDetail, Tensor } from "../../server/answers";
import { chosenOp, execution, harmlessOps, inTrace } from "../../state/chosen";
import { useLoad } from "../../state/load";
import { runOf, when } from "../../state/moments";
import { go, hashOf, NOTHING, viewed } from "../../state/view";
import { count, fromWire, functionName, number, plural } from "../../words/format";

const MOST = 30;

/** The tensors of an op, those of the chosen step where one is chosen. */
export function TensorsOfOp() {
  const loaded = useLoad(() =>
    chosenOp.value === null
      ? ""
      : inTrace("tensors", {
          process: viewed.process.value,
          op: chosenOp.value,
          where: viewed.step.value === null ? "" : `step == ${viewed.step.value}`,
          limit: MOST,
        }),
  );
  const inStep = viewed.step.value === null ? "" : ` in step ${count(viewed.step.value)}`;
  return (
    <Show loaded={loaded}>
      {(data) => (
        <>
          <p class="facts dim">
            {data.total
              ? `${plural(data.total, "tensor")} of this op${inStep}: choose one`
              : "No tensor of this op was recorded here. Ops that only move values are not recorded; their inputs are."}
          </p>
          <TensorLinks rows={data.rows} />
        </>
      )}
    </Show>
  );
}

export function OfExecution() {
  return <Show loaded={execution.value}>{(data) => <Called data={data} />}</Show>;
}

function Called({ data }: { data: ExecutionDetail }) {
  return (
    <>
      <p class="facts">
        <b class="mono">{functionName(data.label)}</b>{" "}
        <span class="tag">
          {runOf(data.execution) !== null
            ? "Session run"
            : data.kind === "function"
              ? "function call"
              : "eager op"}
        </span>{" "}
        <span class="dim">
          {when(data.step, data.execution)}, execution {count(data.execution)}
        </span>{" "}
        {data.bad > data.benign && <span class="tag bad">● {plural(data.bad - data.benign, "bad tensor")}</span>}{" "}
        {data.benign > 0 && <span class="tag">○ {plural(data.benign, "benign tensor")}</span>}{" "}
        <button
          onClick={() =>
            go({
              within: viewed.within.value === data.execution ? null : data.execution,
              made: "",
              where: "",
              only: false,
            })
          }
          aria-pressed={viewed.within.value === data.execution}
        >
          its tensors in the table
        </button>
      </p>
      {data.inputs.length > 0 && (
        <>
          <p class="facts dim">inputs</p>
          <TensorLinks rows={data.inputs} />
        </>
      )}
      {data.outputs.length > 0 && (
        <>
          <p class="facts dim">outputs</p>
          <TensorLinks rows={data.outputs} />
        </>
      )}
    </>
  );
}

function TensorLinks({ rows }: { rows: Tensor[] }) {
  return (
    <ul class="list">
      {rows.map((row) => {
        const to = { ...NOTHING, seq: row.seq, step: row.step >= 0 ? row.step : viewed.step.value };
        const bad = [
          row.nan ? `NaN ×${count(row.nan)}` : "",
          row.neg_inf ? `−∞ ×${count(row.neg_inf)}` : "",
          row.pos_inf ? `+∞ ×${count(row.pos_inf)}` : "",
        ]
          .filter(Boolean)
          .join(" ");
        return (
          <li key={row.seq}>
            <a
              href={hashOf(to)}
              onClick={(event) => {
                event.preventDefault();
                go(to);
              }}
            >
              <span class="mono clip">
                {row.name}:{row.slot}
              </span>{" "}
              <span class="dim">
                {when(row.step, row.execution)}
                {row.iteration >= 0 ? ` ↻${row.iteration}` : ""}
              </span>
              {row.bad ? (
                <span class={`tag ${harmlessOps.value.has(row.op) ? "benign" : "bad"}`}>{bad || "bad"}</span>
              ) : (
                <span class="dim">
                  {number(fromWire(row.min))} … {number(fromWire(row.max))}
                </span>
              )}
            </a>
          </li>
        );
      })}
    </ul>
  );
}
