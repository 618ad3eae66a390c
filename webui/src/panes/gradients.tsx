// Shows the norm of each layer's gradient at each step as a colour. Vanishing is pale, exploding is dark.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { prepare } from "../drawing/canvas";
import { between, colour, scheme } from "../drawing/colours";
import { savePng } from "../drawing/save_picture";
import { Show } from "../parts/show";
import { useSize } from "../parts/size";
import type { CurveOfSteps } from "../server/answers";
import { goStep, inTrace, isJudged } from "../state/chosen";
import { useLoad } from "../state/load";
import { viewed } from "../state/view";
import { count, number, plural } from "../words/format";
import type { PaneInTabs } from "./about";

export const gradientsPane: PaneInTabs = {
  id: "gradients",
  title: "Gradients",
  word: "gradients",
  found: "gradient flow",
  place: "centre",
  shows: GradientFlow,
};

const ROW = 18;
const LEFT = 150;
const PADDING = 16; // of the box, on both sides together

function GradientFlow() {
  const what = useSignal<"layers" | "weights">("layers");
  const loaded = useLoad(() => inTrace("gradients", { process: viewed.process.value }), () => isJudged.value);
  const canvas = useRef<HTMLCanvasElement>(null);
  return (
    <div class="flow">
      <p class="facts">
        <button aria-pressed={what.value === "layers"} onClick={() => (what.value = "layers")}>
          gradients by layer
        </button>{" "}
        <button aria-pressed={what.value === "weights"} onClick={() => (what.value = "weights")}>
          weights
        </button>{" "}
        <span class="dim">L2 norm by step; × marks steps with NaN or infinity</span>{" "}
        <button onClick={() => canvas.current && void savePng(canvas.current, what.value)}>PNG</button>
      </p>
      <Show loaded={loaded} empty="Gradient norms over the steps appear here.">
        {(data) => {
          const curves = data[what.value];
          if (!curves.length)
            return (
              <div class="empty">
                No gradient was recorded. Gradients appear where the program takes them, with{" "}
                <code>tf.GradientTape</code>, <code>model.fit</code> or <code>tf.gradients</code>.
              </div>
            );
          return <NormsByStep canvas={canvas} curves={curves} every={data.steps_per_point} />;
        }}
      </Show>
    </div>
  );
}

function NormsByStep({
  canvas,
  curves,
  every,
}: {
  canvas: { current: HTMLCanvasElement | null };
  curves: CurveOfSteps[];
  every: number;
}) {
  const box = useRef<HTMLDivElement>(null);
  const width = useSize(box, { width: 600, height: 200 }).width - PADDING;
  const said = useSignal("");
  const steps = curves.flatMap((curve) => curve.steps);
  const [first, last] = [Math.min(...steps), Math.max(...steps)];
  const columns = Math.floor((last - first) / every) + 1;
  const cell = (width - LEFT - 8) / columns;
  const height = curves.length * ROW + 18;
  const logs = curves
    .flatMap((curve) => curve.values)
    .filter((value): value is number => value !== null && value > 0)
    .map(Math.log10);
  const [low, high] = [Math.min(...logs), Math.max(...logs)];
  const step = viewed.step.value;
  useLayoutEffect(() => {
    const context = prepare(canvas.current!, width, height);
    context.font = "11px ui-monospace, monospace";
    const [pale, dark] = [colour("--raised"), colour("--series-3")];
    curves.forEach((curve, row) => {
      context.fillStyle = colour("--text");
      context.textAlign = "right";
      context.fillText(curve.name.length > 22 ? `…${curve.name.slice(-21)}` : curve.name, LEFT - 6, row * ROW + 13);
      context.textAlign = "left";
      curve.steps.forEach((at, n) => {
        const [x, value] = [LEFT + ((at - first) / every) * cell, curve.values[n] ?? null];
        const isBad = (curve.bad[n] ?? 0) > 0;
        const share = value !== null && value > 0 && high > low ? (Math.log10(value) - low) / (high - low) : 0;
        context.fillStyle = isBad
          ? colour("--nan")
          : value === 0
            ? colour("--zero-ground")
            : value === null
              ? colour("--line")
              : between(pale, dark, 0.12 + 0.88 * share);
        context.fillRect(x, row * ROW + 1, Math.max(1, cell - (cell > 4 ? 1 : 0)), ROW - 2);
        if (isBad && cell >= 8) {
          context.fillStyle = colour("--ground");
          context.fillText("×", x + cell / 2 - 4, row * ROW + 13);
        }
      });
    });
    context.fillStyle = colour("--dim");
    context.fillText(`step ${count(first)}`, LEFT, height - 4);
    context.textAlign = "right";
    context.fillText(count(last), width - 8, height - 4);
    context.textAlign = "left";
    if (step !== null && step >= first && step <= last) {
      context.strokeStyle = colour("--accent");
      context.lineWidth = 2;
      context.strokeRect(LEFT + Math.floor((step - first) / every) * cell, 0, Math.max(3, cell), curves.length * ROW);
    }
  }, [curves, width, step, scheme.value]);
  const at = (event: PointerEvent) => {
    const [row, column] = [Math.floor(event.offsetY / ROW), Math.floor((event.offsetX - LEFT) / cell)];
    const curve = curves[row];
    return curve && column >= 0 && column < columns ? { curve, step: first + column * every } : null;
  };
  const tell = (event: PointerEvent) => {
    const found = at(event);
    const n = found ? found.curve.steps.indexOf(found.step) : -1;
    if (!found || n < 0) return void (said.value = "");
    const { name, bad, values } = found.curve;
    said.value = `${name}, step ${count(found.step)}: ${bad[n] ? plural(bad[n]!, "bad element") : `norm ${number(values[n])}`}`;
  };
  useEffect(() => void (said.value = ""), [curves]);
  return (
    <div ref={box} class="flow-box">
      <canvas
        ref={canvas}
        role="img"
        aria-label={`Norms of ${curves.length} layers over steps ${first} to ${last}`}
        style={{ width: `${width}px`, height: `${height}px` }}
        onPointerMove={tell}
        onPointerLeave={() => (said.value = "")}
        onClick={(event) => {
          const found = at(event as unknown as PointerEvent);
          if (found) goStep(found.step);
        }}
      />
      <p class="facts dim" aria-live="polite">
        {said.value ||
          (logs.length ? `from ${number(10 ** low)} (pale) to ${number(10 ** high)} (dark)` : "no finite norm")}
      </p>
    </div>
  );
}
