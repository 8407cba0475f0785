import type { Operation } from './endpoint.ts';
import { pathParams } from './endpoint.ts';

/** How the command line spells the contract. The command itself and the console, which shows its lines, use these. */

/** `driveTypes`, `flash_cache_capacity`, `connectVia` → `drive-types`, `flash-cache-capacity`, `connect-via` */
export function kebab(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}

/** `arrays set-engine`: what one types after `granary`. */
export function commandName({ group, name }: Operation): string {
  return `${kebab(group)} ${kebab(name)}`;
}

export function optionFlag(param: string): string {
  return `--${kebab(param)}`;
}

interface LineOptions {
  /** What one types before the group: `array` in `granary array volumes list`. */
  readonly prefix?: string | undefined;
  /** Which array, where the command would ask. */
  readonly array?: string | undefined;
}

/** The whole line of a call, ready to paste into a shell. Secrets are asked for at the terminal. */
export function commandLine(
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
  { prefix, array }: LineOptions = {},
): string {
  const { endpoint } = operation;
  const inPath = pathParams(endpoint.path);
  const places = inPath.map((name) => shellWord(valueText(input[name] ?? `<${kebab(name)}>`)));
  const options = Object.entries(input)
    .filter(([name, value]) => !inPath.includes(name) && value !== undefined)
    .flatMap(([name, value]) => optionWords(name, value, endpoint.params[name]?.secret === true));
  const where = array === undefined ? [] : [withValue('--array', array)];
  const command = ['granary', prefix, commandName(operation)].filter(Boolean);
  // What begins with a dash would be read as an option, were it not for the two that end them.
  const isLast = places.some((place) => place.startsWith('-'));
  const rest = isLast ? [...options, ...where, '--', ...places] : [...places, ...options, ...where];
  return [...command, ...rest].join(' ');
}

/** `--name books`; `--name=-books`, where a dash would make an option of the value. */
function withValue(flag: string, value: string): string {
  return `${flag}${value.startsWith('-') ? '=' : ' '}${shellWord(value)}`;
}

function optionWords(name: string, value: unknown, isSecret: boolean): string[] {
  if (isSecret) return [optionFlag(name), '-'];
  if (value === true) return [optionFlag(name)];
  if (value === false) return [`--no-${kebab(name)}`];
  return [withValue(optionFlag(name), valueText(value))];
}

/** `a,b` for lists, `key=n,key=n` for maps of plain values, JSON for the rest. */
function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(',');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const entries = Object.entries(value);
  const isPlain = entries.every(([, item]) => typeof item === 'number' || typeof item === 'string');
  return isPlain ? entries.map(([key, item]) => `${key}=${String(item)}`).join(',') : JSON.stringify(value);
}

/** The same call by curl. The key stands for the caller's own: `$TOKEN` or `$KEY`. */
export function curlLine(
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
  { url, header }: { readonly url: string; readonly header: string },
): string {
  const { method, path, params } = operation.endpoint;
  const inPath = pathParams(path);
  const address = path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(valueText(input[name] ?? name)));
  const rest = Object.entries(input).filter(([name, value]) => !inPath.includes(name) && value !== undefined);
  const shown = rest.map(([name, value]) => [name, params[name]?.secret ? '…' : value] as const);
  const words = ['curl', '-s', '-H', `"${header}"`];
  if (method !== 'GET') words.push('-X', method);
  const isInQuery = method === 'GET' || method === 'DELETE';
  if (shown.length > 0 && !isInQuery) {
    words.push(
      '-H',
      shellWord('Content-Type: application/json'),
      '-d',
      shellWord(JSON.stringify(Object.fromEntries(shown))),
    );
  }
  const query = shown.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(valueText(value))}`);
  const tail = isInQuery && query.length > 0 ? `?${query.join('&')}` : '';
  words.push(shellWord(`${url}/api${address}${tail}`));
  return words.join(' ');
}

/** A word that a shell reads as it is. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
