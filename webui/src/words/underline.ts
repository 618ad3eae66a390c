// Finds the part of the user's line that made an op.

/** Finds where the call whose name is the op's type stands in a line: `tf.math.log(p)` of Log. */
export function underlined(text: string, op: string): [number, number] {
  const found = new RegExp(`[\\w.]*\\b${op.replace(/V\d$/, "").replace(/[^\w]/g, "")}\\b\\(`, "i").exec(text);
  if (!found) return [0, 0];
  let depth = 0;
  for (let at = found.index + found[0].length - 1; at < text.length; at++) {
    if (text[at] === "(") depth++;
    if (text[at] === ")" && --depth === 0) return [found.index, at + 1];
  }
  return [found.index, text.length];
}
