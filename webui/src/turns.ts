// Addresses that want to be asked in; a turn for each out, so that what a person waits for comes before the rest.
//
// The table and how many bad values there are come first: while one of those questions is open, no other begins. Then
// the verdict. Answers that may take seconds on a large trace are slow: a few at a time, for a browser has six
// connections to a server, one of them is for events, and scrolling never waits for them.

const FIRST = /\/(traces|overview|tensors)(\?|$)/;
const SLOW = [/\/verdict(\?|$)/, /\/(alerts|layers|lineage|diff)(\?|$)/, /\/(loss|gradients)(\?|$)/];
const MOST_SLOW = 2;

interface Waiting {
  rank: number; // -1: not slow
  begin: () => void;
}

export class Turns {
  private first = 0;
  private slow = 0;
  private waiting: Waiting[] = [];

  /** Waits until the question may be asked; what it gives is called once that is answered. */
  async of(url: string): Promise<() => void> {
    if (FIRST.test(url)) {
      this.first++;
      return once(() => this.first--, this.next);
    }
    const rank = SLOW.findIndex((one) => one.test(url));
    await new Promise<void>((begin) => {
      this.waiting.push({ rank, begin });
      // Not at once: questions that are asked in the same breath may be of those that come first.
      queueMicrotask(this.next);
    });
    return once(() => (this.slow -= rank >= 0 ? 1 : 0), this.next);
  }

  private next = (): void => {
    if (this.first > 0) return;
    this.waiting.sort((one, other) => one.rank - other.rank);
    this.waiting = this.waiting.filter(({ rank, begin }) => {
      if (rank >= 0 && this.slow >= MOST_SLOW) return true;
      this.slow += rank >= 0 ? 1 : 0;
      begin();
      return false;
    });
  };
}

function once(...functions: (() => void)[]): () => void {
  return () => functions.splice(0).forEach((one) => one());
}
