// Says how a node of the graph is: by a sign, by a colour, in words.

import type { Health } from "../../server/answers";
import { count, fromTo, plural } from "../../words/format";

/** Bad values have a sign besides their colour. */
export function sign(health: Health): string {
  return health.nan ? "NaN" : health.inf ? "∞" : health.bad ? "●" : "";
}

export function tell(health: Health): string {
  if (!health.rows) return "none of its tensors was recorded";
  const harm = health.bad === health.benign ? ", harmless" : "";
  const bad = health.bad ? `, ${count(health.bad)} with NaN or infinity${harm}` : "";
  return `${plural(health.rows, "tensor")}${bad}, ${fromTo(health.min, health.max)}`;
}

export function look(health: Health): { fill: string; stroke: string } {
  if (health.bad && health.bad === health.benign) return { fill: "var(--zero-ground)", stroke: "var(--edge)" };
  if (health.nan) return { fill: "var(--nan-ground)", stroke: "var(--nan)" };
  if (health.bad) return { fill: "var(--inf-ground)", stroke: "var(--inf)" };
  return { fill: health.rows ? "var(--raised)" : "var(--ground)", stroke: "var(--edge)" };
}
