// Tells of one place where bad values began: the line, why, how far they spread, what to do. The words are links.

import type { Origin, OriginLinks } from "../server/answers";
import { toOrigin } from "../state/landing";
import { processName, when } from "../state/moments";
import { hashOf, NOTHING, type View } from "../state/view";
import { count } from "../words/format";
import { follow, SourceLine } from "./source_line";

const IN_PHASE: Record<string, string> = {
  backward: ", in the gradient",
  update: ", in the update",
  data: ", in the data",
};

export function OriginText({ origin, link, began }: { origin: Origin; link: OriginLinks | undefined; began: string }) {
  const there = toOrigin(origin);
  return (
    <>
      <h1>
        <span class="mark" aria-hidden="true">
          ●
        </span>{" "}
        {began} at{" "}
        <a href={hashOf(there)} onClick={follow(there)}>
          {when(origin.step, link?.execution)}
        </a>
        {link?.is_hidden ? ", hidden from the loss but not from the gradient" : (IN_PHASE[origin.kind] ?? "")}
        {processName(origin.process) && ` of ${processName(origin.process)}`}:{" "}
        <a href={hashOf(there)} onClick={follow(there)} class="mono">
          {origin.op_type}
        </a>{" "}
        → <BadCounts origin={origin} />
      </h1>
      {origin.source && (
        <SourceLine
          file={origin.file}
          line={origin.line}
          source={origin.source}
          mark={origin.op_type}
          to={{ ...there, centre: "source" }}
        />
      )}
      <p>
        {origin.reason}{" "}
        <span class="tag" title="the name of this cause">
          {origin.cause}
        </span>
        {origin.evidence.length > 0 && <span class="dim"> · {origin.evidence.join(" · ")}</span>}
      </p>
      {link && link.inputs.length > 0 && (
        <p>
          {link.inputs.slice(0, 3).map((input, at) => {
            const to: Partial<View> =
              input.seq === null
                ? { ...NOTHING, op: input.op, process: link.process }
                : { ...NOTHING, process: link.process, seq: input.seq, step: link.step };
            return (
              <span key={at}>
                {at > 0 && " · "}
                <a href={hashOf(to)} onClick={follow(to)}>
                  {input.text}
                </a>
              </span>
            );
          })}
        </p>
      )}
      {link?.reached.text && (
        <p>
          reached <Reached reached={link.reached} />
        </p>
      )}
      {origin.fix && <FixText origin={origin} />}
    </>
  );
}

function BadCounts({ origin }: { origin: Origin }) {
  const { nan, neg_inf, pos_inf, elements } = origin.numbers;
  return (
    <>
      {!!nan && <span class="tag nan">NaN ×{count(nan)}</span>}{" "}
      {!!neg_inf && <span class="tag inf">−∞ ×{count(neg_inf)}</span>}{" "}
      {!!pos_inf && <span class="tag inf">+∞ ×{count(pos_inf)}</span>} <span class="dim">of {count(elements)}</span>
    </>
  );
}

/** How far it went; the words are filters of the table. */
function Reached({ reached }: { reached: OriginLinks["reached"] }) {
  const to: Partial<View> = { where: reached.tensors, only: false, made: "", within: null };
  return (
    <a href={hashOf(to)} onClick={follow(to)} title={`Show them: ${reached.tensors}`}>
      {reached.text}
    </a>
  );
}

function FixText({ origin }: { origin: Origin }) {
  const { fix, source } = origin;
  return (
    <details class="fix">
      <summary>
        <b>fix</b>{" "}
        {fix!.trial && (
          <span class="tag good" title={`tried on ${fix!.trial.on}: ${fix!.trial.before} → ${fix!.trial.after}`}>
            ✓ tried on {fix!.trial.on.startsWith("this op") ? "this op" : "example values"}
          </span>
        )}{" "}
        {fix!.text}
      </summary>
      {fix!.code && (
        <pre>
          {source && (
            <del>
              - {source.trim()}
              {"\n"}
            </del>
          )}
          <ins>
            {fix!.code
              .split("\n")
              .map((line) => `+ ${line.trim()}`)
              .join("\n")}
          </ins>
        </pre>
      )}
      {fix!.trial && (
        <p class="dim">
          tried on {fix!.trial.on}: {fix!.trial.before} → {fix!.trial.after}
        </p>
      )}
      {!fix!.trial && fix!.not_executed && <p class="dim">not executed: {fix!.not_executed}</p>}
    </details>
  );
}
