import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { focusContent } from '../parts/dialog.tsx';

const LOOK_EVERY_MS = 50;
/** A page that takes longer to load does not take the focus from what a person began meanwhile. */
const LOOK_MS_MAX = 5_000;
const BEGINNINGS = ['pointerdown', 'keydown'] as const;

/**
 * What led to a page may be gone once it is open: a line of the palette, the last button of an order. Then nothing has the
 * focus, and who uses the keyboard would begin at the top of the menu: the heading of the page gets it.
 */
export function useFocusFollowsPage(): void {
  const { pathname } = useLocation();
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) return undefined;
    shown.current = pathname;
    const opened = performance.now();
    const done = new AbortController();
    const end = () => done.abort();
    // Who goes on has found a place, and a form that closes gives the focus back by itself. The key that led here is older.
    const goesOn = ({ timeStamp }: Event) => timeStamp > opened && end();
    for (const event of BEGINNINGS) addEventListener(event, goesOn, { signal: done.signal });
    // More than once: the heading of the page before is there until the next one is loaded.
    const looking = setInterval(() => isLost() && focusContent(), LOOK_EVERY_MS);
    const atLast = setTimeout(end, LOOK_MS_MAX);
    done.signal.addEventListener('abort', () => {
      clearInterval(looking);
      clearTimeout(atLast);
    });
    return end;
  }, [pathname]);
}

function isLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}
