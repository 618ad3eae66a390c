// Panes: a heading with a count and actions, content below. They fold, fill the window, and share their column by weight.

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { ApiError } from "../server/api";
import type { Loaded } from "../state/load";
import { folded, sizes, toggleFold } from "../state/settings";
import { go, viewed } from "../state/view";

interface Tab {
  id: string;
  title: string;
}

interface PaneProps {
  id: string;
  title: string;
  count?: string;
  tabs?: Tab[]; // in place of a title
  tab?: string;
  onTab?: (id: string) => void;
  actions?: ComponentChildren;
  weight?: number;
  fixed?: string; // a height that does not grow with the column
  children: ComponentChildren;
}

export function Pane(props: PaneProps) {
  const { id, title, tabs, actions, children } = props;
  const isFolded = !!folded.value[id] && viewed.full.value !== id;
  const isFull = viewed.full.value === id;
  const weight = sizes.value[id] ?? props.weight ?? 1;
  const style = isFolded
    ? { flex: "0 0 auto" }
    : props.fixed
      ? { flex: `0 0 ${sizes.value[id] ? `${sizes.value[id]}px` : props.fixed}` }
      : { flex: `${weight} 1 0` };
  return (
    <section
      id={`pane-${id}`}
      class={`pane${isFull ? " full" : ""}`}
      style={style}
      aria-label={title}
      tabIndex={-1}
      data-pane={id}
    >
      <header class="pane-head" onDblClick={() => go({ full: isFull ? "" : id }, true)}>
        <button
          class="fold"
          aria-expanded={!isFolded}
          aria-label={`${isFolded ? "Unfold" : "Fold"} ${title}`}
          onClick={() => toggleFold(id)}
        >
          {isFolded ? "▸" : "▾"}
        </button>
        {tabs ? <Tabs {...props} tabs={tabs} /> : <h2>{title}</h2>}
        {props.count !== undefined && <span class="count">{props.count}</span>}
        <span class="actions">{!isFolded && actions}</span>
        <button
          class="icon"
          aria-label={isFull ? `Back from ${title} to all panes` : `${title} fills the window`}
          title={isFull ? "Back to all panes (Esc)" : "Fill the window (f)"}
          onClick={() => go({ full: isFull ? "" : id }, true)}
        >
          {isFull ? "⤡" : "⤢"}
        </button>
      </header>
      {!isFolded && <div class="pane-body">{children}</div>}
    </section>
  );
}

function Tabs({ title, tabs, tab, onTab }: PaneProps & { tabs: Tab[] }) {
  const move = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    const at = tabs.findIndex((one) => one.id === tab);
    const next = tabs[(at + by + tabs.length) % tabs.length]!;
    onTab?.(next.id);
    ((event.currentTarget as HTMLElement).children[tabs.indexOf(next)] as HTMLElement).focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={title} onKeyDown={move}>
      {tabs.map((one) => (
        <button
          key={one.id}
          role="tab"
          aria-selected={one.id === tab}
          tabIndex={one.id === tab ? 0 : -1}
          onClick={() => onTab?.(one.id)}
        >
          {one.title}
        </button>
      ))}
    </div>
  );
}

/** Between two neighbours: drag it, or press arrow keys on it. */
export function Splitter({ before, after, isUpright }: { before: string; after: string; isUpright?: boolean }) {
  const bar = useRef<HTMLDivElement>(null);
  const move = (by: number) => {
    const parent = bar.current!.parentElement!;
    const measured = { ...sizes.value };
    const sides = isUpright ? "width" : "height";
    for (const child of parent.children) {
      const id = (child as HTMLElement).dataset.pane;
      if (id) measured[id] = child.getBoundingClientRect()[sides];
    }
    const least = isUpright ? 160 : 56;
    const room = Math.max(-(measured[before]! - least), Math.min(by, measured[after]! - least));
    measured[before]! += room;
    measured[after]! -= room;
    sizes.value = measured;
  };
  const drag = (event: PointerEvent) => {
    const target = event.currentTarget as HTMLElement;
    target.setPointerCapture(event.pointerId);
    let last = isUpright ? event.clientX : event.clientY;
    const moved = (next: PointerEvent) => {
      const at = isUpright ? next.clientX : next.clientY;
      move(at - last);
      last = at;
    };
    const ended = () => {
      target.removeEventListener("pointermove", moved);
      target.removeEventListener("lostpointercapture", ended);
    };
    target.addEventListener("pointermove", moved);
    target.addEventListener("lostpointercapture", ended);
  };
  const pressed = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -24, ArrowUp: -24, ArrowRight: 24, ArrowDown: 24 }[event.key];
    if (!by) return;
    event.preventDefault();
    move(by);
  };
  const [one, two] = [sizes.value[before] ?? 1, sizes.value[after] ?? 1];
  return (
    <div
      ref={bar}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round((100 * one) / (one + two))}
      class={`splitter${isUpright ? " upright" : ""}`}
      role="separator"
      tabIndex={0}
      aria-orientation={isUpright ? "vertical" : "horizontal"}
      aria-label={`Border between ${before} and ${after}`}
      title="Drag or use the arrow keys; double-click to reset all sizes"
      onPointerDown={drag}
      onKeyDown={pressed}
      onDblClick={() => (sizes.value = {})}
    />
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

export function Failure({ error }: { error: ApiError }) {
  return (
    <div class="failure" role="alert">
      <strong>{error.message}</strong>
      {error.next && <span>{error.next}</span>}
    </div>
  );
}

/** What was loaded, or why not yet. The last answer stays, dimmed, while the next is on its way: nothing jumps. */
export function Show<Answer>({
  loaded,
  empty,
  children,
}: {
  loaded: Loaded<Answer>;
  empty?: ComponentChildren;
  children: (data: Answer) => ComponentChildren;
}) {
  if (loaded.error) return <Failure error={loaded.error} />;
  if (loaded.data === null) {
    return loaded.isLoading ? (
      <div class="loading" role="status">
        loading …
      </div>
    ) : (
      <Empty>{empty}</Empty>
    );
  }
  return (
    <div class={loaded.isLoading ? "stale" : "fresh"} aria-busy={loaded.isLoading}>
      {children(loaded.data)}
    </div>
  );
}
