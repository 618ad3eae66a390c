// Lets one type and choose among steps, ops, files, panes and commands. A line that begins with ">" goes to the shell.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { isInTabs, PANES, whereIs } from "../panes/registry";
import { runLine } from "../panes/shell";
import { getJson, ofTrace } from "../server/api";
import { goStep, steps, traces } from "../state/chosen";
import { go, NOTHING, START, view, viewed } from "../state/view";
import { count, fileName } from "../words/format";
import { literally, match } from "../words/matching";
import { KEYS, opened } from "./keys";

interface Item {
  kind: string;
  title: string;
  hint: string;
  act: () => void;
}

const COMMANDS: [string, string][] = [
  ["why", "the verdict, in words"],
  ["lt -f has_inf_or_nan", "bad tensors of the chosen step"],
  ["alerts", "all alerts"],
  ["steps", "the steps"],
  ["health", "is training healthy?"],
  ["grad", "gradients by layer"],
  ["help", "all shell commands"],
];
const MOST = 40;

function fixedItems(): Item[] {
  const items: Item[] = [];
  for (const key of KEYS.filter((one) => !one.meaning.startsWith("search")))
    items.push({ kind: "do", title: key.meaning, hint: key.keys.join(" "), act: key.act });
  for (const { id, place, found } of PANES.filter(isInTabs))
    items.push({ kind: "show", title: found, hint: whereIs(place), act: () => go({ [place]: id }) });
  for (const [line, hint] of COMMANDS) items.push({ kind: "shell", title: line, hint, act: () => void runLine(line) });
  for (const one of traces.value.data ?? [])
    items.push({
      kind: "trace",
      title: one.name,
      hint: one.live ? "live" : "",
      act: () => go({ ...START, trace: one.id }),
    });
  return items;
}

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const query = useSignal("");
  const at = useSignal(0);
  const files = useSignal<Item[]>([]);
  const ops = useSignal<Item[]>([]);
  const fixed = useMemo(fixedItems, []);
  const { trace, process } = view.value;
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    if (!trace) return;
    getJson(ofTrace(trace, "sources", { process })).then(
      (found) => {
        files.value = found.files.map((one) => ({
          kind: "file",
          title: fileName(one.file),
          hint: one.file,
          act: () => go({ file: one.file, line: one.first_line, centre: "source" }),
        }));
      },
      () => undefined,
    );
  }, [trace]);
  useEffect(() => {
    const text = query.value.trim();
    if (!trace || text.length < 2 || text.startsWith(">")) {
      ops.value = [];
      return;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      const pattern = JSON.stringify(`(?i)${literally(text)}`);
      getJson(
        ofTrace(trace, "tensors", { process, where: `name ~ ${pattern} or op ~ ${pattern}`, limit: 60 }),
        abort.signal,
      ).then(
        (found) => {
          const first = new Map(found.rows.reverse().map((row) => [`${row.name}:${row.slot}`, row]));
          ops.value = [...first].reverse().map(([name, row]) => ({
            kind: "tensor",
            title: name,
            hint: `${row.type}, step ${count(row.step)}`,
            act: () => go({ ...NOTHING, seq: row.seq, step: row.step >= 0 ? row.step : viewed.step.value }),
          }));
        },
        () => undefined,
      );
    }, 150);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [query.value, trace]);
  const items = choose(query.value, fixed, files.value, ops.value);
  const chosen = Math.min(at.value, items.length - 1);
  const close = () => dialog.current?.close();
  const act = (item: Item | undefined) => {
    if (!item) return;
    close();
    item.act();
  };
  const pressed = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) {
      event.preventDefault();
      at.value = (chosen + by + items.length) % Math.max(1, items.length);
      document.getElementById(`item-${at.value}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      act(items[chosen]);
    }
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Search or command"
      onClose={() => (opened.value = "")}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <input
        autofocus
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-items"
        aria-activedescendant={items.length ? `item-${chosen}` : undefined}
        aria-label="Search or command"
        placeholder="an op, a tensor, a file, a step … or > and a shell command"
        value={query.value}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => {
          query.value = event.currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={pressed}
      />
      <ul id="palette-items" class="list" role="listbox" aria-label="Found">
        {items.map((item, n) => (
          <li
            key={`${item.kind} ${item.title} ${item.hint}`}
            id={`item-${n}`}
            role="option"
            aria-selected={n === chosen}
            onClick={() => act(item)}
            onPointerMove={() => (at.value = n)}
          >
            <span class="tag">{item.kind}</span>
            <span class="clip">{item.title}</span>
            <span class="n clip">{item.hint}</span>
          </li>
        ))}
        {!items.length && (
          <li class="empty">No match. To search all tensors, filter the table; "&gt; lt" lists them.</li>
        )}
      </ul>
    </dialog>
  );
}

/** Finds what fits the query, the best first. */
function choose(query: string, fixed: Item[], files: Item[], ops: Item[]): Item[] {
  const text = query.trim();
  if (text.startsWith(">")) {
    const line = text.slice(1).trim();
    return [{ kind: "shell", title: line || "help", hint: "run it", act: () => void runLine(line || "help") }];
  }
  const found: Item[] = [];
  if (/^[\d,]+$/.test(text)) {
    const wanted = Number(text.replaceAll(",", ""));
    if (wanted >= (steps.value?.first ?? 0) && wanted <= (steps.value?.last ?? -1))
      found.push({ kind: "step", title: `step ${count(wanted)}`, hint: "go there", act: () => goStep(wanted) });
    found.push({
      kind: "event",
      title: `event #${count(wanted)}`,
      hint: "in the table",
      act: () => document.dispatchEvent(new CustomEvent("tdbg-event", { detail: wanted })),
    });
  }
  const rated = [...fixed, ...files].map((item) => ({
    item,
    rank: match(text, item.title, item.kind === "file" ? "" : item.hint),
  }));
  const fitting = rated
    .filter((one) => one.rank !== null)
    .sort((a, b) => a.rank! - b.rank!)
    .map((one) => one.item);
  found.push(...(text ? [...ops.slice(0, 12), ...fitting] : fitting));
  if (text.length > 1)
    found.push({
      kind: "filter",
      title: `name ~ ${JSON.stringify(text)}`,
      hint: "filter the table",
      act: () => go({ where: `name ~ ${JSON.stringify(text)}`, only: false }),
    });
  return found.slice(0, MOST);
}
