import { once } from 'node:events';
import { createServer } from 'node:net';

const ANY_FREE = 0;

/** Starts something on the port one would expect it at, or on any other where that is taken. */
export async function onPreferredPort<T>(
  host: string,
  preferred: number,
  start: (port: number) => Promise<T>,
): Promise<T> {
  // Asked first, because a service tries a taken port for a while before it gives up.
  if (!(await isFree(host, preferred))) return start(ANY_FREE);
  try {
    return await start(preferred);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return start(ANY_FREE);
  }
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
