// Graph structure: an op among its neighbours, or the whole graph as scopes within scopes, coloured by what is in them.

import { between, colour } from "../drawing/colours";
import { Drawing, type Drawn } from "../drawing/graph_drawing";
import { chosenOp, harmlessOps, inTrace, isJudged, op, tensor } from "../state/chosen";
import { count, fromWire, number, plural } from "../parts/format";
import { ofOp, ofScope } from "../parts/same_subject";
import { useLoad } from "../state/load";
import { Pane, Show } from "../parts/pane";
import type { GraphEntry, Health, OpDetail, OpFacts, TensorDetail, TensorInput, Thing } from "../server/answers";
import { go, hashOf, NOTHING, viewed, type View } from "../state/view";

const FORMS = [
  { id: "near", title: "Graph: near" },
  { id: "whole", title: "Whole" },
];
const MOST_DRAWN = 120;

export function Structure() {
  const form = viewed.structure.value;
  return (
    <Pane
      id="structure"
      title="Graph structure"
      tabs={FORMS}
      tab={form}
      onTab={(id) => go({ structure: id }, true)}
      weight={3}
      actions={form === "whole" ? <WholeActions /> : null}
    >
      {form === "whole" ? <Whole /> : <Near />}
    </Pane>
  );
}

/** Bad values have a sign besides their colour. */
function sign(health: Health): string {
  return health.nan ? "NaN" : health.inf ? "∞" : health.bad ? "●" : "";
}

function tell(health: Health): string {
  if (!health.rows) return "none of its tensors was recorded";
  const harm = health.bad === health.benign ? ", harmless" : "";
  const bad = health.bad ? `, ${count(health.bad)} with NaN or infinity${harm}` : "";
  return `${plural(health.rows, "tensor")}${bad}, from ${number(fromWire(health.min))} to ${number(fromWire(health.max))}`;
}

function look(health: Health): { fill: string; stroke: string } {
  if (health.bad && health.bad === health.benign) return { fill: "var(--zero-ground)", stroke: "var(--edge)" };
  if (health.nan) return { fill: "var(--nan-ground)", stroke: "var(--nan)" };
  if (health.bad) return { fill: "var(--inf-ground)", stroke: "var(--inf)" };
  return { fill: health.rows ? "var(--raised)" : "var(--ground)", stroke: "var(--edge)" };
}

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

/** The chosen tensor, when it is one of this op, or that of its inputs which came from a neighbour. An input is found by
 * its place among the inputs: what it was computed by may lie behind an op that only moves values. */
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
  const zeros = !known.bad && known.zero ? `0 ×${count(known.zero)}` : "";
  return {
    mark: sign(then) || zeros,
    ...look(then),
    said: `at this event ${known.bad ? `NaN ×${count(then.nan)}, ∞ ×${count(inf)}` : "good"}, from ${number(fromWire(known.min))} to ${number(fromWire(known.max))}; in the run ${tell(node)}`,
  };
}

/** To the event of a neighbour, where the chosen tensor tells it; else to the op. */
function toNeighbour(node: OpFacts, chosen: OpDetail): Partial<View> {
  const seq = eventOf(node, chosen)?.seq ?? consumerEvent(node.op);
  return seq === null ? { ...NOTHING, op: node.op } : { ...NOTHING, seq };
}

function consumerEvent(op: number): number | null {
  const { data } = tensor.value;
  return data && viewed.op.value === null ? (data.consumers.find((one) => one.op === op)?.seq ?? null) : null;
}

