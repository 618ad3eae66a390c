// Draws all of a graph very small beside it, and marks what is in sight.

import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { DrawnNode } from "./graph_drawing";
import type { Placed } from "./graph_layout";

const LARGEST = { width: 96, height: 72 };

interface Props {
  box: RefObject<HTMLElement | null>;
  placed: Placed;
  nodes: DrawnNode[];
  zoom: number;
}

/** Draws nothing where all is in sight. A click, or dragging, goes there. */
export function Minimap({ box, placed, nodes, zoom }: Props) {
  const seen = useSignal({ x: 0, y: 0, width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = box.current!;
    const look = () => {
      const { scrollLeft: x, scrollTop: y, clientWidth: width, clientHeight: height } = element;
      seen.value = { x, y, width, height };
    };
    look();
    element.addEventListener("scroll", look);
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", look);
      observer.disconnect();
    };
  }, [zoom, placed]);
  const { x, y, width, height } = seen.value;
  if (placed.width * zoom <= width + 1 && placed.height * zoom <= height + 1) return null;
  const share = Math.min(LARGEST.width / placed.width, LARGEST.height / placed.height);
  const go = (event: PointerEvent) => {
    const edge = (event.currentTarget as Element).getBoundingClientRect();
    box.current!.scrollLeft = ((event.clientX - edge.left) / share) * zoom - width / 2;
    box.current!.scrollTop = ((event.clientY - edge.top) / share) * zoom - height / 2;
  };
  return (
    <svg
      class="drawing-map"
      width={placed.width * share}
      height={placed.height * share}
      viewBox={`0 0 ${placed.width} ${placed.height}`}
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        go(event);
      }}
      onPointerMove={(event) => event.buttons && go(event)}
    >
      {nodes.map((node) => {
        const at = placed.nodes.get(node.id);
        return (
          at && (
            <rect
              key={node.id}
              x={at.x}
              y={at.y}
              width={at.width}
              height={at.height}
              fill={node.isChosen ? "var(--accent)" : node.mark ? node.stroke : "var(--edge)"}
            />
          )
        );
      })}
      <rect
        x={x / zoom}
        y={y / zoom}
        width={width / zoom}
        height={height / zoom}
        fill="var(--accent)"
        fill-opacity="0.12"
        stroke="var(--accent)"
        stroke-width={1.5 / share}
      />
    </svg>
  );
}
