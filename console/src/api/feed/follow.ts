import { service } from '../service.ts';
import { Streams, type Follower } from './streams.ts';
import { ANNOUNCE_MS, type TabMessage, type Delivery } from './tabs.ts';

type Follow = (base: string, follower: Follower) => () => void;

/** Follows what changes at a place until it is ended. */
export const followPlace: Follow = (base, follower) => (follow ??= sharing() ?? alone())(base, follower);

let follow: Follow | undefined;

/** Undefined where the browser has no workers that tabs share, as on some phones. */
function sharing(): Follow | undefined {
  if (typeof SharedWorker === 'undefined' || service.feed === '') return undefined;
  const { port } = new SharedWorker(service.feed, { type: 'module', name: 'granary-changes' });
  const followers = new Map<string, Set<Follower>>();
  const announce = () => {
    const isSeen = document.visibilityState === 'visible';
    port.postMessage({ follow: [...followers.keys()], isSeen } satisfies TabMessage);
  };
  port.addEventListener('message', ({ data: { base, message } }: MessageEvent<Delivery>) => {
    for (const follower of [...(followers.get(base) ?? [])]) follower(message);
  });
  port.start();
  setInterval(() => {
    if (followers.size > 0) announce();
  }, ANNOUNCE_MS);
  for (const type of ['visibilitychange', 'focus', 'pageshow']) addEventListener(type, announce);
  addEventListener('pagehide', () => port.postMessage({} satisfies TabMessage));
  return (base, follower) => {
    followers.set(base, (followers.get(base) ?? new Set()).add(follower));
    announce();
    return () => {
      followers.get(base)?.delete(follower);
      if (followers.get(base)?.size === 0) followers.delete(base);
      announce();
    };
  };
}

function alone(): Follow {
  const streams = new Streams({
    open: (url) => new EventSource(url),
    schedule: (action, ms) => {
      const timer = window.setTimeout(action, ms);
      return () => window.clearTimeout(timer);
    },
  });
  return (base, follower) => streams.follow(base, follower);
}
