// What the server answers. Made by tdbg.web.typescript of the description of the API: make web writes it anew.

export interface AlertRow {
  kind: "bad_values" | "retrace" | "shape_change"; process: number; step: number; seq: number; time: number; op: number;
  graph: number; execution: number; file: string; line: number; text: string;
  benign: string | null; // why it did no harm
}

export interface Alerts {
  total: number; counts: Record<string, number>;
  is_judged: boolean; // false: before the verdict none is benign
  rows: AlertRow[];
}

/** NaN and infinities are written as texts: JSON has no numbers for them. */
export type AnyNumber = number | "NaN" | "Infinity" | "-Infinity";

export interface BadElement {
  total: number; // elements that are NaN or infinite
  number: number; // which of them this is, counting from 0; -1: there is none
  at: number; // its position, in memory order
  index: number[];
}

/** Bad values that did no harm, at one place. */
export interface Benign {
  reason: string; file: string | null; line: number | null; op_type: string; step: number; process: number; seq: number;
  text: string;
}

/** A norm at each step, or null where it was not finite, and how many elements were bad. */
export interface CurveOfSteps { name: string; steps: number[]; values: (number | null)[]; bad: number[] }

export interface Diff {
  a: string; b: string; verdict: "differ" | "same"; exact: boolean;
  parting: {
    step: number; slot: number; is_input: boolean;
    what: string; // what differs, in words
    difference: AnyNumber; // relative to the largest element
    allowed: AnyNumber; a: DiffSide | null; b: DiffSide | null;
  } | null;
  compared: { tensors: number; measured: number; steps: number; largest_difference: AnyNumber }; notes: string[];
  lines: string[];
}

export interface DiffSide {
  seq: number; op_type: string; op_name: string; file: string | null; line: number | null; source: string | null;
  dtype: string; shape: number[]; numbers: Numbers;
}

export interface Error {
  error: string;
  next: string; // what to do
}

export interface Execution {
  execution: number; seq: number; step: number;
  time: AnyNumber; // in ms since the trace began
  label: string; // the op's type, the function's name, or what the run of a Session was asked for
  kind: "function" | "op";
  graph: number; // of the function that was called; -1 for an op
  op: number;
  bad: number; // how many of its tensors hold NaN or infinity
  benign: number; // how many of these were harmless, once there is a verdict
  file: string | null; line: number | null;
}

export interface ExecutionDetail extends Execution { ended: AnyNumber | null; stack: Frame[]; inputs: Tensor[]; outputs: Tensor[] }

export interface Executions { total: number; at: number | null; rows: Execution[] }

export interface Fix {
  text: string;
  code: string; // the user's statement with the change made; empty where it cannot be written
  trial: {
    before: string; after: string;
    on: string; // what it was tried on
  } | null;
  not_executed: string | null; // why there is no trial
}

export interface Frame {
  file: string; line: number; function: string; is_user: boolean;
  source: string; // the line's text
}

export interface Gradients { steps_per_point: number; layers: CurveOfSteps[]; weights: CurveOfSteps[] }

export interface GraphEntry extends Health { graph: number; outer: number; process: number; name: string; function: string; ops: number }

export interface Graphs { graphs: GraphEntry[] }

export interface Group extends Health {
  key: string; // a step, an execution, or a name
  label: string;
}

export interface Groups { by: "step" | "run" | "layer" | "phase"; total: number; at: number | null; groups: Group[] }

/** How all recorded tensors of something are. */
export interface Health {
  rows: number; // its recorded tensors
  bad: number;
  nan: number; // elements
  inf: number; // elements
  first_bad_seq: number; // -1: none
  min: AnyNumber | null; max: AnyNumber | null;
  tensors: number; // recorded outputs
  benign: number; // how many of the bad ones were harmless, once there is a verdict
}

export interface HealthAlert {
  rule: string; file: string | null; line: number | null; step: number; text: string; why: string; evidence: string[];
  fix: string; source: string;
}

export interface History {
  series: { process: number; op: number; slot: number; name: string; type: string; points: Points }[];
}

export interface Layer extends Health {
  name: string; ops: number; depth: number; has_inner: boolean;
  file: string; // empty: it is a scope
  line: number;
}

export interface Layers { layers: Layer[] }

export interface Lineage {
  stops: LineageStop[]; inputs: LineageInput[];
  end: string; // why it ends there
}

