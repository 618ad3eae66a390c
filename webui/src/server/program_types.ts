// What the server answers about the program behind the numbers: ops, graphs, layers, files.

import type { Frame, Wire } from "./types";

export interface Health {
  rows: number;
  bad: number;
  nan: number;
  inf: number;
  first_bad_seq: number;
  min: Wire;
  max: Wire;
  tensors: number;
  benign: number; // of the bad ones: those that did no harm
}

export interface Layer extends Health {
  name: string;
  ops: number;
  depth: number;
  has_inner: boolean;
  file: string; // "": it is a scope
  line: number;
}

/** Tensors that belong together; `key` is what the server knows the group by. */
export interface Group extends Health {
  key: string;
  label: string;
}

export interface OpFacts extends Health {
  op: number;
  name: string;
  type: string;
  phase: string;
  graph: number;
  file: string | null;
  line: number | null;
}

export interface OpDetail extends OpFacts {
  device: string;
  function: string;
  attributes: Record<string, string>;
  stack: Frame[];
  forward: number;
  inputs: (OpFacts & { index: number; slot: number })[];
  outputs: (Health & { slot: number; consumers: OpFacts[] })[];
  nodes: OpFacts[];
  edges: { from: number; slot: number; to: number; index: number }[];
  left_out: number;
}

export interface Graphs {
  graphs: (Health & { graph: number; outer: number; name: string; function: string; ops: number })[];
}

export interface Thing extends Health {
  name: string;
  kind: "scope" | "op";
  op: number;
  type: string;
  ops: number;
  phase: string;
  norm?: number | null;
}

export interface Scope {
  graph: number;
  scope: string;
  left_out: number;
  things: Thing[];
  edges: { from: number; to: number; count: number }[];
}

export interface SourceFiles {
  files: { file: string; is_user: boolean; ops: number; rows: number; first_line: number; is_kept: boolean }[];
}

export interface SourceLine {
  line: number;
  text: string;
  ops: number[];
  types: Record<string, number>;
  rows: number;
  bad: number;
  benign: number;
  first_bad_seq: number;
}

export interface SourceText {
  file: string;
  is_kept: boolean;
  lines: SourceLine[];
}
