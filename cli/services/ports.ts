import { once } from 'node:events';
import { createServer } from 'node:net';

const ANY_FREE = 0;
/** Ports after the preferred one that are tried, so that the address stays one that people recognize. */
const NEIGHBOURS_MAX = 100;

interface Preference {
  readonly host: string;
  readonly port: number;
  /** Ports of other parts of this process, which may not listen yet. */
  readonly apartFrom?: readonly number[];
}

/** Starts something on the port one would expect it at, or on one of the next, or on any, where that is taken. */
export async function onPreferredPort<T>(preference: Preference, start: (port: number) => Promise<T>): Promise<T> {
  const port = await preferredPort(preference);
  try {
    return await start(port);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return start(ANY_FREE);
  }
}

/** Asked first, because a service tries a taken port for a while before it gives up. */
export async function preferredPort({ host, port: preferred, apartFrom = [] }: Preference): Promise<number> {
  for (let port = preferred; port < preferred + NEIGHBOURS_MAX; port += 1)
    if (!apartFrom.includes(port) && (await isFree(host, port))) return port;
  return ANY_FREE;
}

async function isFree(host: string, port: number): Promise<boolean> {
  const probe = createServer();
  try {
    probe.listen({ host, port, exclusive: true });
    await once(probe, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    probe.close();
  }
}
