import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { focusContent } from '../parts/dialog.tsx';

const LOOK_EVERY_MS = 50;
/** A page that takes longer to load does not take the focus from what a person began meanwhile. */
const LOOK_MS_MAX = 5_000;

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
    // More than once: the heading of the page before is there until the next one is loaded.
    const timer = setInterval(() => isLost() && focusContent(), LOOK_EVERY_MS);
    const end = () => clearInterval(timer);
    const atLast = setTimeout(end, LOOK_MS_MAX);
    // Who goes on from there decides where the focus is: a dialog gives it back to what opened it.
    const onKey = () => !isLost() && end();
    addEventListener('pointerdown', end);
    addEventListener('keydown', onKey);
    return () => {
      end();
      clearTimeout(atLast);
      removeEventListener('pointerdown', end);
      removeEventListener('keydown', onKey);
    };
  }, [pathname]);
}

function isLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}
