// The steps on a canvas: the loss, what each step's tensors were, where alerts are; zoom, and below it the whole run.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { ofTrace } from "./api";
import { logScale, scale } from "./axes";
import { prepare } from "./canvas";
import { colour, scheme } from "./colours";
import { PARTS, steps, timeline } from "./focus";
import { count, fromWire, number, seconds } from "./format";
import { useLoad } from "./load";
import { Pane, Show } from "./panes";
import { savePng } from "./saving";
import { useSize } from "./size";
import type { Loss, Part, Points, Timeline } from "./types";
import { go, view, viewed } from "./view";
import { isWhole, moved, zoomed, type Range } from "./zoom";

const LEFT = 52;
const RIGHT = 8;
const BAND = 14; // height of the row of boxes
const MAP = 12; // height of the minimap

export function Steps() {
  const whole: Range = steps.value ?? { first: 0, last: 0 };
  const range: Range = { first: viewed.from.value ?? whole.first, last: viewed.to.value ?? whole.last };
  const loaded = useLoad<Timeline>(() => viewed.trace.value && ofTrace(viewed.trace.value, "timeline", { process: viewed.process.value, from: viewed.from.value, to: viewed.to.value, buckets: PARTS }));
  const all = timeline.value;
  const loss = useLoad<Loss>(() => viewed.trace.value && ofTrace(viewed.trace.value, "loss", { process: viewed.process.value, from: viewed.from.value, to: viewed.to.value, points: PARTS })).data?.loss ?? null;
  const canvas = useRef<HTMLCanvasElement>(null);
  const show = (next: Range) => go(isWhole(next, whole) ? { from: null, to: null } : { from: next.first, to: next.last }, true);
  const isZoomed = !isWhole(range, whole);
  return (
    <Pane id="steps" title="Steps" count={steps.value ? `${count(steps.value.count)}${isZoomed ? ` · ${count(range.first)}–${count(range.last)} shown` : ""}` : ""} fixed="132px" actions={
      <>
        {loss && <span class="dim clip" title={`the loss is taken to be ${loss.name}`}>loss: {loss.name}</span>}
        <button disabled={!isZoomed} title="Show all (Home)" onClick={() => show(whole)}>fit</button>
        <button title="Save this picture" onClick={() => canvas.current && void savePng(canvas.current, "steps")}>PNG</button>
      </>
    }>
      <Show loaded={loaded} empty="Training steps appear here.">
        {(data) => data.parts.length ? <Drawing canvas={canvas} data={data} all={all.data ?? data} loss={loss?.points ?? null} range={range} whole={whole} show={show} /> : <div class="empty">No step was recorded. A step is found when a gradient is taken and a variable updated; <code>tdbg.step()</code> tells it outright.</div>}
      </Show>
    </Pane>
  );
}

interface DrawingProps {
  canvas: { current: HTMLCanvasElement | null };
  data: Timeline;
  all: Timeline;
  loss: Points | null;
  range: Range;
  whole: Range;
  show: (range: Range) => void;
}

