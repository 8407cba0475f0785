import { totalmem } from 'node:os';
import { GB, MB, type ProcessLimits } from '@granary/kernel';
import type { Config } from '../config/schema.ts';
import type { KeptSpec } from './repository.ts';

/** However much cache was bought: more of the machine's memory than this would be missed elsewhere. */
const CACHE_SHARE_MAX = 0.25;
/** The other half of an engine's memory is for its included cache. */
const HEAP_SHARE = 0.5;
/** With less the management does not start. */
const MANAGEMENT_HEAP_MB_MIN = 256;

type Bought = Pick<KeptSpec, 'engine' | 'app_engine' | 'extra_cache_gb'>;

/** What the engine and the app engine of an array allow its process. Object storage has neither. */
export function limitsOf({ engine_types, app_engines }: Config, spec: Bought): ProcessLimits {
  const engine = engine_types.find(({ key }) => key === spec.engine);
  const app = app_engines.find(({ key }) => key === spec.app_engine);
  const heapMb = app && app.memory_mb > 0 ? Math.max(app.memory_mb, MANAGEMENT_HEAP_MB_MIN) : undefined;
  return {
    ...(engine?.vcpus !== undefined && { processors: engine.vcpus + (app?.vcpus ?? 0) }),
    ...(engine?.memory_mb !== undefined && { controllerHeapMb: Math.floor(engine.memory_mb * HEAP_SHARE) }),
    ...(heapMb !== undefined && { managementHeapMb: heapMb }),
  };
}

/**
 * The cache an array uses: what its engine includes, as far as the engine has memory for it, and all that was bought
 * beside it; both together as far as the machine has memory.
 */
export function cacheBytesOf({ engine_types }: Config, spec: Bought, machineBytes = totalmem()): number {
  const engine = engine_types.find(({ key }) => key === spec.engine);
  const ofEngine = engine?.memory_mb === undefined ? Infinity : engine.memory_mb * MB * (1 - HEAP_SHARE);
  const included = Math.min((engine?.base_cache_gb ?? 0) * GB, ofEngine);
  return Math.floor(Math.min(included + spec.extra_cache_gb * GB, machineBytes * CACHE_SHARE_MAX));
}
