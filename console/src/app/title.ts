import { useEffect, type RefObject } from 'react';
import { useShownName } from './array-name.ts';
import { useOpenArray } from './open-array.ts';

/** A tab, a bookmark and the history of the browser say the page: `Volumes · tank · Granary`. */
export function useTitle(heading: RefObject<HTMLHeadingElement | null>): void {
  const array = useShownName(useOpenArray()?.id);
  // After each rendering: a heading may hold more than text, and its text may change.
  useEffect(() => {
    const isFirst = document.querySelector('h1') === heading.current;
    if (!isFirst) return;
    const parts = [heading.current?.textContent, array, 'Granary'];
    document.title = parts.filter((part) => part !== undefined && part !== '').join(' · ');
  });
}
