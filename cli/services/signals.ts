/**
 * When a service should end: at a signal, or when its parent process has ended. The shell, npm and the launcher may each
 * pass on the same Ctrl-C, so what follows within a moment counts as the same signal; a later one forces the end.
 */
const SAME_SIGNAL_MS = 1_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const PARENT_POLL_MS = 500;

export interface EndOfRun {
  /** Resolves when the end is asked for. */
  readonly asked: Promise<void>;
  release(): void;
}

export function watchForEnd(force: () => void): EndOfRun {
  let askedAt: number | undefined;
  let resolveAsked: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (resolveAsked = resolve));
  const onSignal = () => {
    if (askedAt === undefined) {
      askedAt = performance.now();
      resolveAsked();
    } else if (performance.now() - askedAt > SAME_SIGNAL_MS) force();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const parentWatch = watchParent(resolveAsked);
  return {
    asked,
    release() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
      clearInterval(parentWatch);
    },
  };
}

/**
 * npm and the launcher stand between a person and this process. When one of them is killed it passes nothing on, and
 * this process would stay behind unseen, with the port and the data in its hands.
 */
function watchParent(gone: () => void): NodeJS.Timeout | undefined {
  const { GRANARY_LAUNCHER, npm_lifecycle_event: npmScript } = process.env;
  if (GRANARY_LAUNCHER === undefined && npmScript === undefined) return undefined;
  const parent = process.ppid;
  return setInterval(() => {
    if (process.ppid !== parent) gone();
  }, PARENT_POLL_MS).unref();
}
