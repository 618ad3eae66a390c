// What the server answers, as far as the page reads it.

export interface TraceEntry {
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
  processes: { index: number; state: string; argv: string[]; dropped: number }[];
  moments: { kind: "step" | "run"; first: number | null; last: number | null; count: number };
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
  shape: string; // as JSON; empty when it is not known
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
  seq: number;
  text: string;
}

export interface Verdict {
  verdict: "bad_values" | "unhealthy" | "unknown" | "clean";
  origins: Origin[];
  more_origins: number;
  benign: Benign[];
  alerts: HealthAlert[];
  rules_not_asked: Record<string, string>;
  coverage: { tensors: number; steps: number; modes: string[]; notes: string[] };
  lines: string[];
  links: Link[];
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
  file: string | null;
  line: number | null;
}
