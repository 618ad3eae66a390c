// Draws the table in a scroller of its own: a fixed pool of rows and a whole number, so ten million do not matter.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useSize } from "../parts/size";
import { numberAt } from "../server/column_page";
import { go, viewed } from "../state/view";
import { count } from "../words/format";
import { columnsFor, letters, noteLetters, shapeText } from "./columns";
import { chosen, GroupRow, Row } from "./grid_rows";
import { groups, openKeys, toggleGroup } from "./groups";
import { isAnother, isGrouped, lineAt, lineCount, lineOfEvent, unlisted, wantLines } from "./lines";
import { rows } from "./rows";
import { Scrollbar } from "./scrollbar";
import { clampTop, topToShow, wheelRows, type Track } from "./scroller";

const ROW = 22;
const DIGIT = 7; // pixels

export function Grid() {
  const body = useRef<HTMLDivElement>(null);
  const size = useSize(body);
  const top = useSignal(0);
  const active = useSignal(-1); // the row that arrow keys are at
  const moves = useRef(0); // of whoever looks, by hand: a row that was to be shown before is not shown after them
  const carried = useRef(0);
  const total = lineCount.value;
  const track: Track = { rows: total, visible: Math.max(1, Math.floor(size.height / ROW)), height: size.height };
  const first = clampTop(top.value, track);
  const shown = Math.min(total - first, track.visible + 1);
  const move = (to: number) => {
    moves.current++;
    top.value = clampTop(to, track);
  };

  useLayoutEffect(() => {
    if (!isAnother.value) return;
    top.value = 0;
    unlisted.value = null;
  }, [isAnother.value]);
  useLayoutEffect(() => wantLines(first, track.visible + 1));
  useLayoutEffect(() => {
    const seen = numbers.map(lineAt).filter((line) => line.kind === "tensor");
    noteLetters(
      Math.max(0, ...seen.map(({ page, row }) => shapeText(page, row).length)),
      Math.max(0, ...seen.map(({ page, row }) => count(numberAt(page, "seq", row)).length)),
    );
  });
  const reveal = (row: number) => {
    const to = topToShow(row, clampTop(top.peek(), track), track);
    top.value = isGrouped.peek() && to === row ? Math.max(0, row - 1) : to; // below the head of its group
  };
  const goTo = (row: number) => {
    active.value = row;
    reveal(row);
  };
  useReveal(goTo, track, moves);
  useJumps(async (seq) => {
    const move = ++moves.current;
    const row = await lineOfEvent(seq, true).catch(() => undefined); // the banner tells that the server is gone
    if (row === undefined) return;
    unlisted.value = row === null ? seq : null;
    if (row !== null && moves.current === move) goTo(row);
  });

  const choose = (row: number) => {
    const line = lineAt(row);
    moves.current++;
    active.value = row;
    if (line.kind === "group") {
      if (row < first) top.value = row;
      toggleGroup(line.group.key);
    }
    if (line.kind === "tensor") go(chosen(line));
  };
  /** Unfolds or folds the group at the active line; a row goes to its group first. */
  const fold = (isWanted: boolean) => {
    const line = lineAt(active.value);
    moves.current++;
    if (line.kind === "group") {
      if (openKeys.value.includes(line.group.key) === isWanted) toggleGroup(line.group.key);
    } else if (isWanted) goTo(groups.headOf(active.value));
  };
  const pressed = (event: KeyboardEvent) => {
    const page = track.visible - 1;
    const by = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
      j: 1,
      k: -1,
    }[event.key];
    if (isGrouped.value && active.value >= 0 && /^Arrow(Left|Right)$/.test(event.key)) {
      event.preventDefault();
      return fold(event.key === "ArrowLeft");
    }
    if (event.key === "Enter" && event.target === event.currentTarget && active.value >= 0) return choose(active.value);
    if (by === undefined) return;
    event.preventDefault();
    moves.current++;
    const row = Math.max(0, Math.min(total - 1, (active.value < 0 ? first - 1 : active.value) + by));
    active.value = row;
    if (Math.abs(by) > 1) top.value = clampTop(row - Math.floor(track.visible / 2), track);
    else reveal(row);
  };
  const wheel = (event: WheelEvent) => {
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    const end = clampTop(event.deltaY > 0 ? total : 0, track);
    if (first !== end) event.preventDefault(); // at its end, what is around it scrolls
    const pixels =
      event.deltaMode === 1 ? event.deltaY * ROW : event.deltaMode === 2 ? event.deltaY * size.height : event.deltaY;
    const turned = wheelRows(pixels, carried.current, ROW);
    carried.current = turned.carried;
    if (turned.rows) move(first + turned.rows);
  };
  useLayoutEffect(() => {
    const element = body.current!;
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });

  const columns = columnsFor(size.width);
  const events = `${Math.max(38, (letters.value.event + 1) * DIGIT)}px`;
  const tracks = [events, "minmax(90px, 1.4fr)", ...columns.map((column) => column.width)].join(" ");
  const numbers = Array.from({ length: Math.max(0, shown) }, (_, at) => first + at);
  // While rows of a group are in sight, so is its head.
  if (isGrouped.value && shown > 0) numbers[0] = groups.headOf(first);
  return (
    <div class={`grid-box${isAnother.value ? " stale" : ""}`} aria-busy={isAnother.value}>
      <div
        class="grid"
        role={isGrouped.value ? "treegrid" : "grid"}
        aria-label="Tensors"
        aria-rowcount={total}
        aria-colcount={columns.length + 2}
        tabIndex={0}
        data-main
        aria-activedescendant={
          numbers.includes(active.value) ? `row-${active.value}` : undefined
        }
        onKeyDown={pressed}
      >
        <div class="grid-head" role="row" style={{ gridTemplateColumns: tracks }}>
          <Heading title="#" sort="seq" hint="the event's number, as in the terminal" kind="right" />
          <Heading title="tensor" sort="name" hint="the op's name and which output" kind="" />
          {columns.map((column) => (
            <Heading key={column.title} {...column} />
          ))}
        </div>
        <div class="grid-body" ref={body} role="rowgroup">
          {numbers.map((row, at) => {
            const line = lineAt(row);
            const drawn = { row, tracks, columns, isActive: row === active.value, onChoose: choose };
            if (line.kind === "group") return <GroupRow key={at} {...drawn} group={line.group} />;
            return <Row key={at} {...drawn} line={line} />;
          })}
        </div>
      </div>
      {total === 0 && !isAnother.value && !rows.isLoading.value && !rows.error.value && <NoRows />}
      <Scrollbar top={first} track={track} onMove={move} />
    </div>
  );
}

