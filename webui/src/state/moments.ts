// Names executions, steps and processes as people know them: runs of a Session, training steps.

import { computed } from "@preact/signals";
import { count } from "../words/format";
import { overview, steps } from "./chosen";

const moments = computed(() => overview.value.data?.moments);

/** Whether Sessions ran, and most of what was recorded is theirs. */
export const hasRuns = computed(() => moments.value?.kind === "run");

/** The first and the last run, where runs are all that tells moments apart: nothing was trained. */
export const onlyRuns = computed((): { first: number; last: number } | null => {
  const found = moments.value?.runs ?? [];
  if (!hasRuns.value || !found.length || (steps.value?.count ?? 0) > 1) return null;
  const last = found.at(-1)!;
  return { first: found[0]!.run, last: last.run + last.count - 1 };
});

/** The run that an execution is; null when it is none. */
export function runOf(execution: number | null): number | null {
  if (execution === null) return null;
  const found = moments.value?.runs.find(
    (one) => execution >= one.execution && execution < one.execution + one.count,
  );
  return found ? found.run + execution - found.execution : null;
}

export function executionOf(run: number): number | null {
  const found = moments.value?.runs.find((one) => run >= one.run && run < one.run + one.count);
  return found ? found.execution + run - found.run : null;
}

/** "step 3"; of a Session "step 3 (run 5)", or "run 5" where no steps tell its runs apart. */
export function when(step: number, execution: number | null = null): string {
  const run = hasRuns.value ? runOf(execution) : null;
  if (run === null) return `step ${count(step)}`;
  return onlyRuns.value ? `run ${count(run)}` : `step ${count(step)} (run ${count(run)})`;
}

/** "worker 1" or "process 1"; "" where there is but one. */
export function processName(index: number): string {
  const all = overview.value.data?.processes ?? [];
  return all.length > 1 ? (all[index]?.task?.replace(":", " ") ?? `process ${index}`) : "";
}
