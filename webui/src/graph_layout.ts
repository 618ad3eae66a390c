// Nodes with their labels and edges in; places of both on a drawing out.

import { Graph, layout } from "@dagrejs/dagre";

export interface Node {
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

const MOST_EDGES = 1500; // dagre takes seconds beyond

export function place(nodes: Node[], edges: Edge[]): Placed {
  const graph = new Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 14, ranksep: 26, marginx: 8, marginy: 8 });
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