export interface LineageInput {
  index: number; op: number; type: string; seq: number | null; text: string; file: string | null; line: number | null;
}

export interface LineageStop {
  tensor: string; op_type: string; op: number; slot: number; step: number; execution: number; seq: number;
  bad: string | null; // its bad values, counted
  min: AnyNumber | null; max: AnyNumber | null; source: string | null; file: string | null; line: number | null;
}

export interface Loss { loss: LossCurve | null }

export interface LossCurve {
  op: number; slot: number; name: string;
  note: string; // what this is, if that is not certain; else empty
  points: Points;
}

/** A neighbour of a tensor, by the event it was then; null: it has no row. */
export interface Neighbour {
  seq: number | null; op: number; name: string; type: string; file: string | null; line: number | null; bad: boolean;
}

export interface Note { kind: string; text: string; count: number }

/** What was counted and measured of a tensor; null: it was not. */
export interface Numbers {
  elements: number; negative: number | null; zero: number | null; positive: number | null; neg_inf: number | null;
  pos_inf: number | null; nan: number | null; min: AnyNumber | null; max: AnyNumber | null; mean: AnyNumber | null;
  std: AnyNumber | null;
}

export interface OpDetail extends OpFacts {
  device: string; function: string; attributes: Record<string, string>; stack: Frame[];
  forward: number; // the op that it differentiates; -1: none
  inputs: (OpFacts & { index: number; slot: number })[]; outputs: (Health & { slot: number; consumers: OpFacts[] })[];
  control_inputs: string[]; control_outputs: string[]; nodes: OpFacts[];
  edges: { from: number; slot: number; to: number; index: number }[];
  left_out: number; // ops around it that are left out
}

export interface OpFacts extends Health {
  op: number; name: string; type: string; phase: string; graph: number; file: string | null; line: number | null;
}

/** A place where bad values began. */
export interface Origin {
  kind: "forward" | "backward" | "update" | "data"; file: string | null; line: number | null; function: string | null;
  source: string | null; op_type: string; op_name: string; slot: number; step: number;
  run: number | null; // of a Session
  iteration: number | null; process: number; task: string | null; seq: number; dtype: string; numbers: Numbers;
  cause: string; // its name
  reason: string; evidence: string[]; fix: Fix | null;
  inputs: (Numbers & { index: number; op_type: string; file: string | null; line: number | null })[];
  reached: {
    tensors: number; loss: boolean; gradients: number; weights: number; all_weights: number;
    state: number; // variables that are not trained
    all_state: number;
    is_trained: boolean; // whether weights and state could be told apart
    last_step: number; order: string[];
  };
}

/** Where the words of an origin lead. */
export interface OriginLinks {
  process: number; seq: number; op: number; slot: number; graph: number; step: number; execution: number;
  file: string | null; line: number | null;
  is_hidden: boolean; // an op of the forward pass whose trouble shows only in the gradient
  inputs: {
    index: number; op: number; seq: number | null; text: string; file: string | null; line: number | null;
  }[];
  reached: {
    text: string;
    tensors: string; // a filter
    loss: string | null; gradients: string | null; weights: string | null;
  };
}

export interface Overview {
  id: string; version: number; name: string; argv: string[]; mode: string; live: boolean;
  process: number; // the process that the moments are of
  processes: ProcessEntry[];
  moments: {
    kind: "step" | "run"; first: number | null; last: number | null; count: number;
    runs: {
      execution: number; run: number;
      count: number; // how many there are in a row
    }[];
  };
  rows: number; // tensors of all processes
  executions: number;
  bad: number; // tensors that hold NaN or infinity
  first_bad_seq: number; // -1: there is none
  size: number; // bytes on disk
  notes: Note[];
}

export interface PageLink {
  token: string; // goes after ?token=; empty: none is needed
  is_local: boolean; // only this machine can reach the server
}

/** Numbers of one output over steps, a column each. */
export interface Points {
  first: number[]; last: number[]; rows: number[]; elements: number[]; bad: number[]; zero: (number | null)[];
  nan: (number | null)[]; inf: (number | null)[]; min: (AnyNumber | null)[]; max: (AnyNumber | null)[];
  mean: (AnyNumber | null)[]; std: (AnyNumber | null)[];
}

