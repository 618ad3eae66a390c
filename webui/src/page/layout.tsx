// Lays out all panes in the columns of the page.

import { Fragment } from "preact";
import { boxesIn, COLUMNS, frontOf, type PlacedBox, type TabsBox } from "../panes/registry";
import { PaneBox } from "../parts/pane_box";
import { Splitter } from "../parts/splitter";
import { sizes } from "../state/settings";
import { go, viewed } from "../state/view";

export function Columns() {
  return (
    <main class="columns">
      {COLUMNS.map(({ id, width }, at) => (
        <Fragment key={id}>
          {at > 0 && <Splitter before={COLUMNS[at - 1]!.id} after={id} isUpright />}
          <div class="column" data-pane={id} style={{ flex: `${sizes.value[id] ?? width} 1 0` }}>
            {boxesIn(id).map((box, n, boxes) => (
              <Placed key={box.id} box={box} above={boxes[n - 1]} />
            ))}
          </div>
        </Fragment>
      ))}
    </main>
  );
}

/** A box, and the border above it where both can grow. */
function Placed({ box, above }: { box: PlacedBox; above: PlacedBox | undefined }) {
  return (
    <>
      {above && canGrow(above) && canGrow(box) && <Splitter before={above.id} after={box.id} />}
      {"tabs" in box ? <Tabbed box={box} /> : <box.shows />}
    </>
  );
}

function canGrow(box: PlacedBox): boolean {
  return "tabs" in box || box.height === undefined;
}

function Tabbed({ box }: { box: TabsBox }) {
  const front = frontOf(box, viewed[box.id].value);
  return (
    <PaneBox
      box={box}
      tabs={box.tabs}
      tab={front.id}
      onTab={(id) => go({ [box.id]: id }, true)}
      actions={front.actions && <front.actions />}
    >
      <front.shows />
    </PaneBox>
  );
}
