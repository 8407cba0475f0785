import { appendFileSync } from 'node:fs';
import type { Endpoint } from '@granary/contract';
import * as validate from '../../../kernel/http/validate.ts';

/** Takes the place of `kernel/http/validate.ts`: one parameter of one endpoint has no effect. */
export type { Reader } from '../../../kernel/http/validate.ts';

/** `POST /volumes name`, and the file that is written to when the parameter was left out of a request. */
const { GRANARY_DROP: wanted = '', GRANARY_DROPPED: log = '' } = process.env;
const [method, path, name = ''] = wanted.split(' ');

export function readerOf(endpoint: Endpoint): validate.Reader {
  const param = endpoint.params[name];
  if (endpoint.method !== method || endpoint.path !== path || param === undefined) return validate.readerOf(endpoint);
  const names = [name, ...(param.aliases ?? [])];
  // What is required may be absent here: its absence would be refused, which shows nothing of its effect.
  const optional = { ...param, presence: param.presence === 'defaulted' ? 'defaulted' : 'optional' } as const;
  const read = validate.readerOf({ ...endpoint, params: { ...endpoint.params, [name]: optional } });
  return (raw) => {
    if (names.some((one) => raw[one] !== undefined)) appendFileSync(log, '.');
    return read(Object.fromEntries(Object.entries(raw).filter(([key]) => !names.includes(key))));
  };
}
