// Shows what was loaded, or why it is not there.

import type { ComponentChildren } from "preact";
import type { ApiError } from "../server/api";
import type { Loaded } from "../state/load";

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

export function Failure({ error }: { error: ApiError }) {
  return (
    <div class="failure" role="alert">
      <strong>{error.message}</strong>
      {error.next && <span>{error.next}</span>}
    </div>
  );
}

/** Shows what was loaded, or why not yet. The last answer stays, dimmed, until the next is there: nothing jumps. */
export function Show<Answer>({
  loaded,
  empty,
  children,
}: {
  loaded: Loaded<Answer>;
  empty?: ComponentChildren;
  children: (data: Answer) => ComponentChildren;
}) {
  if (loaded.error) return <Failure error={loaded.error} />;
  if (loaded.data === null) {
    return loaded.isLoading ? (
      <div class="loading" role="status">
        loading …
      </div>
    ) : (
      <Empty>{empty}</Empty>
    );
  }
  return (
    <div class={loaded.isLoading ? "stale" : "fresh"} aria-busy={loaded.isLoading}>
      {children(loaded.data)}
    </div>
  );
}
