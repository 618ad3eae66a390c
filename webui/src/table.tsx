// Graph executions: every tensor that was seen, in a scroller of its own that does not mind ten million rows.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { prepare } from "./canvas";
import { colour, scheme } from "./colours";
import { numberAt, textAt } from "./columns";
import { count, fileName } from "./format";
import { relatedSeqs } from "./focus";
import { Failure, Pane } from "./panes";
import { exportAddress, rows } from "./rows";
import { clampTop, thumb, topOfThumb, topToShow, wheelRows, type Track } from "./scroller";
import { useSize } from "./size";
import { COLUMNS, tensorName } from "./table_columns";
import { go, hashOf, NOTHING, view, viewed, type View } from "./view";

const ROW = 22;
const FIRST = "46px minmax(90px, 1.3fr)"; // number and name

export function TensorTable() {
  const total = rows.total.value;
  const isFiltered = !!viewed.where.value.trim() || !!viewed.made.value || viewed.within.value !== null || (viewed.only.value && viewed.step.value !== null);
  return (
    <Pane id="tensors" title="Graph executions" count={`${count(total)} ${isFiltered ? "found" : "tensors"}`} weight={5} actions={<Actions />}>
      <div class="table-pane">
        <Filter />
        {rows.error.value && <div id="filter-error"><Failure error={rows.error.value} /></div>}
        <Grid />
      </div>
    </Pane>
  );
}

function Actions() {
  return (
    <>
      <a class="button" href={exportAddress("csv")} download title="All rows of this filter as CSV">CSV</a>
      <a class="button" href={exportAddress("parquet")} download title="All rows of this filter as Parquet">Parquet</a>
    </>
  );
}

function Filter() {
  const typed = useSignal<string | null>(null);
  const timer = useRef(0);
  const write = (text: string) => {
    typed.value = text;
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => go({ where: text }, true), 350);
  };
  const commit = (text: string) => {
    clearTimeout(timer.current);
    typed.value = null;
    go({ where: text }, true);
  };
  const [where, only, sort, made, within] = [viewed.where.value, viewed.only.value, viewed.sort.value, viewed.made.value, viewed.within.value];
  return (
    <div class="filter">
      <label class="hidden" for="filter">Filter of tensors</label>
      <input id="filter" class="mono" value={typed.value ?? where} placeholder='filter: nan > 0 or max_abs > 1e4, op == "Log", name ~ "dense"' spellcheck={false} autocomplete="off" aria-invalid={!!rows.error.value} aria-describedby={rows.error.value ? "filter-error" : undefined} onInput={(event) => write(event.currentTarget.value)} onBlur={(event) => commit(event.currentTarget.value)} onKeyDown={(event) => event.key === "Enter" && commit(event.currentTarget.value)} />
      <button aria-pressed={where.trim() === "bad"} title="Only tensors that hold NaN or infinity" onClick={() => commit(where.trim() === "bad" ? "" : "bad")}>bad</button>
      <button aria-pressed={only} disabled={viewed.step.value === null} title="Only the chosen step" onClick={() => go({ only: !only })}>this step</button>
      {made && <button aria-pressed title={`Only what ${made} made; click: all`} onClick={() => go({ made: "" })}>{fileName(made)} ×</button>}
      {within !== null && <button aria-pressed title="Only what this execution computed; click: all" onClick={() => go({ within: null })}>execution {count(within)} ×</button>}
      <button disabled={!where && !only && !sort && !made && within === null} title="Show all rows, as they came" onClick={() => { typed.value = null; go({ where: "", only: false, sort: "", desc: false, made: "", within: null }); }}>clear</button>
      <GoToRow />
    </div>
  );
}

function GoToRow() {
  return (
    <form class="go-to" onSubmit={(event) => { event.preventDefault(); const text = (event.currentTarget.elements[0] as HTMLInputElement).value.replaceAll(",", ""); if (/^\d+$/.test(text)) document.dispatchEvent(new CustomEvent("tdbg-row", { detail: Number(text) })); }}>
      <label class="hidden" for="go-to-row">Go to row</label>
      <input id="go-to-row" class="mono" inputMode="numeric" placeholder="row" title="Go to this row (g)" />
    </form>
  );
}

