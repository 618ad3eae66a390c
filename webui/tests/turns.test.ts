import { describe, expect, test } from "vitest";
import { Turns } from "../src/server/turns";

/** Asks in an order; `answer` ends one; `begun` has those whose turn came. */
function asker() {
  const turns = new Turns();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const settle = () => new Promise((done) => setTimeout(done));
  return {
    begun,
    ask: async (...names: string[]) => {
      for (const name of names)
        void turns.of(`http://host/api/t/run/${name}`).then((end) => (begun.push(name), ends.set(name, end)));
      await settle();
    },
    answer: async (name: string) => {
      ends.get(name)!();
      await settle();
    },
  };
}

describe("turns", () => {
  test("the table and the overview go before all that is asked in the same breath", async () => {
    const { ask, answer, begun } = asker();
    await ask("verdict", "timeline?buckets=3", "overview", "tensors?offset=0");
    expect(begun).toEqual(["overview", "tensors?offset=0"]);
    await answer("overview");
    expect(begun).toHaveLength(2);
    await answer("tensors?offset=0");
    expect(begun.slice(2)).toEqual(["timeline?buckets=3", "verdict"]);
  });

  test("alerts, loss and gradients wait for the verdict, a person's question does not", async () => {
    const { ask, answer, begun } = asker();
    await ask("gradients", "alerts?limit=3", "verdict", "loss", "lineage?seq=3", "executions");
    expect(begun).toEqual(["executions", "verdict", "lineage?seq=3"]);
    await answer("lineage?seq=3");
    expect(begun).toHaveLength(3);
    await answer("verdict");
    expect(begun.slice(3)).toEqual(["alerts?limit=3", "gradients"]);
    await answer("gradients");
    expect(begun.slice(5)).toEqual(["loss"]);
  });

  test("scrolling goes on while slow answers are awaited", async () => {
    const { ask, begun } = asker();
    await ask("gradients", "loss", "diff?other=x");
    await ask("tensors?offset=200", "tensors?offset=400");
    expect(begun.slice(2)).toEqual(["tensors?offset=200", "tensors?offset=400"]);
  });
});
