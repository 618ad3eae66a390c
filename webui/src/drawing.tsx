// Nodes and edges in; a drawing of them out, as SVG whose nodes are links, with zoom.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { about } from "./kin";
import { place, textWidth, type Edge } from "./graph_layout";
import { saveSvg } from "./saving";

export interface Drawn {
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
  is: string; // what it is about: see kin.ts
}

const LONGEST = 26;

export function Drawing({ name, nodes, edges }: { name: string; nodes: Drawn[]; edges: Edge[] }) {
  const svg = useRef<SVGSVGElement>(null);
  const zoom = useSignal(1);
  const key = JSON.stringify([nodes.map((node) => [node.id, node.title, node.below]), edges]);
  const placed = useMemo(
    () =>
      place(
        nodes.map((node) => ({ id: node.id, width: widthOf(node), height: node.below ? 36 : 22 })),
        edges,
      ),
    [key],
  );
  const chosen = nodes.find((node) => node.isChosen)?.id;
  useLayoutEffect(() => {
    svg.current?.querySelector(".node.chosen")?.scrollIntoView({ block: "center", inline: "center" });
  }, [key, chosen]);
  const scaled = (size: number) => `${Math.ceil(size * zoom.value)}px`;
  return (
    <div class="drawing">
      <div class="drawing-tools">
        <button aria-label="Larger" title="Larger" onClick={() => (zoom.value = Math.min(3, zoom.value * 1.25))}>
          +
        </button>
        <button aria-label="Smaller" title="Smaller" onClick={() => (zoom.value = Math.max(0.2, zoom.value / 1.25))}>
          −
        </button>
        <button title="Save this drawing" onClick={() => saveSvg(svg.current!, name)}>
          SVG
        </button>
      </div>
      <div class="drawing-scroll">
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
                class={`node${node.isChosen ? " chosen" : ""}`}
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
    </div>
  );
}

function widthOf(node: Drawn): number {
  const first = textWidth(cut(node.title) + (node.mark ? ` ${node.mark}` : ""));
  return Math.max(first, node.below ? textWidth(cut(node.below)) * 0.88 : 0) + 18;
}

/** The end of a name tells most. */
function cut(text: string): string {
  return text.length > LONGEST ? `…${text.slice(1 - LONGEST)}` : text;
}
