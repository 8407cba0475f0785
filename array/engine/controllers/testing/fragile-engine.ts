import { openEngine as openEmbedded } from '../../embedded/open-engine.ts';
import type { OpenEngine } from '../protocol.ts';
import { breakAtWill } from './break-at-will.ts';

/** The embedded engine, in a controller that breaks on command. */
export const openEngine: OpenEngine = async (configuration, hooks) => {
  const active = await openEmbedded(configuration, hooks);
  return { ...active, engine: breakAtWill(active.engine) };
};
