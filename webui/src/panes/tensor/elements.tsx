// Shows the elements of a tensor that were kept, as a picture, a table or a histogram; opens at the first bad one.

import { useLayoutEffect, useRef } from "preact/hooks";
import { roundTicks } from "../../drawing/axes";
import { HeatMap, kindOf } from "../../drawing/heat_map";
import { reveal } from "../../parts/reveal";
import { Show } from "../../parts/show";
import type { TensorDetail, TensorValue } from "../../server/answers";
import { getJson } from "../../server/api";
import { inTrace } from "../../state/chosen";
import { useLoad } from "../../state/load";
import { go, viewed } from "../../state/view";
import { count, fromWire, number, shape as shapeText } from "../../words/format";
import { asRows, fixedIndices, pictureSlice, placeIn, sliceAround, sliceAt } from "./slices";

const MOST = 40_000;
const FORMS = ["picture", "table", "histogram"];
const TABLE_ROWS = 60;
const TABLE_COLUMNS = 24;

function badElement(seq: number, after: number) {
  return inTrace("bad_element", { process: viewed.process.value, seq, after });
}

/** A tensor with bad elements opens at the first of them, unless a slice is chosen. */
export function KeptElements({ data, whole }: { data: TensorDetail; whole: number[] }) {
  const first = useLoad(() => (data.bad ? badElement(data.seq, -1) : ""));
  if (first.isLoading && !first.data) return <Show loaded={first}>{() => null}</Show>;
  const start = first.data?.total ? sliceAround(whole, first.data.index, MOST) : null;
  return <ElementsFrom data={data} whole={whole} start={start} bad={first.data?.total ?? 0} />;
}

interface From {
  data: TensorDetail;
  whole: number[];
  start: { slice: string; row: number; column: number } | null;
  bad: number;
}

function ElementsFrom({ data, whole, start, bad }: From) {
  const opening = start?.slice || pictureSlice(whole, "");
  const slice = viewed.slice.value || opening;
  const element = viewed.element.value || (viewed.slice.value || !start ? "" : `${start.row},${start.column}`);
  const loaded = useLoad(() =>
    inTrace("value", {
      process: viewed.process.value,
      seq: data.seq,
      slice: viewed.slice.value || opening,
      most: MOST,
    }),
  );
  const form = viewed.form.value;
  const next = async () => {
    const found = await getJson(badElement(data.seq, placeIn(whole, slice, element)));
    const there = sliceAround(whole, found.index, MOST);
    go({ slice: there.slice, element: `${there.row},${there.column}` }, true);
  };
  return (
    <div>
      <p class="facts">
        {FORMS.map((one) => (
          <button key={one} aria-pressed={form === one} onClick={() => go({ form: one }, true)}>
            {one}
          </button>
        ))}
        {bad > 0 && (
          <button title={`Go to the next of ${count(bad)} NaN or infinite elements`} onClick={() => void next()}>
            next bad
          </button>
        )}
        <SliceBox opening={opening} />
      </p>
      {whole.length > 2 && <Pager whole={whole} slice={slice} />}
      <Show loaded={loaded}>{(value) => <Shown value={value} form={form} element={element} />}</Show>
    </div>
  );
}

function SliceBox({ opening }: { opening: string }) {
  return (
    <input
      class="mono slice"
      aria-label="Slice"
      title="A slice as in numpy: [0, :10]"
      placeholder={opening || "[:, :]"}
      value={viewed.slice.value}
      onChange={(event) => go({ slice: event.currentTarget.value.trim(), element: "" })}
    />
  );
}

/** One number for each outer dimension. */
function Pager({ whole, slice }: { whole: number[]; slice: string }) {
  const fixed = fixedIndices(slice);
  const turn = (at: number, to: number) => {
    const next = whole.slice(0, -2).map((_, dim) => fixed[dim] ?? 0);
    next[at] = Math.max(0, Math.min(whole[at]! - 1, to));
    go({ slice: sliceAt(whole, next), element: "" }, true);
  };
  return (
    <p class="facts">
      {whole.slice(0, -2).map((size, at) => (
        <span key={at} class="page-of">
          <span class="dim">dim {at}</span>
          <button
            class="icon"
            aria-label={`dimension ${at}: back one`}
            disabled={(fixed[at] ?? 0) <= 0}
            onClick={() => turn(at, (fixed[at] ?? 0) - 1)}
          >
            ◀
          </button>
          <input
            type="number"
            aria-label={`index in dimension ${at}`}
            min={0}
            max={size - 1}
            value={fixed[at] ?? 0}
            onChange={(event) => turn(at, event.currentTarget.valueAsNumber || 0)}
          />
          <button
            class="icon"
            aria-label={`dimension ${at}: forward one`}
            disabled={(fixed[at] ?? 0) >= size - 1}
            onClick={() => turn(at, (fixed[at] ?? 0) + 1)}
          >
            ▶
          </button>
          <span class="dim">of {count(size)}</span>
        </span>
      ))}
    </p>
  );
}

