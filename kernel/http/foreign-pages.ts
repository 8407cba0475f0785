import { fail } from '../errors.ts';
import type { CredentialSource } from './types.ts';

/** Refuses what a page of another origin made a browser send. Clients that are no browsers say nothing of origins. */
export function refuseForeignPages(headers: CredentialSource['headers']): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) {
    if (site !== 'same-origin') throw fail('foreign_page');
    return;
  }
  const { origin, host } = headers;
  if (origin !== undefined && hostOf(origin) !== String(host).toLowerCase()) throw fail('foreign_page');
}

function hostOf(origin: string | string[]): string | undefined {
  return typeof origin === 'string' && URL.canParse(origin) ? new URL(origin).host : undefined;
}