function Neighbours({ data }: { data: OpDetail }) {
  const nodes: Drawn[] = data.nodes.map((node) => {
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
      <Drawing name={`${data.name} and its neighbours`} nodes={nodes} edges={edges} />
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

// ---- the whole graph

const COLOURINGS = ["health", "norm", "range"];

function WholeActions() {
  return (
    <select
      aria-label="Colour by"
      title="What the colours of scopes mean"
      value={viewed.colour.value}
      onChange={(event) => go({ colour: event.currentTarget.value }, true)}
    >
      {COLOURINGS.map((one) => (
        <option key={one} value={one}>
          colour: {one}
        </option>
      ))}
    </select>
  );
}

function Whole() {
  const graphs = useLoad(() => inTrace("graphs", { process: viewed.process.value }), () => isJudged.value);
  return (
    <Show loaded={graphs} empty="The graphs of this trace appear here.">
      {(data) => <InGraph graphs={data.graphs} />}
    </Show>
  );
}

/** The graph that is looked at: the one chosen, that of the chosen op, or the largest. */
function graphInView(graphs: GraphEntry[]): number {
  if (viewed.graph.value !== null) return viewed.graph.value;
  if (op.value.data && op.value.data.op === chosenOp.value) return op.value.data.graph;
  return [...graphs].sort((a, b) => b.bad - b.benign - a.bad + a.benign || b.ops - a.ops)[0]?.graph ?? -1;
}

function InGraph({ graphs }: { graphs: GraphEntry[] }) {
  const graph = graphInView(graphs);
  return (
    <div class="near">
      <p class="facts">
        <select
          aria-label="Graph"
          value={graph}
          onChange={(event) => go({ graph: Number(event.currentTarget.value), scope: "" })}
        >
          {graphs.map((one) => (
            <option key={one.graph} value={one.graph}>
              {one.graph < 0 ? "eager ops" : one.name || one.function || `graph ${one.graph}`} · {plural(one.ops, "op")}
              {one.bad > one.benign ? " · ● bad" : ""}
            </option>
          ))}
        </select>{" "}
        <Crumbs />
      </p>
      <InScope key={graph} graph={graph} />
    </div>
  );
}

function Crumbs() {
  const parts = viewed.scope.value.split("/").filter(Boolean);
  return (
    <nav aria-label="Scope" class="crumbs">
      <button disabled={!parts.length} onClick={() => go({ scope: "" })}>
        all
      </button>
      {parts.map((part, at) => (
        <span key={at}>
          {" "}
          /{" "}
          <button disabled={at === parts.length - 1} onClick={() => go({ scope: parts.slice(0, at + 1).join("/") })}>
            {part}
          </button>
        </span>
      ))}
    </nav>
  );
}

function InScope({ graph }: { graph: number }) {
  const loaded = useLoad(
    () =>
      inTrace("graph", {
        process: viewed.process.value,
        graph,
        scope: viewed.scope.value,
        norms: viewed.colour.value === "norm",
      }),
    () => isJudged.value,
  );
  return (
    <Show loaded={loaded}>
      {(data) => {
        if (!data.things.length) return <div class="empty">This scope is empty.</div>;
        const shown = data.things.slice(0, MOST_DRAWN);
        const tint = tints(shown, viewed.colour.value);
        const nodes = shown.map((thing, at) => drawnThing(thing, at, graph, tint(thing)));
        const edges = data.edges.map((edge) => ({ from: String(edge.from), to: String(edge.to) }));
        return (
          <>
            {(data.left_out > 0 || data.things.length > shown.length) && (
              <p class="facts dim">
                {plural(data.left_out + data.things.length - shown.length, "thing")} not drawn: open a scope to see less
                at once
              </p>
            )}
            <Drawing name={`graph ${data.scope || "as a whole"}`} nodes={nodes} edges={edges} isWhole />
          </>
        );
      }}
    </Show>
  );
}

function drawnThing(
  thing: Thing,
  at: number,
  graph: number,
  tint: { fill: string; stroke: string; said: string },
): Drawn {
  const isScope = thing.kind === "scope";
  const short = thing.name.slice(thing.name.lastIndexOf("/") + 1);
  const path = thing.name.includes("/") || !viewed.scope.value ? thing.name : `${viewed.scope.value}/${thing.name}`;
  const to: Partial<View> = isScope ? { scope: path, graph } : { ...NOTHING, op: thing.op };
  return {
    id: String(at),
    title: isScope ? `${short}/` : thing.type,
    below: isScope
      ? `${plural(thing.ops, "op")}${tint.said ? ` · ${tint.said}` : ""}`
      : short === thing.type
        ? tint.said || undefined
        : `${short}${tint.said ? ` · ${tint.said}` : ""}`,
    mark: sign(thing),
    fill: tint.fill,
    stroke: tint.stroke,
    isScope,
    isChosen: !isScope && thing.op === chosenOp.value,
    hint: `${isScope ? "open the scope" : thing.type} ${thing.name}: ${tell(thing)}`,
    href: hashOf(to),
    onOpen: () => go(to),
    is: isScope ? ofScope(path) : ofOp(thing.op),
  };
}

/** How things are coloured: bad values always in their own colours, else from quiet to strong with the size of a number. */
function tints(things: Thing[], by: string): (thing: Thing) => { fill: string; stroke: string; said: string } {
  if (by === "health") return (thing) => ({ ...look(thing), said: "" });
  const size = (thing: Thing): number | null => {
    if (by === "norm") return fromWire(thing.norm);
    const [low, high] = [fromWire(thing.min), fromWire(thing.max)];
    return low === null || high === null || !Number.isFinite(high - low) ? null : high - low;
  };
  const logs = things
    .map(size)
    .filter((one): one is number => one !== null && one > 0)
    .map(Math.log10);
  const [low, high] = [Math.min(...logs), Math.max(...logs)];
  return (thing) => {
    const value = size(thing);
    if (thing.bad) return { ...look(thing), said: value === null ? "" : number(value) };
    if (value === null) return { fill: "var(--ground)", stroke: "var(--edge)", said: "" };
    const share = value > 0 && high > low ? (Math.log10(value) - low) / (high - low) : 0;
    return {
      fill: between(colour("--ground"), colour("--accent"), 0.05 + 0.4 * share),
      stroke: "var(--edge)",
      said: number(value),
    };
  };
}
