// Goes from one moment to the next: training steps, or runs of a Session.

import { computed } from "@preact/signals";
import { chosenExecution, goStep, overview, steps, timeline } from "./chosen";
import { executionOf, onlyRuns, runOf } from "./moments";
import { go, NOTHING, viewed } from "./view";

interface Moments {
  word: "step" | "run";
  first: number;
  last: number;
  chosen: number | null;
  choose: (to: number, replaces: boolean) => void;
}

/** Training steps; the runs of a Session that trains nothing; null where there is neither, or not yet. */
export const moments = computed((): Moments | null => {
  if (!overview.value.data || !timeline.value.data) return null; // both tell which it is
  const runs = onlyRuns.value;
  if (runs) return { word: "run", ...runs, chosen: runOf(chosenExecution.value), choose: goRun };
  const all = steps.value;
  return all && { word: "step", first: all.first, last: all.last, chosen: viewed.step.value, choose: goStep };
});

function goRun(run: number, replaces: boolean): void {
  const execution = executionOf(run);
  if (execution !== null) go({ ...NOTHING, execution }, replaces);
}

/** Goes to a moment, or to the nearest one that was recorded. */
export function chooseMoment(to: number, replaces = false): void {
  const all = moments.peek();
  if (all && Number.isFinite(to)) all.choose(Math.max(all.first, Math.min(all.last, Math.round(to))), replaces);
}

/** Goes on from the chosen moment; without any, forward begins at the first. */
export function stepBy(by: number): void {
  const all = moments.peek();
  if (all) chooseMoment((all.chosen ?? all.first - 1) + by);
}
