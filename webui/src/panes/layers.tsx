// Shows the layers of the model as a tree, each with its health, and how its gradient went over the steps.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { PaneBox } from "../parts/pane_box";
import { about, ofScope } from "../parts/same_subject";
import { Show } from "../parts/show";
import type { CurveOfSteps, Layer, OpDetail } from "../server/answers";
import { chosenOp, inTrace, isJudged, op } from "../state/chosen";
import { useLoad } from "../state/load";
import { go, NOTHING, viewed } from "../state/view";
import { count, fromTo, plural } from "../words/format";
import { literally } from "../words/matching";
import type { PaneInColumn } from "./about";

export const layersPane: PaneInColumn = {
  id: "layers",
  title: "Layers",
  word: "layers",
  place: "left",
  weight: 2,
  shows: Layers,
};

function Layers() {
  const loaded = useLoad(() => inTrace("layers", { process: viewed.process.value }), () => isJudged.value);
  const gradients = useLoad(() => inTrace("gradients", { process: viewed.process.value }), () => isJudged.value);
  const curves = gradients.data?.layers ?? [];
  return (
    <PaneBox box={layersPane} count={loaded.data ? count(loaded.data.layers.length) : ""}>
      <Show loaded={loaded} empty="The layers of the model appear here.">
        {(data) =>
          data.layers.length ? (
            <Tree layers={data.layers} curves={curves} />
          ) : (
            <div class="empty">
              No layers: nothing was computed inside a scope (Keras layers and <code>tf.name_scope</code> make scopes),
              and no gradient was taken.
            </div>
          )
        }
      </Show>
    </PaneBox>
  );
}

/** Finds which layers are in sight when only some are open: all at the top, and those right inside an open one. */
function visibleLayers<L extends { name: string; depth: number }>(
  layers: readonly L[],
  open: ReadonlySet<string>,
): L[] {
  const found: L[] = [];
  let hiddenBelow = Infinity;
  for (const layer of layers) {
    if (layer.depth > hiddenBelow) continue;
    hiddenBelow = open.has(layer.name) ? Infinity : layer.depth;
    found.push(layer);
  }
  return found;
}

/** The gradient of a scope: that of all layers in it together. Where a point stands for several steps, each layer's
 * greatest counts, so it is an upper bound there. */
export function curveWithin(scope: string, curves: readonly CurveOfSteps[]): CurveOfSteps | undefined {
  const inside = curves.filter((curve) => curve.name === scope || curve.name.startsWith(`${scope}/`));
  if (inside.length < 2) return inside[0];
  const steps = [...new Set(inside.flatMap((curve) => curve.steps))].sort((a, b) => a - b);
  const squares = new Map<number, number>();
  const bad = new Map<number, number>();
  for (const curve of inside)
    curve.steps.forEach((step, at) => {
      const value = curve.values[at] ?? null;
      if (value !== null) squares.set(step, (squares.get(step) ?? 0) + value * value);
      bad.set(step, (bad.get(step) ?? 0) + (curve.bad[at] ?? 0));
    });
  const values = steps.map((step) => (squares.has(step) ? Math.sqrt(squares.get(step)!) : null));
  return { name: scope, steps, values, bad: steps.map((step) => bad.get(step) ?? 0) };
}

/** The layer that the chosen op belongs to, and all around it: also of a gradient, whose name has the layer's in it. */
function layersOf(layers: readonly Layer[], op: OpDetail | null): Layer[] {
  if (!op) return [];
  return layers.filter((layer) =>
    layer.file ? layer.file === op.file && layer.line === op.line : `/${op.name}`.includes(`/${layer.name}/`),
  );
}

/** The filter of a layer's tensors, its gradients among them; a line is chosen as what made them. */
function narrowing(layer: Layer): { where: string; made: string } {
  if (layer.file) return { where: "", made: `${layer.file}:${layer.line}` };
  return { where: `name ~ ${JSON.stringify(`(^|/)${literally(layer.name)}/`)}`, made: "" };
}

