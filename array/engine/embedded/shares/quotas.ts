import type { Filesystem, Quota } from '@granary/storage/filesystem';
import { EngineError } from '../../errors.ts';
import type { QuotaLimit, QuotaScope, QuotaUsage } from '../../shares.ts';

const LISTED_MAX = 10_000;
const ID_MAX = 2 ** 32 - 1;

export async function one(filesystem: Filesystem, scope: QuotaScope, id: number): Promise<QuotaUsage> {
  return usageOf(await filesystem.quotas.get(scope, id));
}

export async function some(
  filesystem: Filesystem,
  scope: QuotaScope,
  fromId: number,
  limit: number,
): Promise<readonly QuotaUsage[]> {
  return (await filesystem.quotas.list(scope, fromId, Math.min(limit, LISTED_MAX))).map(usageOf);
}

/** Everything is looked at before anything is set. */
export async function set(filesystem: Filesystem, limits: readonly QuotaLimit[]): Promise<void> {
  for (const { id, limitBytes } of limits) {
    const isId = Number.isInteger(id) && id >= 0 && id <= ID_MAX;
    const isLimit = limitBytes === undefined || (Number.isSafeInteger(limitBytes) && limitBytes >= 0);
    if (!isId || !isLimit) throw new EngineError('invalid', `${id} with ${limitBytes} bytes is no quota.`);
  }
  await filesystem.quotas.set(limits.map((limit) => ({ ...limit, limitInodes: undefined })));
}

function usageOf({ scope, id, limitBytes, usedBytes, usedInodes }: Quota): QuotaUsage {
  return { scope, id, limitBytes, usedBytes, files: usedInodes };
}
