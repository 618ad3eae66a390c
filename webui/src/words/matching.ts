// What was typed and a title in; how well they fit out.

/** How well a query fits: where its words stand in the title, or, which counts less, in the hint; null when one does not. */
export function match(query: string, title: string, hint = ""): number | null {
  let rank = 0;
  for (const word of query.toLowerCase().split(/\s+/).filter(Boolean)) {
    const [inTitle, inHint] = [title.toLowerCase().indexOf(word), hint.toLowerCase().indexOf(word)];
    if (inTitle < 0 && inHint < 0) return null;
    rank += inTitle >= 0 ? inTitle : 100 + inHint;
  }
  return rank;
}
