import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';

/** Whether the process at the address answers. Never throws. */
export function answers(managementUrl: string, timeoutMs: number): Promise<boolean> {
  const get = managementUrl.startsWith('https:') ? getHttps : getHttp;
  return new Promise((resolve) => {
    const request = get(
      `${managementUrl}/healthz`,
      // Our own child at an address we gave it: what matters is that it lives, not what its certificate says.
      { agent: false, timeout: timeoutMs, rejectUnauthorized: false, signal: AbortSignal.timeout(timeoutMs) },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}
