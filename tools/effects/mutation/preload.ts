import { registerHooks } from 'node:module';

/**
 * Loaded before a test by `npm run coverage:effects -- --mutate`: the edge reads requests by `dropping-reader.ts`, which
 * leaves out the parameter that `GRANARY_DROP` names. The product has no switch for it.
 */
const reader = new URL('./dropping-reader.ts', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const isEdge = context.parentURL?.endsWith('/kernel/http/operation.ts') && specifier === './validate.ts';
    return isEdge ? { url: reader, format: 'module-typescript', shortCircuit: true } : next(specifier, context);
  },
});
