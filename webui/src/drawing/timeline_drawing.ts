// Draws the parts of the timeline: the loss, a box for each step, the axis, a map of the whole run.

import type { Points, TimelinePart } from "../server/answers";
import { brief, count, fromWire, number } from "../words/format";
import { logScale, scale } from "./axes";
import { colour } from "./colours";
import type { Range } from "./step_range";

export const LEFT = 52; // where the steps begin
export const BAND = 14; // height of the row of boxes
export const MAP = 12; // height of the minimap

type Context = CanvasRenderingContext2D;

/** Alerts that are not bad values. */
function hasOthers(one: TimelinePart): boolean {
  return Object.entries(one.alerts).some(([kind, number]) => kind !== "bad_values" && number > 0);
}

export function lossAt(loss: Points | null, step: number): number | null {
  const at = loss ? loss.first.findIndex((first, n) => step >= first && step <= loss.last[n]!) : -1;
  return at < 0 ? null : lossOf(loss!, at);
}

/** A point's loss: NaN or infinite where it was so, else the mean of its steps. */
function lossOf(loss: Points, at: number): number | null {
  if (loss.nan[at]) return NaN;
  return loss.inf[at] ? Infinity : fromWire(loss.mean[at]);
}

/** Logarithmic where the loss spans more than a linear axis can show. */
export function suitableScale(loss: Points | null): string {
  const known = (loss?.first ?? [])
    .map((_, at) => lossOf(loss!, at))
    .filter((value): value is number => value !== null && Number.isFinite(value));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return known.length && low > 0 && high / low > 50 ? "log" : "linear";
}

export function drawLoss(
  context: Context,
  points: Points | null,
  isAwaited: boolean,
  scaling: string, // log or linear
  place: (step: number) => number,
  bottom: number,
): void {
  const losses = points?.first.map((_, at) => lossOf(points, at)) ?? [];
  const known = losses.filter((value): value is number => value !== null && Number.isFinite(value));
  const areKept = losses.some((value) => value !== null);
  if (!points || !areKept) {
    context.fillStyle = colour("--dim");
    context.font = "11px system-ui, sans-serif";
    const why = losses.length ? "the loss has no numbers; record with --mode numerics" : "no loss was found";
    context.fillText(isAwaited ? "looking for the loss …" : why, LEFT + 4, 28);
    return;
  }
  const [low, high] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
  const isLog = scaling === "log" && high > 0;
  const positive = known.filter((value) => value > 0);
  const y = isLog ? logScale(Math.min(...positive), high, bottom, 20, 3) : scale(low, high, bottom, 20, 3);
  context.font = "10.5px system-ui, sans-serif";
  context.textAlign = "right";
  for (const tick of y.ticks) {
    const at = y(tick);
    if (at < 14 || at > bottom + 1) continue;
    context.fillStyle = colour("--dim");
    context.fillText(brief(tick), LEFT - 6, at + 4, LEFT - 8);
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
    if (loss === null || !Number.isFinite(loss) || (isLog && loss <= 0)) {
      isOpen = false;
      if (loss === null || Number.isFinite(loss)) return; // 0 and less have no place on a logarithmic axis
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

export function drawBoxes(
  context: Context,
  parts: TimelinePart[],
  place: (step: number) => number,
  top: number,
): void {
  for (const one of parts) {
    const [from, to] = [place(one.first), place(one.last + 1)];
    const width = Math.max(1, to - from - (to - from > 4 ? 1 : 0));
    if (one.bad > one.benign) {
      context.fillStyle = colour("--nan");
      context.fillRect(from, top, width, BAND);
      context.fillStyle = colour("--ground");
      if (width >= 9) context.fillText("×", from + width / 2 - 3, top + 11);
    } else {
      context.fillStyle = colour(one.rows ? "--zero-ground" : "--line");
      context.fillRect(from, one.rows ? top : top + BAND - 2, width, one.rows ? BAND : 2);
      context.fillStyle = colour("--dim");
      if (one.bad && width >= 9) context.fillText("○", from + width / 2 - 4, top + 11);
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

export function drawSteps(
  context: Context,
  range: Range,
  place: (step: number) => number,
  size: { width: number; height: number },
): void {
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

export function drawMap(
  context: Context,
  parts: TimelinePart[],
  range: Range,
  whole: Range,
  size: { width: number; height: number },
  right: number,
): void {
  const top = size.height - MAP;
  const place = (step: number) =>
    LEFT + ((step - whole.first) / Math.max(1, whole.last - whole.first + 1)) * (right - LEFT);
  context.fillStyle = colour("--raised");
  context.fillRect(LEFT, top, right - LEFT, MAP - 2);
  for (const one of parts) {
    const isBad = one.bad > one.benign;
    if (!isBad && !hasOthers(one)) continue;
    context.fillStyle = colour(isBad ? "--nan" : "--warn");
    context.fillRect(
      place(one.first),
      top + (isBad ? 1 : 5),
      Math.max(1.5, place(one.last + 1) - place(one.first)),
      MAP - (isBad ? 4 : 8),
    );
  }
  context.strokeStyle = colour("--accent");
  context.lineWidth = 1;
  context.strokeRect(
    place(range.first) + 0.5,
    top + 0.5,
    Math.max(3, place(range.last + 1) - place(range.first) - 1),
    MAP - 3,
  );
}

export function drawChosen(context: Context, from: number, to: number, size: { height: number }): void {
  const middle = (from + to) / 2;
  context.fillStyle = colour("--accent");
  context.fillRect(middle - 0.75, 16, 1.5, size.height - MAP - BAND - 36);
  context.strokeStyle = colour("--accent");
  context.lineWidth = 2;
  context.strokeRect(from, size.height - MAP - BAND - 21, Math.max(4, to - from), BAND + 2);
}
