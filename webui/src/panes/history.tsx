// Plots the chosen tensor over the steps; others can be laid over it.

import { Plot, type Curve } from "../drawing/line_plot";
import { Show } from "../parts/show";
import type { Points } from "../server/answers";
import { chosenOp, chosenSlot, goStep, inTrace, process } from "../state/chosen";
import { useLoad } from "../state/load";
import { go, viewed } from "../state/view";
import { fromWire } from "../words/format";
import type { PaneInTabs } from "./about";

export const historyPane: PaneInTabs = {
  id: "history",
  title: "History",
  word: "history",
  found: "history plot",
  place: "side",
  shows: HistoryPlot,
};

const NUMBERS = ["mean", "min", "max", "std", "nan", "zero"] as const;
type Name = (typeof NUMBERS)[number];

/** The outputs that are plotted, as the server is asked for them: the chosen one first. */
function plottedOutputs(chosen: string, more: string): string[] {
  return [...new Set([chosen, ...more.split(",")].filter(Boolean))];
}

function chosenOutput(): string {
  return chosenOp.value === null ? "" : `${process.value}:${chosenOp.value}:${chosenSlot.value}`;
}

function HistoryPlot() {
  const shown = NUMBERS.find((name) => name === viewed.statistic.value) ?? "mean";
  const isLog = viewed.log.value;
  const outputs = plottedOutputs(chosenOutput(), viewed.plotted.value);
  const loaded = useLoad(() => {
    const wanted = plottedOutputs(chosenOutput(), viewed.plotted.value);
    return wanted.length ? inTrace("history", { op: wanted, from: viewed.from.value, to: viewed.to.value }) : "";
  });
  const pinned = viewed.plotted.value.split(",").filter(Boolean);
  const own = chosenOutput();
  const keep = () => go({ plotted: [...new Set([...pinned, own])].join(",") });
  const removal = (output: string | undefined) =>
    output === undefined || output === own
      ? undefined
      : () => go({ plotted: pinned.filter((one) => one !== output).join(",") });
  return (
    <Show
      loaded={loaded}
      empty="Choose a tensor to see its numbers over the steps. Keep it, choose another, and both are drawn."
    >
      {(data) => (
        <div class="history">
          <p class="facts">
            {NUMBERS.map((name) => (
              <button key={name} aria-pressed={shown === name} onClick={() => go({ statistic: name }, true)}>
                {name}
              </button>
            ))}
            <button aria-pressed={isLog} title="Logarithmic axis" onClick={() => go({ log: !isLog }, true)}>
              log
            </button>
            <button
              disabled={!own || pinned.includes(own)}
              title="Keep this curve while you choose other tensors"
              onClick={keep}
            >
              keep
            </button>
            <button disabled={!pinned.length} onClick={() => go({ plotted: "" })}>
              clear
            </button>
          </p>
          <Plot
            title={`history of ${shown}`}
            curves={data.series.map((one, at) => ({
              ...curve(one.name, one.points, shown),
              onRemove: removal(outputs[at]),
            }))}
            step={viewed.step.value}
            isLog={isLog}
            hasBand={shown === "mean"}
            onStep={goStep}
          />
        </div>
      )}
    </Show>
  );
}

function curve(name: string, points: Points, shown: Name): Curve {
  return {
    name,
    points: points.first.map((step, at) => ({
      step,
      value: fromWire(points[shown][at]),
      low: fromWire(points.min[at]),
      high: fromWire(points.max[at]),
      bad: points.bad[at],
    })),
  };
}
