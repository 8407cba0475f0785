import { operations, type Api, type Method, type Operation } from '@granary/contract';
import { singular } from './xml-writer.ts';

const VERBS: Readonly<Record<Method, string>> = { GET: 'show', POST: 'create', PUT: 'update', DELETE: 'delete' };
/** What is left of a path without the records that it names. */
const PARAM = /^\{.*\}$/;
const resources = new WeakMap<Api, ReadonlySet<string>>();

/**
 * The portal's root is `<hash>`. Arrays and object storage name theirs after the verb and the path's last resource:
 * `show-vcontrollers-response`, `create-volume-response`; an action is its own verb: `rename-volume-response`.
 */
export function xmlRoot(api: Api, { endpoint }: Operation): string {
  return api.dialect === 'portal' ? 'hash' : `${callOf(api, endpoint.method, endpoint.path)}_response`;
}

function callOf(api: Api, method: Method, path: string): string {
  const parts = path.split('/').slice(1);
  const [last = '', before] = parts.toReversed();
  if (PARAM.test(last)) return `${VERBS[method]}_${singular(before ?? '')}`;
  const parent = parts.findLast((part, index) => index < parts.length - 1 && !PARAM.test(part));
  const isList = method === 'GET';
  // One adjective has a path of its own: those that nothing uses.
  if (last === 'free' && parent !== undefined) return `show_free_${parent}`;
  if (isList) return last.startsWith('show_') ? last : `show_${last}`;
  if (isResource(api, path)) return `${VERBS[method]}_${singular(last)}`;
  const parentPath = path.slice(0, path.lastIndexOf('/'));
  const hasParent = PARAM.test(before ?? '') || isResource(api, parentPath);
  return parent !== undefined && hasParent && !last.includes(singular(parent)) ? `${last}_${singular(parent)}` : last;
}

/** Whether a path names things: it can be read, has several verbs, or leads to one of them. */
function isResource(api: Api, path: string): boolean {
  const known = resources.get(api) ?? resourcesOf(api);
  resources.set(api, known);
  return known.has(path);
}

function resourcesOf(api: Api): ReadonlySet<string> {
  const paths = Map.groupBy(operations(api), ({ endpoint }) => endpoint.path);
  const read = [...paths].filter(([, all]) => all.length > 1 || all[0]?.endpoint.method === 'GET');
  const leading = [...paths.keys()].flatMap((path) => {
    const parts = path.split('/');
    return parts.flatMap((part, index) => (PARAM.test(part) ? [parts.slice(0, index).join('/')] : []));
  });
  return new Set([...read.map(([path]) => path), ...leading]);
}