function NoRows() {
  return (
    <div class="empty">
      {viewed.where.value.trim() || viewed.made.value || viewed.within.value !== null ? (
        <p>
          No tensor meets this filter.{" "}
          <button onClick={() => go({ where: "", made: "", within: null, only: false })}>Clear it</button>
        </p>
      ) : (
        <p>
          No tensor was recorded here. Rows come from <code>tdbg run train.py</code>; its modes and filters say which.
        </p>
      )}
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
    <span
      role="columnheader"
      class={kind.replace("dim", "")}
      aria-sort={isSorted ? (isDown ? "descending" : "ascending") : "none"}
    >
      {sort ? (
        <button tabIndex={-1} title={`${hint}; click to sort`} onClick={turn}>
          {title}
          {isSorted && (viewed.sort.value || isDown) ? (isDown ? "▾" : "▴") : ""}
        </button>
      ) : (
        <span title={hint}>{title}</span>
      )}
    </span>
  );
}

/** Calls back with the row of the chosen tensor, when another one is chosen anywhere on the page or the list changes;
 * where that row is must be asked for, so not when the table was moved by hand until the answer came. */
function useReveal(show: (row: number) => void, track: Track, moves: { current: number }): void {
  const seq = viewed.seq.value;
  const key = [
    viewed.trace.value,
    viewed.process.value,
    viewed.where.value,
    viewed.sort.value,
    viewed.desc.value,
    viewed.only.value,
    viewed.made.value,
    viewed.within.value,
    viewed.group.value,
  ].join("\n");
  const latest = useRef(show);
  latest.current = show;
  const isReady = track.height > 0 && track.rows > 0;
  const showWhenFound = (find: () => Promise<number | null>) => {
    let isOver = false;
    const before = moves.current;
    find().then(
      (row) => !isOver && moves.current === before && row !== null && latest.current(row),
      () => undefined,
    );
    return () => {
      isOver = true;
    };
  };
  useLayoutEffect(() => {
    if (seq === null || !isReady) return;
    return showWhenFound(() => lineOfEvent(seq, true));
  }, [seq, key, isReady]);
  const [step, execution] = [viewed.step.value, viewed.execution.value];
  useLayoutEffect(() => {
    // Without a chosen tensor the table goes to where the chosen execution or step begins.
    const part = execution !== null ? { execution } : step !== null ? { step } : null;
    if (part === null || seq !== null || !isReady || viewed.sort.value) return;
    return showWhenFound(async () => {
      const first = await rows.firstOf(part);
      return first === null ? null : lineOfEvent(first, false);
    });
  }, [step, execution, isReady]);
}

/** Calls back with the number that was written as an event to go to. */
function useJumps(show: (seq: number) => void): void {
  const latest = useRef(show);
  latest.current = show;
  useLayoutEffect(() => {
    const jump = (event: Event) => latest.current((event as CustomEvent<number>).detail);
    document.addEventListener("tdbg-event", jump);
    return () => document.removeEventListener("tdbg-event", jump);
  }, []);
}
