import { readFileSync } from 'node:fs';

/** The rows of `endpoints.tsv` for one API, as `METHOD path`: what the contract's tests compare it with. */
export function specifiedEndpoints(api: 'portal' | 'array' | 'objects'): string[] {
  const rows = readFileSync(new URL('endpoints.tsv', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .slice(1);
  return rows
    .map((row) => row.split('\t'))
    .filter(([name]) => name === api)
    .map(([, , method, path]) => `${method} ${path}`);
}
