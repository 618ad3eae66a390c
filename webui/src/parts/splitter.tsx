// Draws the border between two neighbours, which can be moved.

import { useRef } from "preact/hooks";
import { sizes } from "../state/settings";

/** One drags it, or presses arrow keys on it. */
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