function Drawing({ canvas, data, all, loss, range, whole, show }: DrawingProps) {
  const box = useRef<HTMLDivElement>(null);
  const size = useSize(box, { width: 600, height: 110 });
  const hovered = useSignal<Part | null>(null);
  const { step } = { step: viewed.step.value };
  const right = size.width - RIGHT;
  const place = (at: number) => LEFT + ((at - range.first) / Math.max(1, range.last - range.first + 1)) * (right - LEFT);
  const stepAt = (x: number) => Math.max(range.first, Math.min(range.last, Math.floor(range.first + ((x - LEFT) / (right - LEFT)) * (range.last - range.first + 1))));

  useLayoutEffect(() => {
    const context = prepare(canvas.current!, size.width, size.height);
    drawLoss(context, loss, place, size.height - BAND - MAP - 24);
    drawBoxes(context, data.parts, place, size.height - BAND - MAP - 20);
    drawSteps(context, range, place, size);
    drawMap(context, all.parts, range, whole, size, right);
    if (step !== null && step >= range.first && step <= range.last) drawChosen(context, place(step), place(step + 1), size);
  }, [data, all, loss, range.first, range.last, step, size.width, size.height, scheme.value]);

  useEffect(() => {
    const element = canvas.current!;
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return show(moved(range, whole, (event.deltaX / size.width) * (range.last - range.first)));
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
      go({ step: Math.max(whole.first, Math.min(whole.last, next)) }, true);
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
    };
    const up = (next: PointerEvent) => {
      element.removeEventListener("pointermove", dragged);
      element.removeEventListener("pointerup", up);
      if (isMap) return;
      const [first, last] = [stepAt(Math.min(began, next.offsetX)), stepAt(Math.max(began, next.offsetX))];
      if (Math.abs(next.offsetX - began) > 6 && last > first) show({ first, last });
      else go({ step: stepAt(began) });
    };
    element.addEventListener("pointermove", dragged);
    element.addEventListener("pointerup", up);
  };
  const one = hovered.value ?? (step === null ? null : bucketAt(step));
  return (
    <div class="timeline" ref={box}>
      <canvas ref={canvas} tabIndex={0} data-main role="slider" aria-label="Steps" aria-valuemin={whole.first} aria-valuemax={whole.last} aria-valuenow={step ?? whole.first} aria-valuetext={one ? tell(one, lossAt(loss, one.first)) : undefined} style={{ width: `${size.width}px`, height: `${size.height}px` }} onPointerDown={down} onPointerMove={(event) => (hovered.value = bucketAt(stepAt(event.offsetX)))} onPointerLeave={() => (hovered.value = null)} onKeyDown={pressed} />
      <div class="timeline-said" aria-hidden="true">{one ? tell(one, lossAt(loss, one.first)) : "click a step, drag to zoom, scroll to zoom"}</div>
    </div>
  );
}

function tell(one: Part, loss: number | null): string {
  const others = Object.entries(one.alerts).filter(([kind]) => kind !== "bad_values");
  return [
    one.first === one.last ? `step ${count(one.first)}` : `steps ${count(one.first)}–${count(one.last)}`,
    `${count(one.rows)} tensors`,
    one.bad ? `${count(one.bad)} bad` : "",
    ...others.map(([kind, number]) => `${count(number)} ${kind.replace("_", " ")}`),
    loss !== null ? `loss ${number(loss)}` : "",
    one.seconds ? seconds(one.seconds) : "",
  ].filter(Boolean).join(" · ");
}

/** Alerts that are not bad values. */
function hasOthers(one: Part): boolean {
  return Object.entries(one.alerts).some(([kind, number]) => kind !== "bad_values" && number > 0);
}

type Context = CanvasRenderingContext2D;

function lossAt(loss: Points | null, step: number): number | null {
  const at = loss ? loss.first.findIndex((first, n) => step >= first && step <= loss.last[n]!) : -1;
  return at < 0 ? null : lossOf(loss!, at);
}

/** A point's loss: NaN or infinite where it was so, else the mean of its steps. */
function lossOf(loss: Points, at: number): number | null {
  if (loss.nan[at]) return NaN;
  return loss.inf[at] ? Infinity : fromWire(loss.mean[at]);
}

function drawLoss(context: Context, points: Points | null, place: (step: number) => number, bottom: number): void {
  const losses = points?.first.map((_, at) => lossOf(points, at)) ?? [];
  const known = losses.filter((value): value is number => value !== null && Number.isFinite(value));
  if (!points || !losses.length) {
    context.fillStyle = colour("--dim");
    context.font = "11px system-ui, sans-serif";
    context.fillText("no loss was recognised", LEFT + 4, 28);
    return;
  }
  const [low, high] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
  const y = (low > 0 && high / low > 50 ? logScale : scale)(low, high, bottom, 20, 3);
  context.font = "10.5px system-ui, sans-serif";
  context.textAlign = "right";
  for (const tick of y.ticks) {
    const at = y(tick);
    if (at < 14 || at > bottom + 1) continue;
    context.fillStyle = colour("--dim");
    context.fillText(number(tick), LEFT - 6, at + 4);
    context.fillStyle = colour("--line");
    context.fillRect(LEFT, at, 4000, 1);
  }
  context.textAlign = "left";
  context.strokeStyle = colour("--series-1");
  context.lineWidth = 1.6;
  context.beginPath();
  let isOpen = false;
  const dots: [number, number][] = [];
  losses.forEach((loss, at) => {
    const [from, to] = [place(points.first[at]!), place(points.last[at]! + 1)];
    const x = (from + to) / 2;
    if (loss === null || !Number.isFinite(loss)) {
      isOpen = false;
      if (loss === null) return;
      context.fillStyle = colour(Number.isNaN(loss) ? "--nan" : "--inf");
      context.fillRect(from, 16, Math.max(1, to - from), 3);
      return;
    }
    const isAlone = !isOpen && !Number.isFinite(losses[at + 1] ?? NaN);
    if (isAlone) dots.push([x, y(loss)]);
    if (isOpen) context.lineTo(x, y(loss));
    else context.moveTo(x, y(loss));
    isOpen = true;
  });
  context.stroke();
  context.fillStyle = colour("--series-1");
  for (const [x, at] of dots) context.fillRect(x - 2.5, at - 2.5, 5, 5);
  const broken = losses.findIndex((loss) => loss !== null && !Number.isFinite(loss));
  if (broken >= 0) {
    context.fillStyle = colour("--nan");
    context.font = "600 10.5px system-ui, sans-serif";
    const x = place(points.first[broken]!) + 2;
    context.fillText(number(losses[broken]!), x, 30);
  }
}

