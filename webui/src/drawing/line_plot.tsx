// Plots series over steps as lines in SVG. A step whose values were bad has a mark on the upper edge.

import { useRef } from "preact/hooks";
import { useSize } from "../parts/size";
import { count, number } from "../words/format";
import { logScale, scale } from "./axes";
import { DASHES, SERIES } from "./colours";
import { savePng, saveSvg } from "./save_picture";

interface Point {
  step: number;
  value: number | null;
  low?: number | null;
  high?: number | null;
  bad?: number;
}

export interface Curve {
  name: string;
  points: Point[];
  onRemove?: () => void; // without it the curve stays
}

interface Props {
  title: string;
  curves: Curve[];
  step: number | null;
  isLog?: boolean;
  hasBand?: boolean;
  onStep: (step: number) => void;
}

const LEFT = 58;
const BOTTOM = 20;
const TOP = 14;

export function Plot({ title, curves, step, isLog, hasBand, onStep }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const { width, height } = useSize(box, { width: 340, height: 180 });
  const points = curves.flatMap((curve) => curve.points);
  const values = points
    .flatMap((p) => (hasBand ? [p.value, p.low, p.high] : [p.value]))
    .filter((v): v is number => v !== null && v !== undefined && Number.isFinite(v) && (!isLog || v > 0));
  const steps = points.map((p) => p.step);
  const [first, last] = [Math.min(...steps), Math.max(...steps)];
  const x = scale(first, last, LEFT, width - 10, Math.max(2, Math.floor((width - LEFT) / 80)));
  const [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
  const y = (isLog && low > 0 ? logScale : scale)(
    low,
    high,
    height - BOTTOM,
    TOP,
    Math.max(2, Math.floor(height / 36)),
  );
  const stepAt = (event: PointerEvent | MouseEvent) => {
    const at = event.clientX - svg.current!.getBoundingClientRect().left;
    const wanted = first + ((at - LEFT) / (width - 10 - LEFT)) * (last - first);
    return steps.reduce((best, one) => (Math.abs(one - wanted) < Math.abs(best - wanted) ? one : best), steps[0]!);
  };
  return (
    <figure class="plot">
      <div class="plot-box" ref={box}>
        <svg
          ref={svg}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={`${title}: ${curves.map((c) => c.name).join(", ")}, steps ${count(first)} to ${count(last)}`}
          onClick={(event) => steps.length && onStep(stepAt(event))}
        >
          {y.ticks.map((tick) => (
            <g key={`y${tick}`}>
              <line x1={LEFT} x2={width - 10} y1={y(tick)} y2={y(tick)} stroke="var(--line)" />
              <text x={LEFT - 6} y={y(tick) + 3.5} text-anchor="end" font-size="10.5" fill="var(--dim)">
                {number(tick)}
              </text>
            </g>
          ))}
          {x.ticks.filter(Number.isInteger).map((tick) => (
            <text key={`x${tick}`} x={x(tick)} y={height - 5} text-anchor="middle" font-size="10.5" fill="var(--dim)">
              {count(tick)}
            </text>
          ))}
          {step !== null && step >= first && step <= last && (
            <line x1={x(step)} x2={x(step)} y1={TOP} y2={height - BOTTOM} stroke="var(--accent)" stroke-width="1.5" />
          )}
          {curves.map((curve, at) => (
            <g key={curve.name + at}>
              {hasBand && (
                <path d={band(curve.points, x, y)} fill={`var(${SERIES[at % SERIES.length]})`} opacity="0.16" />
              )}
              <path
                d={path(curve.points, x, y, !!isLog)}
                fill="none"
                stroke={`var(${SERIES[at % SERIES.length]})`}
                stroke-width="1.6"
                stroke-dasharray={DASHES[at % DASHES.length]}
              />
              {curve.points.length < 40 &&
                curve.points.map(
                  (p) =>
                    isDrawn(p.value, isLog) && (
                      <circle
                        key={p.step}
                        cx={x(p.step)}
                        cy={y(p.value!)}
                        r="2.2"
                        fill={`var(${SERIES[at % SERIES.length]})`}
                      />
                    ),
                )}
              {curve.points.map(
                (p) =>
                  !!p.bad && (
                    <path key={p.step} d={`M${x(p.step) - 3} ${3 + at * 2}h6l-3 7z`} fill="var(--nan)">
                      <title>{`step ${count(p.step)}: ${count(p.bad)} bad values in ${curve.name}`}</title>
                    </path>
                  ),
              )}
            </g>
          ))}
        </svg>
      </div>
      <figcaption>
        {curves.map((curve, at) => {
          const chosen = curve.points.find((p) => p.step === step);
          return (
            <span key={curve.name + at} class="legend">
              <svg width="18" height="8" aria-hidden="true">
                <line
                  x1="0"
                  x2="18"
                  y1="4"
                  y2="4"
                  stroke={`var(${SERIES[at % SERIES.length]})`}
                  stroke-width="2"
                  stroke-dasharray={DASHES[at % DASHES.length]}
                />
              </svg>
              {curve.name}
              {chosen && <b>{chosen.bad ? `bad ×${count(chosen.bad)}` : number(chosen.value)}</b>}
              {curve.onRemove && (
                <button class="icon" aria-label={`Remove ${curve.name} from the plot`} onClick={curve.onRemove}>
                  ×
                </button>
              )}
            </span>
          );
        })}
        <span class="save">
          <button onClick={() => saveSvg(svg.current!, title)}>SVG</button>
          <button onClick={() => void savePng(svg.current!, title)}>PNG</button>
        </span>
      </figcaption>
    </figure>
  );
}

function isDrawn(value: number | null | undefined, isLog?: boolean): value is number {
  return value !== null && value !== undefined && Number.isFinite(value) && (!isLog || value > 0);
}

function path(points: Point[], x: (v: number) => number, y: (v: number) => number, isLog: boolean): string {
  let isOpen = false;
  return points
    .map((p) => {
      if (!isDrawn(p.value, isLog)) {
        isOpen = false;
        return "";
      }
      const move = isOpen ? "L" : "M";
      isOpen = true;
      return `${move}${x(p.step).toFixed(1)} ${y(p.value).toFixed(1)}`;
    })
    .join("");
}

function band(points: Point[], x: (v: number) => number, y: (v: number) => number): string {
  const both = points.filter((p) => isDrawn(p.low) && isDrawn(p.high));
  if (both.length < 2) return "";
  const upper = both.map((p) => `${x(p.step).toFixed(1)} ${y(p.high!).toFixed(1)}`);
  const lower = both.map((p) => `${x(p.step).toFixed(1)} ${y(p.low!).toFixed(1)}`).reverse();
  return `M${[...upper, ...lower].join("L")}Z`;
}
