/*
 * What parts of the page keep of the person who is signed in, beside what React holds: it goes when that person goes, so
 * that the next one at this browser neither sees it nor goes on with it.
 */

const drops = new Set<() => void>();

/** Called when the person is signed out, and when another one has signed in. */
export function whenPersonLeaves(drop: () => void): () => void {
  drops.add(drop);
  return () => drops.delete(drop);
}

export function dropWhatIsKept(): void {
  for (const drop of drops) drop();
}
