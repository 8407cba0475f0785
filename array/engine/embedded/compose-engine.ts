import { CALLS, type EngineMethods } from '../controllers/protocol.ts';

type Part = Partial<Omit<EngineMethods, 'failover'>>;
type Method = (...args: unknown[]) => unknown;

/** One engine of several parts, each of which has some of its methods. */
export function composeEngine<A extends Part, B extends Part, C extends Part, D extends Part = object>(
  ...parts: readonly [A, B, C, D?]
): A & B & C & D {
  const methods = Object.keys(CALLS).flatMap((method) => {
    const part = parts.find((one) => one !== undefined && method in one) as Record<string, Method> | undefined;
    return part?.[method] === undefined ? [] : [[method, part[method].bind(part)] as const];
  });
  return Object.fromEntries(methods) as unknown as A & B & C & D;
}
