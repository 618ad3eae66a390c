// What the server may be asked. Made by tdbg.web.typescript of the description of the API: make web writes it anew.

import type {
  Alerts,
  BadElement,
  Diff,
  ExecutionDetail,
  Executions,
  Frame,
  Gradients,
  Graphs,
  Groups,
  History,
  Layers,
  Lineage,
  Loss,
  Note,
  OpDetail,
  Overview,
  PageLink,
  Scope,
  ShellAnswer,
  ShellLine,
  SourceFiles,
  SourceText,
  TensorDetail,
  TensorValue,
  Tensors,
  Timeline,
  TraceEntry,
  Verdict,
} from "./answers";

/** By path: what may stand behind the question mark, what is sent along, and the answer where it is JSON. */
export interface Questions {
  "traces": { query: Record<string, never>; answer: TraceEntry[] };
  "t/{trace}/overview": { query: { process?: number }; answer: Overview };
  "t/{trace}/problems": { query: Record<string, never>; answer: { problems: string[]; notes: Note[] } };
  "t/{trace}/verdict": { query: Record<string, never>; answer: Verdict };
  "t/{trace}/alerts": {
    query: { kind?: string; process?: number; offset?: number; limit?: number }; answer: Alerts;
  };
  "t/{trace}/timeline": {
    query: { process?: number; from?: number; to?: number; buckets?: number; loss?: boolean }; answer: Timeline;
  };
  "t/{trace}/history": { query: { op?: string[]; from?: number; to?: number; points?: number }; answer: History };
  "t/{trace}/loss": { query: { process?: number; from?: number; to?: number; points?: number }; answer: Loss };
  "t/{trace}/gradients": { query: { process?: number }; answer: Gradients };
  "t/{trace}/layers": { query: { process?: number }; answer: Layers };
  "t/{trace}/executions": {
    query: {
      process?: number; step?: number; run?: number; bad?: boolean; offset?: number; limit?: number; at?: number;
    };
    answer: Executions;
  };
  "t/{trace}/execution": { query: { process?: number; execution: number }; answer: ExecutionDetail };
  "t/{trace}/tensors": {
    query: {
      process?: number; where?: string; step?: number; run?: number; execution?: number; graph?: number; op?: number;
      file?: string; line?: number; layer?: string; sort?: string; desc?: boolean; offset?: number; limit?: number;
      at?: number; map?: number; format?: string;
    };
    answer: Tensors;
  };
  "t/{trace}/tensor": { query: { process?: number; seq: number }; answer: TensorDetail };
  "t/{trace}/lineage": { query: { process?: number; seq: number }; answer: Lineage };
  "t/{trace}/groups": {
    query: {
      process?: number; by?: string; where?: string; execution?: number; file?: string; line?: number; offset?: number;
      limit?: number; at?: number; key?: string; format?: string;
    };
    answer: Groups;
  };
  "t/{trace}/value": {
    query: {
      process?: number; seq: number; slice?: string; most?: number; bins?: number; format?: string;
    };
    answer: TensorValue;
  };
  "t/{trace}/bad_element": { query: { process?: number; seq: number; after?: number }; answer: BadElement };
  "t/{trace}/op": { query: { process?: number; op: number; depth?: number }; answer: OpDetail };
  "t/{trace}/graphs": { query: { process?: number }; answer: Graphs };
  "t/{trace}/graph": {
    query: { process?: number; graph: number; scope?: string; norms?: boolean }; answer: Scope;
  };
  "t/{trace}/sources": { query: { process?: number }; answer: SourceFiles };
  "t/{trace}/source": { query: { process?: number; file: string }; answer: SourceText };
  "t/{trace}/stack": { query: { process?: number; stack: number }; answer: { frames: Frame[] } };
  "t/{trace}/export/{file}": {
    query: { where?: string; process?: number; execution?: number; source?: string; line?: number };
  };
  "t/{trace}/report.html": { query: { save?: boolean } };
  "t/{trace}/diff": { query: { other: string; exact?: boolean }; answer: Diff };
  "t/{trace}/shell": { query: { process?: number }; body: ShellLine; answer: ShellAnswer };
  "events": { query: Record<string, never> }; "link": { query: Record<string, never>; answer: PageLink };
}
