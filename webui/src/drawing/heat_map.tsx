// Draws a table of numbers as a picture: blue below zero, green above, grey zero, magenta NaN, orange infinity.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { reveal } from "../parts/reveal";
import { useSize } from "../parts/size";
import { count, number } from "../words/format";
import { colour, rgb, scheme } from "./colours";
import { savePng } from "./save_picture";

interface Props {
  values: ArrayLike<number>;
  rows: number;
  columns: number;
  name: string;
  chosen: string; // "row,column"
  onChoose: (row: number, column: number) => void;
}

/** The share of the strongest colour that a number has: the square root tells small numbers from none. */
function strength(value: number, largest: number): number {
  return largest > 0 ? Math.sqrt(Math.min(1, Math.abs(value) / largest)) : 0;
}

export function HeatMap({ values, rows, columns, name, chosen, onChoose }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box, { width: 340, height: 200 });
  const under = useSignal<[number, number] | null>(null);
  const cell = Math.max(2, Math.min(22, Math.floor((width - 4) / columns)));
  useLayoutEffect(() => {
    const context = canvas.current!.getContext("2d")!;
    const picture = context.createImageData(columns, rows);
    const parts = Object.fromEntries(
      ["nan", "inf", "zero-ground", "negative", "positive", "ground"].map((one) => [one, rgb(colour(`--${one}`))]),
    );
    let largest = 0;
    for (let at = 0; at < rows * columns; at++)
      if (Number.isFinite(values[at])) largest = Math.max(largest, Math.abs(values[at]!));
    for (let at = 0; at < rows * columns; at++) {
      const value = values[at]!;
      const share = strength(value, largest);
      const pure = Number.isNaN(value)
        ? parts.nan!
        : !Number.isFinite(value)
          ? parts.inf!
          : value === 0
            ? parts["zero-ground"]!
            : parts[value < 0 ? "negative" : "positive"]!;
      const isMixed = Number.isFinite(value) && value !== 0;
      for (let part = 0; part < 3; part++) {
        const ground = parts.ground![part]!;
        picture.data[at * 4 + part] = isMixed ? ground + (pure[part]! - ground) * (0.12 + 0.88 * share) : pure[part]!;
      }
      picture.data[at * 4 + 3] = 255;
    }
    context.putImageData(picture, 0, 0);
  }, [values, rows, columns, scheme.value]);
  const at = (event: MouseEvent): [number, number] => [
    Math.min(rows - 1, Math.floor(event.offsetY / cell)),
    Math.min(columns - 1, Math.floor(event.offsetX / cell)),
  ];
  const own = parsed(chosen, rows, columns);
  useLayoutEffect(() => {
    reveal(box.current?.querySelector(".heat-chosen"), "nearest");
  }, [chosen, values, cell]);
  const [row, column] = under.value ?? own;
  return (
    <div class="heat" ref={box}>
      <p class="facts mono">
        {row >= 0 ? (
          <>
            [{row}, {column}] ={" "}
            <b class={kindOf(values[row * columns + column]!)}>{number(values[row * columns + column])}</b>
          </>
        ) : (
          <Legend />
        )}
        <button class="save" onClick={() => canvas.current && void savePng(canvas.current, name)}>
          PNG
        </button>
      </p>
      <div class="heat-scroll" tabIndex={0} role="region" aria-label="Picture of the elements">
        <canvas
          ref={canvas}
          width={columns}
          height={rows}
          role="img"
          aria-label={`${name}: ${count(rows)} by ${count(columns)} elements as colours; the table shows them as numbers`}
          style={{ width: `${columns * cell}px`, height: `${rows * cell}px` }}
          onPointerMove={(event) => (under.value = at(event))}
          onPointerLeave={() => (under.value = null)}
          onClick={(event) => onChoose(...at(event))}
        />
        {own[0] >= 0 && (
          <div
            class="heat-chosen"
            style={{ left: `${own[1] * cell}px`, top: `${own[0] * cell}px`, width: `${cell}px`, height: `${cell}px` }}
          />
        )}
      </div>
    </div>
  );
}

/** An element that the link names but that is not there is none. */
function parsed(chosen: string, rows: number, columns: number): [number, number] {
  const [row, column] = chosen.split(",").map(Number);
  return row !== undefined && column !== undefined && row >= 0 && row < rows && column >= 0 && column < columns
    ? [row, column]
    : [-1, -1];
}

function Legend() {
  return (
    <span class="legend-row">
      <span class="tag negative">−</span>
      <span class="tag zero">0</span>
      <span class="tag positive">+</span>
      <span class="tag nan">NaN</span>
      <span class="tag inf">∞</span>
    </span>
  );
}

/** The class that colours a number. */
export function kindOf(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return "inf";
  return value === 0 ? "zero" : value < 0 ? "negative" : "positive";
}
