// Places the nodes and edges of a graph on a drawing.

import { Graph, layout } from "@dagrejs/dagre";

interface Node {
  id: string;
  width: number;
  height: number;
}

export interface Edge {
  from: string;
  to: string;
}

export interface Placed {
  width: number;
  height: number;
  nodes: Map<string, { x: number; y: number; width: number; height: number }>;
  edges: { from: string; to: string; path: string }[];
}

const [MARGIN, GAP] = [8, 14];
const MOST_EDGES = 1500; // dagre takes seconds beyond

/** What no edge leads to or from stands in rows below the rest: side by side it would be one endless row. */
export function place(nodes: Node[], edges: Edge[]): Placed {
  const ends = new Set(edges.filter((edge) => edge.from !== edge.to).flatMap((edge) => [edge.from, edge.to]));
  const joined = nodes.filter((node) => ends.has(node.id));
  const nothing: Placed = { width: 0, height: 0, nodes: new Map(), edges: [] };
  const found = joined.length ? placeJoined(joined, edges) : nothing;
  const alone = nodes.filter((node) => !ends.has(node.id));
  const area = alone.reduce((sum, node) => sum + (node.width + GAP) * (node.height + GAP), 0);
  const widest = Math.max(found.width, 1.6 * Math.sqrt(area), ...alone.map((node) => node.width + 2 * MARGIN));
  let [x, y] = [MARGIN, found.height + (joined.length ? GAP : MARGIN)];
  let high = 0; // of the row
  for (const node of alone) {
    if (x > MARGIN && x + node.width > widest - MARGIN) {
      [x, y] = [MARGIN, y + high + GAP];
      high = 0;
    }
    found.nodes.set(node.id, { x, y, width: node.width, height: node.height });
    x += node.width + GAP;
    high = Math.max(high, node.height);
    found.width = Math.max(found.width, x - GAP + MARGIN);
  }
  if (alone.length) found.height = y + high + MARGIN;
  return found;
}

function placeJoined(nodes: Node[], edges: Edge[]): Placed {
  const graph = new Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 14, ranksep: 26, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  const known = new Set(nodes.map((node) => node.id));
  for (const node of nodes) graph.setNode(node.id, { width: node.width, height: node.height });
  const kept = edges
    .filter((edge) => known.has(edge.from) && known.has(edge.to) && edge.from !== edge.to)
    .slice(0, MOST_EDGES);
  for (const edge of kept) graph.setEdge(edge.from, edge.to);
  layout(graph);
  const whole = graph.graph();
  const found: Placed = { width: whole.width ?? 0, height: whole.height ?? 0, nodes: new Map(), edges: [] };
  for (const node of nodes) {
    const { x, y } = graph.node(node.id) as { x: number; y: number };
    found.nodes.set(node.id, { x: x - node.width / 2, y: y - node.height / 2, width: node.width, height: node.height });
  }
  for (const edge of graph.edges()) {
    const { points } = graph.edge(edge) as { points: { x: number; y: number }[] };
    found.edges.push({ from: edge.v, to: edge.w, path: curve(points) });
  }
  return found;
}

function curve(points: { x: number; y: number }[]): string {
  const at = (p: { x: number; y: number }) => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`;
  const [first, ...rest] = points;
  if (!first || !rest.length) return "";
  let path = `M${at(first)}`;
  for (let n = 0; n < rest.length - 1; n++) {
    const [here, next] = [rest[n]!, rest[n + 1]!];
    path += `Q${at(here)} ${at({ x: (here.x + next.x) / 2, y: (here.y + next.y) / 2 })}`;
  }
  return `${path}L${at(rest.at(-1)!)}`;
}

/** How wide a text is, in a font of 12 pixels of one width. */
export function textWidth(text: string): number {
  return text.length * 7.3;
}
