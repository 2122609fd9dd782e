// Progress as often as a person sees it: each change that a page draws takes time from what it tells of.

const PAUSE_MS = 100;

/** Tells the first share at once, and of later ones those that come PAUSE_MS behind the last that was told. */
export function paced(tell: (share: number) => void, now: () => number = () => performance.now()): (share: number) => void {
  let next = -Infinity;
  return (share) => {
    if (now() < next) return;
    next = now() + PAUSE_MS;
    tell(share);
  };
}
