// Draws a graph as SVG whose nodes are links. It fits its box, zooms, is dragged and searched.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { reveal } from "../parts/reveal";
import { about } from "../parts/same_subject";
import { isNarrow, useSize } from "../parts/size";
import { place, textWidth, type Edge } from "./graph_layout";
import { Minimap } from "./minimap";
import { saveSvg } from "./save_picture";

export interface DrawnNode {
  id: string;
  title: string;
  below?: string; // a second line
  mark?: string; // a letter or sign that says what the colour says
  fill: string; // a CSS variable or a colour
  stroke: string;
  isChosen?: boolean;
  isScope?: boolean;
  hint: string;
  href: string;
  onOpen: () => void;
  is: string; // what it is about: see same_subject.ts
}

const LONGEST = 26;

const [LEAST, MOST] = [0.1, 3]; // of the zoom
const EDGE = 24; // pixels of the box that tools take

interface Props {
  name: string;
  nodes: DrawnNode[];
  edges: Edge[];
  isWhole?: boolean; // begins with all of it in sight; can be searched
}

export function GraphDrawing({ name, nodes, edges, isWhole }: Props) {
  const svg = useRef<SVGSVGElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const asked = useSignal<number | null>(null); // null: as it fits
  const sought = useSignal("");
  const at = useSignal(0); // which of those that were found
  const key = JSON.stringify([nodes.map((node) => [node.id, node.title, node.below]), edges]);
  const placed = useMemo(
    () =>
      place(
        nodes.map((node) => ({ id: node.id, width: widthOf(node), height: node.below ? 36 : 22 })),
        edges,
      ),
    [key],
  );
  const fitting = Math.min(1, (size.width - 4) / placed.width, (size.height - EDGE - 4) / placed.height);
  const zoom = asked.value ?? (isWhole && size.width ? Math.max(LEAST, fitting) : 1);
  const chosen = nodes.find((node) => node.isChosen)?.id;
  useLayoutEffect(() => {
    asked.value = null;
  }, [key]);
  useLayoutEffect(() => {
    reveal(svg.current?.querySelector(".node.chosen"), "center");
  }, [key, chosen, size.width > 0]);
  /** Zooms so that the point under the pointer, or the middle, stays where it is. */
  const zoomTo = (wanted: number, point = { x: size.width / 2, y: size.height / 2 }) => {
    const next = Math.max(LEAST, Math.min(MOST, wanted));
    const edge = box.current!.getBoundingClientRect();
    const drawn = svg.current!.getBoundingClientRect();
    const share = {
      x: (edge.left + point.x - drawn.left) / drawn.width,
      y: (edge.top + point.y - drawn.top) / drawn.height,
    };
    asked.value = next;
    requestAnimationFrame(() => {
      const now = svg.current?.getBoundingClientRect();
      if (!now) return;
      box.current!.scrollLeft += now.left + share.x * now.width - edge.left - point.x;
      box.current!.scrollTop += now.top + share.y * now.height - edge.top - point.y;
    });
  };
  useLayoutEffect(() => {
    const element = box.current!;
    const wheel = (event: WheelEvent) => {
      if (isNarrow.value && !event.ctrlKey) return; // there the wheel scrolls the page
      event.preventDefault();
      const edge = element.getBoundingClientRect();
      const point = { x: event.clientX - edge.left, y: event.clientY - edge.top };
      zoomTo(zoom * (event.deltaY > 0 ? 0.85 : 1.18), point);
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });
  const found = sought.value ? nodes.filter((node) => node.hint.toLowerCase().includes(sought.value.toLowerCase())) : [];
  const current = found.length ? found[at.value % found.length]!.id : "";
  useLayoutEffect(() => {
    reveal(svg.current?.querySelector(".node.current"), "center");
  }, [current]);
  const scaled = (length: number) => `${Math.ceil(length * zoom)}px`;
  return (
    <div class="drawing">
      <div class="drawing-tools">
        {isWhole && (
          <>
            <input
              type="search"
              aria-label="Search the drawing"
              placeholder="search"
              value={sought.value}
              onInput={(event) => {
                sought.value = event.currentTarget.value.trim();
                at.value = 0;
              }}
              onKeyDown={(event) => event.key === "Enter" && (at.value += event.shiftKey ? found.length - 1 : 1)}
            />
            {sought.value && (
              <span class="dim" role="status">
                {found.length ? `${(at.value % found.length) + 1} of ${found.length}` : "none here"}
              </span>
            )}
          </>
        )}
        <button
          aria-pressed={asked.value === null}
          title={isWhole ? "Show all of it" : "Actual size"}
          onClick={() => (asked.value = null)}
        >
          fit
        </button>
        <button aria-label="Larger" title="Larger" onClick={() => zoomTo(zoom * 1.25)}>
          +
        </button>
        <button aria-label="Smaller" title="Smaller" onClick={() => zoomTo(zoom / 1.25)}>
          −
        </button>
        <button title="Save this drawing" onClick={() => saveSvg(svg.current!, name)}>
          SVG
        </button>
      </div>
      <div class="drawing-scroll" ref={box} onPointerDown={drag}>
        <svg
          ref={svg}
          viewBox={`0 0 ${placed.width} ${placed.height}`}
          style={{ width: scaled(placed.width), height: scaled(placed.height) }}
          role="group"
          aria-label={name}
          font-family="ui-monospace, Menlo, Consolas, monospace"
          font-size="12"
        >
          <defs>
            <marker id="arrow" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">
              <path d="M0 0L6 3L0 6z" fill="var(--edge)" />
            </marker>
          </defs>
          {placed.edges.map((edge) => (
            <path
              key={`${edge.from} ${edge.to}`}
              d={edge.path}
              fill="none"
              stroke="var(--edge)"
              stroke-width="1.2"
              marker-end="url(#arrow)"
            />
          ))}
          {nodes.map((node) => {
            const box = placed.nodes.get(node.id);
            if (!box) return null;
            const middle = box.x + box.width / 2;
            return (
              <a
                key={node.id}
                href={node.href}
                {...about([node.is])}
                class={`node${node.isChosen ? " chosen" : ""}${found.includes(node) ? " found" : ""}${node.id === current ? " current" : ""}`}
                aria-current={node.isChosen || undefined}
                onClick={(event) => {
                  if (event.metaKey || event.ctrlKey) return;
                  event.preventDefault();
                  node.onOpen();
                }}
              >
                <title>{node.hint}</title>
                <rect
                  x={box.x}
                  y={box.y}
                  width={box.width}
                  height={box.height}
                  rx={node.isScope ? 3 : 10}
                  fill={node.fill}
                  stroke={node.isChosen ? "var(--accent)" : node.stroke}
                  stroke-width={node.isChosen ? 2.5 : 1}
                  stroke-dasharray={node.isScope ? "4 2" : undefined}
                />
                <text
                  x={middle}
                  y={box.y + 15}
                  text-anchor="middle"
                  fill="var(--text)"
                  font-weight={node.isChosen ? 700 : 500}
                >
                  {cut(node.title)}
                  {node.mark ? ` ${node.mark}` : ""}
                </text>
                {node.below && (
                  <text x={middle} y={box.y + 29} text-anchor="middle" font-size="10.5" fill="var(--dim)">
                    {cut(node.below)}
                  </text>
                )}
              </a>
            );
          })}
        </svg>
      </div>
      <Minimap box={box} placed={placed} nodes={nodes} zoom={zoom} />
    </div>
  );
}

const CLICK = 4; // pixels that a pointer may move in a click

/** The drawing follows the pointer; what was dragged is no click. */
function drag(event: PointerEvent): void {
  const element = event.currentTarget as HTMLElement;
  if (event.button !== 0 || event.pointerType === "touch") return;
  event.preventDefault(); // links are not dragged away
  const [x, y] = [event.clientX, event.clientY];
  const [left, top] = [element.scrollLeft, element.scrollTop];
  let isDragged = false;
  const moved = (next: PointerEvent) => {
    isDragged ||= Math.hypot(next.clientX - x, next.clientY - y) > CLICK;
    if (!isDragged) return;
    element.scrollLeft = left - next.clientX + x;
    element.scrollTop = top - next.clientY + y;
  };
  const clicked = (next: Event) => {
    if (!isDragged) return;
    next.preventDefault();
    next.stopPropagation();
  };
  const ended = () => {
    removeEventListener("pointermove", moved);
    removeEventListener("pointerup", ended);
    setTimeout(() => element.removeEventListener("click", clicked, true));
  };
  addEventListener("pointermove", moved);
  addEventListener("pointerup", ended);
  element.addEventListener("click", clicked, true);
}

function widthOf(node: DrawnNode): number {
  const first = textWidth(cut(node.title) + (node.mark ? ` ${node.mark}` : ""));
  return Math.max(first, node.below ? textWidth(cut(node.below)) * 0.88 : 0) + 18;
}

/** Cuts the beginning off: the end of a name tells most. */
function cut(text: string): string {
  return text.length > LONGEST ? `…${text.slice(1 - LONGEST)}` : text;
}
