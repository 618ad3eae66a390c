// Shows the headline of the page: what went wrong, at which line, why, how far it spread, what to do.

import { Failure } from "../parts/show";
import type { Benign, HealthAlert, Verdict } from "../server/answers";
import { ofTrace } from "../server/api";
import { overview, verdict } from "../state/chosen";
import { toHealthAlert, toOrigin } from "../state/landing";
import { go, hashOf, NOTHING, viewed, type View } from "../state/view";
import { count, fileName, inWords, plural } from "../words/format";
import { OriginText } from "./origin";
import { Share } from "./share";
import { follow, SourceLine } from "./source_line";

export function VerdictBar() {
  const { data, error, isLoading } = verdict.value;
  return (
    <section class={`verdict ${data?.verdict ?? ""}`} aria-label="Verdict" aria-busy={isLoading}>
      <div class="said">
        {error ? <Failure error={error} /> : data ? <Said verdict={data} /> : <Waiting isLoading={isLoading} />}
      </div>
      <div class="side">
        <span>
          {viewed.trace.value && (
            <a
              class="button"
              href={ofTrace(viewed.trace.value, "report.html", { save: true })}
              download
              title="This verdict and its plots as one HTML file"
            >
              report
            </a>
          )}
          <Share />
        </span>
        <TraceNotes />
      </div>
    </section>
  );
}

function Waiting({ isLoading }: { isLoading: boolean }) {
  const bad = overview.value.data?.bad;
  return (
    <>
      <h1>{isLoading ? "Looking for where it began …" : "No trace is chosen"}</h1>
      <p class="dim">
        {bad === undefined
          ? "You can use the rest of the page meanwhile."
          : bad
            ? `${plural(bad, "tensor")} ${bad === 1 ? "holds" : "hold"} NaN or infinity.`
            : "No recorded tensor holds NaN or infinity; checking whether training is healthy."}
      </p>
    </>
  );
}

