import { requirePart } from '@granary/kernel';
import type { ObjectEngine } from './engine.ts';

/** The optional parts of an engine, as a refusal names them. */
const PARTS = {
  drives: 'drives: the engine looks after them by itself',
  controllers: 'virtual controllers',
  encryption: 'encryption of objects',
} as const;

export type EnginePart = keyof typeof PARTS;

/** A part of the engine; refused where the engine does not have it. */
export function partOf<P extends EnginePart>(engine: ObjectEngine, part: P): NonNullable<ObjectEngine[P]> {
  return requirePart(engine, part, PARTS[part], 'objs_engine_lacks_part');
}
