import { accountRoom } from '../../../objects/account-quota.ts';
import { S3Error } from '../../errors.ts';
import type { S3Request } from '../../request.ts';

/** Operators limit accounts over Swift (`X-Account-Meta-Quota-Bytes`); the limit holds for S3, too. */
export async function checkAccountQuota(
  { context, bucket, caller }: Pick<S3Request, 'context' | 'bucket' | 'caller'>,
  size: number,
): Promise<void> {
  if (caller?.role === 'objs_admin' && context.settings().adminAccess) return;
  const account = await context.directory.account(bucket.account);
  if (account === undefined) return;
  const room = accountRoom(context.store, account);
  if (room < size || room <= 0) throw new S3Error('EntityTooLarge', 'The account is full: its quota of bytes is used.');
}
