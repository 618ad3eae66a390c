// Draws an op among its neighbours, as they were at the chosen event.

import { GraphDrawing, type DrawnNode } from "../../drawing/graph_drawing";
import { ofOp } from "../../parts/same_subject";
import { Show } from "../../parts/show";
import type { Health, OpDetail, OpFacts, TensorDetail, TensorInput } from "../../server/answers";
import { harmlessOps, op, tensor } from "../../state/chosen";
import { go, hashOf, NOTHING, viewed, type View } from "../../state/view";
import { count, fromTo, plural } from "../../words/format";
import type { PaneInTabs } from "../about";
import { look, sign, tell } from "./health_marks";

export const nearPane: PaneInTabs = {
  id: "near",
  title: "Graph: near",
  word: "graph structure",
  found: "the graph around an op",
  place: "structure",
  shows: Near,
};

function Near() {
  return (
    <Show
      loaded={op.value}
      empty="Choose a tensor or an op: its inputs are above it, what reads it below. Click one to go there."
    >
      {(data) => <Neighbours data={data} />}
    </Show>
  );
}

/** The chosen tensor, when it is one of this op, or that of its inputs which came from a neighbour. An input is found
 * by its place among the inputs: what it was computed by may lie behind an op that only moves values. */
function eventOf(node: OpFacts, chosen: OpDetail): TensorDetail | TensorInput | undefined {
  const { data } = tensor.value;
  if (!data || viewed.op.value !== null || data.op !== chosen.op) return undefined;
  if (node.op === chosen.op) return data;
  const index = chosen.inputs.find((one) => one.op === node.op)?.index;
  return data.inputs.find((one) => one.index === index);
}

/** How the ops around the chosen tensor were at that event; without a tensor, in all of the run. */
function healthThen(node: OpFacts, chosen: OpDetail): { mark: string; fill: string; stroke: string; said: string } {
  const known = eventOf(node, chosen);
  if (!known) return { mark: sign(node), ...look(node), said: tell(node) };
  const inf = (known.neg_inf ?? 0) + (known.pos_inf ?? 0);
  const then: Health = {
    ...node,
    rows: 1,
    bad: known.bad ? 1 : 0,
    benign: known.bad && harmlessOps.value.has(known.op) ? 1 : 0,
    nan: known.nan ?? 0,
    inf,
    min: known.min,
    max: known.max,
  };
  const bad = known.bad ? `NaN ×${count(then.nan)}, ∞ ×${count(inf)}` : "good";
  const zeros = !known.bad && known.zero ? `0 ×${count(known.zero)}` : "";
  return {
    mark: sign(then) || zeros,
    ...look(then),
    said: `at this event ${bad}, ${fromTo(known.min, known.max)}; in the run ${tell(node)}`,
  };
}

/** Leads to the event of a neighbour, where the chosen tensor tells it; else to the op. */
function toNeighbour(node: OpFacts, chosen: OpDetail): Partial<View> {
  const seq = eventOf(node, chosen)?.seq ?? consumerEvent(node.op);
  return seq === null ? { ...NOTHING, op: node.op } : { ...NOTHING, seq };
}

function consumerEvent(op: number): number | null {
  const { data } = tensor.value;
  return data && viewed.op.value === null ? (data.consumers.find((one) => one.op === op)?.seq ?? null) : null;
}

function Neighbours({ data }: { data: OpDetail }) {
  const nodes: DrawnNode[] = data.nodes.map((node) => {
    const to = toNeighbour(node, data);
    const { said, ...then } = healthThen(node, data);
    return {
      id: String(node.op),
      title: node.type,
      below: node.name === node.type ? undefined : node.name,
      ...then,
      isChosen: node.op === data.op,
      hint: `${node.type} ${node.name}: ${said}`,
      href: hashOf(to),
      onOpen: () => go(to),
      is: ofOp(node.op),
    };
  });
  const edges = data.edges.map((edge) => ({ from: String(edge.from), to: String(edge.to) }));
  return (
    <div class="near">
      <OpFactsLine data={data} />
      <GraphDrawing name={`${data.name} and its neighbours`} nodes={nodes} edges={edges} />
    </div>
  );
}

function OpFactsLine({ data }: { data: OpDetail }) {
  const first = { ...NOTHING, seq: data.first_bad_seq, where: "" };
  return (
    <p class="facts">
      <b class="mono">{data.name}</b> <span class="tag">{data.type}</span>{" "}
      <span class="dim">
        {data.phase}
        {data.function ? ` in ${data.function}` : ""}
      </span>{" "}
      {data.bad > 0 && (
        <a
          class={data.bad > data.benign ? "bad-text" : "dim"}
          href={hashOf(first)}
          onClick={(event) => {
            event.preventDefault();
            go(first);
          }}
        >
          {plural(data.bad, data.bad > data.benign ? "bad tensor" : "benign tensor")}
        </a>
      )}{" "}
      <button
        title="Show only this op's tensors in the table"
        onClick={() => go({ where: `name == ${JSON.stringify(data.name)}`, only: false })}
      >
        its tensors
      </button>{" "}
      <button
        title="Show this op in the whole graph"
        onClick={() =>
          go({ structure: "whole", graph: data.graph, scope: data.name.split("/").slice(0, -1).join("/") })
        }
      >
        in the whole
      </button>
      {data.left_out > 0 && <span class="dim"> {plural(data.left_out, "neighbour")} not drawn</span>}
    </p>
  );
}
