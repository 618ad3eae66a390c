// Shows the steps on a canvas: the loss, how each step was, where alerts are. It zooms; below is the whole run.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { prepare } from "../drawing/canvas";
import { scheme } from "../drawing/colours";
import { savePng } from "../drawing/save_picture";
import { isWhole, moved, zoomed, type Range } from "../drawing/step_range";
import {
  BAND,
  drawBoxes,
  drawChosen,
  drawLoss,
  drawMap,
  drawSteps,
  LEFT,
  lossAt,
  MAP,
  suitableScale,
} from "../drawing/timeline_drawing";
import { PaneBox } from "../parts/pane_box";
import { Show } from "../parts/show";
import { isNarrow, useSize } from "../parts/size";
import type { Points, Timeline, TimelinePart } from "../server/answers";
import { goStep, inTrace, PARTS, told, steps, timeline } from "../state/chosen";
import { useLoad } from "../state/load";
import { onlyRuns } from "../state/moments";
import { go, view, viewed } from "../state/view";
import { count, number, seconds } from "../words/format";
import type { PaneInColumn } from "./about";

export const stepsPane: PaneInColumn = {
  id: "steps",
  title: "Steps",
  word: "steps",
  keys: "← → choose a step; w s zoom, a d move, Home shows all",
  place: "middle",
  height: "132px",
  shows: Steps,
};

const RIGHT = 8;

