// Draws the whole graph as scopes within scopes, coloured by what is in them.

import { between, colour } from "../../drawing/colours";
import { GraphDrawing, type DrawnNode } from "../../drawing/graph_drawing";
import { ofOp, ofScope } from "../../parts/same_subject";
import { Show } from "../../parts/show";
import type { GraphEntry, Thing } from "../../server/answers";
import { chosenOp, inTrace, isJudged, op } from "../../state/chosen";
import { useLoad } from "../../state/load";
import { go, hashOf, NOTHING, viewed, type View } from "../../state/view";
import { fromWire, number, plural } from "../../words/format";
import type { PaneInTabs } from "../about";
import { look, sign, tell } from "./health_marks";

export const wholePane: PaneInTabs = {
  id: "whole",
  title: "Whole",
  word: "graph structure",
  found: "the whole graph, as scopes",
  place: "structure",
  shows: Whole,
  actions: Colouring,
};

const MOST_DRAWN = 120;
const COLOURINGS = ["health", "norm", "range"];

function Colouring() {
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
            <GraphDrawing name={`graph ${data.scope || "as a whole"}`} nodes={nodes} edges={edges} isWhole />
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
): DrawnNode {
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

/** Colours things: bad values always in their own colours, else from quiet to strong with the size of a number. */
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