/** What was dropped, sampled or could not be done while recording. */
function TraceNotes() {
  const notes = overview.value.data?.notes ?? [];
  if (!notes.length) return null;
  return (
    <details class="notes">
      <summary>{plural(notes.length, "note")}</summary>
      <ul>
        {notes.map((note, at) => (
          <li key={at}>
            {note.text}
            {note.count > 1 ? ` (×${count(note.count)})` : ""}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Said({ verdict }: { verdict: Verdict }) {
  if (verdict.origins.length) {
    const chosen = Math.max(0, Math.min(viewed.origin.value, verdict.origins.length - 1));
    return (
      <>
        <OriginText origin={verdict.origins[chosen]!} link={verdict.links[chosen]} began={began(verdict, chosen)} />
        {verdict.origins.length > 1 && (
          <div class="others" role="group" aria-label="Places where bad values began">
            {verdict.origins.map((one, number) => (
              <button
                key={number}
                aria-pressed={number === chosen}
                onClick={() => go({ ...toOrigin(one), origin: number })}
              >
                {number + 1}. {one.file ? `${fileName(one.file)}:${one.line}` : one.op_type}
              </button>
            ))}
            {verdict.more_origins > 0 && <span class="dim">and {count(verdict.more_origins)} more</span>}
          </div>
        )}
      </>
    );
  }
  if (verdict.verdict === "unhealthy") return <Unhealthy alerts={verdict.alerts} verdict={verdict} />;
  const looked = `${plural(verdict.coverage.tensors, "tensor")} of ${plural(verdict.coverage.steps, "step")}`;
  const isClean = verdict.verdict === "clean";
  const results = isClean ? verdict.benign.filter((one) => one.reason === "infinite_result") : [];
  const harmless = verdict.benign.filter((one) => !results.includes(one));
  return (
    <>
      <h1>
        <span class="mark">{isClean && !results.length ? "✓" : "?"}</span>{" "}
        {!isClean
          ? (verdict.lines[0]?.replace(/^tdbg: /, "") ?? "Nothing was checked")
          : results.length
            ? `No NaN in ${looked}, but infinity in a result that no op read`
            : `No bad values in ${looked}`}
      </h1>
      <Places said="result" places={results} />
      {isClean && !results.length && (
        <p class="dim">
          Every recorded tensor was checked for NaN and infinity
          {harmless.length ? `; ${plural(harmless.length, "place")} had harmless ones, see the alerts` : ""}.
          Below: all of them, with their numbers, lines and graphs.
        </p>
      )}
      <Places said="no harm" places={harmless} />
      {isClean && <Asked verdict={verdict} />}
      <Notes notes={verdict.coverage.notes} />
    </>
  );
}

/** Told first is what spoilt the training, though something else may have begun before it. */
function began({ origins }: Verdict, chosen: number): string {
  if (chosen > 0) return "Bad values also began";
  const isEarliest = origins.every((one) => one.step >= origins[0]!.step);
  return isEarliest ? "Bad values began" : "Bad values that reached the training began";
}

/** What was asked about training, and what could not be, with the reasons. */
function Asked({ verdict }: { verdict: Verdict }) {
  const asked = verdict.rules_asked.map(inWords);
  const skipped = notAsked(verdict);
  const all = [asked.length ? `No alert about: ${asked.join(", ")}` : "", ...skipped].filter(Boolean);
  return (
    <p class={`asked${verdict.benign.length > 1 ? " clip" : ""}`} title={all.join("\n")}>
      {asked.length > 0 && "No alert about: "}
      {asked.map((rule) => (
        <span key={rule} class="tag good">
          ✓ {rule}
        </span>
      ))}{" "}
      <span class="dim">{skipped.join("; ")}</span>
    </p>
  );
}

/** Writes a sentence for each reason why a rule was asked of no process. */
function notAsked({ rules_asked: asked, rules_not_asked: skipped }: Verdict): string[] {
  const rules: Record<string, string[]> = {};
  for (const [rule, why] of Object.entries(skipped))
    if (!asked.includes(rule)) (rules[why.replace(/; it needs.*/, "")] ??= []).push(inWords(rule));
  return Object.entries(rules).map(([why, names]) =>
    asked.length ? `not checked, ${why}: ${names.join(", ")}` : `Training health was not checked: ${why}`,
  );
}

const MOST_PLACES = 3;

/** Where bad values were as they should be, or in a result that only the program's user can judge. */
function Places({ said, places }: { said: string; places: Benign[] }) {
  return (
    <>
      {places.slice(0, MOST_PLACES).map((one) => {
        const to: Partial<View> = {
          ...NOTHING,
          process: one.process,
          seq: one.seq,
          step: one.step >= 0 ? one.step : viewed.step.value,
        };
        return (
          <p key={`${one.process} ${one.seq}`}>
            <span class="dim">{said}</span>{" "}
            <a href={hashOf(to)} onClick={follow(to)}>
              {one.file ? `${fileName(one.file)}:${one.line}` : one.op_type}
            </a>{" "}
            {one.text}
          </p>
        );
      })}
    </>
  );
}

function Notes({ notes }: { notes: string[] }) {
  return notes.length ? (
    <p class="dim clip" title={notes.join("\n")}>
      note: {notes.join("; ")}
    </p>
  ) : null;
}

function Unhealthy({ alerts, verdict }: { alerts: HealthAlert[]; verdict: Verdict }) {
  const [first, second] = alerts;
  return (
    <>
      <h1>
        <span class="mark">▲</span> No bad values, but training is not healthy: {first!.text}
      </h1>
      {first!.source && (
        <SourceLine
          file={first!.file}
          line={first!.line}
          source={first!.source}
          to={toHealthAlert(first!)}
        />
      )}
      <p>{first!.why}</p>
      <p>
        <b>try</b> {first!.fix}
      </p>
      {second && (
        <p class="dim clip" title={second.text}>
          {alerts.length > 2 ? `${plural(alerts.length - 1, "more alert")} on the left, next: ` : "also: "}
          {second.text}
        </p>
      )}
      <Notes notes={verdict.coverage.notes} />
    </>
  );
}