function Steps() {
  const whole: Range = steps.value ?? { first: 0, last: 0 };
  const range: Range = { first: viewed.from.value ?? whole.first, last: viewed.to.value ?? whole.last };
  const loaded = useLoad(
    () =>
      inTrace("timeline", {
        process: viewed.process.value,
        from: viewed.from.value,
        to: viewed.to.value,
        buckets: PARTS,
      }),
    told,
  );
  const all = timeline.value;
  const asked = useLoad(
    () =>
      inTrace("loss", {
        process: viewed.process.value,
        from: viewed.from.value,
        to: viewed.to.value,
        points: PARTS,
      }),
  );
  const loss = asked.data?.loss ?? null;
  const canvas = useRef<HTMLCanvasElement>(null);
  const show = (next: Range) =>
    go(isWhole(next, whole) ? { from: null, to: null } : { from: next.first, to: next.last }, true);
  const isZoomed = !isWhole(range, whole);
  return (
    <PaneBox
      box={stepsPane}
      count={
        steps.value && !onlyRuns.value
          ? `${count(steps.value.count)}${isZoomed ? ` · ${count(range.first)}–${count(range.last)} shown` : ""}`
          : ""
      }
      actions={
        <>
          {loss && (
            <span class="dim clip" title={loss.note ? `${loss.name}: ${loss.note}` : `the loss is ${loss.name}`}>
              {loss.note ? "loss?" : "loss"}: {loss.name.replace(/, .*\//, ", ")}
              {loss.note && ` (${loss.note})`}
            </span>
          )}
          {loss && (
            <button
              aria-pressed={scaleOf(loss.points) === "log"}
              title="Logarithmic axis for the loss"
              onClick={() => go({ scale: scaleOf(loss.points) === "log" ? "linear" : "log" }, true)}
            >
              log
            </button>
          )}
          <button disabled={!isZoomed} title="Show all (Home)" onClick={() => show(whole)}>
            fit
          </button>
          <button title="Save this picture" onClick={() => canvas.current && void savePng(canvas.current, "steps")}>
            PNG
          </button>
        </>
      }
    >
      <Show loaded={loaded} empty="Training steps appear here.">
        {(data) =>
          onlyRuns.value ? (
            <div class="empty">
              This Session trains nothing, so there are no steps. Its{" "}
              {count(onlyRuns.value.last - onlyRuns.value.first + 1)} runs are below; choose one there or above.
            </div>
          ) : data.parts.length ? (
            <StepsPicture
              canvas={canvas}
              data={data}
              all={all.data ?? data}
              loss={loss?.points ?? null}
              isAwaited={asked.data === null && asked.isLoading}
              range={range}
              whole={whole}
              show={show}
            />
          ) : (
            <div class="empty">
              No step was recorded. A step is found when a gradient is taken and a variable updated;{" "}
              <code>tdbg.step()</code> tells it outright.
            </div>
          )
        }
      </Show>
    </PaneBox>
  );
}

interface PictureProps {
  canvas: { current: HTMLCanvasElement | null };
  data: Timeline;
  all: Timeline;
  loss: Points | null;
  isAwaited: boolean; // the loss
  range: Range;
  whole: Range;
  show: (range: Range) => void;
}

function StepsPicture({ canvas, data, all, loss, isAwaited, range, whole, show }: PictureProps) {
  const box = useRef<HTMLDivElement>(null);
  const size = useSize(box, { width: 600, height: 110 });
  const hovered = useSignal<TimelinePart | null>(null);
  const marked = useSignal<[number, number] | null>(null); // what is being dragged over, in pixels
  const step = viewed.step.value;
  const right = size.width - RIGHT;
  const place = (at: number) =>
    LEFT + ((at - range.first) / Math.max(1, range.last - range.first + 1)) * (right - LEFT);
  const stepAt = (x: number) =>
    Math.max(
      range.first,
      Math.min(range.last, Math.floor(range.first + ((x - LEFT) / (right - LEFT)) * (range.last - range.first + 1))),
    );

  useLayoutEffect(() => {
    const context = prepare(canvas.current!, size.width, size.height);
    drawLoss(context, loss, isAwaited, scaleOf(loss), place, size.height - BAND - MAP - 24);
    drawBoxes(context, data.parts, place, size.height - BAND - MAP - 20);
    drawSteps(context, range, place, size);
    drawMap(context, all.parts, range, whole, size, right);
    if (step !== null && step >= range.first && step <= range.last)
      drawChosen(context, place(step), place(step + 1), size);
  }, [
    data, all, loss, isAwaited, range.first, range.last, step, size.width, size.height, scheme.value, viewed.scale.value,
  ]);

  useLayoutEffect(() => {
    const element = canvas.current!;
    const wheel = (event: WheelEvent) => {
      if (isNarrow.value && !event.ctrlKey) return; // there the wheel scrolls the page
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
        return show(moved(range, whole, (event.deltaX / size.width) * (range.last - range.first)));
      show(zoomed(range, whole, event.deltaY > 0 ? 1.25 : 0.8, stepAt(event.offsetX)));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });

  const bucketAt = (at: number) => data.parts.find((one) => at >= one.first && at <= one.last) ?? null;
  const pressed = (event: KeyboardEvent) => {
    const middle = step !== null && step >= range.first && step <= range.last ? step : (range.first + range.last) / 2;
    const width = range.last - range.first;
    if (event.key === "w" || event.key === "+") show(zoomed(range, whole, 0.6, middle));
    else if (event.key === "s" || event.key === "-") show(zoomed(range, whole, 1.6, middle));
    else if (event.key === "a") show(moved(range, whole, -width / 4));
    else if (event.key === "d") show(moved(range, whole, width / 4));
    else if (event.key === "Home") show(whole);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const next = (view.value.step ?? whole.first - 1) + (event.key === "ArrowLeft" ? -1 : 1);
      goStep(Math.max(whole.first, Math.min(whole.last, next)), true);
    } else return;
    event.preventDefault();
  };
  const down = (event: PointerEvent) => {
    const element = event.currentTarget as HTMLCanvasElement;
    element.setPointerCapture(event.pointerId);
    const isMap = event.offsetY > size.height - MAP - 2;
    const began = event.offsetX;
    const onMap = (x: number) => {
      const at = whole.first + ((x - LEFT) / (right - LEFT)) * (whole.last - whole.first);
      show(moved(range, whole, at - (range.first + range.last) / 2));
    };
    if (isMap) onMap(began);
    const dragged = (next: PointerEvent) => {
      if (isMap) onMap(next.offsetX);
      else marked.value = [Math.min(began, next.offsetX), Math.max(began, next.offsetX)];
    };
    const up = (next: PointerEvent) => {
      element.removeEventListener("pointermove", dragged);
      element.removeEventListener("pointerup", up);
      marked.value = null;
      if (isMap) return;
      const [first, last] = [stepAt(Math.min(began, next.offsetX)), stepAt(Math.max(began, next.offsetX))];
      if (Math.abs(next.offsetX - began) > 6 && last > first) show({ first, last });
      else goStep(stepAt(began));
    };
    element.addEventListener("pointermove", dragged);
    element.addEventListener("pointerup", up);
  };
  const one = hovered.value ?? (step === null ? null : bucketAt(step));
  return (
    <div class="timeline" ref={box}>
      <canvas
        ref={canvas}
        tabIndex={0}
        data-main
        role="slider"
        aria-label="Steps"
        aria-valuemin={whole.first}
        aria-valuemax={whole.last}
        aria-valuenow={step ?? whole.first}
        aria-valuetext={one ? tell(one, lossAt(loss, one.first)) : undefined}
        style={{ width: `${size.width}px`, height: `${size.height}px` }}
        onPointerDown={down}
        onPointerMove={(event) => (hovered.value = bucketAt(stepAt(event.offsetX)))}
        onPointerLeave={() => (hovered.value = null)}
        onKeyDown={pressed}
      />
      {marked.value && (
        <div
          class="timeline-marked"
          style={{ left: `${marked.value[0]}px`, width: `${marked.value[1] - marked.value[0]}px` }}
        />
      )}
      <div class="timeline-said" aria-hidden="true">
        {one ? tell(one, lossAt(loss, one.first)) : "click a step, drag to zoom, scroll to zoom"}
      </div>
      <Legend />
    </div>
  );
}

/** Gives the scale that was chosen, else the one that suits the loss. */
function scaleOf(loss: Points | null): string {
  return viewed.scale.value || suitableScale(loss);
}

function Legend() {
  return (
    <span class="timeline-legend" aria-hidden="true">
      <i class="loss">━</i> loss <i class="bad">×</i> bad <i>○</i> benign <i class="warn">▼</i> other alert
    </span>
  );
}

function tell(one: TimelinePart, loss: number | null): string {
  const others = Object.entries(one.alerts).filter(([kind]) => kind !== "bad_values");
  return [
    one.first === one.last ? `step ${count(one.first)}` : `steps ${count(one.first)}–${count(one.last)}`,
    `${count(one.rows)} tensors`,
    one.bad > one.benign ? `${count(one.bad - one.benign)} bad` : "",
    one.benign ? `${count(one.benign)} benign` : "",
    ...others.map(([kind, number]) => `${count(number)} ${kind.replace("_", " ")}`),
    loss !== null ? `loss ${number(loss)}` : "",
    one.seconds ? seconds(one.seconds) : "",
  ]
    .filter(Boolean)
    .join(" · ");
}
