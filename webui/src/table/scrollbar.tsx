// Draws a scrollbar over any number of rows, with a map of where bad ones are.

import { useLayoutEffect, useRef } from "preact/hooks";
import { prepare } from "../drawing/canvas";
import { colour, scheme } from "../drawing/colours";
import { badMap } from "./lines";
import { thumb, topOfThumb, type Track } from "./scroller";

export function Scrollbar({ top, track, onMove }: { top: number; track: Track; onMove: (top: number) => void }) {
  const map = useRef<HTMLCanvasElement>(null);
  const { at, size } = thumb(top, track);
  const bad = badMap.value;
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
    <div
      class="scrollbar"
      role="scrollbar"
      aria-label="Rows"
      aria-controls="pane-tensors"
      aria-orientation="vertical"
      aria-valuemin={0}
      aria-valuemax={Math.max(0, track.rows - track.visible)}
      aria-valuenow={top}
      title="Pink: rows with harmful NaN or infinity"
      onPointerDown={drag}
    >
      <canvas ref={map} aria-hidden="true" />
      <div class="thumb" style={{ top: `${at}px`, height: `${size}px` }} />
    </div>
  );
}