function Tree({ layers, curves }: { layers: Layer[]; curves: CurveOfSteps[] }) {
  const tops = layers.filter((layer) => layer.depth === 0);
  // A model is mostly one scope around all its layers: that one is open from the beginning.
  const most = tops.filter((one) => 2 * one.rows > sum(tops));
  const open = useSignal<ReadonlySet<string>>(new Set(most.map((one) => one.name)));
  const { data: chosen } = op.value;
  const around = chosenOp.value === null ? [] : layersOf(layers, chosen);
  const here = around.at(-1)?.name;
  useEffect(() => {
    if (here) open.value = new Set([...open.peek(), ...around.slice(0, -1).map((layer) => layer.name)]);
  }, [here]);
  const toggle = (name: string) => {
    const next = new Set(open.value);
    if (!next.delete(name)) next.add(name);
    open.value = next;
  };
  return (
    <ul class="list layers" aria-label="Layers">
      {visibleLayers(layers, open.value).map((layer) => {
        const short = layer.name.slice(layer.name.lastIndexOf("/") + 1);
        const filter = narrowing(layer);
        const isOnly = viewed.where.value === filter.where && viewed.made.value === filter.made;
        const isOpen = open.value.has(layer.name);
        return (
          <li
            key={layer.name}
            aria-current={layer.name === here || undefined}
            style={{ paddingLeft: `${layer.depth * 12}px` }}
          >
            {layer.has_inner ? (
              <button
                class="fold"
                aria-expanded={isOpen}
                aria-label={`${isOpen ? "Close" : "Open"} ${short}`}
                onClick={() => toggle(layer.name)}
              >
                {isOpen ? "▾" : "▸"}
              </button>
            ) : (
              <span class="fold-room" />
            )}
            <button
              class="name"
              {...about([ofScope(layer.name)])}
              aria-pressed={isOnly}
              title={`${layer.name}: ${count(layer.rows)} tensors of ${count(layer.ops)} ops, ${fromTo(layer.min, layer.max)}; click to show only these`}
              onClick={() => go({ ...(isOnly ? { where: "", made: "" } : filter), only: false, within: null })}
            >
              <span class="clip end"><bdi>{short}</bdi></span>
              <Spark curve={curveWithin(layer.name, curves)} />
            </button>
            {layer.bad > 0 ? (
              <BadTag layer={layer} />
            ) : (
              <span class="tag good" title="no bad values">
                ok
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function sum(layers: readonly Layer[]): number {
  return layers.reduce((all, layer) => all + layer.rows, 0);
}

function BadTag({ layer }: { layer: Layer }) {
  const harmful = layer.bad - layer.benign;
  const harm = harmful ? "" : ", harmless";
  return (
    <button
      class={`tag ${harmful ? "bad" : "benign"}`}
      title={`${plural(harmful || layer.bad, "tensor")} with NaN or infinity${harm}; click for the first one`}
      onClick={() => go({ ...NOTHING, seq: layer.first_bad_seq, where: "", only: false })}
    >
      {harmful ? "●" : "○"} {count(harmful || layer.bad)}
    </button>
  );
}

const WIDE = 44;
const HIGH = 14;

/** The norm of a layer's gradient over the steps, in the space of a word; pink where it was not finite. */
function Spark({ curve }: { curve: CurveOfSteps | undefined }) {
  if (!curve || curve.values.length < 2) return null;
  const finite = curve.values.map((value) => (value !== null && value > 0 ? Math.log10(value) : null));
  const known = finite.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const x = (at: number) => (at / (curve.values.length - 1)) * WIDE;
  const y = (value: number) => HIGH - 2 - (high > low ? (value - low) / (high - low) : 0.5) * (HIGH - 4);
  const path = finite
    .map((value, at) =>
      value === null ? "" : `${at && finite[at - 1] !== null ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`,
    )
    .join("");
  return (
    <svg class="spark" width={WIDE} height={HIGH} role="img" aria-label={`gradient of ${curve.name} over steps`}>
      <title>{`norm of its gradient over the steps${known.length ? `, ${fromTo(10 ** low, 10 ** high)}` : ""}`}</title>
      {curve.bad.map(
        (bad, at) =>
          bad > 0 && (
            <rect
              key={at}
              x={x(at) - 0.5}
              y="0"
              width={Math.max(1, WIDE / curve.bad.length)}
              height={HIGH}
              fill="var(--nan)"
              opacity="0.5"
            />
          ),
      )}
      <path d={path} fill="none" stroke="var(--series-1)" stroke-width="1.2" />
    </svg>
  );
}