function Grid() {
  const body = useRef<HTMLDivElement>(null);
  const size = useSize(body);
  const top = useSignal(0);
  const active = useSignal(-1); // the row that arrow keys are at
  const carried = useRef(0);
  const total = rows.total.value;
  void rows.version.value;
  const track: Track = { rows: total, visible: Math.max(1, Math.floor(size.height / ROW)), height: size.height };
  const first = clampTop(top.value, track);
  const shown = Math.min(total - first, track.visible + 1);
  const move = (to: number) => (top.value = clampTop(to, track));

  useLayoutEffect(() => rows.want(first, track.visible + 1));
  useReveal((row) => {
    active.value = row;
    top.value = topToShow(row, clampTop(top.peek(), track), track);
  }, track);

  const choose = (row: number) => {
    const there = rows.at(row);
    active.value = row;
    if (there) go(chosen(row)!);
  };
  const pressed = (event: KeyboardEvent) => {
    const page = track.visible - 1;
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity, j: 1, k: -1 }[event.key];
    if (event.key === "Enter" && event.target === event.currentTarget && active.value >= 0) return choose(active.value);
    if (by === undefined) return;
    event.preventDefault();
    const row = Math.max(0, Math.min(total - 1, (active.value < 0 ? first - 1 : active.value) + by));
    active.value = row;
    top.value = Math.abs(by) > 1 ? clampTop(row - Math.floor(track.visible / 2), track) : topToShow(row, first, track);
  };
  const wheel = (event: WheelEvent) => {
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    event.preventDefault();
    const pixels = event.deltaMode === 1 ? event.deltaY * ROW : event.deltaMode === 2 ? event.deltaY * size.height : event.deltaY;
    const turned = wheelRows(pixels, carried.current, ROW);
    carried.current = turned.carried;
    if (turned.rows) move(first + turned.rows);
  };
  useEffect(() => {
    const element = body.current!;
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });

  const columns = COLUMNS.filter((column) => size.width >= (column.least ?? 0));
  const tracks = `${FIRST} ${columns.map((column) => column.width).join(" ")}`;
  const numbers = Array.from({ length: Math.max(0, shown) }, (_, at) => first + at);
  return (
    <div class="grid-box">
      <div class="grid" role="grid" aria-label="Tensors" aria-rowcount={total} aria-colcount={columns.length + 2} tabIndex={0} data-main aria-activedescendant={active.value >= first && active.value < first + shown ? `row-${active.value}` : undefined} onKeyDown={pressed}>
        <div class="grid-head" role="row" style={{ gridTemplateColumns: tracks }}>
          <Heading title="#" sort="seq" hint="in the order of events" kind="right" />
          <Heading title="tensor" sort="name" hint="the op's name and which output" kind="" />
          {columns.map((column) => <Heading key={column.title} {...column} />)}
        </div>
        <div class="grid-body" ref={body} role="rowgroup">
          {numbers.map((row) => <Row key={row - first} row={row} tracks={tracks} columns={columns} isActive={row === active.value} onChoose={choose} />)}
        </div>
      </div>
      {total === 0 && !rows.isLoading.value && !rows.error.value && <NoRows />}
      <Scrollbar top={first} track={track} onMove={move} />
    </div>
  );
}

function NoRows() {
  return (
    <div class="empty">
      {viewed.where.value.trim() || viewed.made.value || viewed.within.value !== null ? <p>No tensor meets this filter. <button onClick={() => go({ where: "", made: "", within: null, only: false })}>Clear it</button></p> : <p>No tensor was recorded here. Rows come from <code>tdbg run train.py</code>; its modes and filters say which.</p>}
    </div>
  );
}

/** What choosing a row changes. */
function chosen(row: number): Partial<View> | null {
  const there = rows.at(row);
  if (!there) return null;
  const step = numberAt(there.page, "step", there.row);
  return { ...NOTHING, seq: numberAt(there.page, "seq", there.row), step: step !== null && step >= 0 ? step : view.value.step };
}

function Row({ row, tracks, columns, isActive, onChoose }: { row: number; tracks: string; columns: typeof COLUMNS; isActive: boolean; onChoose: (row: number) => void }) {
  const there = rows.at(row);
  if (!there) return <div class="grid-row waiting" role="row" aria-rowindex={row + 1} style={{ gridTemplateColumns: tracks }}><span role="gridcell" class="right dim">{count(row)}</span><span role="gridcell" class="dim">…</span></div>;
  const { page, row: at } = there;
  const seq = numberAt(page, "seq", at);
  const isChosen = seq === viewed.seq.value;
  const kind = ["grid-row", isChosen && "chosen", isActive && "active", numberAt(page, "bad", at) && "bad", relatedSeqs.value.has(seq ?? -1) && "related"].filter(Boolean).join(" ");
  const name = tensorName(page, at);
  const more = numberAt(page, "iteration", at);
  return (
    <div id={`row-${row}`} class={kind} role="row" aria-rowindex={row + 1} aria-selected={isChosen} style={{ gridTemplateColumns: tracks }} onClick={(event) => { if (!(event.metaKey || event.ctrlKey)) { event.preventDefault(); onChoose(row); } }}>
      <span role="gridcell" class="right dim" title={`event #${count(seq)}`}>{count(row)}</span>
      <span role="gridcell" class="clip">
        <a href={hashOf(chosen(row) ?? {})} tabIndex={-1} title={`${name}\n${textAt(page, "phase", at)}`}>{name}</a>
        {more !== null && more >= 0 && <span class="dim"> ↻{more}</span>}
      </span>
      {columns.map((column) => <span key={column.title} role="gridcell" class={column.kind}>{column.cell(page, at)}</span>)}
    </div>
  );
}