export interface ProcessEntry {
  index: number; state: string; pid: number | null; host: string | null; rank: number | null; mode: string | null;
  task: string | null; // of a cluster, such as worker:1
  versions: Record<string, string> | null; argv: string[];
  started: number | null; // ns since the epoch
  ended: number | null; // ns since the epoch
  how: string | null; // how it ended
  status: number | null;
  dropped: number; // tensors
}

export interface Scope {
  graph: number; scope: string; left_out: number; things: Thing[]; edges: { from: number; to: number; count: number }[];
}

export interface ShellAnswer {
  is_error: boolean; lines: Span[][];
  left_out: number; // lines that are left out
  top: number; // the line to begin at
  menu: Span[];
}

export interface ShellLine {
  line: string;
  step?: number | null; // which step or run to look at; null: all
  width?: number; // letters on a line
}

export interface SourceFiles {
  files: {
    file: string; is_user: boolean; ops: number; tensors: number; rows: number; first_line: number;
    is_kept: boolean; // whether the trace contains its text
  }[];
}

export interface SourceLine {
  line: number; text: string; ops: number[]; types: Record<string, number>; rows: number; bad: number; benign: number;
  first_bad_seq: number;
}

export interface SourceText { file: string; is_kept: boolean; lines: SourceLine[] }

/** Text, style, and the line that a click on it types. */
export type Span = [string, string, string];

/** A row of the table of tensors: one output of an op, as it was once. */
export interface Tensor extends Numbers {
  seq: number; // the number of the event
  step: number; execution: number; op: number; slot: number;
  iteration: number; // of the innermost loop around it; -1 outside loops
  time: AnyNumber; // in ms since the trace began
  graph: number; // -1: an eager op
  name: string;
  type: string; // the op's type
  phase: string; // forward, backward, update or other
  dtype: string;
  shape: string; // as JSON; empty if unknown
  flags: number; // 1 bad, 2 has numbers, 4 came in here, 8 bad although its inputs are good, 32 result of a call
  bad: boolean;
  kept: boolean; // whether its elements can be read
}

export interface TensorDetail extends Tensor {
  process: number; file: string | null; line: number | null;
  forward: number; // the op that its op differentiates; -1: none
  stack: Frame[]; inputs: TensorInput[]; consumers: Neighbour[];
}

export interface TensorInput extends Neighbour, Numbers { index: number; is_given: boolean; text: string }

export interface TensorValue {
  name: string; dtype: string; shape: number[]; part: number[]; shown: number[]; is_cut: boolean;
  summary: {
    elements: number; negative: number; zero: number; positive: number; neg_inf: number; pos_inf: number; nan: number;
    min: AnyNumber; max: AnyNumber; mean: AnyNumber; std: AnyNumber;
  } | null;
  histogram: { counts: number[]; edges: AnyNumber[] } | null; values: (AnyNumber | string)[];
}

export interface Tensors { total: number; offset: number; at: number | null; rows: Tensor[]; map?: number[] }

/** What is directly inside a scope: an op, or a scope with all that is in it. */
export interface Thing extends Health {
  name: string; kind: "scope" | "op";
  op: number; // -1: a scope
  type: string; ops: number; phase: string; from_outside: number; to_outside: number; norm?: AnyNumber | null;
}

export interface Timeline {
  first: number | null; last: number | null; steps: number; parts: TimelinePart[]; loss: LossCurve | null;
}

/** Some neighbouring steps. */
export interface TimelinePart {
  first: number; last: number; rows: number; bad: number;
  benign: number; // how many of these were harmless, once there is a verdict
  seconds: number | null; started: number | null; alerts: Record<string, number>;
}

export interface TraceEntry {
  id: string; // its short name, which is part of the other addresses
  name: string; // of its folder
  error: string; // why it cannot be read; empty when it can
  is_starting: boolean; // its program has not recorded anything yet
  live: boolean; // whether its program may still be writing
  argv: string[]; mode: string;
  started: number | null; // ns since the epoch
  processes: number;
  version: number; // grows when the trace does
}

export interface Verdict {
  trace: string; verdict: "bad_values" | "unhealthy" | "unknown" | "clean"; origins: Origin[]; more_origins: number;
  benign: Benign[]; alerts: HealthAlert[]; rules_asked: string[];
  rules_not_asked: Record<string, string>; // by rule, why
  coverage: {
    tensors: number; steps: number; modes: string[];
    blind: string | null; // why nothing can be said
    notes: string[];
  };
  lines: string[]; links: OriginLinks[]; harmless: { process: number; ops: number[] }[];
}