function Shown({ value, form, element }: { value: TensorValue; form: string; element: string }) {
  const { rows, columns } = asRows(value.shown);
  const isText = value.summary === null;
  const numbers = isText ? [] : value.values.map((one) => fromWire(one) ?? NaN);
  if (!value.values.length) return <p class="empty">This slice has no elements.</p>;
  if (form === "histogram")
    return value.histogram ? (
      <Histogram value={value} />
    ) : (
      <p class="empty">Elements of type {value.dtype} have no histogram.</p>
    );
  const cut = value.is_cut && (
    <p class="facts dim">
      the first {shapeText(value.shown)} of {shapeText(value.part)}; a slice shows others
    </p>
  );
  if (form === "picture" && !isText)
    return (
      <>
        {cut}
        <HeatMap
          values={numbers}
          rows={rows}
          columns={columns}
          name={value.name}
          chosen={element}
          onChoose={(row, column) => go({ element: `${row},${column}` }, true)}
        />
      </>
    );
  return (
    <>
      {cut}
      <Cells values={isText ? value.values : numbers} rows={rows} columns={columns} chosen={element} />
    </>
  );
}

interface CellsProps {
  values: (number | string)[];
  rows: number;
  columns: number;
  chosen: string; // "row,column"
}

function Cells({ values, rows, columns, chosen }: CellsProps) {
  const box = useRef<HTMLDivElement>(null);
  const [row = 0, column = 0] = chosen.split(",").map(Number);
  const high = Math.min(rows, Math.max(TABLE_ROWS, row + TABLE_ROWS / 2));
  const wide = Math.min(columns, Math.max(TABLE_COLUMNS, column + TABLE_COLUMNS / 2));
  useLayoutEffect(() => {
    reveal(box.current?.querySelector(".chosen"), "nearest");
  }, [chosen, values]);
  return (
    <div class="cells" ref={box} tabIndex={0} role="region" aria-label="Elements">
      <table>
        <thead>
          <tr>
            <th />
            {Array.from({ length: wide }, (_, column) => (
              <th key={column}>{column}</th>
            ))}
            {columns > wide && <th>… {count(columns)}</th>}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: high }, (_, row) => (
            <tr key={row}>
              <th>{row}</th>
              {Array.from({ length: wide }, (_, column) => {
                const value = values[row * columns + column]!;
                return (
                  <td
                    key={column}
                    class={`${typeof value === "number" ? kindOf(value) : ""}${`${row},${column}` === chosen ? " chosen" : ""}`}
                  >
                    {number(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {rows > high && (
        <p class="facts dim">
          … {count(rows)} rows; a slice shows others, such as [{high}:]
        </p>
      )}
    </div>
  );
}

function Histogram({ value }: { value: TensorValue }) {
  const { counts } = value.histogram!;
  const edges = value.histogram!.edges.map((one) => fromWire(one) ?? NaN);
  const most = Math.max(1, ...counts);
  const [low, high] = [edges[0] ?? 0, edges.at(-1) ?? 1];
  const width = 340;
  const bar = width / Math.max(1, counts.length);
  const place = (at: number) => ((at - low) / (high - low || 1)) * width;
  return (
    <div class="histogram">
      <svg
        viewBox={`0 0 ${width} 130`}
        role="img"
        aria-label={`Histogram of ${value.name} from ${number(low)} to ${number(high)}`}
      >
        {counts.map((one, at) => (
          <rect
            key={at}
            x={at * bar}
            width={Math.max(0.5, bar - 1)}
            y={110 - (one / most) * 106}
            height={(one / most) * 106}
            fill={edges[at + 1]! <= 0 ? "var(--negative)" : edges[at]! >= 0 ? "var(--positive)" : "var(--zero)"}
          >
            <title>{`${number(edges[at])} to ${number(edges[at + 1])}: ${count(one)}`}</title>
          </rect>
        ))}
        {roundTicks(low, high, 4).map((tick) => (
          <text
            key={tick}
            x={Math.max(12, Math.min(width - 12, place(tick)))}
            y="125"
            text-anchor="middle"
            font-size="10"
            fill="var(--dim)"
          >
            {number(tick)}
          </text>
        ))}
      </svg>
      {value.summary && (
        <p class="facts dim">
          finite elements; the tallest bar has {count(most)}.{" "}
          {value.summary.nan ? `NaN: ${count(value.summary.nan)}. ` : ""}
          {(value.summary.neg_inf ?? 0) + (value.summary.pos_inf ?? 0)
            ? `infinite: ${count((value.summary.neg_inf ?? 0) + (value.summary.pos_inf ?? 0))}.`
            : ""}
        </p>
      )}
    </div>
  );
}