function Heading({ title, sort, hint, kind }: { title: string; sort: string; hint: string; kind: string }) {
  const isSorted = (viewed.sort.value || "seq") === sort;
  const isDown = isSorted && viewed.desc.value;
  const turn = () => {
    if (!isSorted) go({ sort: sort === "seq" ? "" : sort, desc: sort !== "seq" && sort !== "name" && sort !== "type" });
    else go({ desc: !viewed.desc.value });
  };
  return (
    <span role="columnheader" class={kind.replace("dim", "")} aria-sort={isSorted ? (isDown ? "descending" : "ascending") : "none"}>
      {sort ? <button tabIndex={-1} title={`${hint}; click to sort`} onClick={turn}>{title}{isSorted && (viewed.sort.value || isDown) ? (isDown ? "▾" : "▴") : ""}</button> : <span title={hint}>{title}</span>}
    </span>
  );
}

/** Calls back with the row of the chosen tensor, when another one is chosen anywhere on the page or the list changes. */
function useReveal(show: (row: number) => void, track: Track): void {
  const seq = viewed.seq.value;
  const key = [viewed.trace.value, viewed.where.value, viewed.sort.value, viewed.desc.value, viewed.only.value, viewed.made.value, viewed.within.value].join("\n");
  const latest = useRef(show);
  latest.current = show;
  const isReady = track.height > 0 && track.rows > 0;
  useEffect(() => {
    if (seq === null || !isReady) return;
    let isOver = false;
    rows.placeOf(seq).then((row) => !isOver && row !== null && latest.current(row), () => undefined);
    return () => {
      isOver = true;
    };
  }, [seq, key, isReady]);
  useEffect(() => {
    const jump = (event: Event) => latest.current(Math.min((event as CustomEvent<number>).detail, rows.total.peek() - 1));
    document.addEventListener("tdbg-row", jump);
    return () => document.removeEventListener("tdbg-row", jump);
  }, []);
}

function Scrollbar({ top, track, onMove }: { top: number; track: Track; onMove: (top: number) => void }) {
  const map = useRef<HTMLCanvasElement>(null);
  const { at, size } = thumb(top, track);
  const bad = rows.bad.value;
  useLayoutEffect(() => {
    const context = prepare(map.current!, 14, track.height);
    context.fillStyle = colour("--nan");
    const high = track.height / (bad.length || 1);
    bad.forEach((number, part) => {
      if (number) context.fillRect(7, part * high, 7, Math.max(1.5, high));
    });
  }, [bad, track.height, scheme.value]);
  const drag = (event: PointerEvent) => {
    const bar = event.currentTarget as HTMLElement;
    bar.setPointerCapture(event.pointerId);
    const edge = bar.getBoundingClientRect().top;
    const isOnThumb = event.clientY - edge >= at && event.clientY - edge <= at + size;
    const held = isOnThumb ? event.clientY - edge - at : size / 2;
    const moved = (next: PointerEvent) => onMove(topOfThumb(next.clientY - edge - held, track));
    const ended = () => {
      bar.removeEventListener("pointermove", moved);
      bar.removeEventListener("lostpointercapture", ended);
    };
    moved(event);
    bar.addEventListener("pointermove", moved);
    bar.addEventListener("lostpointercapture", ended);
  };
  return (
    <div class="scrollbar" role="scrollbar" aria-label="Rows" aria-controls="pane-tensors" aria-orientation="vertical" aria-valuemin={0} aria-valuemax={Math.max(0, track.rows - track.visible)} aria-valuenow={top} title="Pink: rows with NaN or infinity" onPointerDown={drag}>
      <canvas ref={map} aria-hidden="true" />
      <div class="thumb" style={{ top: `${at}px`, height: `${size}px` }} />
    </div>
  );
}
