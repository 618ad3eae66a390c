// Scrolls the box that an element lies in so that it is in sight. The page around that box stays where it is.

/** "nearest" moves as little as possible; "center" puts it into the middle; "line" does so with a line of text, whose
 * beginning stays in sight. */
export function reveal(element: Element | null | undefined, block: "nearest" | "center" | "line" = "nearest"): void {
  const box = element && scrollingBox(element);
  if (!box) return;
  const [inner, outer] = [element.getBoundingClientRect(), box.getBoundingClientRect()];
  const left = { from: inner.left - outer.left - box.clientLeft, size: inner.width, room: box.clientWidth };
  const top = { from: inner.top - outer.top - box.clientTop, size: inner.height, room: box.clientHeight };
  if (block !== "line") box.scrollLeft += way(left, block);
  box.scrollTop += way(top, block);
}

function way({ from, size, room }: { from: number; size: number; room: number }, block: string): number {
  if (block !== "nearest") return from + size / 2 - room / 2;
  if (from < 0 || size > room) return from;
  return Math.max(0, from + size - room);
}

function scrollingBox(element: Element): HTMLElement | null {
  for (let around = element.parentElement; around && around !== document.body; around = around.parentElement)
    if (/auto|scroll/.test(getComputedStyle(around).overflowY)) return around;
  return null;
}
