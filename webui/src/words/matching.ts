// Says how well what was typed fits a title.

/** Ranks how well a query fits: by where its words stand in the title or, which counts less, in the hint; null when one
 * stands in neither. */
export function match(query: string, title: string, hint = ""): number | null {
  let rank = 0;
  for (const word of query.toLowerCase().split(/\s+/).filter(Boolean)) {
    const [inTitle, inHint] = [title.toLowerCase().indexOf(word), hint.toLowerCase().indexOf(word)];
    if (inTitle < 0 && inHint < 0) return null;
    rank += inTitle >= 0 ? inTitle : 100 + inHint;
  }
  return rank;
}

/** Writes a text as a regular expression that finds just this. */
export function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
