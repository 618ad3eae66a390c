// Follows the size of an element, and of the window.

import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

interface Size {
  width: number;
  height: number;
}

export function useSize(element: RefObject<HTMLElement | null>, start: Size = { width: 0, height: 0 }): Size {
  const [size, setSize] = useState(start);
  useLayoutEffect(() => {
    const observed = element.current;
    if (!observed) return;
    const measure = () => {
      const next = { width: observed.clientWidth, height: observed.clientHeight };
      setSize((old) => (old.width === next.width && old.height === next.height ? old : next));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(observed);
    return () => observer.disconnect();
  }, []);
  return size;
}

/** Whether panes stand below each other and the page scrolls; the style sheet has the same width. */
export const isNarrow = signal(false);
const narrow = matchMedia("(max-width: 1000px)");
const measure = () => (isNarrow.value = narrow.matches);
narrow.addEventListener("change", measure);
measure();
