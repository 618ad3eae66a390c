// Loads what panes share: the trace's overview and verdict, and what is known of the chosen tensor, op, call and line.

import { computed, effect, signal } from "@preact/signals";
import type { Frame } from "../server/answers";
import { address, getJson, ofTrace, type Needed, type OfTrace, type Query } from "../server/api";
import { listed } from "./live";
import { load } from "./load";
import { go, view, viewed } from "./view";

export const PARTS = 300; // of the steps that a timeline shows at most

/** The address of something of the trace that is looked at; "" while there is none. */
export function inTrace<Path extends keyof OfTrace>(path: Path, ...query: Needed<Query<Path>>) {
  return viewed.trace.value && ofTrace(viewed.trace.value, path, ...query);
}

/** The trace whose alerts are here: they take a while, and a timeline that was asked for before lacks them. */
export const alerted = signal("");
/** What a timeline depends on besides its address: alerts and harm are told late. */
export const told = () => `${alerted.value === viewed.trace.value} ${isJudged.value}`;

const loads = {
  traces: load(
    () => address("traces"),
    () => listed.value,
  ),
  overview: load(() => inTrace("overview", { process: viewed.process.value })),
  timeline: load(() => inTrace("timeline", { process: viewed.process.value, buckets: PARTS }), told),
  verdict: load(() => inTrace("verdict")),
  tensor: load(() =>
    viewed.seq.value === null ? "" : inTrace("tensor", { process: viewed.process.value, seq: viewed.seq.value }),
  ),
  execution: load(() =>
    viewed.execution.value === null
      ? ""
      : inTrace("execution", { process: viewed.process.value, execution: viewed.execution.value }),
  ),
  op: load(
    () => (chosenOp.value === null ? "" : inTrace("op", { process: viewed.process.value, op: chosenOp.value })),
    () => isJudged.value, // it tells which bad values did no harm
  ),
};

export const traces = loads.traces.found;
export const overview = loads.overview.found;
export const timeline = loads.timeline.found;
export const verdict = loads.verdict.found;
export const tensor = loads.tensor.found;
export const execution = loads.execution.found;
export const op = loads.op.found;

/** The training steps of the run. The runs of a Session are Python executions, and have steps as other programs do. */
export const steps = computed(() => {
  const { data } = timeline.value;
  return data && data.steps > 0 ? { first: data.first ?? 0, last: data.last ?? 0, count: data.steps } : null;
});

/** Whether the verdict is there, which tells what did no harm. */
export const isJudged = computed((): boolean => verdict.value.data !== null && !verdict.value.isLoading);

/** The process that is looked at; the server takes the first one with bad values when none is chosen. */
export const process = computed(() => viewed.process.value ?? overview.value.data?.process ?? 0);

/** Ops of the process whose bad values did no harm. */
export const harmlessOps = computed((): ReadonlySet<number> => {
  const found = verdict.value.data?.harmless.find((one) => one.process === process.value);
  return new Set(found?.ops ?? []);
});

/** The op that is looked at: chosen itself, or through a tensor or a call. */
export const chosenOp = computed((): number | null => {
  if (viewed.op.value !== null) return viewed.op.value;
  if (viewed.seq.value !== null) return loads.tensor.found.value.data?.op ?? null;
  if (viewed.execution.value !== null) return loads.execution.found.value.data?.op ?? null;
  return null;
});

export const chosenSlot = computed(() =>
  viewed.seq.value !== null ? (tensor.value.data?.slot ?? 0) : viewed.slot.value,
);

export const chosenExecution = computed((): number | null => {
  if (viewed.execution.value !== null) return viewed.execution.value;
  return viewed.seq.value !== null ? (tensor.value.data?.execution ?? null) : null;
});

/** The stack of what is looked at, innermost frame first. */
export const stack = computed((): Frame[] => {
  if (viewed.op.value !== null) return op.value.data?.stack ?? [];
  if (viewed.seq.value !== null) return tensor.value.data?.stack ?? [];
  if (viewed.execution.value !== null) return execution.value.data?.stack ?? [];
  return [];
});

const sticky = signal(""); // the file that was looked at last

/** The line that is looked at: of a stack the innermost frame in the file looked at before, else the user's. */
export const place = computed((): { file: string; line: number | null } => {
  if (viewed.file.value) return { file: viewed.file.value, line: viewed.line.value };
  const frame = frameToShow(stack.value, sticky.value);
  return { file: frame?.file ?? "", line: frame?.line ?? null };
});

function frameToShow(frames: readonly Frame[], file: string): Frame | undefined {
  return frames.find((frame) => frame.file === file) ?? frames.find((frame) => frame.is_user) ?? frames[0];
}

/** The events that the chosen tensor was computed from: the table marks them. */
export const relatedSeqs = computed(
  () => new Set((tensor.value.data?.inputs ?? []).map((input) => input.seq).filter((seq) => seq !== null)),
);

let following = 0;
const PAUSE = 150; // ms without another step, before a tensor is looked for

/** Goes to another step. The chosen tensor becomes what the same op computed then. */
export function goStep(step: number, replaces = false): void {
  go({ step }, replaces);
  clearTimeout(following);
  following = window.setTimeout(() => void followTensor(step), PAUSE);
}

async function followTensor(step: number): Promise<void> {
  const { trace, process, seq } = view.peek();
  if (seq === null) return;
  const { data } = tensor.peek();
  const chosen =
    data?.seq === seq ? data : await getJson(ofTrace(trace, "tensor", { process, seq })).catch(() => null);
  if (!chosen || chosen.step === step) return;
  const where = `step == ${step} and slot == ${chosen.slot}`;
  const asked = ofTrace(trace, "tensors", { process, op: chosen.op, where, limit: 1 });
  const found = await getJson(asked);
  const now = view.peek();
  if (found.rows[0] && now.step === step && now.seq === seq) go({ seq: found.rows[0].seq }, true);
}

/** Begins to load; returns a function that stops it. */
export function startLoads(): () => void {
  const ends = Object.values(loads).map((one) => one.start());
  ends.push(
    effect(() => {
      const { file } = place.value;
      if (file && viewed.file.value) sticky.value = file;
    }),
    effect(() => {
      const first = traces.value.data?.[0];
      if (first && !viewed.trace.value) go({ trace: first.id }, true);
    }),
  );
  return () => ends.forEach((end) => end());
}
