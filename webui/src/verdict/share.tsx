// Copies a link to exactly this view, and says who can follow it.

import { useSignal } from "@preact/signals";
import type { PageLink } from "../server/answers";
import { address, getJson, HOME } from "../server/api";
import { toHash, view } from "../state/view";

/** With all that the server asks for: the token stands in its path already, or behind a question mark. */
function linkTo(home: string, hash: string, { token }: PageLink): string {
  return `${home}${token && !home.includes(`/${token}/`) ? `?token=${token}` : ""}${hash}`;
}

function whoMay({ token, is_local: isLocal }: PageLink): string {
  if (!token) return "Anyone who can reach this server can open it.";
  return isLocal
    ? "It contains the token: anyone with the link can open it, in any browser on this machine or through a forwarded port."
    : "It contains the token: anyone with the link who can reach this machine can read the traces.";
}

export function Share() {
  const said = useSignal<{ link: string; who: string; isCopied: boolean } | null>(null);
  const share = async () => {
    if (said.value) return void (said.value = null);
    const about = await getJson(address("link"));
    const link = linkTo(HOME, toHash(view.peek()), about);
    const isCopied = await navigator.clipboard?.writeText(link).then(() => true, () => false);
    said.value = { link, who: whoMay(about), isCopied: !!isCopied };
  };
  return (
    <>
      <button
        title="A link to exactly this view"
        aria-expanded={said.value !== null}
        onClick={() => void share().catch(() => undefined)}
      >
        share
      </button>
      {said.value && (
        <div class="shared" role="status">
          <p>
            <b>{said.value.isCopied ? "The link is on the clipboard." : "Copy this link:"}</b> {said.value.who}
          </p>
          <input
            class="mono"
            readOnly
            aria-label="Link to this view"
            value={said.value.link}
            onFocus={(event) => event.currentTarget.select()}
          />
          <button onClick={() => (said.value = null)}>close</button>
        </div>
      )}
    </>
  );
}
