// Marks in the other panes what is about the same thing as the element that is pointed at.

const MARK = "data-same";
const MOST = 400; // things that one element is about

export const ofOp = (op: number) => `op:${op}`;
export const ofCall = (execution: number) => `call:${execution}`;
export const ofPlace = (file: string, line: number | null) => `at:${encodeURIComponent(file)}:${line}`;
export const ofScope = (scope: string) => `in:${encodeURIComponent(scope)}`;

/** The scopes that a name lies in. */
export function scopesOf(name: string): string[] {
  const parts = name.split("/").slice(0, -1);
  return parts.map((_, at) => ofScope(parts.slice(0, at + 1).join("/")));
}

/** Attributes that say what an element stands for, and what that belongs to. */
export function about(is: readonly string[], of: readonly string[] = []) {
  return { "data-is": is.slice(0, MOST).join(" "), "data-of": of.join(" ") };
}

interface Subject {
  is: ReadonlySet<string>;
  all: ReadonlySet<string>;
  section: Element | null;
}

function words(element: Element, name: string): string[] {
  return (element.getAttribute(name) ?? "").split(" ").filter(Boolean);
}

function subject(element: Element): Subject {
  const is = words(element, "data-is");
  return { is: new Set(is), all: new Set([...is, ...words(element, "data-of")]), section: sectionOf(element) };
}

function sectionOf(element: Element): Element | null {
  return element.closest("section");
}

/** Whether it is the same, or what the other belongs to, or belongs to the other. */
function isSame(element: Element, { is, all, section }: Subject): boolean {
  if (sectionOf(element) === section) return false;
  return words(element, "data-is").some((one) => all.has(one)) || words(element, "data-of").some((one) => is.has(one));
}

/** Begins to mark; returns a function that stops it. */
export function markSameSubject(root: HTMLElement): () => void {
  let pointed: Element | null = null;
  let marked: Element[] = [];
  let waiting = 0;
  const mark = () => {
    waiting = 0;
    for (const element of marked) element.removeAttribute(MARK);
    const wanted = pointed?.isConnected ? subject(pointed) : null;
    marked = wanted ? [...root.querySelectorAll("[data-is]")].filter((element) => isSame(element, wanted)) : [];
    for (const element of marked) element.setAttribute(MARK, "");
  };
  const later = () => (waiting ||= requestAnimationFrame(mark));
  const look = (event: Event) => {
    const next = event.target instanceof Element ? event.target.closest("[data-is]") : null;
    if (next === pointed) return;
    pointed = next;
    later();
  };
  const leave = () => {
    pointed = null;
    later();
  };
  // Rows of the table are filled anew when it is scrolled, and panes when something else is chosen.
  const changes = new MutationObserver(() => pointed && later());
  changes.observe(root, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-is"] });
  root.addEventListener("pointerover", look);
  root.addEventListener("focusin", look);
  root.addEventListener("pointerleave", leave);
  return () => {
    changes.disconnect();
    root.removeEventListener("pointerover", look);
    root.removeEventListener("focusin", look);
    root.removeEventListener("pointerleave", leave);
  };
}
