// The chosen tensor: its numbers always; its elements, where they were kept, as a picture, a table or a histogram.

import { ofTrace } from "./api";
import { roundTicks } from "./axes";
import { OfExecution, TensorsOfOp } from "./choices";
import { harmlessOps, tensor } from "./focus";
import { count, fromWire, number, shape as shapeText } from "./format";
import { HeatMap, kindOf } from "./heat_map";
import { about, ofOp } from "./kin";
import { useLoad } from "./load";
import { when } from "./moments";
import { Show } from "./panes";
import { asRows, fixedIndices, pictureSlice, sliceAt } from "./slices";
import type { Numbers, TensorDetail, Value } from "./types";
import { go, hashOf, NOTHING, viewed } from "./view";

const MOST = 40_000;
const FORMS = ["picture", "table", "histogram"];
const TABLE_ROWS = 60;
const TABLE_COLUMNS = 24;

export function TensorPane() {
  if (viewed.seq.value === null && viewed.op.value !== null) return <TensorsOfOp />;
  if (viewed.seq.value === null && viewed.execution.value !== null) return <OfExecution />;
  return (
    <Show
      loaded={tensor.value}
      empty="Choose a tensor in the table, in the graph or in the verdict: here are its numbers, and its elements where they were kept."
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
        Its elements were not kept, only these numbers. Kept are: where bad values began, and what is asked for with{" "}
        <code>tdbg run --mode full</code> or <code>tdbg.watch</code>.
      </p>
    );
  }
  return <KeptElements key={data.seq} data={data} whole={whole} />;
}

function KeptElements({ data, whole }: { data: TensorDetail; whole: number[] }) {
  const loaded = useLoad<Value>(() =>
    ofTrace(viewed.trace.value, "value", {
      process: viewed.process.value,
      seq: data.seq,
      slice: pictureSlice(whole, viewed.slice.value),
      most: MOST,
    }),
  );
  const form = viewed.form.value;
  return (
    <div>
      <p class="facts">
        {FORMS.map((one) => (
          <button key={one} aria-pressed={form === one} onClick={() => go({ form: one }, true)}>
            {one}
          </button>
        ))}
        <SliceBox whole={whole} />
      </p>
      {whole.length > 2 && <Pager whole={whole} />}
      <Show loaded={loaded}>{(value) => <Shown value={value} form={form} />}</Show>
    </div>
  );
}

function SliceBox({ whole }: { whole: number[] }) {
  return (
    <input
      class="mono slice"
      aria-label="Slice"
      title="As numpy takes it: [0, :10]"
      placeholder={pictureSlice(whole, "") || "[:, :]"}
      value={viewed.slice.value}
      onChange={(event) => go({ slice: event.currentTarget.value.trim(), element: "" })}
    />
  );
}

/** One number for each outer dimension. */
function Pager({ whole }: { whole: number[] }) {
  const fixed = fixedIndices(pictureSlice(whole, viewed.slice.value));
  const turn = (at: number, to: number) => {
    const next = whole.slice(0, -2).map((_, dim) => fixed[dim] ?? 0);
    next[at] = Math.max(0, Math.min(whole[at]! - 1, to));
    go({ slice: sliceAt(whole, next) }, true);
  };
  return (
    <p class="facts">
      {whole.slice(0, -2).map((size, at) => (
        <span key={at} class="page-of">
          <span class="dim">dim {at}</span>
          <button
            class="icon"
            aria-label={`dimension ${at}: one back`}
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
            aria-label={`dimension ${at}: one on`}
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

function Shown({ value, form }: { value: Value; form: string }) {
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
          chosen={viewed.element.value}
          onChoose={(row, column) => go({ element: `${row},${column}` }, true)}
        />
      </>
    );
  return (
    <>
      {cut}
      <Cells values={isText ? value.values : numbers} rows={rows} columns={columns} />
    </>
  );
}

function Cells({ values, rows, columns }: { values: (number | string)[]; rows: number; columns: number }) {
  const [wide, high] = [Math.min(columns, TABLE_COLUMNS), Math.min(rows, TABLE_ROWS)];
  return (
    <div class="cells" tabIndex={0} role="region" aria-label="Elements">
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
                  <td key={column} class={typeof value === "number" ? kindOf(value) : ""}>
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

function Histogram({ value }: { value: Value }) {
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
