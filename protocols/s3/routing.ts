import { S3Error } from './errors.ts';
import type { Level, Route, S3Operation, S3Query } from './request.ts';
import { SUB_RESOURCES } from './sub-resources.ts';

export interface Routed {
  readonly method: string;
  readonly level: Level;
  readonly query: S3Query;
  header(name: string): string | undefined;
}

/** Finds the operation of a request. */
export class Router {
  readonly #routes = new Map<string, Route[]>();

  constructor(routes: readonly Route[]) {
    // The more a row demands, the earlier it is looked at.
    for (const route of [...routes].sort((a, b) => demands(b) - demands(a))) {
      const name = `${route.method} ${route.level}`;
      const others = this.#routes.get(name);
      if (others) others.push(route);
      else this.#routes.set(name, [route]);
    }
  }

  find(request: Routed): S3Operation {
    const routes = this.#routes.get(`${request.method} ${request.level}`);
    if (!routes) throw new S3Error('MethodNotAllowed', undefined, { Method: request.method });
    const route = routes.find((each) => fits(each, request));
    const stray = strayParameter(request.query, route);
    if (stray !== undefined)
      throw new S3Error('NotImplemented', `'${stray}' is not offered for ${request.method} here.`);
    if (!route) throw new S3Error('MethodNotAllowed', undefined, { Method: request.method });
    return route.operation;
  }
}

function demands(route: Route): number {
  return (route.query?.length ?? 0) + Object.keys(route.queryValue ?? {}).length + (route.header === undefined ? 0 : 1);
}

function fits({ query = [], queryValue, header }: Route, request: Routed): boolean {
  if (!query.every((name) => request.query.has(name))) return false;
  for (const name in queryValue) if (request.query.get(name) !== queryValue[name]) return false;
  return header === undefined || request.header(header) !== undefined;
}

function strayParameter(query: S3Query, route: Route | undefined): string | undefined {
  for (const name of query.names()) {
    if (SUB_RESOURCES.has(name) && route?.query?.includes(name) !== true) return name;
  }
  return undefined;
}
