// Draws the box of a pane: a heading with a count and actions, its content below. It folds, fills the window, and
// shares its column with others by weight.

import type { ComponentChildren } from "preact";
import { folded, sizes, toggleFold } from "../state/settings";
import { go, viewed } from "../state/view";

interface Tab {
  id: string;
  title: string;
}

export interface Box {
  id: string;
  title: string;
  weight?: number;
  height?: string; // one that does not grow with the column
}

interface BoxProps {
  box: Box;
  title?: string; // where it is another today
  count?: string;
  tabs?: readonly Tab[]; // in place of a title
  tab?: string;
  onTab?: (id: string) => void;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function PaneBox({ box, title = box.title, count, tabs, tab, onTab, actions, children }: BoxProps) {
  const { id } = box;
  const isFolded = !!folded.value[id] && viewed.full.value !== id;
  const isFull = viewed.full.value === id;
  const weight = sizes.value[id] ?? box.weight ?? 1;
  const style = isFolded
    ? { flex: "0 0 auto" }
    : box.height
      ? { flex: `0 0 ${sizes.value[id] ? `${sizes.value[id]}px` : box.height}` }
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
        {tabs ? <Tabs title={title} tabs={tabs} tab={tab} onTab={onTab} /> : <h2>{title}</h2>}
        {count !== undefined && <span class="count">{count}</span>}
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

interface TabsProps {
  title: string;
  tabs: readonly Tab[];
  tab: string | undefined;
  onTab: ((id: string) => void) | undefined;
}

function Tabs({ title, tabs, tab, onTab }: TabsProps) {
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
