import type { EngineMethods } from '../protocol.ts';

/** Names of volumes that do not exist: pausing the move of one of them breaks the controller's thread. */
export const CRASH = 'crash';
export const HANG = 'hang';

type Calls = Omit<EngineMethods, 'failover'>;

export function breakAtWill(engine: Calls): Calls {
  return new Proxy(engine, {
    get(target, name) {
      if (name === 'pauseMove') return (volume: string) => broken(volume) ?? target.pauseMove(volume);
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

function broken(how: string): Promise<never> | undefined {
  if (how === CRASH) {
    setImmediate(() => {
      throw new Error('crashed as ordered');
    });
  } else if (how === HANG) {
    setImmediate(() => {
      for (;;);
    });
  } else {
    return undefined;
  }
  return new Promise(() => undefined);
}
