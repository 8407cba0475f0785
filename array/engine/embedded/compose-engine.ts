import type { Engine } from '../engine.ts';
import { CALLS } from '../controllers/protocol.ts';
import type { ShareEngine } from '../shares.ts';
import type { BlockEngine } from './embedded-engine.ts';

type Parts = BlockEngine & ShareEngine;

/** One engine of two parts: volumes, and the file shares on them. */
export function composeEngine(blocks: BlockEngine, shares: ShareEngine): Omit<Engine, 'failover'> {
  const methods = Object.keys(CALLS).flatMap((method) => {
    if (method === 'failover') return [];
    const part = (method in shares ? shares : blocks) as Parts;
    return [[method, (part[method as keyof Parts] as (...args: unknown[]) => unknown).bind(part)] as const];
  });
  return Object.fromEntries(methods) as unknown as Parts;
}