function drawBoxes(context: Context, parts: Part[], place: (step: number) => number, top: number): void {
  for (const one of parts) {
    const [from, to] = [place(one.first), place(one.last + 1)];
    const width = Math.max(1, to - from - (to - from > 4 ? 1 : 0));
    if (one.bad) {
      context.fillStyle = colour("--nan");
      context.fillRect(from, top, width, BAND);
      context.fillStyle = colour("--ground");
      if (width >= 9) context.fillText("×", from + width / 2 - 3, top + 11);
    } else {
      context.fillStyle = colour(one.rows ? "--zero-ground" : "--line");
      context.fillRect(from, one.rows ? top : top + BAND - 2, width, one.rows ? BAND : 2);
    }
    if (hasOthers(one)) {
      context.fillStyle = colour("--warn");
      context.beginPath();
      context.moveTo(from + width / 2 - 4, top - 1);
      context.lineTo(from + width / 2 + 4, top - 1);
      context.lineTo(from + width / 2, top + 5);
      context.fill();
    }
  }
}

function drawSteps(context: Context, range: Range, place: (step: number) => number, size: { width: number; height: number }): void {
  const axis = scale(range.first, range.last, 0, 1, Math.max(2, Math.floor(size.width / 90)));
  context.fillStyle = colour("--dim");
  context.font = "10.5px system-ui, sans-serif";
  context.textAlign = "center";
  for (const tick of axis.ticks.filter(Number.isInteger)) {
    const x = (place(tick) + place(tick + 1)) / 2;
    context.fillText(count(tick), Math.max(LEFT + 4, Math.min(size.width - 14, x)), size.height - MAP - 6);
  }
  context.textAlign = "left";
}

function drawMap(context: Context, parts: Part[], range: Range, whole: Range, size: { width: number; height: number }, right: number): void {
  const top = size.height - MAP;
  const place = (step: number) => LEFT + ((step - whole.first) / Math.max(1, whole.last - whole.first + 1)) * (right - LEFT);
  context.fillStyle = colour("--raised");
  context.fillRect(LEFT, top, right - LEFT, MAP - 2);
  for (const one of parts) {
    if (!one.bad && !hasOthers(one)) continue;
    context.fillStyle = colour(one.bad ? "--nan" : "--warn");
    context.fillRect(place(one.first), top + (one.bad ? 1 : 5), Math.max(1.5, place(one.last + 1) - place(one.first)), MAP - (one.bad ? 4 : 8));
  }
  context.strokeStyle = colour("--accent");
  context.lineWidth = 1;
  context.strokeRect(place(range.first) + 0.5, top + 0.5, Math.max(3, place(range.last + 1) - place(range.first) - 1), MAP - 3);
}

function drawChosen(context: Context, from: number, to: number, size: { height: number }): void {
  const middle = (from + to) / 2;
  context.fillStyle = colour("--accent");
  context.fillRect(middle - 0.75, 4, 1.5, size.height - MAP - BAND - 24);
  context.strokeStyle = colour("--accent");
  context.lineWidth = 2;
  context.strokeRect(from, size.height - MAP - BAND - 21, Math.max(4, to - from), BAND + 2);
}
