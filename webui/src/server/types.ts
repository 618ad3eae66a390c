// What the server answers about a run, as far as the page reads it; of its program: program_types.ts.

export interface TraceEntry {
  is_starting: boolean;
  id: string;
  name: string;
  error: string;
  live: boolean;
  argv: string[];
  mode: string;
  processes: number;
}

export interface Note {
  kind: string;
  text: string;
  count: number;
}

export interface Overview {
  id: string;
  name: string;
  argv: string[];
  mode: string;
  live: boolean;
  process: number;
  processes: { index: number; state: string; task: string | null; argv: string[]; dropped: number }[];
  moments: {
    kind: "step" | "run";
    first: number | null;
    last: number | null;
    count: number;
    runs: { execution: number; run: number; count: number }[]; // stretches in which both count on
  };
  rows: number;
  executions: number;
  bad: number;
  first_bad_seq: number;
  size: number;
  notes: Note[];
}

export type Wire = number | "NaN" | "Infinity" | "-Infinity" | null;

export interface Numbers {
  elements: number;
  negative: number | null;
  zero: number | null;
  positive: number | null;
  neg_inf: number | null;
  pos_inf: number | null;
  nan: number | null;
  min: Wire;
  max: Wire;
  mean: Wire;
  std: Wire;
}

/** A row of the table of tensors. */
export interface Tensor extends Numbers {
  seq: number;
  step: number;
  execution: number;
  op: number;
  slot: number;
  iteration: number;
  time: number;
  graph: number;
  name: string;
  type: string;
  phase: string;
  dtype: string;
  shape: string; // as JSON; empty if unknown
  flags: number;
  bad: boolean;
  kept: boolean;
}

export interface Fix {
  text: string;
  code: string | null;
  trial: { on: string; before: string; after: string } | null;
  not_executed?: string;
}

export interface Origin {
  kind: string;
  file: string | null;
  line: number | null;
  function: string | null;
  source: string | null;
  op_type: string;
  op_name: string;
  slot: number;
  step: number;
  process: number;
  seq: number;
  dtype: string;
  numbers: Numbers;
  cause: string;
  reason: string;
  evidence: string[];
  fix: Fix | null;
}

/** Where the words of an origin lead. */
export interface Link {
  process: number;
  seq: number;
  op: number;
  slot: number;
  graph: number;
  step: number;
  execution: number;
  is_hidden: boolean; // an op of the forward pass whose trouble shows only in the gradient
  file: string | null;
  line: number | null;
  inputs: { index: number; op: number; seq: number | null; text: string; file: string | null; line: number | null }[];
  reached: { text: string; tensors: string; loss: string | null; gradients: string | null; weights: string | null };
}

export interface HealthAlert {
  rule: string;
  file: string | null;
  line: number | null;
  step: number;
  text: string;
  why: string;
  evidence: string[];
  fix: string;
  source: string;
}

export interface Benign {
  reason: string;
  file: string | null;
  line: number | null;
  op_type: string;
  step: number;
  process: number;
  seq: number;
  text: string;
}

export interface Verdict {
  trace: string;
  verdict: "bad_values" | "unhealthy" | "unknown" | "clean";
  origins: Origin[];
  more_origins: number;
  benign: Benign[];
  alerts: HealthAlert[];
  rules_asked: string[];
  rules_not_asked: Record<string, string>;
  coverage: { tensors: number; steps: number; modes: string[]; notes: string[] };
  lines: string[];
  links: Link[];
  harmless: { process: number; ops: number[] }[];
}

export interface AlertRow {
  kind: string;
  process: number;
  step: number;
  seq: number;
  op: number;
  graph: number;
  execution: number;
  file: string;
  line: number;
  text: string;
  benign: string | null;
}

export interface Alerts {
  total: number;
  counts: Record<string, number>;
  rows: AlertRow[];
}

export interface Frame {
  file: string;
  line: number;
  function: string;
  is_user: boolean;
  source: string;
}

export interface Execution {
  execution: number;
  seq: number;
  step: number;
  time: number;
  label: string;
  kind: "function" | "op";
  graph: number;
  op: number;
  bad: number;
  benign: number;
  file: string | null;
  line: number | null;
}

/** Some neighbouring steps. */
export interface Part {
  first: number;
  last: number;
  rows: number;
  bad: number;
  benign: number;
  seconds: number | null;
  started: number | null;
  alerts: Record<string, number>;
}

export interface Timeline {
  first: number | null;
  last: number | null;
  steps: number;
  parts: Part[];
}

/** Numbers of one output over steps, a column each. */
export interface Points {
  first: number[];
  last: number[];
  bad: number[];
  zero: (number | null)[];
  nan: (number | null)[];
  inf: (number | null)[];
  min: Wire[];
  max: Wire[];
  mean: Wire[];
  std: Wire[];
}

export interface Loss {
  loss: { op: number; slot: number; name: string; note: string; points: Points } | null; // note: not certain
}

export interface History {
  series: { process: number; op: number; slot: number; name: string; type: string; points: Points }[];
}

export interface CurveOfSteps {
  name: string;
  steps: number[];
  values: (number | null)[];
  bad: number[];
}

export interface Gradients {
  steps_per_point: number;
  layers: CurveOfSteps[];
  weights: CurveOfSteps[];
}

/** A neighbour of a tensor, by the event it was then; null: it has no row. */
export interface Near {
  seq: number | null;
  op: number;
  name: string;
  type: string;
  file: string | null;
  line: number | null;
  bad: boolean;
}

export interface TensorDetail extends Tensor {
  process: number;
  file: string | null;
  line: number | null;
  forward: number;
  stack: Frame[];
  inputs: (Near & Numbers & { index: number; is_given: boolean; text: string })[];
  consumers: Near[];
}

export interface Way {
  stops: {
    tensor: string;
    op_type: string;
    op: number;
    slot: number;
    step: number;
    execution: number;
    seq: number;
    bad: string | null;
    min: Wire;
    max: Wire;
    file: string | null;
    line: number | null;
    source: string | null;
  }[];
  inputs: {
    index: number;
    op: number;
    type: string;
    seq: number | null;
    text: string;
    file: string | null;
    line: number | null;
  }[];
  end: string;
}

export interface Value {
  name: string;
  dtype: string;
  shape: number[];
  part: number[];
  shown: number[];
  is_cut: boolean;
  summary: Numbers | null;
  histogram: { counts: number[]; edges: Wire[] } | null;
  values: (number | string)[];
}

export interface DiffSide {
  seq: number;
  op_type: string;
  op_name: string;
  file: string | null;
  line: number | null;
  source: string | null;
  dtype: string;
  shape: number[];
  numbers: Numbers;
}

export interface Diff {
  a: string;
  b: string;
  verdict: "differ" | "same";
  parting: {
    step: number;
    slot: number;
    what: string;
    difference: Wire;
    allowed: Wire;
    a: DiffSide | null; // null: this run has no such op
    b: DiffSide | null;
  } | null;
  compared: { tensors: number; measured: number; steps: number; largest_difference: Wire };
  notes: string[];
  lines: string[];
}

/** text, style, and the line that a click on it types */
export type Span = [string, string, string];

export interface ShellAnswer {
  is_error: boolean;
  lines: Span[][];
  left_out: number;
}

export interface ExecutionDetail extends Execution {
  stack: Frame[];
  inputs: Tensor[];
  outputs: Tensor[];
}
