import { requirePart } from '@granary/kernel';
import type { Engine } from './engine.ts';

/** The optional parts of an engine, as a refusal names them. */
const PARTS = {
  hardware: 'drives and RAID groups: the engine looks after them by itself',
  controllers: 'controllers that take over from each other',
  reduction: 'compression and deduplication',
  encryption: 'encryption of volumes',
} as const;

export type EnginePart = keyof typeof PARTS;

/** A part of the engine; refused where the engine does not have it. */
export function partOf<P extends EnginePart>(engine: Engine, part: P): NonNullable<Engine[P]> {
  return requirePart(engine, part, PARTS[part], 'engine_lacks_part');
}
